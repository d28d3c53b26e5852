"""Mechanisms made from a pose in which they are closed.

Bodies get arbitrary frames in the world, joints get a point and axes in the world and arbitrary coordinates; the joint
frames in both bodies follow. So every joint, whether it will close a loop or not, is treated alike, no frame is
special, and the closed pose and the motions it admits are known without any assembly.
"""

from __future__ import annotations

import copy
import dataclasses
from dataclasses import dataclass, field

import numpy as np

import linkwork as lw

from .joint_shapes import Shape, neutral, shape
from .oracle import Oracle
from .placement import Value, plain
from .poses import IDENTITY, Array, Pose, random_rotation, random_unit, turn, unit
from .rows import Gear


@dataclass
class Scene:
    """A mechanism with one admissible state: coordinates and speeds of all joints that have any, by name."""

    mechanism: lw.Mechanism
    poses: dict[str, Pose]
    q: dict[str, Value]
    u: dict[str, Value]
    oracle: Oracle
    gears: dict[str, Gear] = field(default_factory=dict)


@dataclass
class _PlannedJoint:
    name: str
    kind: str
    parent: str
    child: str
    point: Array
    axes: tuple[Array, ...]  # in the world, in the pose of the scene
    q: Array
    values: tuple[float, ...] = ()  # of the kind's parameter


KINDS = {"fixed": "Fixed", "revolute": "Revolute", "prismatic": "Prismatic", "universal": "Universal"}
KINDS |= {"cylindrical": "Cylindrical", "planar": "Planar", "spherical": "Spherical", "free": "Free"}
KINDS |= {"screw": "Screw", "pin_in_slot": "PinInSlot", "curved_slide": "CurvedSlide", "curved_slot": "CurvedSlot"}
NUMBER_OF_AXES = {"fixed": 0, "spherical": 0, "free": 0}  # all others have one
NUMBER_OF_AXES |= dict.fromkeys(("universal", "pin_in_slot", "curved_slide", "curved_slot"), 2)


def random_inertia(rng: np.random.Generator, mass: float, size: float = 0.3) -> Array:
    """Inertia about the centre of mass of random mass points: every one of them is physically possible."""
    points = rng.normal(scale=size, size=(6, 3))
    points -= points.mean(axis=0)
    return mass / 6 * sum((p @ p) * np.eye(3) - np.outer(p, p) for p in points)


