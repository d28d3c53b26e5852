"""The topology of a mechanism: links from ground outwards, and the loops that the cut joints close.

Loops that share joints form clusters. Whatever joints are cut, the clusters are the same, and no two of them share a
joint: contracting each cluster to a point leaves a tree, and its depth-first order is the order of the links. Couplings
and distances merge clusters, and bring joints that lie on no loop into them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from linkwork.compiler.clusters import Group, groups
from linkwork.compiler.links import Link, Loop
from linkwork.compiler.loop_order import LoopStep, loop_steps
from linkwork.compiler.spanning_tree import SpanningTree
from linkwork.mechanism import GROUND, Mechanism
from linkwork.mechanism.checks import check


@dataclass(frozen=True)
class Cluster:
    """Loops, couplings and distances that share joints, directly or through others; most clusters are a single loop.

    Attributes
    ----------
    root
        The root link, -1: ground. Its own tree joint is not part of it.
    links
        Links whose tree joints are, ascending and contiguous.
    loops, couplings, distances
        Positions in `Topology.loops`, `Topology.couplings` and `Topology.distances`, ascending; not all are empty.
    loop_steps
        Its loops in the order in which they are added to one another, with the links that each adds; and each of its
        links that lies on no loop as a step of its own, just before the first loop outboard of it, or at the end.
    """

    root: int
    links: tuple[int, ...]
    loops: tuple[int, ...]
    couplings: tuple[int, ...]
    loop_steps: tuple[LoopStep, ...]
    distances: tuple[int, ...] = ()


@dataclass(frozen=True)
class CouplingPlace:
    """Where a coupling acts.

    Attributes
    ----------
    cluster
        Position in `Topology.clusters`; -1: none, of the lock of a joint that is open.
    terms
        For each term the position of its joint in `mech.joints`, and the coordinate among those of the joint, from 0.
    """

    cluster: int
    terms: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class DistancePlace:
    """Where a distance acts.

    Attributes
    ----------
    cluster
        Position in `Topology.clusters`.
    ends
        The links of its two bodies, -1: ground.
    """

    cluster: int
    ends: tuple[int, int]


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
        One for each cut joint, in the order in which those were added; one that is open is in no cluster.
    clusters
        The loops, couplings and distances grouped by the joints they share: in the order of their first loops, then
        in that of their first couplings, then of their first distances.
    couplings, distances
        One for each coupling or distance, in the order in which those were added; behind the couplings the locks, each
        like a coupling of one term.
    segments
        All links in runs. Backwards, every outboard link comes before its cluster, and every cluster before its
        root.
    """

    links: tuple[Link, ...]
    loops: tuple[Loop, ...]
    clusters: tuple[Cluster, ...]
    couplings: tuple[CouplingPlace, ...]
    distances: tuple[DistancePlace, ...]
    segments: tuple[Segment, ...]

    @property
    def tree_joints(self) -> tuple[int, ...]:
        """Positions in `mech.joints` of the joints whose coordinates are states, ascending."""
        return tuple(sorted(link.joint for link in self.links))

    @property
    def cut_joints(self) -> tuple[int, ...]:
        """Positions in `mech.joints` of the cut joints, ascending."""
        return tuple(loop.joint for loop in self.loops)

    def around(self, loop: Loop) -> tuple[int, ...]:
        """Return the links whose tree joints lie on a loop, ascending."""
        on_loop = []
        for end in (loop.parent, loop.child):
            while end != loop.root:
                on_loop.append(end)
                end = self.links[end].parent
        return tuple(sorted(on_loop))


