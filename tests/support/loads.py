"""Springs, dampers and applied wrenches, each by its definition."""

from __future__ import annotations

from collections.abc import Iterable
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

    def tension(self, v: Array) -> float:
        rate = float(self.stretching @ v.ravel())
        return self.given.stiffness * (self.length - self.given.free) + self.given.damping * rate

    def potential(self) -> float:
        return self.given.stiffness * (self.length - self.given.free) ** 2 / 2


def joint_springs(mechanism: Any) -> list[Any]:
    return [force for force in mechanism.forces if not getattr(force, "bodies", None)]


def point_springs(mechanism: Any, bodies: Bodies) -> list[PointSpring]:
    return [PointSpring(force, bodies) for force in mechanism.forces if getattr(force, "bodies", None)]


def joint_loads(mechanism: Any, rows: Iterable[JointRow], u: Values, tau: Values) -> dict[str, Array]:
    """Loads (nu,) along the speeds of each joint: what is applied and what springs and dampers add."""
    total = {r.name: np.array(vector(tau.get(r.name, np.zeros(r.shape.nu)))) for r in rows if r.shape.nu}
    q = {r.name: r.q for r in rows}
    for force in joint_springs(mechanism):
        total[force.joint] -= np.multiply(force.damping, vector(u[force.joint]))
        if np.any(force.stiffness):
            total[force.joint] -= np.multiply(force.stiffness, q[force.joint] - force.free)
    return total


def springs_potential(mechanism: Any, bodies: Bodies, rows: Iterable[JointRow]) -> float:
    """Energy stored in all springs."""
    q = {r.name: r.q for r in rows}
    total = sum(spring.potential() for spring in point_springs(mechanism, bodies))
    for force in joint_springs(mechanism):
        if np.any(force.stiffness):
            total += float(np.sum(np.multiply(force.stiffness, (q[force.joint] - force.free) ** 2)) / 2)
    return total
