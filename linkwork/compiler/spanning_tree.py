"""The spanning tree of a mechanism: which joints carry the bodies, and which are cut.

The bodies and the ground are the nodes of a graph, the joints its edges. The tree holds the joints that one would
rather not cut: joints without cut=True before joints with it, then joints with reflected inertia, then fixed joints
(they cost no states), then joints at massless bodies (see `massless`), then joints with a motor (an actuator, a load
limit or a prescribed motion), then joints with a start value, a force or a coupling, then those that were added first.
Taking the joints in this order and leaving out each one that would close a loop (Kruskal) gives the maximum spanning
tree in this order of preference; where it leaves massless leaves, single joints are exchanged.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwork._util.disjoint_sets import DisjointSets
from linkwork._util.names import quoted
from linkwork.compiler.massless_leaves import MasslessGroups
from linkwork.errors import MechanismError
from linkwork.mechanism import GROUND, Actuator, Mechanism
from linkwork.mechanism.forces import of_kind


class SpanningTree:
    """The spanning tree of a connected mechanism, rooted in ground; bodies by position in `mech.bodies`, -1: ground.

    Attributes
    ----------
    ends
        For each joint, its declared parent and child.
    cuts
        The joints outside the tree, ascending.
    parent, joint, depth, children
        For each body: the body and the joint that carry it, the number of joints to ground, and the bodies it
        carries. The last entry is the ground's, so that -1 finds it.
    order
        The bodies depth-first, each before those it carries.

    Raises
    ------
    MechanismError
        If a joint with cut=True is needed in the tree; the text names it and the body it carries.
    """

    def __init__(self, mech: Mechanism) -> None:
        body_at = {GROUND: -1, **{name: index for index, name in enumerate(mech.bodies)}}
        self.ends = [(body_at[joint.parent], body_at[joint.child]) for joint in mech.joints.values()]
        groups = MasslessGroups(mech, self.ends)
        order = _least_wanted_cuts_first(mech, groups.need())
        in_tree = _spanning_joints(order, self.ends, len(mech.bodies))
        groups.exchange(in_tree, order)
        self.cuts = [joint for joint, kept in enumerate(in_tree) if not kept]
        self.parent = [-1] * (len(mech.bodies) + 1)
        self.joint = [-1] * len(self.parent)
        self.depth = [0] * len(self.parent)
        self.children: list[list[int]] = [[] for _ in self.parent]
        self._root_in_ground(in_tree)
        self._check_wishes(mech)
        self.order = self._depth_first()
        self._head = self._chains()

    def meeting(self, first: int, second: int) -> int:
        """Return the first common body of the paths from two bodies to ground.

        Whole chains are jumped over; a path to ground leads through no more than log2(n) of them.
        """
        head, depth = self._head, self.depth
        while head[first] != head[second]:
            if depth[head[first]] < depth[head[second]]:
                first, second = second, first
            first = self.parent[head[first]]
        return first if depth[first] < depth[second] else second

    def _root_in_ground(self, in_tree: Sequence[bool]) -> None:
        neighbours: list[list[tuple[int, int]]] = [[] for _ in self.parent]
        for joint, (first, second) in enumerate(self.ends):
            if in_tree[joint]:
                neighbours[first].append((joint, second))
                neighbours[second].append((joint, first))
        waiting = [-1]
        for body in waiting:
            for joint, other in neighbours[body]:
                if joint != self.joint[body]:
                    self.parent[other], self.joint[other] = body, joint
                    self.depth[other] = self.depth[body] + 1
                    self.children[body].append(other)
                    waiting.append(other)

    def _depth_first(self) -> list[int]:
        order: list[int] = []
        waiting = self.children[-1][::-1]
        while waiting:
            order.append(waiting.pop())
            waiting.extend(reversed(self.children[order[-1]]))
        return order

    def _chains(self) -> list[int]:
        """Return for each body the innermost one of its chain: each body continues in the child that carries most."""
        size = [1] * len(self.parent)
        for body in reversed(self.order):
            size[self.parent[body]] += size[body]
        head = [*range(len(self.order)), -1]
        for body in (-1, *self.order):
            if self.children[body]:
                head[max(self.children[body], key=size.__getitem__)] = head[body]
        return head

    def _check_wishes(self, mech: Mechanism) -> None:
        joints = list(mech.joints.values())
        refused = next((joint for joint in sorted(self.joint[:-1]) if joints[joint].cut), None)
        if refused is None:
            return
        carried = self.joint.index(refused)
        outboard = self._outboard(carried)
        others = [joints[cut].name for cut in self.cuts if len(outboard.intersection(self.ends[cut])) == 1]
        which = f"every loop through it is cut already, at {quoted(others)}" if others else "it is on no loop"
        body = list(mech.bodies)[carried]
        raise MechanismError(
            f"joint {joints[refused].name!r} cannot be cut: {which}, and without it body {body!r} "
            "would not be connected to ground; leave out its cut=True"
        )

    def _outboard(self, body: int) -> set[int]:
        """Return the body and all outboard bodies."""
        waiting = [body]
        for carrier in waiting:
            waiting.extend(self.children[carrier])
        return set(waiting)


def _least_wanted_cuts_first(mech: Mechanism, need: Sequence[int]) -> list[int]:
    """Return the joints in the order in which they are taken into the tree; `need` as of `MasslessGroups`."""
    joints = list(mech.joints.values())
    used = {*mech.start_q, *mech.start_u, *(joint for force in mech.forces for joint in force.joint_names)}
    used |= {term.joint for coupling in mech.couplings.values() for term in coupling.terms.values()}

    motors = {joint for force in of_kind(mech.forces, Actuator) for joint in force.joint_names}
    motors |= {joint.name for joint in joints if (joint.max_load < np.inf).any()}
    motors |= {term.joint for one in mech.couplings.values() if one.motion for term in one.terms.values()}

    def rank(index: int) -> tuple[bool, bool, bool, int, bool, bool]:
        joint = joints[index]
        driven = bool(joint.reflected_inertia.any())
        wanted = joint.name not in motors, joint.name not in used
        return joint.cut, not driven, joint.kind.nq > 0, need[index], *wanted

    return sorted(range(len(joints)), key=rank)


def _spanning_joints(order: Sequence[int], ends: Sequence[tuple[int, int]], bodies: int) -> list[bool]:
    """Return for each joint whether it joins what the joints before it in `order` do not."""
    joined = DisjointSets(range(-1, bodies))  # the ground is -1
    kept = [False] * len(ends)
    for joint in order:
        kept[joint] = joined.unite(*ends[joint])
    return kept
