"""Mechanisms made from a pose in which they are closed.

Bodies get arbitrary frames in the world, joints get a point and an axis in the world and an arbitrary coordinate; the
joint frames in both bodies follow. So every joint, whether it will close a loop or not, is treated alike, no frame is
special, and the closed pose and the motions it admits are known without any assembly.
"""

from __future__ import annotations

import copy
import dataclasses
from dataclasses import dataclass

import numpy as np

import linkwork as lw

from .oracle import Oracle
from .poses import IDENTITY, Array, Pose, random_rotation, turn, unit


@dataclass
class Scene:
    """A mechanism with one admissible state: coordinates and speeds of all joints that have any, by name."""

    mechanism: lw.Mechanism
    poses: dict[str, Pose]
    q: dict[str, float]
    u: dict[str, float]
    oracle: Oracle


@dataclass
class _PlannedJoint:
    name: str
    kind: str
    parent: str
    child: str
    point: Array
    axis: Array
    q: float


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
        self.springs: list[tuple[str, float, float, float]] = []

    def body(self, near: Array) -> str:
        """A body with an arbitrary frame and a centre of mass somewhere near a point of the world."""
        name = f"b{len(self.poses)}"
        pose = Pose(random_rotation(self.rng), near + self.rng.uniform(-0.3, 0.3, 3))
        self.poses[name] = pose
        self.coms[name] = pose.inverse().then(Pose(np.eye(3), near + self.rng.uniform(-0.1, 0.1, 3))).position
        return name

    def joint(self, kind: str, parent: str, child: str, point: Array, axis: Array) -> str:
        name = f"j{len(self.planned) + 1}"
        if self.rng.random() < self.reverse:
            parent, child = child, parent
        reach = {"revolute": 2.5, "prismatic": 0.5, "fixed": 0.0}[kind]
        value = 0.0 if self.hard_points else self.rng.uniform(-reach, reach)
        self.planned.append(_PlannedJoint(name, kind, parent, child, np.asarray(point, float), unit(axis), value))
        return name

    def spring(self, joint: str) -> None:
        stiffness, damping, free = self.rng.uniform(1.0, 20.0), self.rng.uniform(0.1, 1.0), self.rng.uniform(-0.5, 0.5)
        self.springs.append((joint, stiffness, damping, free))

    def build(self, cut: tuple[str, ...] = ()) -> Scene:
        """`cut` names the joints that are to close loops; bodies and joints are added in random order."""
        mechanism = lw.Mechanism(self.name, gravity=tuple(self.rng.normal(scale=6.0, size=3)))
        bodies, joints = list(self.coms), list(self.planned)
        self.rng.shuffle(bodies)
        self.rng.shuffle(joints)
        for name in bodies:
            mass = self.rng.uniform(0.3, 3.0)
            pose = self.poses[name] if self.hard_points else IDENTITY
            mechanism.add_body(
                name,
                mass=mass,
                com=self.coms[name],
                inertia=random_inertia(self.rng, mass),
                origin=pose.position,
                rotation=pose.rotation,
            )
        for planned in joints:
            if self.hard_points:
                kind = self._kind(planned, planned.axis)
                ends = planned.parent, planned.child
                mechanism.add_joint(planned.name, kind, *ends, at=planned.point, cut=planned.name in cut)
            else:
                self._add(mechanism, planned, planned.name in cut)
        for joint, stiffness, damping, free in self.springs:
            mechanism.add_force(lw.SpringDamper(joint, stiffness=stiffness, damping=damping, free=free))
        oracle = Oracle(mechanism, self.poses)
        q = {joint.name: joint.q for joint in self.planned if joint.kind != "fixed"}
        return Scene(mechanism, self.poses, q, oracle.random_speeds(self.rng), oracle)

    def _add(self, mechanism: lw.Mechanism, planned: _PlannedJoint, cut: bool) -> None:
        child = Pose(random_rotation(self.rng), planned.point)
        axis = child.rotation.T @ planned.axis
        parent = child
        if planned.kind == "revolute":
            parent = Pose(child.rotation @ turn(axis, -planned.q), child.position)
        elif planned.kind == "prismatic":
            parent = Pose(child.rotation, child.position - planned.q * planned.axis)
        frames = [self.poses[b].inverse().then(f) for b, f in ((planned.parent, parent), (planned.child, child))]
        mechanism.add_joint(
            planned.name,
            self._kind(planned, axis),
            planned.parent,
            planned.child,
            parent_frame=lw.Frame(frames[0].position, frames[0].rotation),
            child_frame=lw.Frame(frames[1].position, frames[1].rotation),
            cut=cut,
        )

    @staticmethod
    def _kind(planned: _PlannedJoint, axis: Array) -> lw.JointKind:
        kinds = {"revolute": lw.Revolute, "prismatic": lw.Prismatic}
        return kinds[planned.kind](axis=axis) if planned.kind in kinds else lw.Fixed()


def cut_at(mechanism: lw.Mechanism, *joints: str) -> lw.Mechanism:
    """The same mechanism with other wishes where its loops are cut."""
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
        other.joints[name] = dataclasses.replace(joint, **frames)
    return other
