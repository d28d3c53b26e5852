"""The topology of a mechanism: links from ground outwards, and the loops that the cut joints close.

No two loops may share a joint. Then every choice of cuts gives the same loops, and a body stands on at most one of
them: contracting each loop to a point leaves a tree, and its depth-first order is the order of the links.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linkwork.compiler.spanning_tree import SpanningTree
from linkwork.description import Mechanism
from linkwork.description.checks import check, quoted
from linkwork.errors import MechanismError


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
        Links whose tree joints lie on the loop, ascending and contiguous.
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
class Segment:
    """A run of links, from `first` on, `count` of them: those of `loop`, or of the tree between loops (-1)."""

    loop: int
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
    segments
        All links in runs. Going through them backwards meets every outboard link before its loop and every loop
        before what it stands on.
    """

    links: tuple[Link, ...]
    loops: tuple[Loop, ...]
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
    """Choose tree and cuts of a mechanism, in time proportional to n log n.

    Raises
    ------
    MechanismError
        If a body is not connected to ground, if a joint with cut=True carries a part of the mechanism, or if two
        loops share a joint; the text names them.

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
    return _arranged(tree, _loops(tree, list(mech.joints)))


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


def _loops(tree: SpanningTree, names: Sequence[str]) -> list[_Cycle]:
    """Return the loop of each cut joint; refuse loops that share a joint."""
    owner: list[int | None] = [None] * len(tree.joint)
    cycles: list[_Cycle] = []
    for cut in tree.cuts:
        cycle = _Cycle(*tree.cycle(*tree.ends[cut]))
        for body in cycle.bodies:
            earlier = owner[body]
            if earlier is not None:
                shared = {*cycle.bodies}.intersection(cycles[earlier].bodies)
                shared_names = [names[joint] for joint in sorted(tree.joint[body] for body in shared)]
                raise _coupled(names[tree.cuts[earlier]], names[cut], shared_names)
            owner[body] = len(cycles)
        cycles.append(cycle)
    return cycles


def _coupled(earlier: str, later: str, shared: Sequence[str]) -> MechanismError:
    return MechanismError(
        f"the loops closed by joints {earlier!r} and {later!r} share the joints {quoted(shared)}: loops which share "
        "joints are not supported by this version; let them share a body only, or leave out one of the two"
    )


def _arranged(tree: SpanningTree, cycles: Sequence[_Cycle]) -> Topology:
    """Return tree and loops with their links numbered."""
    order, segments = _order(tree, cycles)
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
        members = tuple(link_of[body] for body in cycle.bodies)
        sides = (True,) * len(cycle.to_parent) + (False,) * len(cycle.to_child)
        loops.append(Loop(cut, link_of[parent], link_of[child], link_of[cycle.root], members, sides))
    return Topology(tuple(links), tuple(loops), tuple(segments))


def _order(tree: SpanningTree, cycles: Sequence[_Cycle]) -> tuple[list[int], list[Segment]]:
    """Return the bodies depth-first, each loop at once, and the runs they form."""
    standing: list[list[tuple[int, int]]] = [[] for _ in tree.joint]  # (body, -1) or (first body, loop) on each body
    on_loop = [False] * len(tree.joint)
    for loop, cycle in enumerate(cycles):
        standing[cycle.root].append((cycle.bodies[0], loop))
        for body in cycle.bodies:
            on_loop[body] = True
    for body, children in enumerate(tree.children):
        standing[body].extend((child, -1) for child in children if not on_loop[child])
        standing[body].sort(key=lambda item: tree.joint[item[0]])

    order: list[int] = []
    segments: list[Segment] = []
    waiting = standing[-1][::-1]
    while waiting:
        body, loop = waiting.pop()
        added = [body] if loop < 0 else cycles[loop].bodies
        if loop < 0 and segments and segments[-1].loop < 0:
            segments[-1] = Segment(-1, segments[-1].first, segments[-1].count + 1)
        else:
            segments.append(Segment(loop, len(order), len(added)))
        order.extend(added)
        for carrier in reversed(added):
            waiting.extend(reversed(standing[carrier]))
    return order, segments
