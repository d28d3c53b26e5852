"""An independent solution of the dynamics: every body with six velocities, every joint a set of constraint rows.

Unknown are the accelerations a of all bodies (6 each: [angular; linear of the centre of mass], world axes):

    M a = F + S' P tau + A' lambda,    A a = b,    A = C' S

S takes body velocities to the velocity of each joint's child relative to its parent, [angular; linear at the child
frame's origin]; P spans the motion a joint allows and C its complement. The null space of A is found by an SVD of dense
matrices, so redundant rows (planar loops of 3-D joints) do no harm and no joint is special for closing a loop.
Nothing is taken from the package under test but the fields of the description.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .body_forces import Loads, of_type, on_bodies, stored
from .placement import Values, joint_coordinate, joint_frames, joint_pose, sine_axis
from .poses import Array, Pose, cross_matrix


def _axis_motion(kind: Any, axis: Array) -> Array:
    """P (6, n): the relative velocity that each speed of a joint gives."""
    zero = np.zeros(3)
    columns = {"revolute": [np.r_[axis, zero]], "prismatic": [np.r_[zero, axis]], "fixed": []}[kind.type_name]
    return np.array(columns).reshape(-1, 6).T


@dataclass
class _Row:
    """What one joint says about the motion of all bodies."""

    joint: Any
    relative: Array  # S (6, 6 n)
    free: Array  # P (6, n_u)
    barred: Array  # C (6, 6 - n_u), orthonormal
    point: Array  # child frame's origin in the world
    axis: Array  # in the world


@dataclass
class Solution:
    """What the oracle finds for one state; arrays of bodies are in the order of the mechanism's bodies."""

    udot: dict[str, float]  # of all joints with a coordinate
    body_acceleration: Array  # (n, 6) [angular; linear of the centre of mass]
    reaction: dict[str, Array]  # (6,) [torque; force] on the child at the child frame's origin, without tau; least norm
    determined: dict[str, Array]  # (6, 6) projector onto the part of that wrench that the equations determine
    degrees_of_freedom: int


