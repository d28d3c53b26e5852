"""What each kind of joint lets its child do, in the axes of the parent's joint frame, as the conventions state it.

A shape knows `pose(q)`, the child frame in the parent frame; `coordinates(pose)`, its inverse; `motion(q)`, the matrix
P (6, nu) of the relative velocity [angular; of the child frame's origin] = P u; `drift(q, u)` = dP/dt u; and
`rates(q, u)` = dq/dt. `angles` lists the coordinates that a full turn leaves as they are. No shape has a frame of its
own making: all follows from the axes as they were given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from .poses import IDENTITY, Array, Pose, matrix_quaternion, quaternion_matrix, quaternion_product, turn, unit

ZERO = np.zeros(3)


class Shape(Protocol):
    nq: int
    nu: int
    angles: tuple[int, ...]

    def pose(self, q: Array) -> Pose: ...
    def coordinates(self, pose: Pose) -> Array: ...
    def motion(self, q: Array) -> Array: ...
    def drift(self, q: Array, u: Array) -> Array: ...
    def rates(self, q: Array, u: Array) -> Array: ...


class _Simple:
    """Speeds are the rates of the coordinates, and P is constant unless a shape overrides it."""

    def rates(self, q: Array, u: Array) -> Array:
        return u

    def drift(self, q: Array, u: Array) -> Array:
        return np.zeros(6)


class Along(_Simple):
    """Fixed, revolute, prismatic and cylindrical joints: a turn about one axis, a slide along it, or both."""

    def __init__(self, axis: Array = ZERO, *, turns: bool = False, slides: bool = False) -> None:
        self.axis, self.turns, self.slides = axis, turns, slides
        self.nq = self.nu = turns + slides
        self.angles = (0,) if turns else ()

    def pose(self, q: Array) -> Pose:
        rotation = turn(self.axis, q[0]) if self.turns else np.eye(3)
        return Pose(rotation, self.axis * q[-1] if self.slides else ZERO)

    def coordinates(self, pose: Pose) -> Array:
        angle = [angle_about(self.axis, pose.rotation)] if self.turns else []
        return np.array([*angle, *([self.axis @ pose.position] if self.slides else [])])

    def motion(self, q: Array) -> Array:
        columns = [np.r_[self.axis, ZERO]] if self.turns else []
        return _columns(*columns, *([np.r_[ZERO, self.axis]] if self.slides else []))


class Screw(_Simple):
    """A turn about an axis and a slide along it, `pitch` m for each rad; the displacement determines the turn."""

    nq = nu = 1
    angles = ()

    def __init__(self, axis: Array, pitch: float) -> None:
        self.axis, self.pitch = axis, pitch

    def pose(self, q: Array) -> Pose:
        return Pose(turn(self.axis, q[0]), self.pitch * q[0] * self.axis)

    def coordinates(self, pose: Pose) -> Array:
        angle = angle_about(self.axis, pose.rotation)
        return np.array([angle + 2 * np.pi * np.round((self.axis @ pose.position / self.pitch - angle) / (2 * np.pi))])

    def motion(self, q: Array) -> Array:
        return _columns(np.r_[self.axis, self.pitch * self.axis])


class PinInSlot(_Simple):
    """A displacement along a slot of the parent, and a turn about an axis across it."""

    nq = nu = 2
    angles = (1,)

    def __init__(self, axis: Array, slot: Array) -> None:
        self.axis = axis
        self.slot = unit(slot - (slot @ axis) * axis)

    def pose(self, q: Array) -> Pose:
        return Pose(turn(self.axis, q[1]), q[0] * self.slot)

    def coordinates(self, pose: Pose) -> Array:
        return np.array([self.slot @ pose.position, angle_about(self.axis, pose.rotation)])

    def motion(self, q: Array) -> Array:
        return _columns(np.r_[ZERO, self.slot], np.r_[self.axis, ZERO])


class _Circle(_Simple):
    """A circle about `axis` that begins along `start`, with the centre at `radius` along axis x start."""

    def __init__(self, axis: Array, start: Array, radius: float) -> None:
        self.axis, self.radius = axis, radius
        self.start = unit(start - (start @ axis) * axis)
        self.centre = radius * np.cross(axis, self.start)

    def place(self, s: float) -> Array:
        return self.centre - turn(self.axis, s / self.radius) @ self.centre

    def tangent(self, s: float) -> Array:
        return turn(self.axis, s / self.radius) @ self.start

    def distance(self, place: Array) -> float:
        """Of the point of the circle nearest to a place."""
        arm = (place - self.centre) * np.sign(self.radius)
        across = -np.cross(self.axis, self.start)
        return self.radius * float(np.arctan2(arm @ self.start, arm @ across))


class CurvedSlide(_Circle):
    """A hinge about the centre of a circle, counted along it."""

    nq = nu = 1
    angles = ()

    def pose(self, q: Array) -> Pose:
        return Pose(turn(self.axis, q[0] / self.radius), self.place(q[0]))

    def coordinates(self, pose: Pose) -> Array:
        return np.array([self.radius * angle_about(self.axis, pose.rotation)])

    def motion(self, q: Array) -> Array:
        return _columns(np.r_[self.axis / self.radius, self.tangent(q[0])])

    def drift(self, q: Array, u: Array) -> Array:
        return np.r_[ZERO, np.cross(self.axis, self.tangent(q[0])) * u[0] ** 2 / self.radius]


class CurvedSlot(_Circle):
    """A displacement along a circle, and a turn about an axis parallel to that of the circle."""

    nq = nu = 2
    angles = (1,)

    def pose(self, q: Array) -> Pose:
        return Pose(turn(self.axis, q[1]), self.place(q[0]))

    def coordinates(self, pose: Pose) -> Array:
        return np.array([self.distance(pose.position), angle_about(self.axis, pose.rotation)])

    def motion(self, q: Array) -> Array:
        return _columns(np.r_[ZERO, self.tangent(q[0])], np.r_[self.axis, ZERO])

    def drift(self, q: Array, u: Array) -> Array:
        return np.r_[ZERO, np.cross(self.axis, self.tangent(q[0])) * u[0] ** 2 / self.radius]


class Universal(_Simple):
    """A turn about `first`, which stands in the parent, then about `second`, which stands in the child."""

    nq = nu = 2
    angles = (0, 1)

    def __init__(self, first: Array, second: Array) -> None:
        self.first = first
        self.second = unit(second - (second @ first) * first)  # typed axes are perpendicular to some digits only
        self.third = np.cross(self.first, self.second)

    def pose(self, q: Array) -> Pose:
        return Pose(turn(self.first, q[0]) @ turn(self.second, q[1]), ZERO)

    def coordinates(self, pose: Pose) -> Array:
        second, first = pose.rotation @ self.second, pose.rotation.T @ self.first
        return np.array(
            [
                np.arctan2(self.third @ second, self.second @ second),
                np.arctan2(self.third @ first, self.first @ first),
            ]
        )

    def motion(self, q: Array) -> Array:
        return _columns(np.r_[self.first, ZERO], np.r_[turn(self.first, q[0]) @ self.second, ZERO])

    def drift(self, q: Array, u: Array) -> Array:
        return np.r_[np.cross(self.first * u[0], turn(self.first, q[0]) @ self.second * u[1]), ZERO]


class Planar(_Simple):
    """Two displacements in the parent's plane, then a turn about its normal."""

    nq = nu = 3
    angles = (2,)

    def __init__(self, normal: Array) -> None:
        self.normal = normal
        start = np.eye(3)[1 if abs(normal[0]) > 0.9 else 0]
        self.x = unit(start - (start @ normal) * normal)
        self.y = np.cross(normal, self.x)

    def pose(self, q: Array) -> Pose:
        return Pose(turn(self.normal, q[2]), q[0] * self.x + q[1] * self.y)

    def coordinates(self, pose: Pose) -> Array:
        return np.array([self.x @ pose.position, self.y @ pose.position, angle_about(self.normal, pose.rotation)])

    def motion(self, q: Array) -> Array:
        return _columns(np.r_[ZERO, self.x], np.r_[ZERO, self.y], np.r_[self.normal, ZERO])