def topology(mech: Mechanism, locks: Sequence[tuple[int, int]] = (), opened: Collection[int] = frozenset()) -> Topology:
    """Choose tree and cuts of a mechanism, in time proportional to n log n.

    Parameters
    ----------
    mech
        The description.
    locks
        Joint and speed, by position, of each speed that may be locked.
    opened
        Positions of the cut joints that are open. The tree is the same whichever are.

    Raises
    ------
    MechanismError
        If a body is not connected to ground, or if a joint with cut=True carries a part of the mechanism; the text
        names them.

    Examples
    --------
    >>> from linkwork.mechanism import Mechanism, Revolute, inertia
    >>> mech = Mechanism("triangle")
    >>> for name in ("left", "right"):
    ...     mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=inertia.sphere(1.0, 0.1))
    >>> for name, parent, child in (("A", "ground", "left"), ("B", "left", "right"), ("C", "ground", "right")):
    ...     mech.add_joint(name, Revolute((0, 1, 0)), parent, child, at=(0, 0, 0))
    >>> topology(mech).loops
    (Loop(joint=2, parent=-1, child=1, root=-1),)
    """
    check(mech)
    tree = SpanningTree(mech)
    joint_at = {name: position for position, name in enumerate(mech.joints)}
    terms = [
        *(
            tuple((joint_at[term.joint], term.element) for term in coupling.terms.values())
            for coupling in mech.couplings.values()
        ),
        *((lock,) for lock in locks),
    ]
    body_at = {GROUND: -1, **{name: position for position, name in enumerate(mech.bodies)}}
    spans = [(body_at[one.bodies[0]], body_at[one.bodies[1]]) for one in mech.distances.values()]
    closed = [cut not in opened for cut in tree.cuts]
    coupled = [[body for joint, _ in named for body in tree.ends[joint]] for named in terms]
    idle = [any(joint in opened for joint, _ in named) for named in terms]
    found = groups(tree, closed, [*([] if out else bodies for out, bodies in zip(idle, coupled, strict=True)), *spans])
    order, segments = _order(tree, found)
    link_of = [-1] * len(tree.joint)
    for link, body in enumerate(order):
        link_of[body] = link
    links = []
    for body in order:
        joint = tree.joint[body]
        links.append(Link(body, joint, link_of[tree.parent[body]], reversed=tree.ends[joint][0] == body))
    loops = []
    for cut in tree.cuts:
        parent, child = tree.ends[cut]
        loops.append(Loop(cut, link_of[parent], link_of[child], link_of[tree.meeting(parent, child)]))
    depth = [tree.depth[body] for body in (*order, -1)]
    clusters = [_cluster(group, link_of, links, depth, loops, len(terms)) for group in found]
    cluster_of = {tie: number for number, group in enumerate(found) for tie in group.ties}
    couplings = tuple(CouplingPlace(cluster_of.get(number, -1), named) for number, named in enumerate(terms))
    distances = tuple(
        DistancePlace(cluster_of[number], (link_of[first], link_of[second]))
        for number, (first, second) in enumerate(spans, start=len(terms))
    )
    return Topology(tuple(links), tuple(loops), tuple(clusters), couplings, distances, tuple(segments))


def _cluster(
    group: Group,
    link_of: Sequence[int],
    links: Sequence[Link],
    depth: Sequence[int],
    loops: Sequence[Loop],
    couplings: int,
) -> Cluster:
    root = link_of[group.root]
    unlooped = [link_of[body] for body in group.unlooped]
    return Cluster(
        root,
        tuple(link_of[body] for body in group.bodies),
        tuple(group.loops),
        tuple(tie for tie in group.ties if tie < couplings),
        loop_steps(links, depth, root, {number: loops[number] for number in group.loops}, unlooped),
        tuple(tie - couplings for tie in group.ties if tie >= couplings),
    )


def _order(tree: SpanningTree, groups: Sequence[Group]) -> tuple[list[int], list[Segment]]:
    """Return the bodies depth-first, each cluster at once, and the runs they form."""
    standing: list[list[tuple[int, int]]] = [[] for _ in tree.joint]  # (body, -1) or (first body, cluster) on each body
    in_group = [False] * len(tree.joint)
    for number, group in enumerate(groups):
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
