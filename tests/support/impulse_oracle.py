"""An independent solution of sudden changes: every body with six velocities, everything that binds them a row.

With V the velocities of all bodies ([angular; linear of the centre of mass], world axes) before (-) and after (+),

    M (V+ - V-) = p + C' lambda,    C V+ = r

by an applied impulse p; M holds the reflected inertias of the joints as well. V+ is the minimum of 1/2 (V+ - V-)' M (V+
- V-) - p' (V+ - V-) among what C allows. The rows C are those of all joints, pins, couplings and distances, and one of
each constrained speed; r is zero but for those speeds and moving couplings. V- need not fulfil C: so pins, and bodies
that were free of each other, come in.

Redundant rows leave V+ as it is. Of the multipliers lambda, those of least Euclidean norm are taken, in the rows of
`rows.py`; `determined` and `unique` mark those that do not depend on the choice. Where directions have no inertia,
V+ is that of least change.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .constrained import Constrained
from .driving import by_joint, tree_joints
from .oracle import Oracle
from .placement import Value, Values, body_poses, joint_frames, plain, pose_of
from .poses import Array, Pose, cross_matrix
from .rows import Bodies, DistanceRow, Gear, GearRow, JointRow

ORIGIN = np.zeros(3)
EXCHANGED = 1e-7  # share of a multiplier that redundant rows can exchange and that counts


class Held(NamedTuple):
    """A speed of a joint, `element` from 0, that is `speed` after the change: 0 of a lock, -e u of a stop."""

    joint: str
    element: int = 0
    speed: float = 0.0


@dataclass(frozen=True)
class Pin:
    """A joint that comes with the change; of two frames, one that is left out is where the other is."""

    name: str
    kind: Any
    parent: str
    child: str
    parent_frame: Any = None
    child_frame: Any = None

    def placed(self, poses: Mapping[str, Pose]) -> _PlacedPin:
        frames = [self.parent_frame, self.child_frame]
        own = [None if frame is None else pose_of(frame) for frame in frames]
        ends = [poses[self.parent], poses[self.child]]
        world = [end.then(frame) for end, frame in zip(ends, own, strict=True) if frame is not None]
        there = [end.inverse().then(world[0]) if frame is None else frame for end, frame in zip(ends, own, strict=True)]
        return _PlacedPin(self.name, self.kind, self.parent, self.child, *there)


@dataclass(frozen=True)
class _PlacedPin:
    name: str
    kind: Any
    parent: str
    child: str
    parent_frame: Pose
    child_frame: Pose


@dataclass
class Jump:
    """What a change does; arrays of bodies are in the order of the mechanism's bodies."""

    before: Array  # (n, 6) [angular; linear of the centre of mass]
    after: Array
    u: dict[str, Value]  # speeds of all joints and pins after
    impulse: dict[str, Array]  # (6,) [of torque; of force] of joints and pins on the child at the child's joint frame,
    # with the constraints and couplings of their speeds
    held: dict[tuple[str, int], float]  # along each held speed
    gear: dict[str, float]  # of each coupling: it loads a coordinate with d(coupling)/dq times this
    tension: dict[str, float]  # of each distance: pulls its ends together
    kinetic: tuple[float, float]  # energy before and after


