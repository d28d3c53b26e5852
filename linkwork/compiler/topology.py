"""The topology of a mechanism: links from ground outwards, and the loops that the cut joints close.

Loops that share joints form clusters. Whatever joints are cut, the clusters are the same, and no two of them share a
joint: contracting each cluster to a point leaves a tree, and its depth-first order is the order of the links.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linkwork.compiler.spanning_tree import SpanningTree
from linkwork.description import Mechanism
from linkwork.description.checks import check


@dataclass(frozen=True)
class Link:
    """A body and the joint that carries it in the tree.

    Attributes
    ----------
    body, joint
        Positions in `mech.bodies` and `mech.joints`.
    parent
        Index of the link nearer to ground, -1: the ground itself.
    reversed
        True: the joint's declared child is that parent.
    """

    body: int
    joint: int
    parent: int
    reversed: bool


@dataclass(frozen=True)
class Loop:
    """A cut joint and what it closes.

    Attributes
    ----------
    joint
        Position of the cut joint in `mech.joints`.
    parent, child
        Links of the cut joint's declared parent and child, -1: ground.
    root
        Link in which the branches to parent and child meet, -1: ground. Its own tree joint is not on the loop.
    links
        Links whose tree joints lie on the loop, ascending.
    on_parent_side
        For each of them, True if it lies on the branch from root to parent.
    """

    joint: int
    parent: int
    child: int
    root: int
    links: tuple[int, ...]
    on_parent_side: tuple[bool, ...]


@dataclass(frozen=True)
class Cluster:
    """Loops that share joints, directly or through others; most clusters are a single loop.

    Attributes
    ----------
    root
        The link that all of it stands on, -1: ground. Its own tree joint is on none of the loops.
    links
        Links whose tree joints lie on the loops, ascending and contiguous.
    loops
        Positions of its loops in `Topology.loops`, ascending.
    """

    root: int
    links: tuple[int, ...]
    loops: tuple[int, ...]


@dataclass(frozen=True)
class Segment:
    """A run of links, from `first` on, `count` of them: those of `cluster`, or of the tree between clusters (-1)."""

    cluster: int
    first: int
    count: int


@dataclass(frozen=True)
class Topology:
    """Tree and loops of a mechanism.

    Attributes
    ----------
    links
        One for each body, parents first.
    loops
        One for each cut joint, in the order in which those were added.
    clusters
        The loops grouped by the joints they share, in the order of their first loops.
    segments
        All links in runs. Going through them backwards meets every outboard link before its cluster and every cluster
        before what it stands on.
    """

    links: tuple[Link, ...]
    loops: tuple[Loop, ...]
    clusters: tuple[Cluster, ...]
    segments: tuple[Segment, ...]

    @property
    def tree_joints(self) -> tuple[int, ...]:
        """Positions in `mech.joints` of the joints whose coordinates are states, ascending."""
        return tuple(sorted(link.joint for link in self.links))

    @property
    def cut_joints(self) -> tuple[int, ...]:
        """Positions in `mech.joints` of the cut joints, ascending."""
        return tuple(loop.joint for loop in self.loops)


def topology(mech: Mechanism) -> Topology:
    """Choose tree and cuts of a mechanism, in time proportional to n log n plus the length of all loops.

    Raises
    ------
    MechanismError
        If a body is not connected to ground, or if a joint with cut=True carries a part of the mechanism; the text
        names them.

    Examples
    --------
    >>> from linkwork.description import Mechanism, Revolute, inertia
    >>> mech = Mechanism("triangle")
    >>> for name in ("left", "right"):
    ...     mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=inertia.sphere(1.0, 0.1))
    >>> for name, parent, child in (("A", "ground", "left"), ("B", "left", "right"), ("C", "ground", "right")):
    ...     mech.add_joint(name, Revolute((0, 1, 0)), parent, child, at=(0, 0, 0))
    >>> topology(mech).loops
    (Loop(joint=2, parent=-1, child=1, root=-1, links=(0, 1), on_parent_side=(False, False)),)
    """
    check(mech)
    tree = SpanningTree(mech)
    cycles = [_Cycle(*tree.cycle(*tree.ends[cut])) for cut in tree.cuts]
    return _arranged(tree, cycles, _groups(tree, cycles))


@dataclass(frozen=True)
class _Cycle:
    """A loop by bodies: where it stands, and the bodies on its branches to the cut joint's parent and child."""

    root: int
    to_parent: list[int]
    to_child: list[int]

    @property
    def bodies(self) -> list[int]:
        """All bodies whose tree joints are on the loop, parents first."""
        return [*reversed(self.to_parent), *reversed(self.to_child)]


