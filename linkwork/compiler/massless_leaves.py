"""Which joints the spanning tree needs lest a body without inertia becomes a leaf of it; see `massless`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from linkwork._util.disjoint_sets import DisjointSets
from linkwork.mechanism import Mechanism

NEEDED, USEFUL, FREE = range(3)


class MasslessGroups:
    """Bodies that fixed joints hold together, as one node each; the ground's is the last.

    Attributes
    ----------
    of
        The group of each body, the last entry that of the ground, so that -1 finds it: the number of one of its bodies.
    massless
        Of each group: whether it has no inertia.
    any
        Whether there is one without.
    """

    def __init__(self, mech: Mechanism, ends: Sequence[tuple[int, int]]) -> None:
        bodies = len(mech.bodies)
        self._ends, self._joints = ends, list(mech.joints.values())
        self.massless = [not body.has_inertia for body in mech.bodies.values()] + [False]
        self.any = any(self.massless)
        self.of = list(range(bodies + 1))
        if not self.any:
            return
        held = DisjointSets(self.of)
        for joint, (first, second) in zip(self._joints, ends, strict=True):
            if joint.kind.nq == 0 and not joint.cut:
                ends_of = [body % len(self.of) for body in (first, second)]
                massless = all(self.massless[held.find(body)] for body in ends_of)
                held.unite(*ends_of)
                self.massless[held.find(ends_of[0])] = massless
        self.of = [held.find(body) for body in self.of]

    def need(self) -> list[int]:
        """Return for each joint how much the tree needs it: NEEDED next to a massless group of two joints."""
        if not self.any:
            return [FREE] * len(self._ends)
        degree = [0] * len(self.of)
        for joint, (first, second) in zip(self._joints, self._ends, strict=True):
            one, other = self.of[first], self.of[second]
            if one != other and not joint.cut:
                degree[one] += 1
                degree[other] += 1
        of_group = [
            FREE if not massless else NEEDED if count <= 2 else USEFUL
            for massless, count in zip(self.massless, degree, strict=True)
        ]
        return [min(of_group[self.of[first]], of_group[self.of[second]]) for first, second in self._ends]

    def exchange(self, in_tree: list[bool], order: Sequence[int]) -> None:
        """Make massless leaves inner nodes of the tree, each by an exchange of two joints, where one exists.

        Parameters
        ----------
        in_tree
            Of each joint; changed.
        order
            The joints as the tree takes them.
        """
        if self.any:
            place = [0] * len(order)
            for number, joint in enumerate(order):
                place[joint] = number
            _Exchange(self, self._ends, in_tree, place, lambda joint: self._joints[joint].cut).run()


class _Exchange:
    """The tree of the groups, each with the joint and the group inboard of it."""

    def __init__(
        self,
        groups: MasslessGroups,
        ends: Sequence[tuple[int, int]],
        in_tree: list[bool],
        place: Sequence[int],
        must_be_cut: Callable[[int], bool],
    ) -> None:
        self.groups, self.in_tree, self.place = groups, in_tree, place
        self.must_be_cut = must_be_cut
        self.ends = [(groups.of[first], groups.of[second]) for first, second in ends]
        self.degree = [0] * len(groups.of)
        self.at: list[list[int]] = [[] for _ in groups.of]  # joints at each group
        for joint, (one, other) in enumerate(self.ends):
            if one != other:
                self.at[one].append(joint)
                self.at[other].append(joint)
                self.degree[one] += in_tree[joint]
                self.degree[other] += in_tree[joint]
        self.inboard = [-1] * len(groups.of)  # joint
        self._root_in_ground()

    def run(self) -> None:
        leaves = [group for group in range(len(self.degree)) if self.groups.of[group] == group and self._is_leaf(group)]
        for leaf in leaves:
            if self._is_leaf(leaf):
                self._support(leaf)

    def _is_leaf(self, group: int) -> bool:
        return self.groups.massless[group] and self.degree[group] == 1

    def _root_in_ground(self) -> None:
        waiting = [self.groups.of[-1]]
        for group in waiting:
            for joint in self.at[group]:
                if self.in_tree[joint] and joint != self.inboard[group]:
                    self.inboard[self._other(joint, group)] = joint
                    waiting.append(self._other(joint, group))

    def _other(self, joint: int, group: int) -> int:
        one, other = self.ends[joint]
        return other if group == one else one

    def _support(self, leaf: int) -> None:
        """Take a cut joint of a leaf into the tree, for the last of its loop that leaves no new leaf."""
        for taken in self.at[leaf]:
            if self.in_tree[taken] or self.must_be_cut(taken):
                continue
            branches = self._branches(*self.ends[taken])
            able = [joint for branch in branches for joint in branch if self._can_go(joint, taken, leaf)]
            if able:
                left = max(able, key=self.place.__getitem__)
                start = self.ends[taken][0 if left in branches[0] else 1]
                self._swap(taken, left, start)
                return

    def _branches(self, one: int, other: int) -> tuple[list[int], list[int]]:
        """Return the joints from two groups inwards up to the group where they meet."""
        first, second = self._inwards(one), self._inwards(other)
        while first and second and first[-1] == second[-1]:
            first.pop()
            second.pop()
        return first, second

    def _inwards(self, group: int) -> list[int]:
        path = []
        while self.inboard[group] >= 0:
            path.append(self.inboard[group])
            group = self._other(path[-1], group)
        return path

    def _can_go(self, joint: int, taken: int, leaf: int) -> bool:
        return leaf not in self.ends[joint] and all(
            not self.groups.massless[group] or self.degree[group] + (group in self.ends[taken]) > 2
            for group in self.ends[joint]
        )

    def _swap(self, taken: int, left: int, start: int) -> None:
        """Everything between `start` and the joint that leaves the tree now hangs on the joint taken."""
        for joint, by in ((taken, 1), (left, -1)):
            self.in_tree[joint] = by > 0
            for group in self.ends[joint]:
                self.degree[group] += by
        group, joint = start, taken
        while joint != left:
            following = self.inboard[group]
            self.inboard[group] = joint
            group = self._other(following, group)
            joint = following