class Builder:
    """Collects bodies and joints in the world; `build` turns them into a `Scene`."""

    def __init__(
        self, rng: np.random.Generator, name: str = "random", *, reverse: float = 0.4, hard_points: bool = False
    ) -> None:
        self.rng = rng
        self.name = name
        self.reverse = reverse  # share of the joints whose parent and child are exchanged
        self.hard_points = hard_points  # the pose is the reference pose, where all coordinates are zero
        self.poses: dict[str, Pose] = {"ground": IDENTITY}
        self.coms: dict[str, Array] = {}
        self.planned: list[_PlannedJoint] = []
        self.springs: list[lw.SpringDamper] = []
        self.gears: dict[str, Gear] = {}

    def body(self, near: Array) -> str:
        """A body with an arbitrary frame and a centre of mass somewhere near a point of the world."""
        name = f"b{len(self.poses)}"
        pose = Pose(random_rotation(self.rng), near + self.rng.uniform(-0.3, 0.3, 3))
        self.poses[name] = pose
        self.coms[name] = _within(pose, near + self.rng.uniform(-0.1, 0.1, 3))
        return name

    def joint(
        self, kind: str, parent: str, child: str, point: Array, axis: Array, *, reverse: bool | None = None
    ) -> str:
        """`axis` (3,) in the world; for a universal joint (2, 3), the first in `parent`, or one and the other is drawn.

        Parent and child may be exchanged.
        """
        name = f"j{len(self.planned) + 1}"
        exchanged = self.rng.random() < self.reverse if reverse is None else reverse
        axes = self._axes(kind, np.asarray(axis, float))
        if exchanged:
            parent, child, axes = child, parent, axes[::-1] if kind == "universal" else axes
        values = random_values(self.rng, kind)
        form = shape(kind, *axes, *values)
        q = neutral(form) if self.hard_points else random_coordinates(self.rng, form)
        self.planned.append(_PlannedJoint(name, kind, parent, child, np.asarray(point, float), axes, q, values))
        return name

    def spring(self, joint: str) -> None:
        """A spring and damper on all coordinates of a joint; only a damper where a quaternion is among them."""
        planned = self._named(joint)
        form = shape(planned.kind, *planned.axes, *planned.values)
        size = None if form.nu == 1 else form.nu
        given = {"stiffness": (1.0, 20.0), "damping": (0.1, 1.0), "free": (-0.5, 0.5)}
        values = {key: self.rng.uniform(*between, size) for key, between in given.items()}
        if form.nq > form.nu:
            values = {"damping": values["damping"]}
        self.springs.append(lw.SpringDamper(joint, **values))

    def point_spring(self, first: str, second: str) -> None:
        """A spring and damper between points of two bodies near their origins."""
        points = [self.rng.uniform(-0.3, 0.3, 3) for _ in range(2)]
        ends = [self.poses[b].then(Pose(np.eye(3), p)).position for b, p in zip((first, second), points, strict=True)]
        free = self.rng.uniform(0.5, 1.5) * np.linalg.norm(ends[1] - ends[0])
        stiffness, damping = self.rng.uniform(1.0, 20.0), self.rng.uniform(0.1, 1.0)
        given = {"stiffness": stiffness, "damping": damping, "free": float(free)}
        name = f"s{len(self.springs) + 1}"
        self.springs.append(lw.SpringDamper(bodies=(first, second), points=tuple(points), **given, name=name))

    def gear(self, *coordinates: str, degree: int = 1) -> str:
        """A coupling of coordinates, "j1" or "j1[2]", with polynomials of a degree, that holds in this pose."""
        name = f"g{len(self.gears) + 1}"
        signs = self.rng.choice([-1, 1], (len(coordinates), degree))
        factors = self.rng.uniform(0.5, 3.0, (len(coordinates), degree)) * signs
        terms = dict(zip(coordinates, factors.tolist(), strict=True))
        offset = Gear(terms).residual({planned.name: plain(planned.q) for planned in self.planned})
        self.gears[name] = Gear(terms, offset)
        return name

    def build(self, cut: tuple[str, ...] = ()) -> Scene:
        """`cut` names the joints that are to close loops; bodies and joints are added in random order."""
        mechanism = lw.Mechanism(self.name, gravity=tuple(self.rng.normal(scale=6.0, size=3)))
        bodies, joints = list(self.coms), list(self.planned)
        self.rng.shuffle(bodies)
        self.rng.shuffle(joints)
        for name in bodies:
            mass = self.rng.uniform(0.3, 3.0)
            pose = self.poses[name] if self.hard_points else IDENTITY
            inertia = random_inertia(self.rng, mass)
            place = {"origin": pose.position, "rotation": pose.rotation}
            mechanism.add_body(name, mass=mass, com=self.coms[name], inertia=inertia, **place)
        for planned in joints:
            self._add(mechanism, planned, planned.name in cut)
        for spring in self.springs:
            mechanism.add_force(spring)
        for name, gear in self.gears.items():
            mechanism.add_coupling(name, gear.terms, offset=gear.offset)
        q = {joint.name: plain(joint.q) for joint in self.planned if joint.kind != "fixed"}
        oracle = Oracle(mechanism, self.poses, q, gears=self.gears)
        return Scene(mechanism, self.poses, q, oracle.random_speeds(self.rng), oracle, self.gears)

    def _named(self, joint: str) -> _PlannedJoint:
        return next(planned for planned in self.planned if planned.name == joint)

    def _axes(self, kind: str, given: Array) -> tuple[Array, ...]:
        count = NUMBER_OF_AXES.get(kind, 1)
        if count == 2 and given.ndim == 1:
            pair = np.array([given, np.cross(given, random_unit(self.rng))])
            given = pair[:: int(self.rng.choice([-1, 1]))]
        return tuple(unit(axis) for axis in np.atleast_2d(given)[:count])

    def _add(self, mechanism: lw.Mechanism, planned: _PlannedJoint, cut: bool) -> None:
        ends = planned.parent, planned.child
        if self.hard_points:
            kind = getattr(lw, KINDS[planned.kind])(*planned.axes, *planned.values)
            mechanism.add_joint(planned.name, kind, *ends, at=planned.point, cut=cut)
            return
        child = Pose(random_rotation(self.rng), planned.point)
        axes = self._in_joint(planned, child.rotation)
        parent = child.then(shape(planned.kind, *axes, *planned.values).pose(planned.q).inverse())
        frames = [self.poses[b].inverse().then(frame) for b, frame in zip(ends, (parent, child), strict=True)]
        mechanism.add_joint(
            planned.name,
            getattr(lw, KINDS[planned.kind])(*axes, *planned.values),
            *ends,
            parent_frame=lw.Frame(frames[0].position, frames[0].rotation),
            child_frame=lw.Frame(frames[1].position, frames[1].rotation),
            cut=cut,
        )

    @staticmethod
    def _in_joint(planned: _PlannedJoint, child: Array) -> list[Array]:
        """Axes in the joint frame, such that they stand in the world as planned when the coordinates are q."""
        axes = [child.T @ axis for axis in planned.axes]
        if planned.kind == "universal":  # the first one stands in the parent: the child has turned about the second
            axes[0] = turn(axes[1], planned.q[1]) @ axes[0]
        elif planned.kind == "pin_in_slot":  # its slot stands in the parent
            axes[1] = turn(axes[0], planned.q[1]) @ axes[1]
        elif planned.kind in ("curved_slide", "curved_slot"):  # and so does the beginning of a circle
            turned = planned.q[0] / planned.values[0] if planned.kind == "curved_slide" else planned.q[1]
            axes[1] = turn(axes[0], turned) @ axes[1]
        return axes


