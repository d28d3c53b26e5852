"""The configuration space of a mechanism: its poses, the closed ones among them, and the motions possible in each.

Poses are coordinates q (nq,) of the tree joints. A displacement s (nu,) is a small motion in the order of the speeds:
q + s moves each joint along its speeds, on the sphere for a quaternion. The constraints Phi(q, t) = 0, in metres, are
those of loops, couplings, distances, locks and prescribed motions, J = dPhi/ds; rows may be redundant. Angles are
weighed against displacements by a length of the mechanism, so that ranks and least steps do not depend on units; the
angle of a rotor, which moves no point, counts by the angles that a gear couples it to.

Everything here comes from positions and velocities alone, so that it exists in singular poses.

A coupling sum a_k q_k = const of a gear with ratio 1000 turns a rotor by 1000 rad while an arm turns by 1 rad. Searches
take this into account: how far a coordinate may go follows from those that it is coupled with, random poses satisfy the
couplings, and a rotor, whose rotation moves no mass and no point of a force, may turn by any angle in one step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork._util.checks import FloatArray, number
from linkwork._util.names import quoted
from linkwork.core.native import RANK_TOLERANCE
from linkwork.errors import AssemblyError, MechanismError
from linkwork.mechanism import GROUND, Joint, Mechanism

if TYPE_CHECKING:
    from linkwork.core.native import Block
    from linkwork.mechanism.joints import JointKind
    from linkwork.model.base import ModelBase
    from linkwork.model.state import State

SMALLEST = 1e-3  # a matrix without dimension whose largest singular value is smaller has that one in its place
CLOSED = 1e-13  # m for a mechanism of 1 m: violations are rounding
ROUNDINGS = 8.0  # of the digits of coordinates that a closed pose may miss by
TASK_TOLERANCE = 1e-9  # the same where rows of functions of the pose are among them, small near dead points
REDUNDANT = 1e-8  # m, as assembly accepts it: violation of rows that others imply but for rounding
LARGE = 10.0  # size of a row, without dimension, to which larger ones are scaled
MOST_STEPS = 50
ORIGIN = np.zeros(3)
AGREES = 0.05  # of what a step was to gain
SHORTENED = 0.1  # of what was left remains after a step that was shortened

Task = Callable[
    [], tuple[FloatArray, FloatArray]
]  # at the present pose: value less target (n,), m, and its rows (n, nu)


class Tangent(NamedTuple):
    """The motions that the constraints leave at a pose."""

    basis: FloatArray  # (nu, dof): u = basis @ rates, orthonormal in the weighed speeds
    # Of the weighed J without dimension, descending, as many as speeds: those that count as zero are `dof`.
    singular_values: FloatArray
    left: FloatArray  # (rows, redundant): combinations of the rows of J that vanish

    @property
    def dof(self) -> int:
        """Degrees of freedom."""
        return int(self.basis.shape[1])


class Closest(NamedTuple):
    """How a search for a pose ended."""

    q: FloatArray
    violation: float  # the largest of constraints and tasks, m
    steps: int
    found: bool


class ConfigurationSpace:
    """Poses of a model, with the discrete state, time and inputs of motions of a state.

    Attributes
    ----------
    block
        Numbers of the core at the pose entered last.
    length
        m, by which angles are weighed against displacements.
    gearing
        The linear couplings between its coordinates.
    weights
        (nu,) length of each speed: `length` for rotations, less for geared rotors, 1 for displacements.
    """

    def __init__(
        self,
        model: ModelBase,  # A compiled mechanism
        state: State | None = None,  # the pose to begin at; by default the assembled start
        length: float | None = None,  # m, by which angles are weighted; by default one of the mechanism
    ) -> None:
        self.model = model
        self.block: Block = model.block()
        self.start = model.assemble() if state is None else state
        model.enter(self.block, self.start)
        n = model.numbering
        self.nq, self.nu = n.nq, n.nu
        self._q = self.block.reals[model.fields["q"].span][: self.nq]
        self._quaternions = []  # (coordinates, speeds)
        self._positions = []  # of free joints: coordinates, speeds, coordinates of the orientation
        self._free_turns = []  # of them: as quaternions
        plain: list[tuple[int, int]] = []
        rotations = np.zeros(self.nu, dtype=bool)
        for name in n.tree:
            kind, q, u = model.mechanism.joints[name].kind, n.q[name], n.u[name]
            rotations[u] = [unit == "rad" for unit in kind.motion_units]
            if kind.quaternion is None:
                plain += zip(range(q.start, q.stop), range(u.start, u.stop), strict=True)
                continue
            at = slice(q.start + kind.quaternion.start, q.start + kind.quaternion.stop)
            self._quaternions.append((at, slice(u.start, u.start + 3)))
            if kind.nq == 7:
                self._positions.append((slice(q.start, q.start + 3), slice(u.start + 3, u.stop), at))
                self._free_turns.append(self._quaternions[-1])
        self._plain = np.array(plain, dtype=int).reshape(-1, 2).T
        cut = ((name, model.mechanism.joints[name].kind) for name in n.cut)
        self._aligned = [self._alignment(name) for name, kind in cut if _keeps_one_axis(kind)]
        self.is_rotation = rotations
        self.gearing = Gearing(model, self.size)
        self.weigh(self._length() if length is None else length)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles have a block of their own, in the same pose."""
        return _restored, (self.model, self.start, self.length, self.q)

    def weigh(self, length: float) -> None:
        """Weigh angles by another length, m."""
        if not number(length, "length") > 0.0:
            raise MechanismError(f"length must be positive, m, not {length!r}")
        self.length = float(length)
        self.weights = np.where(self.is_rotation, self.length, 1.0)
        self.weights = self.weights / self.gearing.ratios(self.weights)
        sizes = np.linalg.norm(self.block.constraint_jacobian() / self.weights, axis=1)
        self.shares: FloatArray = LARGE / np.maximum(sizes, LARGE)  # of each row of the constraints, by its size

    # ---- poses ----

    @property
    def coordinate_of_speed(self) -> NDArray[np.int32]:
        """Of each speed (nu,) the coordinate whose rate it is, by number; -1: of a quaternion or a free joint."""
        found = np.full(self.nu, -1, dtype=np.int32)
        found[self._plain[1]] = self._plain[0]
        return found

    @property
    def q(self) -> FloatArray:
        """The present coordinates (nq,), a copy."""
        return self._q.copy()

    def coordinates(self, which: NDArray[np.intp]) -> FloatArray:
        """Return some of the present coordinates, by number."""
        return self._q[which]

    def enter(self, q: FloatArray) -> None:
        """Bring the block to a pose; the speeds stay."""
        self._q[:] = q
        self.block.changed()

    def enter_speeds(self, u: FloatArray) -> None:
        """Bring the block to speeds (nu,) in its present pose."""
        self.block.put("u", u)

    def state(self, u: FloatArray | None = None) -> State:
        """Return the present pose as a `State`, with speeds (nu,) or at rest."""
        self.block.put("u", 0.0 if u is None else u)
        return self.model.state_of(self.block)

    def displaced(self, q: FloatArray, step: FloatArray) -> FloatArray:
        """Return q + s."""
        moved = q.copy()
        moved[self._plain[0]] += step[self._plain[1]]
        for where, linear, turn in self._positions:
            moved[where] += _rotated(q[turn], step[linear])
        for turn, angular in self._quaternions:
            moved[turn] = _turned(q[turn], step[angular])
        return moved

    def rates_along(self, step: FloatArray, fraction: float) -> FloatArray:
        """Return the speeds (nu,) of the motion displaced(q, x step) at x = fraction, in unit time."""
        speeds = step.copy()
        for (_, linear, _), (_, angular) in zip(self._positions, self._free_turns, strict=True):
            back = _turned(np.array([1.0, 0.0, 0.0, 0.0]), -fraction * step[angular])
            speeds[linear] = _rotated(back, step[linear])
        return speeds

    def difference(self, to: FloatArray, origin: FloatArray) -> FloatArray:
        """Return the displacement s with origin + s = to; of a rotation the shortest."""
        step = np.zeros(self.nu)
        step[self._plain[1]] = to[self._plain[0]] - origin[self._plain[0]]
        for where, linear, turn in self._positions:
            w, *v = origin[turn]
            step[linear] = _rotated(np.array([w, *(-x for x in v)]), to[where] - origin[where])
        for turn, angular in self._quaternions:
            step[angular] = _turn_between(origin[turn], to[turn])
        return step

    def distance(self, to: FloatArray, origin: FloatArray) -> float:
        """Return the weighed norm of the displacement between poses, m."""
        return float(np.linalg.norm(self.weights * self.difference(to, origin)))

    # ---- constraints ----

    def violation(self) -> FloatArray:
        """Return Phi (rows,), m, at the present pose."""
        return self.shares * self.block.constraints()[0]

    def violation_rate(self) -> FloatArray:
        """Return dPhi/dt (rows,), m/s, at the present pose, speeds and time."""
        return self.shares * self.block.constraints()[1]

    def jacobian(self) -> FloatArray:
        """Return J (rows, nu) at the present pose.

        Where it is all but zero, loops close in every pose but for the rounding of their frames: they hold nothing.
        """
        rows: FloatArray = self.shares[:, None] * self.block.constraint_jacobian()
        largest = float(np.abs(rows / self.weights).max(initial=0.0))
        return rows if largest > RANK_TOLERANCE * SMALLEST else np.zeros_like(rows)

    def is_reversed(self) -> bool:
        """Whether axes that a joint keeps parallel are exactly opposed in the present pose: Phi vanishes there as well.

        Poses next to these are wide open (csrc/loops/basic_constraints_kernel.h).
        """
        closed = self.block["joint_closed"]
        for joint, bodies, axes in self._aligned:
            if joint not in self.model.removable_joints or closed[joint]:
                parent, child = (
                    self.block.body_motion(body, ORIGIN)[1] @ axis for body, axis in zip(bodies, axes, strict=True)
                )
                if parent @ child < 0.0:
                    return True
        return False

    def _alignment(self, name: str) -> tuple[int, list[int], list[FloatArray]]:
        """Return number, bodies and axes, in these, of a joint that keeps an axis of both parallel."""
        joints = self.model.mechanism.joints
        joint, numbers = joints[name], self.model.body_numbers
        bodies = [numbers.get(body, -1) for body in (joint.parent, joint.child)]
        frames = (joint.parent_frame, joint.child_frame)
        axes = [(np.asarray(frame.rotation) @ joint.kind.canonical_axes)[:, 2] for frame in frames]
        return list(joints).index(name), bodies, axes

    def tangent(self, extra: FloatArray | None = None, tolerance: float | None = None) -> Tangent:
        """Return the motions that the constraints, and further rows (n, nu), leave at the present pose."""
        rows = self.jacobian() if extra is None else np.vstack([self.jacobian(), extra])
        if not rows.size:
            return Tangent(np.eye(self.nu) / self.weights[:, None], np.zeros(self.nu), np.zeros((len(rows), 0)))
        if tolerance is None:
            tolerance = RANK_TOLERANCE if extra is None else TASK_TOLERANCE
        left, values, right = np.linalg.svd(rows / self.weights, full_matrices=True)
        rank = int(np.sum(values > tolerance * max(values[0], SMALLEST)))
        padded = np.zeros(self.nu)
        padded[: len(values)] = values[: self.nu]
        return Tangent(right[rank:].T / self.weights[:, None], padded, left[:, rank:])

    def closed(self, q: FloatArray, task: Task | None = None, most_steps: int = MOST_STEPS) -> Closest:
        """Return the closed pose that also does a task, by least weighed Newton steps from q; the block is there.

        Redundant rows are allowed. Without convergence `found` is False and the pose is the best one tried.
        """
        best, least, settled = q, np.inf, False
        radius = StepRadius(self.length)
        for count in range(most_steps + 1):
            self.enter(q)
            left = self.violation()
            if task is not None:
                more, more_rows = task()
                left = np.concatenate([left, more])
            size = float(np.abs(left).max(initial=0.0))
            radius.see(left)
            if size < least:
                best, least = q, size
            if size <= max(CLOSED * max(self.length, 1e-3), self.rounding(q)) or count == most_steps:
                break
            if count > 8 and size > 0.5 * least and least < 1e3 * CLOSED * self.length:
                break  # rounding
            rows = self.jacobian() if task is None else np.vstack([self.jacobian(), more_rows])
            step = self.least_step(rows, -left)
            if size <= REDUNDANT and float(np.abs(rows @ step).max(initial=0.0)) <= CLOSED * max(self.length, 1e-3):
                settled = True
                break
            if (norm := float(np.linalg.norm(self.weights * step))) > radius.value:
                step *= radius.value / norm
                radius.expect(left, rows @ step)
            q = self.displaced(q, step)
        self.enter(best)
        closed = least <= max(1e3 * CLOSED * max(self.length, 1e-3), ROUNDINGS * self.rounding(best))
        found = (settled or bool(closed)) and not self.is_reversed()
        return Closest(best, least, count, found)

    def least_step(self, rows: FloatArray, values: FloatArray) -> FloatArray:
        """Return the least weighed displacement s with rows @ s = values in the sense of least squares."""
        if not np.abs(rows / self.weights).max(initial=0.0) > TASK_TOLERANCE * SMALLEST:
            return np.zeros(self.nu)
        redundant = 10.0 * float(np.abs(values).max(initial=0.0)) / self.length  # what an open loop does to zero rows
        tolerance = min(max(TASK_TOLERANCE, redundant), 1e-3)
        solution: FloatArray = np.linalg.lstsq(rows / self.weights, values, rcond=tolerance)[0] / self.weights
        return solution

    def rounding(self, q: FloatArray) -> float:
        """Return the violation, m, that the digits of coordinates (nq,) leave, as of angles after many revolutions."""
        sizes = np.abs(self.weights[self._plain[1]] * q[self._plain[0]])
        return float(np.finfo(np.float64).eps * sizes.max(initial=0.0))

    def require_closed(self, q: FloatArray, what: str) -> FloatArray:
        """Return the closed pose next to q; AssemblyError, which names `what`, where there is none."""
        near = self.closed(q)
        if not near.found:
            raise AssemblyError(f"{what}: no closed pose was found; constraints miss by {near.violation:.3g} m")
        return near.q

    def random_pose(self, rng: np.random.Generator) -> FloatArray:
        """Return coordinates (nq,): any angles, displacements within the size from the start; loops are open."""
        step = rng.uniform(-1.0, 1.0, self.nu) * np.where(self.is_rotation, np.pi, self.size)
        pose = self.displaced(np.array(self.start.q), step)
        for turn, _ in self._quaternions:
            pose[turn] = rng.standard_normal(4)
            pose[turn] /= np.linalg.norm(pose[turn])
        return pose

    def label(self, direction: FloatArray) -> str:
        """Return the names of the coordinates that a direction (nu,) moves most, for messages."""
        parts = np.abs(self.weights * direction)
        most = [k for k in np.argsort(-parts, kind="stable")[:3] if parts[k] > 0.3 * parts.max(initial=0.0)]
        return quoted(self.model.u_names[k].replace(".u", "") for k in most)

    # ---- motion ----

    def kinematic_bias(self) -> FloatArray:
        """Return c (rows,) of J udot = c, what accelerations must satisfy at the present pose and speeds.

        From the accelerations of the motion without loads, which satisfy it; a singular pose raises SingularityError.
        """
        acceleration = self.block["acceleration"][: self.nu]
        bias: FloatArray = self.jacobian() @ acceleration
        return bias

    @cached_property
    def size(self) -> float:
        """The longest distance between joints or points of a body, m; 1 without one."""
        mech = self.model.mechanism
        points: dict[str, list[FloatArray]] = {name: [np.asarray(body.com)] for name, body in mech.bodies.items()}
        points["ground"] = []
        for joint in mech.joints.values():
            for body, frame in ((joint.parent, joint.parent_frame), (joint.child, joint.child_frame)):
                points[body].append(np.asarray(frame.position))
        spans = [np.ptp(np.array(one), axis=0).max() for one in points.values() if one]
        return float(max(spans, default=0.0)) or 1.0

    def _length(self) -> float:
        """Largest lever of the constraints, or size of the bodies."""
        rows = self.block.constraint_jacobian()
        lever = float(np.abs(rows[:, self.is_rotation]).max(initial=0.0)) if rows.size else 0.0
        return lever if lever > 1e-9 else self.size


