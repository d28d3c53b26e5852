"""Dry friction in joints for writers: loads by joint, and what formats with Coulomb friction alone cannot say."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.formats.report import Report
from linkwork.mechanism import ForceElement, Friction, Joint, Mechanism
from linkwork.mechanism.forces import of_kind


@dataclass
class JointFriction:
    """All dry friction in a joint: Coulomb friction and viscous friction of each speed."""

    joint: Joint
    coulomb: FloatArray  # (nu,), N or N m
    viscous: FloatArray  # (nu,), N s/m or N m s/rad
    forces: list[Friction] = field(default_factory=list)

    def leave_out(self, report: Report, why: str) -> None:
        """Report that the file has none of it."""
        for force in self.forces:
            report.left_out(force.label, why)

    def report(self, report: Report, as_what: str, turned: bool) -> None:
        """Report what is written; `turned`: speeds of the file are along other axes."""
        for force in self.forces:
            lost = []
            if force.static is not None and force.static != force.coulomb:
                lost.append(f"it sticks up to {force.coulomb:g} and not {force.static:g}")
            if turned:
                lost.append("it acts along the axes of the file's speeds")
            if lost:
                report.approximated(force.label, f"{as_what}: {' and '.join(lost)}")
            else:
                report.taken(force.label, as_what)


def is_of_joint(force: ForceElement) -> bool:
    """Return whether a force is friction that files can say: in one speed, and the same in both directions."""
    return isinstance(force, Friction) and not force.is_sum and {force.forward, force.backward} <= {None, 1.0}


def joint_frictions(mech: Mechanism) -> list[JointFriction]:
    """Return the dry friction of each joint that has some."""
    found: dict[str, JointFriction] = {}
    for force in filter(is_of_joint, of_kind(mech.forces, Friction)):
        ((name, speed),) = force.places(mech)
        joint = mech.joints[name]
        one = found.setdefault(name, JointFriction(joint, np.zeros(joint.kind.nu), np.zeros(joint.kind.nu)))
        one.coulomb[speed] += force.coulomb
        one.viscous[speed] += force.viscous
        one.forces.append(force)
    return list(found.values())
