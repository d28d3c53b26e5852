"""The same tree in Pinocchio, an independent library of rigid-body algorithms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from .placement import Values
from .poses import Array, Pose, unit


class PinocchioTree:
    """A mechanism without loops as a Pinocchio model; joint values go in and out by joint name."""

    def __init__(self, mechanism: Any) -> None:
        self.model = pin.Model()
        self.model.gravity.linear = np.asarray(mechanism.gravity, float)
        self.carriers: dict[str, tuple[int, pin.SE3]] = {"ground": (0, pin.SE3.Identity())}  # body frame in its joint
        self._continue_from("ground", mechanism)
        self.data = self.model.createData()

    def _continue_from(self, body: str, mechanism: Any) -> None:
        """Depth first: Pinocchio's mass matrix needs the joints of a branch side by side."""
        for joint in mechanism.joints.values():
            if body in (joint.parent, joint.child):
                outer = joint.child if joint.parent == body else joint.parent
                if outer not in self.carriers:
                    self._add(joint, mechanism)
                    self._continue_from(outer, mechanism)

    def _add(self, joint: Any, mechanism: Any) -> None:
        outward = joint.parent in self.carriers
        inner, outer = (joint.parent, joint.child) if outward else (joint.child, joint.parent)
        frames = [_se3(joint.parent_frame), _se3(joint.child_frame)]
        inner_frame, outer_frame = frames if outward else frames[::-1]
        carrier, body_in_joint = self.carriers[inner]
        placement = body_in_joint * inner_frame
        if joint.kind.type_name == "fixed":
            self.carriers[outer] = (carrier, placement * outer_frame.inverse())
        else:
            axis = unit(joint.kind.axis) * (1.0 if outward else -1.0)
            types = {"revolute": pin.JointModelRevoluteUnaligned, "prismatic": pin.JointModelPrismaticUnaligned}
            index = self.model.addJoint(carrier, types[joint.kind.type_name](axis), placement, joint.name)
            self.carriers[outer] = (index, outer_frame.inverse())
        body = mechanism.bodies[outer]
        inertia = pin.Inertia(float(body.mass), np.asarray(body.com, float), np.asarray(body.inertia, float))
        self.model.appendBodyToJoint(self.carriers[outer][0], inertia, self.carriers[outer][1])

    @property
    def names(self) -> list[str]:
        """Joints with a coordinate in Pinocchio's order."""
        return list(self.model.names)[1:]

    def array(self, values: Values) -> Array:
        return np.array([values.get(name, 0.0) for name in self.names])

    def by_joint(self, array: Array) -> dict[str, float]:
        return dict(zip(self.names, array.tolist(), strict=True))

    def accelerations(self, q: Values, u: Values, tau: Values) -> dict[str, float]:
        udot = pin.aba(self.model, self.data, self.array(q), self.array(u), self.array(tau))
        return self.by_joint(np.array(udot))

    def mass_matrix(self, q: Values, names: list[str]) -> Array:
        """Rows and columns in the order of `names`."""
        upper = np.triu(pin.crba(self.model, self.data, self.array(q)))
        full = upper + np.triu(upper, 1).T
        order = [self.names.index(name) for name in names]
        return full[np.ix_(order, order)]

    def energy(self, q: Values, u: Values) -> tuple[float, float]:
        kinetic = pin.computeKineticEnergy(self.model, self.data, self.array(q), self.array(u))
        potential = pin.computePotentialEnergy(self.model, self.data, self.array(q))
        standing = self.model.inertias[0]  # bodies fixed to the ground, which Pinocchio does not count
        potential -= standing.mass * (self.model.gravity.linear @ standing.lever)
        return float(kinetic), float(potential)

    def poses(self, q: Values) -> dict[str, Pose]:
        """World poses of all bodies."""
        pin.forwardKinematics(self.model, self.data, self.array(q))
        placed = {name: self.data.oMi[index] * place for name, (index, place) in self.carriers.items()}
        return {name: Pose(np.array(se3.rotation), np.array(se3.translation)) for name, se3 in placed.items()}


def _se3(frame: Any) -> pin.SE3:
    return pin.SE3(np.asarray(frame.rotation, float), np.asarray(frame.position, float))