@dataclass(frozen=True)
class _Group:
    """A cluster by bodies: where it stands, the bodies whose tree joints it has, parents first, and its cycles."""

    root: int
    bodies: list[int]
    cycles: list[int]


def _groups(tree: SpanningTree, cycles: Sequence[_Cycle]) -> list[_Group]:
    """Group the loops that share joints."""
    leader = list(range(len(cycles)))

    def lead(cycle: int) -> int:
        while leader[cycle] != cycle:
            leader[cycle] = leader[leader[cycle]]
            cycle = leader[cycle]
        return cycle

    owner: dict[int, int] = {}
    for number, cycle in enumerate(cycles):
        for body in cycle.bodies:
            first, second = sorted((lead(owner.setdefault(body, number)), lead(number)))
            leader[second] = first
    members: dict[int, list[int]] = {}
    for number in range(len(cycles)):
        members.setdefault(lead(number), []).append(number)
    return [_group(tree, cycles, numbers) for numbers in members.values()]


def _group(tree: SpanningTree, cycles: Sequence[_Cycle], numbers: list[int]) -> _Group:
    bodies = {body for number in numbers for body in cycles[number].bodies}
    root = next(cycles[number].root for number in numbers if cycles[number].root not in bodies)
    ordered, waiting = [], [root]
    while waiting:
        body = waiting.pop()
        ordered.append(body)
        waiting.extend(child for child in reversed(tree.children[body]) if child in bodies)
    return _Group(root, ordered[1:], numbers)


def _arranged(tree: SpanningTree, cycles: Sequence[_Cycle], groups: Sequence[_Group]) -> Topology:
    """Return tree, loops and clusters with their links numbered."""
    order, segments = _order(tree, groups)
    link_of = [-1] * len(tree.joint)
    for link, body in enumerate(order):
        link_of[body] = link
    links = []
    for body in order:
        joint = tree.joint[body]
        links.append(Link(body, joint, link_of[tree.parent[body]], reversed=tree.ends[joint][0] == body))
    loops = []
    for cut, cycle in zip(tree.cuts, cycles, strict=True):
        parent, child = tree.ends[cut]
        sides = {link_of[body]: True for body in cycle.to_parent} | {link_of[body]: False for body in cycle.to_child}
        members = tuple(sorted(sides))
        on_parent_side = tuple(sides[link] for link in members)
        loops.append(Loop(cut, link_of[parent], link_of[child], link_of[cycle.root], members, on_parent_side))
    clusters = [
        Cluster(link_of[group.root], tuple(sorted(link_of[body] for body in group.bodies)), tuple(group.cycles))
        for group in groups
    ]
    return Topology(tuple(links), tuple(loops), tuple(clusters), tuple(segments))


def _order(tree: SpanningTree, groups: Sequence[_Group]) -> tuple[list[int], list[Segment]]:
    """Return the bodies depth-first, each cluster at once, and the runs they form."""
    standing: list[list[tuple[int, int]]] = [[] for _ in tree.joint]  # (body, -1) or (first body, cluster) on each body
    in_group = [False] * len(tree.joint)
    for number, group in enumerate(groups):
        if group.bodies:
            standing[group.root].append((group.bodies[0], number))
        for body in group.bodies:
            in_group[body] = True
    for body, children in enumerate(tree.children):
        standing[body].extend((child, -1) for child in children if not in_group[child])
        standing[body].sort(key=lambda item: tree.joint[item[0]])

    order: list[int] = []
    segments: list[Segment] = []
    waiting = standing[-1][::-1]
    while waiting:
        body, cluster = waiting.pop()
        added = [body] if cluster < 0 else groups[cluster].bodies
        if cluster < 0 and segments and segments[-1].cluster < 0:
            segments[-1] = Segment(-1, segments[-1].first, segments[-1].count + 1)
        else:
            segments.append(Segment(cluster, len(order), len(added)))
        order.extend(added)
        for carrier in reversed(added):
            waiting.extend(reversed(standing[carrier]))
    return order, segments
