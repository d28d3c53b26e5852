"""Where each joint's coordinates and speeds stand in arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from linkwork.compiler.topology import Topology
from linkwork.description import Mechanism, PointSpringDamper, Wrench
from linkwork.description.forces import of_kind


@dataclass(frozen=True)
class Numbering:
    """Slices of every joint: the tree joints in the order added, then the cut joints; forces in the order added.

    Attributes
    ----------
    q, u
        Slice of each joint by name.
    tree, cut
        Names of the tree joints and of the cut joints.
    nq, nu, nq_cut, nu_cut
        Numbers of coordinates and speeds in tree joints and in cut joints.
    springs, wrenches
        Names of the springs between points and of the applied wrenches.
    """

    q: dict[str, slice]
    u: dict[str, slice]
    tree: tuple[str, ...]
    cut: tuple[str, ...]
    nq: int
    nu: int
    nq_cut: int
    nu_cut: int
    springs: tuple[str, ...] = ()
    wrenches: tuple[str, ...] = ()

    @property
    def nq_all(self) -> int:
        """Coordinates of all joints."""
        return self.nq + self.nq_cut

    @property
    def nu_all(self) -> int:
        """Speeds of all joints."""
        return self.nu + self.nu_cut

    @property
    def n_inputs(self) -> int:
        """Numbers that drive the mechanism: loads in all joints, then applied forces, then applied torques."""
        return self.nu_all + 6 * len(self.wrenches)

    @cached_property
    def inputs(self) -> dict[str, slice]:
        """Where each input stands among them: "A", "push.F", "push.T", and the elements of those of several."""
        spans = {joint: span for joint, span in self.u.items() if span.stop > span.start}
        for k, name in enumerate(f"{wrench}.{what}" for what in "FT" for wrench in self.wrenches):
            spans[name] = slice(self.nu_all + 3 * k, self.nu_all + 3 * k + 3)
        elements = {
            f"{name}[{i + 1}]": slice(at, at + 1)
            for name, span in spans.items()
            if span.stop - span.start > 1
            for i, at in enumerate(range(span.start, span.stop))
        }
        return spans | elements


def number(mech: Mechanism, topology: Topology) -> Numbering:
    """Number the coordinates and speeds of all joints."""
    names = list(mech.joints)
    tree = tuple(names[joint] for joint in topology.tree_joints)
    cut = tuple(names[joint] for joint in topology.cut_joints)
    q: dict[str, slice] = {}
    u: dict[str, slice] = {}
    nq = nu = 0
    totals = []
    for group in (tree, cut):
        for name in group:
            kind = mech.joints[name].kind
            q[name], u[name] = slice(nq, nq + kind.nq), slice(nu, nu + kind.nu)
            nq, nu = nq + kind.nq, nu + kind.nu
        totals.append((nq, nu))
    (nq, nu), (nq_all, nu_all) = totals
    springs = tuple(force.name for force in of_kind(mech.forces, PointSpringDamper))
    wrenches = tuple(force.name for force in of_kind(mech.forces, Wrench))
    return Numbering(q, u, tree, cut, nq, nu, nq_all - nq, nu_all - nu, springs, wrenches)
