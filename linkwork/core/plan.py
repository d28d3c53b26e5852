"""The plan of a compiled model, read from the C core: spanning tree, loops, clusters, and the order of solution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwork.core.native import NativeModel

CAPTURED_PARENT, CAPTURED_CHILD = 1, 2  # which frame of a joint is found when it closes


@dataclass(frozen=True, slots=True)
class Link:
    """A body and the joint that carries it in the tree."""

    # body, joint: positions in `mech.bodies` and `mech.joints`
    body: int
    joint: int
    parent: int  # index of the link nearer to ground, -1: the ground itself
    reversed: bool  # True: the joint's declared child is that parent


@dataclass(frozen=True, slots=True)
class Loop:
    """A cut joint and what it closes."""

    joint: int  # position of the cut joint in `mech.joints`
    # parent, child: links of the cut joint's declared parent and child, -1: ground
    parent: int
    child: int
    # Link from which the branches to parent and child start, -1: ground. Its own tree joint is not on the loop.
    root: int


@dataclass(frozen=True, slots=True)
class LoopStep:
    """A loop and what it adds to a cluster."""

    loop: int  # position in `Topology.loops`; -1: none, a link that only a coupling or distance brings into the cluster
    # The links that it adds, parents first: those towards the parent of the loop's cut joint, then those towards its
    # child. None, if its cut joint joins links of earlier loops.
    links: tuple[int, ...]


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
    """Where a coupling acts."""

    cluster: int  # position in `Topology.clusters`; -1: none, of the lock of a joint that is open
    # For each term the position of its joint in `mech.joints`, and the coordinate among those of the joint, from 0.
    terms: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class DistancePlace:
    """Where a distance acts."""

    cluster: int  # position in `Topology.clusters`
    ends: tuple[int, int]  # the links of its two bodies, -1: ground


@dataclass(frozen=True)
class Segment:
    """A run of links, from `first` on, `count` of them: those of `cluster`, or of the tree between clusters (-1)."""

    cluster: int
    first: int
    count: int


@dataclass(frozen=True)
class Topology:
    """Tree and loops of a mechanism."""

    links: tuple[Link, ...]  # one for each body, parents first
    # One for each cut joint, in the order in which those were added; one that is open is in no cluster.
    loops: tuple[Loop, ...]
    # The loops, couplings and distances grouped by the joints they share: in the order of their first loops, then in
    # that of their first couplings, then of their first distances.
    clusters: tuple[Cluster, ...]
    # couplings, distances: one for each coupling or distance, in the order in which those were added; behind the
    # couplings the locks, each like a coupling of one term
    couplings: tuple[CouplingPlace, ...]
    distances: tuple[DistancePlace, ...]
    # All links in runs. Backwards, every outboard link comes before its cluster, and every cluster before its root.
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


def read_topology(native: NativeModel, opened: Sequence[int] | None = None) -> Topology:
    """Return the topology of a model, or of its variant in which of the joints that may open these are open."""

    def rows(table: str) -> list[list[int]]:
        found: list[list[int]] = native.table(table, opened).tolist()
        return found

    loops, distances, couplings = rows("loop"), rows("distance"), rows("coupling")
    places = couplings[: len(couplings) - len(distances)]
    terms = iter(_terms(native, opened))
    coupled = [CouplingPlace(cluster, tuple(next(terms) for _ in range(count))) for cluster, count in places]
    spans = zip(couplings[len(places) :], distances, strict=True)
    clusters = rows("cluster")
    loops_of = _members([row[4] for row in loops], len(clusters))
    coupled_of = _members([place.cluster for place in coupled], len(clusters))
    spans_of = _members([cluster for cluster, _ in couplings[len(places) :]], len(clusters))
    steps_of = _steps(rows("step"), [link for (link,) in rows("step_link")], len(clusters))
    return Topology(
        tuple(Link(body, joint, parent, bool(turned)) for body, joint, parent, turned in rows("link")),
        tuple(Loop(*row[:4]) for row in loops),
        tuple(
            Cluster(
                root, tuple(range(first, first + count)), loops_of[k], coupled_of[k], tuple(steps_of[k]), spans_of[k]
            )
            for k, (root, first, count, _) in enumerate(clusters)
        ),
        tuple(coupled),
        tuple(DistancePlace(cluster, (first, second)) for (cluster, _), (first, second) in spans),
        tuple(Segment(*row) for row in rows("segment")),
    )


def _terms(native: NativeModel, opened: Sequence[int] | None) -> list[tuple[int, int]]:
    """Return joint and coordinate of each term of a coupling."""
    speeds = native.table("term", opened)[:, 1]
    _, first, sizes, _ = native.table("joint", opened).T
    moving = np.flatnonzero(sizes)
    by_speed = moving[np.argsort(first[moving])]
    joints = by_speed[np.searchsorted(first[by_speed], speeds, side="right") - 1]
    return list(zip(joints.tolist(), (speeds - first[joints]).tolist(), strict=True))


def _members(clusters: Sequence[int], count: int) -> list[tuple[int, ...]]:
    """Return the positions of those that are in each cluster."""
    found: list[list[int]] = [[] for _ in range(count)]
    for position, cluster in enumerate(clusters):
        if cluster >= 0:
            found[cluster].append(position)
    return [tuple(one) for one in found]


def _steps(rows: Sequence[Sequence[int]], links: Sequence[int], count: int) -> list[list[LoopStep]]:
    found: list[list[LoopStep]] = [[] for _ in range(count)]
    next_link = 0
    for cluster, loop, added in rows:
        found[cluster].append(LoopStep(loop, tuple(links[next_link : next_link + added])))
        next_link += added
    return found