class Loose:
    """Spherical and free joints: a unit quaternion, after a position where `free`; speeds are in the child's axes."""

    angles = ()

    def __init__(self, *, free: bool) -> None:
        self.free = free
        self.nq, self.nu = (7, 6) if free else (4, 3)

    def pose(self, q: Array) -> Pose:
        return Pose(quaternion_matrix(unit(q[-4:])), q[:3] if self.free else ZERO)

    def coordinates(self, pose: Pose) -> Array:
        quaternion = matrix_quaternion(pose.rotation)
        return np.r_[pose.position, quaternion] if self.free else quaternion

    def motion(self, q: Array) -> Array:
        rotation, zero = self.pose(q).rotation, np.zeros((3, 3))
        return np.block([[rotation, zero], [zero, rotation]]) if self.free else np.vstack([rotation, zero])

    def drift(self, q: Array, u: Array) -> Array:
        """The columns turn with the child, about u[:3] itself."""
        return np.r_[ZERO, self.pose(q).rotation @ np.cross(u[:3], u[3:]) if self.free else ZERO]

    def rates(self, q: Array, u: Array) -> Array:
        turning = quaternion_product(q[-4:], np.r_[0.0, u[:3]]) / 2.0
        return np.r_[self.pose(q).rotation @ u[3:], turning] if self.free else turning


_SHAPES: dict[str, Callable[..., Shape]] = {
    "fixed": Along,
    "revolute": lambda axis: Along(axis, turns=True),
    "prismatic": lambda axis: Along(axis, slides=True),
    "cylindrical": lambda axis: Along(axis, turns=True, slides=True),
    "screw": Screw,
    "pin_in_slot": PinInSlot,
    "curved_slide": CurvedSlide,
    "curved_slot": CurvedSlot,
    "universal": Universal,
    "planar": Planar,
    "spherical": lambda: Loose(free=False),
    "free": lambda: Loose(free=True),
}


def shape_of(kind: Any) -> Shape:
    """The shape of a kind of joint; of the kind only its `type_name`, `axes` and parameter are read."""
    values = [kind.value] if kind.parameter else []
    return shape(kind.type_name, *(np.asarray(axis, float) for axis in kind.axes), *values)


def shape(type_name: str, *arguments: Array | float) -> Shape:
    return _SHAPES[type_name](*arguments)


def neutral(shape: Shape) -> Array:
    """The coordinates at which both frames coincide."""
    return shape.coordinates(IDENTITY)


def angle_about(axis: Array, rotation: Array) -> float:
    """Angle of a rotation about a unit axis, within half a turn."""
    cosine = (np.trace(rotation) - axis @ rotation @ axis) / 2.0
    return float(np.arctan2(axis @ sine_axis(rotation), cosine))


def sine_axis(rotation: Array) -> Array:
    """Axis of a rotation times the sine of its angle."""
    r = rotation
    return np.array([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]]) / 2.0


def _columns(*columns: Array) -> Array:
    return np.array(columns).reshape(-1, 6).T