def random_values(rng: np.random.Generator, kind: str) -> tuple[float, ...]:
    """The pitch of a screw, m/rad, of either hand, or the radius of a circle."""
    between = {"screw": (0.05, 0.4), "curved_slide": (0.3, 1.5), "curved_slot": (0.3, 1.5)}.get(kind)
    return (float(rng.uniform(*between) * rng.choice([-1, 1])),) if between else ()


def random_coordinates(rng: np.random.Generator, form: Shape, angle: float = 2.5, slide: float = 0.5) -> Array:
    """Coordinates of a joint, angles and displacements up to the given ones."""
    if form.nq > form.nu:
        return np.r_[rng.uniform(-slide, slide, form.nq - 4), unit(rng.normal(size=4))]
    return np.array([rng.uniform(-1, 1) * (angle if k in form.angles else slide) for k in range(form.nq)])


def _within(pose: Pose, point: Array) -> Array:
    """A point of the world in the frame `pose`."""
    return pose.inverse().then(Pose(np.eye(3), point)).position


def cut_at(mechanism: lw.Mechanism, *joints: str) -> lw.Mechanism:
    """The same mechanism with other requests for cut joints."""
    other = copy.deepcopy(mechanism)
    for name, given in mechanism.joints.items():
        other.joints[name] = dataclasses.replace(given, cut=name in joints)
    return other


def scaled(mechanism: lw.Mechanism, size: float) -> lw.Mechanism:
    """The same mechanism with all lengths, and gravity, times `size`."""
    other = copy.deepcopy(mechanism)
    other.gravity = mechanism.gravity * size
    for name, body in mechanism.bodies.items():
        lengths = {"com": body.com * size, "origin": body.origin * size}
        other.bodies[name] = dataclasses.replace(body, inertia=body.inertia * size**2, **lengths)
    for name, joint in mechanism.joints.items():
        frames = {
            end: lw.Frame(frame.position * size, frame.rotation)
            for end, frame in (("parent_frame", joint.parent_frame), ("child_frame", joint.child_frame))
        }
        kind = lw.Screw(joint.kind.axis, joint.kind.pitch * size) if hasattr(joint.kind, "pitch") else joint.kind
        other.joints[name] = dataclasses.replace(joint, kind=kind, **frames)
    return other


def moved(mechanism: lw.Mechanism, by: Array) -> lw.Mechanism:
    """The same mechanism, given by frames, at another place in the world."""
    other = copy.deepcopy(mechanism)
    for name, joint in mechanism.joints.items():
        for end in ("parent", "child"):
            frame = getattr(joint, f"{end}_frame")
            if getattr(joint, end) == "ground":
                there = lw.Frame(frame.position + by, frame.rotation)
                other.joints[name] = dataclasses.replace(joint, **{f"{end}_frame": there})
    return other
