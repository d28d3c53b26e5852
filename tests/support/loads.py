"""Springs, dampers and applied wrenches, each by its definition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .placement import Values, vector
from .poses import Array
from .rows import Bodies, JointRow


@dataclass(frozen=True)
class Wrench:
    """A torque and a force on a body, both in world axes; the force acts at a point given in the body's frame."""

    body: str
    torque: Array
    force: Array
    point: Array

    def on(self, bodies: Bodies) -> Array:
        """As a generalised force (6 n)."""
        pose = bodies.poses[self.body]
        return bodies.at(self.body, pose.position + pose.rotation @ self.point).T @ np.r_[self.torque, self.force]


class PointSpring:
    """A spring and damper along the line between points of two bodies."""

    def __init__(self, given: Any, bodies: Bodies) -> None:
        self.given = given
        poses = [bodies.poses[name] for name in given.bodies]
        ends = [p.position + p.rotation @ np.asarray(at, float) for p, at in zip(poses, given.points, strict=True)]
        self.length = float(np.linalg.norm(ends[1] - ends[0]))
        line = (ends[1] - ends[0]) / self.length
        first, second = (bodies.at(name, end)[3:] for name, end in zip(given.bodies, ends, strict=True))
        self.stretching = line @ (second - first)  # (6 n): its product with the motion is the rate of the length

    def rate(self, v: Array) -> float:
        """Of the length."""
        return float(self.stretching @ v.ravel())

    def tension(self, v: Array) -> float:
        return self.given.stiffness * (self.length - self.given.free) + self.given.damping * self.rate(v)

    def potential(self) -> float:
        return self.given.stiffness * (self.length - self.given.free) ** 2 / 2


def joint_springs(mechanism: Any) -> list[Any]:
    return [force for force in mechanism.forces if hasattr(force, "joint")]


def point_springs(mechanism: Any, bodies: Bodies) -> list[PointSpring]:
    return [PointSpring(force, bodies) for force in mechanism.forces if hasattr(force, "bodies")]


def applied_wrenches(mechanism: Any, loads: Mapping[str, Any]) -> list[Wrench]:
    """Of all wrenches of a mechanism, with force and torque by the names of the package, "push.F" and "push.T"."""
    none = np.zeros(3)
    given = [force for force in mechanism.forces if hasattr(force, "body")]
    return [
        Wrench(w.body, loads.get(f"{w.name}.T", none), loads.get(f"{w.name}.F", none), np.array(w.point)) for w in given
    ]


def joint_loads(mechanism: Any, rows: Iterable[JointRow], u: Values, tau: Values) -> dict[str, Array]:
    """Loads (nu,) along the speeds of each joint: applied loads, springs and dampers."""
    total = {r.name: np.array(vector(tau.get(r.name, np.zeros(r.shape.nu)))) for r in rows if r.shape.nu}
    q = {r.name: r.q for r in rows}
    for force in joint_springs(mechanism):
        total[force.joint] -= np.multiply(force.damping, vector(u[force.joint]))
        if np.any(force.stiffness):
            total[force.joint] -= np.multiply(force.stiffness, q[force.joint] - force.free)
    return total


def dissipation(mechanism: Any, bodies: Bodies, u: Values, v: Array) -> float:
    """Power that all dampers take."""
    in_joints = (np.sum(np.multiply(force.damping, np.square(u[force.joint]))) for force in joint_springs(mechanism))
    between = (spring.given.damping * spring.rate(v) ** 2 for spring in point_springs(mechanism, bodies))
    return float(sum(in_joints) + sum(between))


def springs_potential(mechanism: Any, bodies: Bodies, rows: Iterable[JointRow]) -> float:
    """Energy stored in all springs."""
    q = {r.name: r.q for r in rows}
    total = sum(spring.potential() for spring in point_springs(mechanism, bodies))
    for force in joint_springs(mechanism):
        if np.any(force.stiffness):
            total += float(np.sum(np.multiply(force.stiffness, (q[force.joint] - force.free) ** 2)) / 2)
    return total