def _keeps_one_axis(kind: JointKind) -> bool:
    """Whether a joint turns about one axis only."""
    return kind.quaternion is None and sum(unit == "rad" for unit in kind.motion_units) == 1


class StepRadius:
    """The longest step that is allowed, m: a length of the mechanism, within which branches are rarely confused.

    It doubles after a step that it shortened and that gained what the rows predict, as along slides and gears, whose
    rows hardly change; after another step it is the length again.
    """

    def __init__(self, length: float) -> None:
        self.length = self.value = length
        self._predicted: tuple[float, float] | None = None  # norms before the step, and expected after it

    def see(self, left: FloatArray) -> None:
        """Take note of what is left where the step ended."""
        if self._predicted is not None:
            before, after = self._predicted
            missed = abs(float(np.linalg.norm(left)) - after)
            self.value = 2.0 * self.value if missed <= AGREES * (before - after) else self.length
        self._predicted = None

    def expect(self, left: FloatArray, change: FloatArray) -> None:
        """Take note of what is left, and how the rows predict that a step changes it."""
        before, after = float(np.linalg.norm(left)), float(np.linalg.norm(left + change))
        if SHORTENED * before < after < before:
            self._predicted = before, after


def _turned(q: FloatArray, turn: FloatArray) -> FloatArray:
    """Return a unit quaternion after a rotation vector (3,) in axes of the child."""
    angle = float(np.sqrt(turn @ turn))
    half = 0.5 * angle
    scale = np.sin(half) / angle if angle > 1e-8 else 0.5
    found = _product(q, np.array([np.cos(half), *(scale * turn)]))
    return found / np.sqrt(found @ found)