class Oracle:
    """The mechanism in one pose. `poses` must satisfy all joints (closed loops)."""

    def __init__(self, mechanism: Any, poses: Mapping[str, Pose]) -> None:
        self.mechanism = mechanism
        self.poses = poses
        self.bodies = list(mechanism.bodies.values())
        self.index = {body.name: i for i, body in enumerate(self.bodies)}
        self.com = [poses[b.name].position + poses[b.name].rotation @ np.asarray(b.com) for b in self.bodies]
        self.inertia = [poses[b.name].rotation @ b.inertia @ poses[b.name].rotation.T for b in self.bodies]
        self.rows = [self._row(joint) for joint in mechanism.joints.values()]
        self.constraints = np.vstack([row.barred.T @ row.relative for row in self.rows])
        u, s, vt = np.linalg.svd(self.constraints)
        self.rank = _clear_rank(s)
        self.conditioning = float(s[self.rank - 1] / s[0])  # 0 would be a singular pose
        self._u, self._s, self._vt = u, s, vt
        self.motions = vt[self.rank :].T  # (6 n, degrees of freedom), orthonormal

    # -- kinematics

    def gap(self) -> float:
        """Largest violation of a joint by the poses: frame origins in m, axes as a chord."""
        return max(float(np.abs(self._violation(row)).max(initial=0.0)) for row in self.rows)

    def _violation(self, row: _Row) -> Array:
        """Parts of the relative pose, taken in world axes, that the joint bars (the angles by their sines)."""
        parent, child = joint_frames(row.joint, self.poses)
        expected = parent.then(joint_pose(row.joint.kind, joint_coordinate(row.joint, self.poses)))
        angle = sine_axis(child.rotation @ expected.rotation.T)
        return row.barred.T @ np.r_[angle, child.position - parent.position]

    def coordinates(self) -> dict[str, float]:
        """Coordinates of all joints as the poses show them, angles within half a turn."""
        return {j.name: joint_coordinate(j, self.poses) for j in self.mechanism.joints.values() if j.kind.nq}

    def _row(self, joint: Any) -> _Row:
        parent, child = joint_frames(joint, self.poses)
        relative = np.zeros((6, 6 * len(self.bodies)))
        for name, sign in ((joint.parent, -1.0), (joint.child, 1.0)):
            if name != "ground":
                i = self.index[name]
                arm = cross_matrix(child.position - self.com[i])
                relative[:, 6 * i : 6 * i + 6] += sign * np.block([[np.eye(3), np.zeros((3, 3))], [-arm, np.eye(3)]])
        axis = parent.rotation @ getattr(joint.kind, "axis", np.zeros(3))
        free = _axis_motion(joint.kind, axis)
        full = np.linalg.qr(free, mode="complete")[0] if free.size else np.eye(6)
        return _Row(joint, relative, free, full[:, free.shape[1] :], child.position, axis)

    def velocities(self, u: Values) -> Array:
        """Body velocities (n, 6) that follow from joint speeds; as many may be given as are consistent."""
        known = [row for row in self.rows if row.joint.name in u and row.joint.kind.nu]
        matrix = np.vstack([self.constraints, *(row.free.T @ row.relative for row in known)])
        right = np.r_[np.zeros(len(self.constraints)), [u[row.joint.name] for row in known]]
        v, _, rank, _ = np.linalg.lstsq(matrix, right, rcond=1e-12)
        assert rank == matrix.shape[1], "the given speeds do not determine the motion"
        assert np.abs(matrix @ v - right).max() < 1e-9 * (1.0 + np.abs(right).max()), "the given speeds contradict"
        return v.reshape(-1, 6)

    def joint_speeds(self, v: Array) -> dict[str, float]:
        return {r.joint.name: float((r.free.T @ r.relative @ v.ravel())[0]) for r in self.rows if r.joint.kind.nu}

    def random_speeds(self, rng: np.random.Generator) -> dict[str, float]:
        """Speeds of all joints in a random admissible motion, the fastest of them 1 to 3."""
        speeds = self.joint_speeds(self.motions @ rng.normal(size=self.motions.shape[1]))
        largest = max((abs(value) for value in speeds.values()), default=0.0)
        scale = rng.uniform(1.0, 3.0) / largest if largest > 1e-12 else 0.0
        return {name: scale * value for name, value in speeds.items()}

    # -- dynamics

    def loads(self, u: Values, tau: Loads) -> dict[str, float]:
        """Load on each joint coordinate: what is applied and what springs and dampers in the joints add."""
        total = {row.joint.name: tau.get(row.joint.name, 0.0) for row in self.rows if row.joint.kind.nu}
        q = self.coordinates()
        for force in of_type(self.mechanism, "spring_damper"):
            total[force.joint] -= force.stiffness * (q[force.joint] - force.free) + force.damping * u[force.joint]
        return total

    def solve(self, u: Values, tau: Loads | None = None) -> Solution:
        """Accelerations and reactions for joint speeds `u` and loads `tau` by name."""
        v = self.velocities(u)
        speeds = self.joint_speeds(v)
        mass, force = self._newton_euler(v)
        force += on_bodies(self, u, tau or {}).ravel()
        loads = self.loads(speeds, tau or {})
        for row in self.rows:
            if row.joint.kind.nu:
                force += row.relative.T @ (row.free[:, 0] * loads[row.joint.name])
        bias = [self._bias(row, v, speeds) for row in self.rows]
        right = np.concatenate([row.barred.T @ b for row, b in zip(self.rows, bias, strict=True)])
        a = self._particular(right)
        z = self.motions
        a += z @ np.linalg.solve(z.T @ mass @ z, z.T @ (force - mass @ a))
        multipliers = self._multipliers(mass @ a - force)
        return Solution(
            udot={
                row.joint.name: float((row.free.T @ (row.relative @ a - b))[0])
                for row, b in zip(self.rows, bias, strict=True)
                if row.joint.kind.nu
            },
            body_acceleration=a.reshape(-1, 6),
            reaction=self._by_joint(multipliers),
            determined=self._determined(),
            degrees_of_freedom=z.shape[1],
        )

    def _newton_euler(self, v: Array) -> tuple[Array, Array]:
        n = len(self.bodies)
        mass, force = np.zeros((6 * n, 6 * n)), np.zeros(6 * n)
        for i, body in enumerate(self.bodies):
            w = v[i, :3]
            mass[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = self.inertia[i]
            mass[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = body.mass * np.eye(3)
            force[6 * i : 6 * i + 3] = -np.cross(w, self.inertia[i] @ w)
            force[6 * i + 3 : 6 * i + 6] = body.mass * np.asarray(self.mechanism.gravity)
        return mass, force

    def _bias(self, row: _Row, v: Array, speeds: Values) -> Array:
        """The part b (6,) of the relative acceleration, S a = P udot + b, that velocities alone decide."""
        bias = np.zeros(6)
        for name, sign in ((row.joint.parent, 1.0), (row.joint.child, -1.0)):
            if name != "ground":
                i = self.index[name]
                w = v[i, :3]
                bias[3:] += sign * np.cross(w, np.cross(w, row.point - self.com[i]))
        if row.joint.kind.nu and row.joint.parent != "ground":
            carried = np.cross(v[self.index[row.joint.parent], :3], row.axis * speeds[row.joint.name])
            if row.joint.kind.type_name == "revolute":
                bias[:3] += carried
            else:
                bias[3:] += 2 * carried  # Coriolis
        return bias

    def _particular(self, right: Array) -> Array:
        r = self.rank
        a = self._vt[:r].T @ ((self._u[:, :r].T @ right) / self._s[:r])
        assert np.abs(self.constraints @ a - right).max() < 1e-8 * (1.0 + np.abs(right).max()), "no such acceleration"
        return a

    def _multipliers(self, needed: Array) -> Array:
        r = self.rank
        return self._u[:, :r] @ ((self._vt[:r] @ needed) / self._s[:r])

    def _by_joint(self, multipliers: Array) -> dict[str, Array]:
        result, first = {}, 0
        for row in self.rows:
            count = row.barred.shape[1]
            result[row.joint.name] = row.barred @ multipliers[first : first + count]
            first += count
        return result

    def _determined(self) -> dict[str, Array]:
        """Wrenches that redundant rows can exchange freely are projected out, joint by joint."""
        exchange = self._u[:, self.rank :]
        result, first = {}, 0
        for row in self.rows:
            count = row.barred.shape[1]
            free, s, _ = np.linalg.svd(row.barred @ exchange[first : first + count])
            free = free[:, : int((s > 1e-7).sum())]
            result[row.joint.name] = np.eye(6) - free @ free.T
            first += count
        return result

    def imbalance(
        self, solution: Solution, u: Values, wrenches: Mapping[str, Array], tau: Loads | None = None
    ) -> Array:
        """What is missing in Newton's and Euler's equations of each body, (n, 6), relative to the largest term.

        `wrenches` are those of each joint on its child, (6,) [torque; force] at the child frame's origin, world axes,
        springs and driving loads included; those applied to bodies are in `tau`. Holds for any of the many sets that
        redundant joints allow.
        """
        mass, force = self._newton_euler(self.velocities(u))
        force += on_bodies(self, u, tau or {}).ravel()
        needed = mass @ solution.body_acceleration.ravel() - force
        terms = [row.relative.T @ wrenches[row.joint.name] for row in self.rows]
        largest = max(1.0, float(np.abs(needed).max()), *(float(np.abs(term).max()) for term in terms))
        return (needed - sum(terms)).reshape(-1, 6) / largest

    def with_loads(self, reactions: Mapping[str, Array], loads: Values) -> dict[str, Array]:
        """Reactions plus the loads that act along the joint coordinates."""
        extra = {r.joint.name: r.free[:, 0] * loads[r.joint.name] for r in self.rows if r.joint.kind.nu}
        return {name: wrench + extra.get(name, 0.0) for name, wrench in reactions.items()}

    def axial(self, wrenches: Mapping[str, Array]) -> dict[str, float]:
        """The part of each joint's wrench that does work on its coordinate."""
        return {r.joint.name: float(r.free[:, 0] @ wrenches[r.joint.name]) for r in self.rows if r.joint.kind.nu}

    def energy(self, u: Values) -> tuple[float, float]:
        """Kinetic and potential energy, the latter zero at the world's origin and in relaxed springs."""
        v = self.velocities(u)
        gravity = np.asarray(self.mechanism.gravity)
        kinetic = potential = 0.0
        for i, body in enumerate(self.bodies):
            kinetic += (v[i, :3] @ self.inertia[i] @ v[i, :3] + body.mass * v[i, 3:] @ v[i, 3:]) / 2
            potential -= body.mass * (gravity @ self.com[i])
        q = self.coordinates()
        springs = sum(f.stiffness * (q[f.joint] - f.free) ** 2 / 2 for f in of_type(self.mechanism, "spring_damper"))
        return float(kinetic), float(potential + springs + stored(self, u))


def _clear_rank(s: Array) -> int:
    """Rank by the gap among singular values; a state without a clear gap is no use as a reference."""
    rank = int((s > 1e-9 * s[0]).sum())
    assert s[rank - 1] > 1e-4 * s[0], f"nearly singular pose: {s[rank - 1] / s[0]:.1e}"
    return rank
