"""Which joints of the tree move together: those of a loop, coupling or distance, and of all that share joints with it.

A tree joint is named by the body it carries. A coupling joins the smallest part of the tree that holds both bodies of
each of its joints: the child bodies alone would miss the joint of a hinge that carries another one named. A distance
joins the bodies and sets on the path between its two bodies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linkwork.compiler.spanning_tree import SpanningTree


@dataclass(frozen=True)
class Group:
    """A cluster by bodies.

    Attributes
    ----------
    root
        The root body, which all its links are outboard of.
    bodies
        Those whose tree joints it has, depth-first.
    unlooped
        Those of them whose tree joints lie on no loop, so that only a coupling or distance brings them in.
    loops, ties
        Its constraints, by number.
    """

    root: int
    bodies: list[int]
    unlooped: list[int]
    loops: list[int]
    ties: list[int]


def groups(tree: SpanningTree, closed: Sequence[bool], ties: Sequence[Sequence[int]]) -> list[Group]:
    """Return the clusters: first those with loops in the order of their first loops, then those of ties alone.

    Parameters
    ----------
    tree
        Whose cut number k closes loop k.
    closed
        Whether it does at present.
    ties
        The bodies that each coupling or distance joins; none: it is left out.
    """
    merged = _Merged(tree)
    cuts = [(number, cut) for number, cut in enumerate(tree.cuts) if closed[number]]
    for _, cut in cuts:
        merged.join(tree.ends[cut])
    looped = [False] * len(tree.parent)
    for _, cut in cuts:
        looped[merged.find(tree.ends[cut])] = True
    on_loop = [looped[merged.leader(body)] for body in range(len(tree.order))]
    named = [(number, bodies) for number, bodies in enumerate(ties) if bodies]
    for _, bodies in named:
        merged.join(bodies)

    found: dict[int, Group] = {}

    def group(bodies: Sequence[int]) -> Group:
        leader = merged.find(bodies)
        return found.setdefault(leader, Group(merged.foot[leader], [], [], [], []))

    for number, cut in cuts:
        group(tree.ends[cut]).loops.append(number)
    for number, bodies in named:
        group(bodies).ties.append(number)
    for body in tree.order:
        if (one := found.get(merged.leader(body))) is not None:
            one.bodies.append(body)
            if not on_loop[body]:
                one.unlooped.append(body)
    return list(found.values())


class _Merged:
    """Sets of tree joints, each a connected part of the tree; joining paths jumps over links that are one set already.

    Attributes
    ----------
    foot
        For the leader of a set: its root body.
    """

    def __init__(self, tree: SpanningTree) -> None:
        self._tree = tree
        self._leader = list(range(len(tree.order)))
        self.foot = tree.parent[:-1]

    def leader(self, body: int) -> int:
        """Return the leader of the set of a body's tree joint."""
        leader = self._leader
        while leader[body] != body:
            leader[body] = body = leader[leader[body]]
        return body

    def find(self, joined: Sequence[int]) -> int:
        """Return the leader of the set by which bodies have been joined."""
        return self.leader(max(joined, key=self._tree.depth.__getitem__))

    def join(self, bodies: Sequence[int]) -> None:
        """Make one set of the smallest part of the tree that holds the bodies, at least two of them different."""
        first, *others = bodies
        passed: list[int] = []
        for other in others:
            passed = [*passed[:1], *self._between(first, other)]
            for leader in passed[1:]:
                self._unite(passed[0], leader)

    def _between(self, first: int, second: int) -> list[int]:
        """Return the leaders of the sets on the path between two bodies."""
        depth = self._tree.depth
        passed = []
        while first != second:
            if depth[first] < depth[second]:
                first, second = second, first
            passed.append(self.leader(first))
            first = self.foot[passed[-1]]
        return passed

    def _unite(self, first: int, second: int) -> None:
        first, second = self.leader(first), self.leader(second)
        if first == second:
            return
        self._leader[second] = first
        if self._tree.depth[self.foot[second]] < self._tree.depth[self.foot[first]]:
            self.foot[first] = self.foot[second]
