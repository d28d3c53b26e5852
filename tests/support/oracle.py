"""An independent solution of the dynamics: every body with six velocities, every joint a set of constraint rows.

Unknown are the accelerations a of all bodies (6 each: [angular; linear of the centre of mass], world axes):

    M a = F + S' P (tau - J udot) + A' lambda,    A a = b,    A = C' S

S takes body velocities to the velocity of each joint's child relative to its parent, [angular; linear at the child
frame's origin]; J are the reflected inertias, P spans the motion a joint allows and C its complement. A coupling, and a
joint whose motion is given, add rows of P' S; a distance adds that of the line between its points. The null space of A
is found by an SVD of dense matrices, so redundant rows (planar loops of 3-D joints) do no harm and no joint is special
for closing a loop. Nothing is taken from the package under test but the fields of the description.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .constrained import Constrained
from .loads import Wrench, joint_loads, point_springs, springs_potential
from .placement import Value, Values, plain, vector
from .poses import Array, Pose
from .rows import Bodies, DistanceRow, Gear, GearRow, JointRow


@dataclass
class Solution:
    """What the oracle finds for one state; arrays of bodies are in the order of the mechanism's bodies."""

    udot: dict[str, Value]  # of all joints with a coordinate
    body_acceleration: Array  # (n, 6) [angular; linear of the centre of mass]
    force: Array  # (6 n) on all bodies by gravity, gyroscopic terms, springs between points and applied wrenches
    reaction: dict[str, Array]  # (6,) [torque; force] on the child at the child frame's origin, without tau; least norm
    determined: dict[str, Array]  # (6, 6) projector onto the part of that wrench that the equations determine
    gear: dict[str, float]  # load of each coupling: it loads a coordinate with d(coupling)/dq times this
    drive: dict[str, Value]  # load that gives a driven joint its motion
    degrees_of_freedom: int
    tension: dict[str, float] = field(default_factory=dict)  # of each distance: pulls its ends together
    multiplier_determined: dict[str, bool] = field(default_factory=dict)  # of couplings, distances and driven joints


