"""A mechanism in the world as it is drawn: joints where they are at a state, and the joints of each body."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray
from linkwork._util.rotations import matrix_of
from linkwork.errors import LinkworkError
from linkwork.mechanism import GROUND, Mechanism
from linkwork.mechanism.forces import ForceAlongLine, ForceElement, Point
from linkwork.mechanism.joints import JointKind

if TYPE_CHECKING:
    from linkwork.core.native import Block
    from linkwork.model.base import ModelBase
    from linkwork.model.state import State


@dataclass(frozen=True)
class DrawnJoint:
    """A joint: its place on the parent and on the child, and its first axis, in the world."""

    name: str
    kind: JointKind
    parent: str
    child: str
    places: tuple[FloatArray, FloatArray]
    axis: FloatArray | None

    @property
    def type_name(self) -> str:
        """The name of its kind."""
        return self.kind.type_name


@dataclass
class DrawnBody:
    """A body: its centre of mass, and the points at which others hold on to it."""

    name: str
    com: FloatArray
    points: list[FloatArray] = field(default_factory=list)


@dataclass(frozen=True)
class Drawn:
    """Bodies by name, joints between them, pairs of points that massless rods and springs join, points of interest.

    A point of interest has its position, its direction, if any, and its body.
    """

    bodies: dict[str, DrawnBody]
    joints: list[DrawnJoint]
    rods: list[tuple[FloatArray, FloatArray]]
    springs: list[tuple[FloatArray, FloatArray]]
    gravity: FloatArray
    marks: dict[str, tuple[FloatArray, FloatArray | None, str]]

    @property
    def points(self) -> FloatArray:
        """All of them, (n, 3)."""
        found = [point for body in self.bodies.values() for point in (body.com, *body.points)]
        found += [place for joint in self.joints if joint.type_name != "free" for place in joint.places]
        found += [place for place, _, _ in self.marks.values()]
        return np.array([*found, *(point for pair in (*self.rods, *self.springs) for point in pair)])


def drawn(system: ModelBase, most: int, state: State | None = None) -> Drawn | None:
    """Return the scene at a state, at `most` so many bodies.

    By default at the assembled start; None: the start cannot be assembled.
    """
    block = system.block()
    try:
        if state is None:
            block.assemble(1e-8)
        else:
            system.enter(block, state)
        return _scene(system, block, most)
    except LinkworkError:
        if state is None:
            return None
        raise


def drawn_open(system: ModelBase, most: int) -> Drawn:
    """Return the scene at the start values of the tree joints as they are, whose loops may be open."""
    block = system.block()
    block.put("q", block["q_start"][: system.numbering.nq])
    return _scene(system, block, most)


def _scene(system: ModelBase, block: Block, most: int) -> Drawn:
    mech = system.mechanism
    positions, turns = block.body_poses()
    chosen = {int(k) for k in np.linspace(0, len(mech.bodies) - 1, min(most, len(mech.bodies)))}
    poses = {GROUND: (np.zeros(3), np.eye(3))}
    for k, name in enumerate(mech.bodies):
        if k in chosen:
            poses[name] = positions[k], matrix_of(turns[k])
    return drawn_with(mech, poses)


def _pieces(force: ForceElement) -> Iterator[tuple[tuple[str, Point], ...]]:
    """Return the ends of the straight lines that a force has."""
    if isinstance(force, ForceAlongLine):
        yield from (force.ends[k : k + 2] for k, _ in force.pieces())
    elif len(force.ends) == 2:
        yield force.ends


def drawn_with(mech: Mechanism, poses: dict[str, tuple[FloatArray, FloatArray]]) -> Drawn:
    """Return the scene with bodies in given poses, origins, m, and rotations (3, 3); those without one are left out."""

    def at(body: str, point: ArrayLike) -> FloatArray:
        origin, turn = poses[body]
        placed: FloatArray = origin + turn @ np.asarray(point)
        return placed

    bodies = {name: DrawnBody(name, at(name, mech.bodies[name].com)) for name in poses if name != GROUND}
    joints = []
    for name, joint in mech.joints.items():
        for body, frame in ((joint.parent, joint.parent_frame), (joint.child, joint.child_frame)):
            if body in bodies and joint.kind.type_name != "free":
                bodies[body].points.append(at(body, frame.position))
        if joint.parent in poses and joint.child in poses:
            axes = joint.kind.axes
            axis = poses[joint.parent][1] @ joint.parent_frame.rotation @ axes[0] if axes else None
            places = at(joint.parent, joint.parent_frame.position), at(joint.child, joint.child_frame.position)
            joints.append(DrawnJoint(name, joint.kind, joint.parent, joint.child, places, axis))
    lines: list[list[tuple[FloatArray, FloatArray]]] = []
    distances = [tuple(zip(one.bodies, one.points, strict=True)) for one in mech.distances.values()]
    for ties in (distances, [piece for force in mech.forces for piece in _pieces(force)]):
        within = [tie for tie in ties if all(body in poses for body, _ in tie)]
        lines.append([(at(*first), at(*second)) for first, second in within])
        for body, point in chain.from_iterable(within):
            if body in bodies:
                bodies[body].points.append(at(body, point))
    marks = {}
    for one in mech.points.values():
        if one.body in poses:
            axis = None if one.axis is None else poses[one.body][1] @ np.asarray(one.axis)
            marks[one.name] = at(one.body, one.point), axis, one.body
    rods, springs = lines
    return Drawn(bodies, joints, rods, springs, mech.gravity, marks)
