"""Where each joint's coordinates and speeds stand in arrays."""

from __future__ import annotations

from dataclasses import dataclass

from linkwork.compiler.topology import Topology
from linkwork.description import Mechanism


@dataclass(frozen=True)
class Numbering:
    """Slices of every joint: the tree joints in the order added, then the cut joints.

    Attributes
    ----------
    q, u
        Slice of each joint by name.
    tree, cut
        Names of the tree joints and of the cut joints.
    nq, nu, nq_cut, nu_cut
        Numbers of coordinates and speeds in tree joints and in cut joints.
    """

    q: dict[str, slice]
    u: dict[str, slice]
    tree: tuple[str, ...]
    cut: tuple[str, ...]
    nq: int
    nu: int
    nq_cut: int
    nu_cut: int

    @property
    def nq_all(self) -> int:
        """Coordinates of all joints."""
        return self.nq + self.nq_cut

    @property
    def nu_all(self) -> int:
        """Speeds of all joints."""
        return self.nu + self.nu_cut


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
    return Numbering(q, u, tree, cut, nq, nu, nq_all - nq, nu_all - nu)