def _turn_between(origin: FloatArray, to: FloatArray) -> FloatArray:
    """Return the rotation vector (3,), axes of the child, from one unit quaternion to another."""
    w, x, y, z = _product(np.array([origin[0], *(-origin[1:])]), to)
    vector = np.array([x, y, z]) * (1.0 if w >= 0 else -1.0)
    sine = float(np.sqrt(vector @ vector))
    turn: FloatArray = vector * (2.0 * np.arctan2(sine, abs(w)) / sine if sine > 1e-300 else 2.0)
    return turn


def _product(a: FloatArray, b: FloatArray) -> FloatArray:
    (w, x, y, z), (s, i, j, k) = a, b
    return np.array(
        [
            w * s - x * i - y * j - z * k,
            w * i + x * s + y * k - z * j,
            w * j - x * k + y * s + z * i,
            w * k + x * j - y * i + z * s,
        ]
    )


def _rotated(quaternion: FloatArray, vector: FloatArray) -> FloatArray:
    w, v = quaternion[0], quaternion[1:]
    turned: FloatArray = vector + 2.0 * np.cross(v, np.cross(v, vector) + w * vector)
    return turned


def _restored(model: ModelBase, start: State, length: float, q: FloatArray) -> ConfigurationSpace:
    space = ConfigurationSpace(model, start, length)
    space.enter(q)
    return space