class Oracle(Constrained):
    """The mechanism in one pose. `poses` must satisfy all joints (closed loops).

    Of `q` only what poses do not show is used: full turns, and the signs of quaternions. `driven` names joints whose
    accelerations `solve` is given.
    """

    def __init__(
        self,
        mechanism: Any,
        poses: Mapping[str, Pose],
        q: Values | None = None,
        *,
        gears: Mapping[str, Gear] | None = None,
        driven: Collection[str] = (),
    ) -> None:
        self.mechanism = mechanism
        self.poses = poses
        self.bodies = Bodies(mechanism, poses)
        self.com, self.inertia = self.bodies.com, self.bodies.inertia
        self.rows = [JointRow(joint, self.bodies, (q or {}).get(joint.name)) for joint in mechanism.joints.values()]
        self.moving = {row.name: row for row in self.rows if row.shape.nu}
        self.gears = {name: GearRow(gear, self.moving) for name, gear in (gears or {}).items()}
        self.distances = {name: DistanceRow(given, self.bodies) for name, given in mechanism.distances.items()}
        self.driven = list(driven)
        blocks = [row.barred.T @ row.relative for row in self.rows] + [gear.matrix for gear in self.gears.values()]
        blocks += [row.matrix for row in self.distances.values()]
        blocks += [self.moving[name].dual.T @ self.moving[name].relative for name in self.driven]
        self._ends = np.cumsum([len(block) for block in blocks])
        self.constraints = np.vstack([np.zeros((1, 6 * len(self.bodies.all))), *blocks])[1:]

    # -- kinematics

    def gap(self) -> float:
        """Largest violation of a joint, coupling or distance by the poses: frame origins in m, axes as a chord."""
        largest = max(float(np.abs(violation).max(initial=0.0)) for violation in self.violations().values())
        residuals = [row.gear.residual(row.q) for row in self.gears.values()]
        residuals += [row.residual() for row in self.distances.values()]
        return max([largest, *map(abs, residuals)])

    def violations(self) -> dict[str, Array]:
        """What each joint bars and the poses have."""
        return {row.name: row.violation() for row in self.rows}

    def coordinates(self) -> dict[str, Value]:
        """Coordinates of all joints as the poses show them."""
        return {name: plain(row.q) for name, row in self.moving.items()}

    def velocities(self, u: Values) -> Array:
        """Body velocities (n, 6) that follow from joint speeds; as many may be given as are consistent."""
        known = [row for name, row in self.moving.items() if name in u]
        matrix = np.vstack([self.constraints, *(row.dual.T @ row.relative for row in known)])
        barred = np.zeros(len(self.constraints) - sum(self.moving[name].shape.nu for name in self.driven))
        right = np.concatenate([barred, *(vector(u[n]) for n in self.driven), *(vector(u[r.name]) for r in known)])
        v, _, rank, _ = np.linalg.lstsq(matrix, right, rcond=1e-12)
        assert rank == matrix.shape[1], "the given speeds do not determine the motion"
        assert np.abs(matrix @ v - right).max() < 1e-9 * (1.0 + np.abs(right).max()), "the given speeds contradict"
        return v.reshape(-1, 6)

    def joint_speeds(self, v: Array) -> dict[str, Value]:
        return {name: plain(row.speeds(v)) for name, row in self.moving.items()}

    def random_speeds(self, rng: np.random.Generator) -> dict[str, Value]:
        """Speeds of all joints in a random admissible motion, the fastest of them 1 to 3."""
        speeds = self.joint_speeds(self.motions @ rng.normal(size=self.motions.shape[1]))
        largest = max((float(np.abs(value).max()) for value in speeds.values()), default=0.0)
        scale = rng.uniform(1.0, 3.0) / largest if largest > 1e-12 else 0.0
        return {name: scale * value for name, value in speeds.items()}

    # -- dynamics

    def loads(self, u: Values, tau: Values) -> dict[str, Value]:
        """Load on each joint along its speeds: applied loads, springs and dampers."""
        return {name: plain(load) for name, load in joint_loads(self.mechanism, self.rows, u, tau).items()}

    def solve(
        self,
        u: Values,
        tau: Values | None = None,
        *,
        wrenches: Sequence[Wrench] = (),
        given: Values | None = None,
    ) -> Solution:
        """Accelerations and reactions for joint speeds `u` and loads `tau`; `given` are those of the driven joints."""
        v = self.velocities(u)
        speeds = {name: row.speeds(v) for name, row in self.moving.items()}
        bias = {row.name: row.bias(v, row.speeds(v)) for row in self.rows}
        force = self._force(v, wrenches)
        total = force.copy()
        for name, load in joint_loads(self.mechanism, self.rows, speeds, tau or {}).items():
            total += self.moving[name].relative.T @ (self.moving[name].dual @ load)
        mass, z = self.bodies.mass_matrix(), self.motions
        for row in self.moving.values():
            mass += row.inertia()
            total += row.relative.T @ row.dual @ row.rotors @ row.dual.T @ bias[row.name]
        a = self._particular(self._right(speeds, bias, v, given or {}))
        a += z @ np.linalg.solve(z.T @ mass @ z, z.T @ (total - mass @ a))
        multipliers = np.split(self._multipliers(mass @ a - total), self._ends[:-1])
        extra = dict(zip([*self.gears, *self.distances, *self.driven], multipliers[len(self.rows) :], strict=True))
        return Solution(
            udot={name: plain(row.dual.T @ (row.relative @ a - bias[name])) for name, row in self.moving.items()},
            body_acceleration=a.reshape(-1, 6),
            force=force,
            reaction={row.name: row.barred @ part for row, part in zip(self.rows, multipliers, strict=False)},
            determined=self._determined(),
            gear={name: float(extra[name][0]) / row.scale for name, row in self.gears.items()},
            drive={name: plain(extra[name]) for name in self.driven},
            tension={name: -float(extra[name][0]) for name in self.distances},
            degrees_of_freedom=z.shape[1],
            multiplier_determined=self._multiplier_determined(),
        )

    def _force(self, v: Array, wrenches: Sequence[Wrench]) -> Array:
        force = self.bodies.weight(v, np.asarray(self.mechanism.gravity))
        for spring in point_springs(self.mechanism, self.bodies):
            force -= spring.stretching * spring.tension(v)
        for wrench in wrenches:
            force += wrench.on(self.bodies)
        return force

    def _right(self, u: Values, bias: Mapping[str, Array], v: Array, given: Values) -> Array:
        barred = [row.barred.T @ bias[row.name] for row in self.rows]
        gears = [row.right(u, bias) for row in self.gears.values()]
        driven = [vector(given[name]) + self.moving[name].dual.T @ bias[name] for name in self.driven]
        distances = [row.right(v) for row in self.distances.values()]
        return np.concatenate([*barred, *gears, *distances, *driven])

    def _particular(self, right: Array) -> Array:
        (left, s, vt), r = self._svd, self.rank
        a = vt[:r].T @ ((left[:, :r].T @ right) / s[:r])
        gap = np.abs(self.constraints @ a - right).max(initial=0.0)
        assert gap < 1e-8 * (1.0 + np.abs(right).max(initial=0.0)), "no such acceleration"
        return a

    def _multipliers(self, needed: Array) -> Array:
        (left, s, vt), r = self._svd, self.rank
        return left[:, :r] @ ((vt[:r] @ needed) / s[:r])

    def _exchanged(self) -> list[Array]:
        """Multipliers that redundant rows can exchange freely, block by block."""
        return np.split(self._svd[0][:, self.rank :], self._ends[:-1])

    def _determined(self) -> dict[str, Array]:
        """Wrenches that redundant rows can exchange freely are projected out, joint by joint."""
        result = {}
        for row, exchanged in zip(self.rows, self._exchanged(), strict=False):
            free, s, _ = np.linalg.svd(row.barred @ exchanged)
            free = free[:, : int((s > 1e-7).sum())]
            result[row.name] = np.eye(6) - free @ free.T
        return result

    def _multiplier_determined(self) -> dict[str, bool]:
        exchanged = self._exchanged()[len(self.rows) :]
        return {
            name: float(np.abs(part).max(initial=0.0)) < 1e-7
            for name, part in zip([*self.gears, *self.distances, *self.driven], exchanged, strict=True)
        }

    # -- checks on other solutions

    def imbalance(
        self, solution: Solution, u: Values, wrenches: Mapping[str, Array], tensions: Mapping[str, float] | None = None
    ) -> Array:
        """Residual of Newton's and Euler's equations of each body, (n, 6), relative to the largest term.

        `wrenches` are those of each joint on its child, (6,) [torque; force] at the child frame's origin, world axes,
        springs and driving loads included, and `tensions` those of the distances. Holds for any of the many sets that
        redundant joints allow.
        """
        needed = self.bodies.mass_matrix() @ solution.body_acceleration.ravel() - solution.force
        terms = [row.relative.T @ wrenches[row.name] for row in self.rows]
        terms += [-row.matrix[0] * (tensions or {})[name] for name, row in self.distances.items()]
        largest = max(1.0, float(np.abs(needed).max()), *(float(np.abs(term).max()) for term in terms))
        return (needed - sum(terms)).reshape(-1, 6) / largest

    def geared(self, loads: Values, solution: Solution) -> dict[str, Value]:
        """Loads and what couplings add to them."""
        total = {name: np.array(vector(load)) for name, load in loads.items()}
        for name, row in self.gears.items():
            for joint, load in row.gear.loads(row.q, solution.gear[name]).items():
                total[joint] += load
        return {name: plain(load) for name, load in total.items()}

    def transmitted(self, loads: Values, udot: Values) -> dict[str, Value]:
        """Loads on the bodies along the speeds of the joints, which the rotors leave."""
        return {n: plain(np.array(vector(x)) - self.moving[n].rotors @ vector(udot[n])) for n, x in loads.items()}

    def with_loads(self, reactions: Mapping[str, Array], loads: Values) -> dict[str, Array]:
        """Reactions plus the loads that act along the speeds of the joints."""
        extra = {name: row.dual @ vector(loads[name]) for name, row in self.moving.items() if name in loads}
        return {name: wrench + extra.get(name, 0.0) for name, wrench in reactions.items()}

    def axial(self, wrenches: Mapping[str, Array]) -> dict[str, Value]:
        """The part of each joint's wrench that does work on its speeds."""
        return {name: plain(row.free.T @ wrenches[name]) for name, row in self.moving.items()}

    def energy(self, u: Values) -> tuple[float, float]:
        """Kinetic and potential energy, the latter zero at the world's origin and in relaxed springs."""
        v = self.velocities(u).ravel()
        gravity = np.asarray(self.mechanism.gravity)
        weights = sum(body.mass * (gravity @ com) for body, com in zip(self.bodies.all, self.com, strict=True))
        springs = springs_potential(self.mechanism, self.bodies, self.rows)
        mass = self.bodies.mass_matrix() + sum(row.inertia() for row in self.rows)
        return float(v @ mass @ v) / 2, float(springs - weights)
