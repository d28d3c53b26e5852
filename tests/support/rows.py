"""Equations of bodies, joints, couplings and distances for the motion of all bodies: the rows of the oracle.

The motion of n bodies is one vector (6 n), body by body [angular; linear of the centre of mass] in world axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .joint_shapes import Shape, shape_of, sine_axis
from .placement import Value, Values, joint_frames, vector
from .poses import Array, Pose, cross_matrix


class Bodies:
    """The bodies of a mechanism in one pose."""

    def __init__(self, mechanism: Any, poses: Mapping[str, Pose]) -> None:
        self.all = list(mechanism.bodies.values())
        self.poses = poses
        self.index = {body.name: i for i, body in enumerate(self.all)}
        self.com = [poses[b.name].position + poses[b.name].rotation @ np.asarray(b.com) for b in self.all]
        self.inertia = [poses[b.name].rotation @ b.inertia @ poses[b.name].rotation.T for b in self.all]

    def at(self, name: str, point: Array) -> Array:
        """(6, 6 n) that takes the motion to one body's [angular; linear at a point of the world]."""
        result = np.zeros((6, 6 * len(self.all)))
        if name != "ground":
            i = self.index[name]
            result[:, 6 * i : 6 * i + 6] = np.eye(6)
            result[3:, 6 * i : 6 * i + 3] = -cross_matrix(point - self.com[i])
        return result

    def turning(self, name: str, v: Array) -> Array:
        """Angular velocity (3,) of a body."""
        return np.zeros(3) if name == "ground" else v.reshape(-1, 6)[self.index[name], :3]

    def centripetal(self, name: str, point: Array, v: Array) -> Array:
        """Acceleration (6,) that a turning body gives a point of its own beyond that of its centre of mass."""
        w = self.turning(name, v)
        arm = np.zeros(3) if name == "ground" else point - self.com[self.index[name]]
        return np.r_[np.zeros(3), np.cross(w, np.cross(w, arm))]

    def mass_matrix(self) -> Array:
        mass = np.zeros((6 * len(self.all), 6 * len(self.all)))
        for i, body in enumerate(self.all):
            mass[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = self.inertia[i]
            mass[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = body.mass * np.eye(3)
        return mass

    def weight(self, v: Array, gravity: Array) -> Array:
        """Weights less gyroscopic terms, (6 n)."""
        force = np.zeros(6 * len(self.all))
        for i, (body, w) in enumerate(zip(self.all, v.reshape(-1, 6)[:, :3], strict=True)):
            force[6 * i : 6 * i + 3] = -np.cross(w, self.inertia[i] @ w)
            force[6 * i + 3 : 6 * i + 6] = body.mass * gravity
        return force


class JointRow:
    """One joint: S = `relative` (6, 6 n), P = `free` (6, nu) and its complement `barred` C (6, 6 - nu).

    The relative velocity [angular; of the child frame's origin, as seen from the parent] is S v = P u in world axes.
    """

    def __init__(self, joint: Any, bodies: Bodies, q: Value | None) -> None:
        self.joint, self.bodies = joint, bodies
        self.name: str = joint.name
        self.shape: Shape = shape_of(joint.kind)
        self.parent, self.child = joint_frames(joint, bodies.poses)
        self.point = self.child.position
        self.q = self._nearest_turn(q)
        self.relative = bodies.at(joint.child, self.point) - bodies.at(joint.parent, self.point)
        self.free = self._to_world(self.shape.motion(self.q))
        self.dual = np.linalg.pinv(self.free).T  # (6, nu): its products with the relative velocity are the speeds
        full = np.linalg.qr(self.free, mode="complete")[0] if self.shape.nu else np.eye(6)
        self.barred = full[:, self.shape.nu :]
        self.rotors = np.diag(getattr(joint, "reflected_inertia", np.zeros(self.shape.nu)))  # pins have none

    def _nearest_turn(self, given: Value | None) -> Array:
        """The coordinates that the poses show; of `given` only full turns and the sign of a quaternion are taken."""
        q = self.shape.coordinates(self.parent.inverse().then(self.child))
        if given is not None:
            for k in self.shape.angles:
                q[k] += 2 * np.pi * np.round((vector(given)[k] - q[k]) / (2 * np.pi))
            if self.shape.nq > self.shape.nu:
                q[-4:] *= np.sign(vector(given)[-4:] @ q[-4:])
        return q

    def _to_world(self, motion: Array) -> Array:
        r = self.parent.rotation
        return np.concatenate([r @ motion[:3], r @ motion[3:]])

    def speeds(self, v: Array) -> Array:
        return self.dual.T @ (self.relative @ v.ravel())

    def bias(self, v: Array, u: Array) -> Array:
        """b (6,) of the relative acceleration S a = P udot + b: what velocities alone decide."""
        carrier = self.bodies.turning(self.joint.parent, v)
        relative = self.free @ u
        carried = np.r_[np.cross(carrier, relative[:3]), 2 * np.cross(carrier, relative[3:])]  # the second is Coriolis
        ends = [self.bodies.centripetal(body, self.point, v) for body in (self.joint.parent, self.joint.child)]
        return self._to_world(self.shape.drift(self.q, u)) + carried + ends[0] - ends[1]

    def inertia(self) -> Array:
        """Of the rotors that turn with the speeds, over the velocities of all bodies, (6 n, 6 n)."""
        speeds = self.dual.T @ self.relative
        return speeds.T @ self.rotors @ speeds

    def violation(self) -> Array:
        """Parts (6 - nu,) of the relative pose that the joint bars: m, and angles by their sines."""
        expected = self.parent.then(self.shape.pose(self.q))
        angle = sine_axis(self.child.rotation @ expected.rotation.T)
        return self.barred.T @ np.r_[angle, self.point - expected.position]


@dataclass(frozen=True)
class Gear:
    """A coupling: the sum of c1 q + c2 q^2 + ... over coordinates, "A" or "U[2]", is `offset`."""

    terms: Mapping[str, float | Sequence[float]]
    offset: float = 0.0

    @property
    def given(self) -> dict[str, object]:
        """What `add_coupling` takes besides terms."""
        return {}

    @property
    def coordinates(self) -> dict[str, tuple[str, int]]:
        """Joint and element of each."""
        parts = {name: name.removesuffix("]").split("[") for name in self.terms}
        return {name: (joint, int(*element or [1]) - 1) for name, (joint, *element) in parts.items()}

    def slopes(self, q: Values, order: int = 1) -> dict[str, float]:
        """Derivative of each coordinate's polynomial; of order 0 the polynomial itself."""
        slopes = {}
        for name, (joint, element) in self.coordinates.items():
            polynomial = np.polynomial.Polynomial(np.r_[0.0, self.terms[name]])
            slopes[name] = float(polynomial.deriv(order)(float(vector(q[joint])[element])))
        return slopes

    def residual(self, q: Values) -> float:
        return sum(self.slopes(q, 0).values()) - self.offset

    def bend(self, q: Values, u: Values) -> float:
        """What its second derivative by time has besides slopes times accelerations."""
        curvatures = self.slopes(q, 2)
        of = self.coordinates.items()
        return sum(curvatures[name] * float(vector(u[joint])[element]) ** 2 for name, (joint, element) in of)

    def loads(self, q: Values, load: float) -> dict[str, Array]:
        """What the coupling's load gives each of its joints."""
        result = {joint: np.zeros(np.size(q[joint])) for joint, _ in self.coordinates.values()}
        for name, slope in self.slopes(q).items():
            joint, element = self.coordinates[name]
            result[joint][element] += slope * load
        return result


class GearRow:
    """A coupling as one row of the equations, scaled to entries of order 1."""

    def __init__(self, gear: Gear, rows: Mapping[str, JointRow]) -> None:
        self.gear = gear
        self.q = {joint: rows[joint].q for joint, _ in gear.coordinates.values()}
        self.slopes = gear.slopes(self.q)
        self.scale = max(map(abs, self.slopes.values()))
        self.axes = {name: rows[joint].dual[:, element] for name, (joint, element) in gear.coordinates.items()}
        rates = [slope * self.axes[n] @ rows[gear.coordinates[n][0]].relative for n, slope in self.slopes.items()]
        self.matrix = np.sum(rates, axis=0)[None, :] / self.scale  # (1, 6 n)

    def right(self, u: Values, bias: Mapping[str, Array]) -> Array:
        """What the row times the accelerations of all bodies must be, (1,)."""
        total = -self.gear.bend(self.q, u)
        for name, (joint, _) in self.gear.coordinates.items():
            total += self.slopes[name] * float(self.axes[name] @ bias[joint])
        return np.array([total / self.scale])


class DistanceRow:
    """A distance between points of two bodies as one row of the equations: the line between them times motions."""

    def __init__(self, given: Any, bodies: Bodies) -> None:
        self.given, self.bodies = given, bodies
        poses = [bodies.poses[name] for name in given.bodies]
        self.ends = [p.position + p.rotation @ np.asarray(at, float) for p, at in zip(poses, given.points, strict=True)]
        self.length = float(np.linalg.norm(self.ends[1] - self.ends[0]))
        self.line = (self.ends[1] - self.ends[0]) / self.length
        first, second = (bodies.at(name, end)[3:] for name, end in zip(given.bodies, self.ends, strict=True))
        self.apart = second - first  # (3, 6 n): its product with the motion is the relative velocity of the ends
        self.matrix = self.line[None, :] @ self.apart

    def residual(self) -> float:
        return self.length - self.given.length

    def right(self, v: Array) -> Array:
        """What the row times the accelerations of all bodies must be, (1,)."""
        across = self.apart @ v.ravel()
        across -= self.line * (self.line @ across)
        turning = [
            self.bodies.centripetal(name, end, v)[3:] for name, end in zip(self.given.bodies, self.ends, strict=True)
        ]
        return np.array([-(across @ across) / self.length - self.line @ (turning[1] - turning[0])])