ON_AXIS = 1e-12  # of the size of the mechanism: distance of a centre of mass from its axis
INDEPENDENT = 1e-12  # of the largest singular value: couplings whose coefficients differ by less are one


class Gearing:
    """The linear couplings between coordinates of tree joints.

    Parameters
    ----------
    model
        The compiled mechanism.
    size
        Of the mechanism, m.
    """

    def __init__(self, model: ModelBase, size: float) -> None:
        nu = model.numbering.nu
        rows = []
        for one in model.mechanism.couplings.values():
            terms = list(one.terms.values())
            is_linear = all(not any(term.coefficients[1:]) for term in terms)
            if (
                one.formula is None
                and len(terms) > 1
                and is_linear
                and all(term.joint in model.numbering.tree for term in terms)
            ):
                row = np.zeros(nu)
                for term in terms:
                    row[model.numbering.u[term.joint].start + term.element] += term.coefficients[0]
                rows.append(row)
        self.rows = np.array(rows).reshape(len(rows), nu)  # coefficients of the couplings, (couplings, nu)
        self.coupled: NDArray[np.bool_] = np.asarray(self.rows.any(axis=0))  # (nu,) whether a coordinate is in one
        # (nu,) whether a rotation moves one body alone, whose centre of mass is on the axis, on which no force acts and
        # which has no points of interest.
        self.is_rotor = np.zeros(nu, dtype=bool)
        for name in model.numbering.tree:
            self.is_rotor[model.numbering.u[name]] = _is_rotor(model.mechanism, model.mechanism.joints[name], size)

    def ratios(self, weights: FloatArray) -> FloatArray:
        """Return (nu,): by how much more rotors turn than what they are coupled with moves, weighed; at least 1.

        Weighed alike, the rotor of a gear would hold the arm that it moves fast, in least steps and by the tolerance of
        ranks.
        """
        ratios = np.ones(len(weights))
        which = self.is_rotor & self.coupled
        if which.any():
            rows = self.rows / weights
            solved = np.linalg.pinv(rows[:, which], rcond=INDEPENDENT) @ rows[:, ~which]
            ratios[which] = np.maximum(1.0, np.linalg.norm(solved, axis=1))
        return ratios

    def reach(self, limits: FloatArray) -> FloatArray:
        """Return how far coordinates (nu,) go while one that they are coupled with goes as far as its limit."""
        reach = limits.copy()
        for _ in range(len(self.rows)):
            before = reach.copy()
            for row in np.abs(self.rows):
                which = np.flatnonzero(row)
                reach[which] = np.maximum(reach[which], np.max(row[which] * reach[which], initial=0.0) / row[which])
            if (reach == before).all():
                break
        return reach

    def follow(self, step: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return a displacement (nu,) in which random ones of the coupled coordinates lead, and the others follow."""
        step, rows = step.copy(), self.rows.copy()
        followers: list[int] = []
        for k in rng.permutation(np.flatnonzero(self.coupled)):
            free = np.arange(len(followers), len(rows))
            if not len(free):
                break
            pivot = free[np.argmax(np.abs(rows[free, k]))]
            if abs(rows[pivot, k]) <= 1e-12 * np.abs(rows[pivot]).max():
                continue
            rows[[len(followers), pivot]] = rows[[pivot, len(followers)]]
            lead = rows[len(followers)] / rows[len(followers), k]
            rows -= np.outer(rows[:, k], lead)
            rows[len(followers)] = lead
            followers.append(int(k))
        step[followers] = 0.0
        step[followers] = -(rows[: len(followers)] @ step)
        return step


def _is_rotor(mech: Mechanism, joint: Joint, size: float) -> bool:
    body, frame = (joint.child, joint.child_frame) if joint.child != GROUND else (joint.parent, joint.parent_frame)
    others = [one for one in mech.joints.values() if one is not joint and body in (one.parent, one.child)]
    if joint.kind.type_name != "revolute" or others:
        return False
    if any(body in force.body_names for force in mech.forces):
        return False
    parts = [*mech.distances.values(), *mech.points.values()]
    parts += [one.action for one in mech.transitions.values()]
    ends = ("body", "bodies", "parent", "child")
    if any(body in np.atleast_1d(getattr(part, end, None) or "") for part in parts for end in ends):
        return False
    axis = frame.rotation @ joint.kind.canonical_axes[:, 2]
    offset = np.asarray(mech.bodies[body].com) - frame.position
    return bool(np.linalg.norm(np.cross(offset, axis)) <= ON_AXIS * size)
