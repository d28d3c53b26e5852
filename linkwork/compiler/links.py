"""Links of the spanning tree and the loops that cut joints close."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Loop:
    """A cut joint and what it closes.

    Attributes
    ----------
    joint
        Position of the cut joint in `mech.joints`.
    parent, child
        Links of the cut joint's declared parent and child, -1: ground.
    root
        Link from which the branches to parent and child start, -1: ground. Its own tree joint is not on the loop.
    """

    joint: int
    parent: int
    child: int
    root: int