class ImpulseOracle(Constrained):
    """A mechanism in one pose and the changes of what binds it. `rates` are those of couplings that move."""

    def __init__(
        self,
        mechanism: Any,
        poses: Mapping[str, Pose],
        q: Values | None = None,
        *,
        held: Sequence[Held | tuple[Any, ...]] = (),
        pins: Sequence[Pin] = (),
        rates: Mapping[str, float] | None = None,
    ) -> None:
        self.poses = dict(poses)
        self.bodies = Bodies(mechanism, poses)
        joints = [*mechanism.joints.values(), *(pin.placed(poses) for pin in pins)]
        self.joints = {joint.name: JointRow(joint, self.bodies, (q or {}).get(joint.name)) for joint in joints}
        self.body_mass = self.bodies.mass_matrix()
        self.mass = self.body_mass + sum(row.inertia() for row in self.joints.values())
        moving = {name: row for name, row in self.joints.items() if row.shape.nu}
        self.gears = {name: GearRow(_gear(given), moving) for name, given in mechanism.couplings.items()}
        self.distances = {name: DistanceRow(given, self.bodies) for name, given in mechanism.distances.items()}
        self.held = [Held(*given) for given in held]
        parts = [*self._joint_rows(), *self._held_rows(), *self._gear_rows(rates or {}), *self._distance_rows()]
        self.constraints = np.vstack([np.zeros((1, len(self.mass))), *(block for block, _ in parts)])[1:]
        self.wanted = np.concatenate([np.zeros(0), *(right for _, right in parts)])
        ends = np.cumsum([0, *(len(right) for _, right in parts)])
        self._spans = [slice(*span) for span in itertools.pairwise(ends)]

    def _joint_rows(self) -> list[tuple[Array, Array]]:
        return [(row.barred.T @ row.relative, np.zeros(6 - row.shape.nu)) for row in self.joints.values()]

    def _held_rows(self) -> list[tuple[Array, Array]]:
        rows = [self.joints[h.joint] for h in self.held]
        return [
            (row.dual[None, :, h.element] @ row.relative, np.array([h.speed]))
            for row, h in zip(rows, self.held, strict=True)
        ]

    def _gear_rows(self, rates: Mapping[str, float]) -> list[tuple[Array, Array]]:
        return [(row.matrix, np.array([rates.get(name, 0.0) / row.scale])) for name, row in self.gears.items()]

    def _distance_rows(self) -> list[tuple[Array, Array]]:
        return [(row.matrix, np.zeros(1)) for row in self.distances.values()]

    # -- what redundancy leaves open

    @cached_property
    def _loads(self) -> dict[str, Array]:
        """(6, rows) of each joint: the multipliers as a wrench on its child."""
        result = {name: np.zeros((6, len(self.constraints))) for name in self.joints}
        spans = iter(self._spans)
        for name, row in self.joints.items():
            result[name][:, next(spans)] = row.barred
        for h in self.held:
            result[h.joint][:, next(spans)] = self.joints[h.joint].dual[:, [h.element]]
        for gear in self.gears.values():
            span = next(spans)
            for coordinate, (joint, _) in gear.gear.coordinates.items():
                load = gear.axes[coordinate] * gear.slopes[coordinate] / gear.scale
                result[joint][:, span] += load[:, None]
        return result

    @property
    def _exchanged(self) -> Array:
        return self._svd[0][:, self.rank :]

    def determined(self) -> dict[str, Array]:
        """(6, 6) of each joint and pin: projector onto the part of its impulse that has one value only."""
        result = {}
        for name, loads in self._loads.items():
            open_, s, _ = np.linalg.svd(loads @ self._exchanged)
            open_ = open_[:, : int((s > EXCHANGED).sum())]
            result[name] = np.eye(6) - open_ @ open_.T
        return result

    def unique(self) -> dict[str, bool]:
        """Of all joints, pins, couplings and distances: whether the whole impulse has one value only."""
        found = {name: bool(np.trace(kept) > 5.5) for name, kept in self.determined().items()}
        extra = [*self.gears, *self.distances]
        return found | dict(zip(extra, self._single(slice(len(self._spans) - len(extra), None)), strict=True))

    def unique_held(self) -> dict[tuple[str, int], bool]:
        """The same of constrained speeds."""
        first = len(self.joints)
        singles = self._single(slice(first, first + len(self.held)))
        return {(h.joint, h.element): one for h, one in zip(self.held, singles, strict=True)}

    def _single(self, which: slice) -> list[bool]:
        return [float(np.abs(self._exchanged[s]).max(initial=0.0)) < EXCHANGED for s in self._spans[which]]

    # -- the change

    def jump(self, before: Array, applied: Array | None = None) -> Jump:
        """By velocities before, (n, 6), and impulses applied to the bodies, (n, 6) [about the com; of force]."""
        v, p = np.ravel(before), np.zeros(before.size) if applied is None else np.ravel(applied)
        (left, s, vt), r = self._svd, self.rank
        missing = self.wanted - self.constraints @ v
        change = vt[:r].T @ ((left[:, :r].T @ missing) / s[:r])
        lack = np.abs(self.constraints @ change - missing).max(initial=0.0)
        assert lack < 1e-9 * (1.0 + np.abs(missing).max(initial=0.0)), "the target speeds contradict each other"
        change = change + self._along_motions(change, p)
        multipliers = left[:, :r] @ ((vt[:r] @ (self.mass @ change - p)) / s[:r])
        return self._result(v, v + change, multipliers)

    def _along_motions(self, change: Array, p: Array) -> Array:
        """What the remaining motions add: the least of 1/2 z' M z + z' (M change - p)."""
        root, z = self._root_of_mass, self.motions
        if not z.shape[1]:
            return np.zeros_like(change)
        left, s, vt = np.linalg.svd(root @ z, full_matrices=False)
        some = s > 1e-11 * s[0]
        left, s, vt = left[:, some], s[some], vt[some]
        return z @ (vt.T @ ((vt @ (z.T @ p) / s - left.T @ (root @ change)) / s))

    @cached_property
    def _root_of_mass(self) -> Array:
        """G with M = G' G."""
        values, vectors = np.linalg.eigh(self.mass)
        return np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T

    def _result(self, before: Array, after: Array, multipliers: Array) -> Jump:
        rest = [float(multipliers[span][0]) for span in self._spans[len(self.joints) :]]
        held, gears = len(self.held), len(self.gears)
        return Jump(
            before=before.reshape(-1, 6),
            after=after.reshape(-1, 6),
            u=self.speeds(after),
            impulse={n: loads @ multipliers - self._of_rotor(n, after - before) for n, loads in self._loads.items()},
            held={(h.joint, h.element): value for h, value in zip(self.held, rest, strict=False)},
            gear={n: x / row.scale for (n, row), x in zip(self.gears.items(), rest[held:], strict=False)},
            tension={name: -x for name, x in zip(self.distances, rest[held + gears :], strict=True)},
            kinetic=(self.kinetic(before), self.kinetic(after)),
        )

    def _of_rotor(self, joint: str, change: Array) -> Array:
        """What the rotors of a joint keep of its impulse, (6,)."""
        row = self.joints[joint]
        found: Array = row.dual @ row.rotors @ row.speeds(change)
        return found

    # -- checks on a solution, of this class or another one

    def speeds(self, v: Array) -> dict[str, Value]:
        """Speeds of all joints and pins at velocities of the bodies."""
        return {name: plain(row.speeds(v)) for name, row in self.joints.items() if row.shape.nu}

    def kinetic(self, v: Array) -> float:
        return float(np.ravel(v) @ self.mass @ np.ravel(v)) / 2

    def momentum(self, v: Array, about: Array = ORIGIN) -> Array:
        """(6,) [angular about a point of the world; linear] of all bodies."""
        return self._all_at(about).T @ (self.body_mass @ np.ravel(v))

    def total(self, applied: Array, about: Array = ORIGIN) -> Array:
        """(6,) the sum of impulses on the bodies, likewise."""
        return self._all_at(about).T @ np.ravel(applied)

    def _all_at(self, about: Array) -> Array:
        """(6 n, 6): motions of all bodies as one."""
        result = np.tile(np.eye(6), (len(self.bodies.all), 1))
        for i, com in enumerate(self.bodies.com):
            result[6 * i + 3 : 6 * i + 6, :3] = -cross_matrix(com - about)
        return result

    def gap(self, v: Array) -> float:
        """Residual of the rows at velocities after the change."""
        return float(np.abs(self.constraints @ np.ravel(v) - self.wanted).max(initial=0.0))

    def lost_momentum(self, before: Array, after: Array, applied: Array | None = None) -> Array:
        """Change of the momentum along each motion that stays admissible, without applied impulses; zero."""
        p = 0.0 if applied is None else np.ravel(applied)
        return self.motions.T @ (self.mass @ np.ravel(after - before) - p)

    def imbalance(
        self, jump: Jump, impulse: Mapping[str, Array], tension: Mapping[str, float], applied: Array
    ) -> Array:
        """(n, 6): change of each body's momentum less the impulses on it, relative to the largest of any."""
        terms = [self.joints[name].relative.T @ wrench for name, wrench in impulse.items()]
        terms += [-row.matrix[0] * tension[name] for name, row in self.distances.items()]
        needed = self.body_mass @ np.ravel(jump.after - jump.before) - np.ravel(applied)
        terms_and_momenta = [self.body_mass @ np.ravel(jump.before), needed, *terms]
        largest = max(1e-300, *(float(np.abs(term).max(initial=0.0)) for term in terms_and_momenta))
        return (needed - sum(terms)).reshape(-1, 6) / largest


def _gear(coupling: Any) -> Gear:
    return Gear({name: term.coefficients for name, term in coupling.terms.items()}, coupling.offset)


# -- states of the system under test, of which only coordinates and speeds are read


def poses_at(system: Any, q: Array) -> dict[str, Pose]:
    """Poses of all bodies from the coordinates of the tree joints."""
    return body_poses(system.mechanism, by_joint(system, q), tree_joints(system))


def velocities_at(system: Any, q: Array, u: Array) -> Array:
    """(n, 6) of all bodies from the coordinates and speeds of the tree joints."""
    values, speeds = by_joint(system, q), by_joint(system, u)
    tree = tree_joints(system)
    poses = body_poses(system.mechanism, values, tree)
    own = Oracle(system.mechanism, poses, values)
    return own.velocities({name: speed for name, speed in speeds.items() if name in tree})


def gap_of(pin: Pin, poses: Mapping[str, Pose]) -> float:
    """Distance of the frames of a pin before it closes."""
    placed = pin.placed(poses)
    parent, child = joint_frames(placed, poses)
    return float(np.linalg.norm(child.position - parent.position))
