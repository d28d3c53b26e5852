"""Where each joint's coordinates and speeds stand in arrays, and the inputs of each motion."""

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
    quaternions
        Slice of each quaternion among the coordinates, by name of the joint.
    tree, cut
        Names of the tree joints and of the cut joints.
    nq, nu, nq_cut, nu_cut
        Numbers of coordinates and speeds in tree joints and in cut joints.
    motions, n_motion
        For each coupling that has a motion, by name, the slice of its value, rate and acceleration among the inputs of
        all couplings, `n_motion` numbers.
    """

    q: dict[str, slice]
    u: dict[str, slice]
    quaternions: dict[str, slice]
    tree: tuple[str, ...]
    cut: tuple[str, ...]
    nq: int
    nu: int
    nq_cut: int
    nu_cut: int
    motions: dict[str, slice]
    n_motion: int

    @property
    def nq_all(self) -> int:
        """Coordinates of all joints."""
        return self.nq + self.nq_cut

    @property
    def nu_all(self) -> int:
        """Speeds of all joints."""
        return self.nu + self.nu_cut

    def spans(self, size: int, cut: int | None) -> dict[str, slice] | None:
        """Return where each joint's numbers stand in an array over speeds or coordinates; None if it is over neither.

        Of its `size` numbers the last `cut` are of the cut joints; None: of the tree joints alone, or else of all.
        """
        both = ((self.u, self.nu, self.nu_cut), (self.q, self.nq, self.nq_cut))
        if cut is None:
            found = [slices for slices, tree, _ in both if tree == size]
            found += [slices for slices, tree, rest in both if tree + rest == size]
        else:
            found = [slices for slices, tree, rest in both if (tree + rest, rest) == (size, cut)]
        return {name: s for name, s in found[0].items() if s.start < s.stop <= size} if found else None


def number(mech: Mechanism, topology: Topology) -> Numbering:
    """Number the coordinates and speeds of all joints, and the inputs of motions."""
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
    places = {name: mech.joints[name].kind.quaternion for name in q}
    quaternions = {
        name: slice(q[name].start + place.start, q[name].start + place.stop)
        for name, place in places.items()
        if place is not None
    }
    motions = {c.name: slice(3 * i, 3 * i + 3) for i, c in enumerate(mech.couplings.values()) if c.motion}
    counts = (nq, nu, nq_all - nq, nu_all - nu)
    return Numbering(q, u, quaternions, tree, cut, *counts, motions, 3 * len(mech.couplings))


def suffixes(count: int) -> list[str]:
    """Return what the names of a joint's `count` coordinates or speeds end in: nothing where there is only one.

    >>> suffixes(1), suffixes(2)
    ([''], ['[1]', '[2]'])
    """
    return [""] if count == 1 else [f"[{i + 1}]" for i in range(count)]
