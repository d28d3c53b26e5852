"""Inverse kinematics: a closed pose in which functions of the pose have given values.

Constraints and targets are solved together, weighted so that angles count times a length, by steps

    s = d + H^-1 R' (R H^-1 R' + mu)^-1 (r - R d)

with r what constraints and targets lack, R their rows, and d the step to the preferred pose; H = 1 for the
pose nearest to the start. The damping mu = |r|^2 / radius^2 keeps steps short where R is singular and vanishes with r,
so that convergence is quadratic (Levenberg and Marquardt; Sugihara, Solvability-unconcerned inverse kinematics by the
Levenberg-Marquardt method, IEEE Trans. Robotics 27, 2011); the radius is a length of the mechanism, and grows while
steps gain what R predicts. Limits that a step would exceed become rows, and leave where their multiplier has the wrong
sign (active set).

A target that no start reaches ends in the nearest pose: the distance from the targets is minimised over the
configuration space, in coordinates of the tangent space that begin anew from pose to pose (SLSQP of SciPy).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork._util.checks import FloatArray, shortened, whole_number
from linkwork._util.keywords import checks_keywords
from linkwork._util.named import NamedColumns
from linkwork._util.names import suggest
from linkwork._util.one_thread import on_one_thread
from linkwork._util.progress import Progress, ProgressOption
from linkwork._util.text import aligned
from linkwork.analysis.configuration_space import CLOSED, ROUNDINGS, ConfigurationSpace, StepRadius
from linkwork.analysis.limits import Bounds, Limits
from linkwork.analysis.pose_functions import Stacked, pose_function
from linkwork.errors import MechanismError, MechanismNameError, UnreachableError
from linkwork.mechanism import Mechanism
from linkwork.model.compile import model_of
from linkwork.results.base import TableResult

if TYPE_CHECKING:
    from linkwork.model.base import ModelBase
    from linkwork.model.state import State

Targets = Mapping[str, ArrayLike]
Unreachable = Literal["return", "raise"]

FOUND = 1e-10  # of the length: targets and constraints that miss less are satisfied
_MOST_STEPS = 60
_SMALLEST_DAMPING = 1e-13  # relative to the trace, for redundant rows
_SETTLED = 1e-8  # of the length: a smaller step within the motions that targets leave changes nothing
_PREFERENCE = 1e-4  # weight of the distance from the start compared with that of preferred values
_BEYOND = 1e-12  # of a limit, rad or m, and of its multiplier: rounding
_ROUNDING = 1e-12  # of the length: smaller steps change nothing
_NEAR = 0.03  # of the length: steps from where rows miss less show the curvature
_REACH = 0.5  # of the length: how far a chart of the configuration space is used
_MOST_CHARTS = 30


class Attempt(NamedTuple):
    """How a search for a pose ended."""

    q: FloatArray
    distance: float  # weighted norm of what the targets lack, m
    violation: float  # of constraints and targets, the largest, m; infinite where axes of a joint are opposed
    steps: int
    found: bool


class PoseSolver:
    """Searches for poses of one kind of targets, one after the other."""

    def __init__(
        self,
        space: ConfigurationSpace,  # the configuration space; its present pose is the start of the first search
        functions: Stacked,  # what the targets are values of
        limits: Limits | None = None,  # by default none
        # Functions with preferred values, among the poses that do the targets.
        preferred: tuple[Stacked, Sequence[FloatArray]] | None = None,
    ) -> None:
        from scipy.linalg.lapack import dposv, dpotrs

        self._posv, self._potrs = dposv, dpotrs
        self.space, self.functions, self.limits = space, functions, limits
        self.length = space.length
        self._weights = functions.weights(self.length)
        self._constraints = space.block.model.constraint_rows
        self._shrink = 1.0 / space.weights
        self._preferred = preferred
        self._rows = np.empty((self._constraints + functions.size, space.nu))
        self._left = np.empty(self._constraints + functions.size)
        tangent = space.tangent()
        self.dof = tangent.dof
        moved = self._weights[:, None] * (functions.rows() @ tangent.basis)
        self._is_redundant = self.dof > (np.linalg.matrix_rank(moved, tol=1e-6) if moved.size else 0)

    def solve(self, wanted: Sequence[FloatArray], q: FloatArray, *, starts: int = 8, nearest: bool = True) -> Attempt:
        """Return the pose for targets, one value for each part of the functions; the space is there.

        Parameters
        ----------
        wanted
            Values; quaternions of orientations.
        q
            The start.
        starts
            How many further starts are tried, at random, with increasing distance.
        nearest
            Whether a failure ends in the nearest pose, instead of the best one tried.
        """
        first = self.newton(wanted, q)
        if first.found:
            return first
        failures, steps = [first], first.steps
        for start in self._starts(q, starts, failures):
            one = self.newton(wanted, start, near=q)
            steps += one.steps
            if one.found:
                return one._replace(steps=steps)
            failures.append(one)
        best = min(failures, key=lambda one: one.violation)
        if nearest:
            ends = [self._nearest(wanted, start) for start in (q, best.q)]
            best = min(ends, key=lambda one: (one.violation > self._tolerance, one.distance))
            closer = self.newton(wanted, best.q, near=q)
            best = closer if closer.found else best
        self.space.enter(best.q)
        return best._replace(steps=steps)

    @property
    def _tolerance(self) -> float:
        return FOUND * self.length

    def newton(self, wanted: Sequence[FloatArray] | None, q: FloatArray, near: FloatArray | None = None) -> Attempt:
        """Return where steps from q end; without targets in a closed pose, whatever the limits.

        What targets leave open is next to `near`, by default q.
        """
        space, k = self.space, self._constraints
        rows, left = (self._rows, self._left) if wanted is not None else (self._rows[:k], self._left[:k])
        limits = None if wanted is None else self.limits
        best, least, far = q, np.inf, np.inf
        is_redundant = wanted is not None and (self._is_redundant or self._preferred is not None)
        preference = _Preference(space, q if near is None else near, self._preferred) if is_redundant else None
        settled = not is_redundant
        radius, count = StepRadius(self.length), 0
        for count in range(_MOST_STEPS + 1):
            space.enter(q)
            rounding = space.rounding(q)
            tolerance = max(self._tolerance, ROUNDINGS * rounding)
            left[:k] = space.violation()
            if wanted is not None:
                left[k:] = self._weights * self._lacking(wanted)
            size = float(max(left.max(initial=0.0), -left.min(initial=0.0)))
            radius.see(left)
            at = limits.values() if limits is not None else None
            outside = limits.excess(at) if limits is not None else 0.0
            if max(size, outside) < least or (is_redundant and max(size, outside) <= tolerance):
                best, least, far = q, max(size, outside), float(np.sqrt(left[k:] @ left[k:]))
            exact = max(CLOSED * self.length, rounding)
            if (size <= exact and settled and outside <= exact) or count == _MOST_STEPS:
                break
            np.multiply(space.jacobian(), self._shrink, out=rows[:k])
            if wanted is not None:
                np.multiply(self._weights[:, None] * self.functions.rows(), self._shrink, out=rows[k:])
            if preference is not None:
                preference.enter(q, rows, learns=size < _NEAR * self.length)
            step, loads = self._step(rows, -left[:k], left[k:], preference, at, radius.value)
            norm = float(np.sqrt(step @ step))
            settled = settled or (size <= tolerance and norm <= _SETTLED * self.length)
            if size <= tolerance and norm <= max(_ROUNDING * self.length, rounding):
                break  # redundant rows may miss by more than rounding, and no step changes that
            if norm > radius.value:
                step *= radius.value / norm
            left[k:] *= -1.0  # as the constraints count
            radius.expect(left, rows @ step)
            if preference is not None:
                preference.leave(step, loads)
            q = space.displaced(q, self._shrink * step)
        if best is not q:
            space.enter(best)
        tolerance = max(self._tolerance, ROUNDINGS * space.rounding(best))
        if least <= tolerance and space.is_reversed():
            least = np.inf
        return Attempt(best, far, least, count, least <= tolerance)

    def _lacking(self, wanted: Sequence[FloatArray]) -> FloatArray:
        parts = self.functions.parts
        if len(parts) == 1:
            return parts[0].difference(wanted[0])
        return np.concatenate([part.difference(value) for part, value in zip(parts, wanted, strict=True)])

    def _step(
        self,
        rows: FloatArray,
        closing: FloatArray,
        lacking: FloatArray,
        preference: _Preference | None,
        at: FloatArray | None,
        radius: float,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the weighted step, and the multipliers of the rows; `at` are the values of limits that hold."""
        values = np.concatenate([closing, lacking])
        damping = float(values @ values) / radius**2
        preferred, metric = (None, None) if preference is None else (preference.step, preference.metric)
        step, loads = self._least(rows, values, preferred, metric, damping)
        if self.limits is None or at is None:
            return step, loads
        limited, lower, upper = self.limits.weighted_rows(), self.limits.lower - at, self.limits.upper - at
        bound: dict[int, float] = {}  # by limit: where the step must end
        for _ in range(2 * len(at) + 2):
            ahead = limited @ step
            beyond = np.maximum(lower - ahead, ahead - upper)
            if bound:
                beyond[list(bound)] = -np.inf
            worst = int(np.argmax(beyond))
            if beyond[worst] > _BEYOND:
                bound[worst] = float(lower[worst] if ahead[worst] < lower[worst] else upper[worst])
            elif not bound:
                break
            else:
                ends = zip(bound.items(), loads[len(values) :], strict=True)
                inwards = [
                    abs(load) if lower[one] == upper[one] else load if end == lower[one] else -load
                    for (one, end), load in ends
                ]
                if min(inwards) >= -_BEYOND:
                    break
                del bound[list(bound)[int(np.argmin(inwards))]]
            more = np.vstack([rows, limited[list(bound)]])
            step, loads = self._least(more, np.concatenate([values, list(bound.values())]), preferred, metric, damping)
        return step, loads[: len(values)]

    def _least(
        self,
        rows: FloatArray,
        values: FloatArray,
        preferred: FloatArray | None,
        metric: FloatArray | None,
        damping: float,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the step that does rows @ step = values, next to the preferred one, and the multipliers."""
        if not len(values):
            return (np.zeros(rows.shape[1]) if preferred is None else preferred), values
        across = rows.T if metric is None else metric @ rows.T
        gram = rows @ across
        diagonal = gram.ravel()[:: len(values) + 1]
        smallest = _SMALLEST_DAMPING * max(float(diagonal.sum()), 1e-300)
        diagonal += damping + smallest
        missing = values if preferred is None else values - rows @ preferred
        factor, loads, failed = self._posv(gram, missing, lower=1)
        if failed:
            loads = np.linalg.lstsq(gram, missing, rcond=None)[0]
        elif preferred is not None:  # what the smallest damping leaves counts where the preferred pose is far away
            loads = loads + self._potrs(factor, smallest * loads, lower=1)[0]
        step: FloatArray = across @ loads
        return (step if preferred is None else preferred + step), loads

    # ---- where Newton's method fails ----

    def _starts(self, q: FloatArray, count: int, failures: Sequence[Attempt]) -> Iterator[FloatArray]:
        """Return random poses around q, each further away, within the limits of tree joints.

        As many follow at random where axes were opposed: motions around q lead to the same opposed axes.
        """
        rng = np.random.default_rng(1)
        for k in range(count):
            self.space.enter(q)
            basis = self.space.tangent().basis
            away = rng.standard_normal(basis.shape[1]) * self.length * 2.0 * (k + 1) / count
            yield self._within(self.space.displaced(q, basis @ away))
        if any(one.violation == np.inf for one in failures):
            yield from (self._within(self.space.random_pose(rng)) for _ in range(count))

    def _within(self, q: FloatArray) -> FloatArray:
        return q if self.limits is None else self.limits.clipped(q)

    def _nearest(self, wanted: Sequence[FloatArray], q: FloatArray) -> Attempt:
        """Return the closed pose within the limits where the distance from the targets is least, seen from q."""
        from scipy.optimize import minimize

        space, scale = self.space, self.length
        q = self.newton(None, q).q
        for _ in range(_MOST_CHARTS):
            chart = _Chart(self, q)
            options: dict[str, Any] = {"method": "SLSQP", "jac": True, "args": (wanted,)}
            options |= {"bounds": [(-_REACH, _REACH)] * chart.dof, "options": {"ftol": 1e-13, "maxiter": 50}}
            if self.limits is not None:
                options["constraints"] = {"type": "ineq", "fun": chart.room, "jac": chart.room_rows}
            found = minimize(chart.cost, np.zeros(chart.dof), **options)
            moved = chart.at(np.asarray(found.x))
            step = float(np.abs(found.x).max(initial=0.0))
            q = moved.q if moved.found else q
            if step < 1e-9 or not moved.found:
                break
        space.enter(q)
        lack = self._weights * self._lacking(wanted)
        violation = float(np.abs(space.violation()).max(initial=0.0))
        outside = self.limits.excess() if self.limits is not None else 0.0
        distance = float(np.linalg.norm(lack))
        closed = max(violation, outside)
        is_found = (
            max(distance, closed) <= max(FOUND * scale, ROUNDINGS * space.rounding(q)) and not space.is_reversed()
        )
        return Attempt(q, distance, closed, 0, is_found)


class _Preference:
    """The pose preferred among those that do the targets: next to the start, or with preferred values.

    The objective f is half the square of the distance, its slope -pull. Steps are those of sequential quadratic
    programming: `metric` is the inverse of the curvature of f - loads' (values of the rows), at first that of f alone,
    and learned from the steps (BFGS). Without it steps converge linearly where the targets leave motions open.
    """

    def __init__(
        self, space: ConfigurationSpace, start: FloatArray, preferred: tuple[Stacked, Sequence[FloatArray]] | None
    ) -> None:
        self._space, self._start, self._preferred = space, start, preferred
        curvature = np.eye(space.nu)
        if preferred is not None:
            space.enter(start)
            rows = self._rows(preferred[0])
            curvature = _PREFERENCE * curvature + rows.T @ rows
        self.metric: FloatArray = np.linalg.inv(curvature).astype(np.float64)
        self.step: FloatArray = np.zeros(space.nu)
        self._last: tuple[FloatArray, FloatArray, FloatArray, FloatArray] | None = None  # step, loads, rows, pull

    def enter(self, q: FloatArray, rows: FloatArray, *, learns: bool) -> None:
        """Take note of a pose and its weighted rows; the preferred `step` is from there."""
        pull = self._pull(q)
        if self._last is not None and learns:
            step, loads, before, past = self._last
            self._learn(step, past - pull - loads @ (rows - before))
        self._now = rows.copy(), pull
        self.step = self.metric @ pull

    def leave(self, step: FloatArray, loads: FloatArray) -> None:
        """Take note of the step that is made, and the multipliers of the rows."""
        self._last = step, loads, *self._now

    def _learn(self, step: FloatArray, change: FloatArray) -> None:
        curved = float(step @ change)
        if curved <= 1e-4 * _PREFERENCE * float(step @ step) or not curved > 1e-300:
            return
        across = self.metric @ change
        ratio = (1.0 + float(change @ across) / curved) / curved
        mixed = np.outer(across, step) / curved
        self.metric = self.metric + ratio * np.outer(step, step) - mixed - mixed.T

    def _pull(self, q: FloatArray) -> FloatArray:
        back: FloatArray = self._space.weights * self._space.difference(self._start, q)
        if self._preferred is None:
            return back
        functions, values = self._preferred
        left = [part.difference(value) for part, value in zip(functions.parts, values, strict=True)]
        found: FloatArray = _PREFERENCE * back
        found += self._rows(functions).T @ (functions.weights(self._space.length) * np.concatenate(left))
        return found

    def _rows(self, functions: Stacked) -> FloatArray:
        rows: FloatArray = functions.weights(self._space.length)[:, None] * functions.rows() / self._space.weights
        return rows


class _Chart:
    """Closed poses q(z) around one, by coordinates z of its tangent space, relative to the length."""

    def __init__(self, solver: PoseSolver, q: FloatArray) -> None:
        self._solver, self._space, self._origin = solver, solver.space, q
        self._space.enter(q)
        self._basis = self._space.tangent().basis * solver.length
        self._project = (self._space.weights[:, None] ** 2 * self._basis / solver.length**2).T
        self.dof = self._basis.shape[1]
        self._at: tuple[FloatArray, Attempt, FloatArray] | None = None  # z, pose, speeds by rates of z

    def at(self, z: FloatArray) -> Attempt:
        """Return the pose, where the block then is."""
        if self._at is None or not np.array_equal(z, self._at[0]):
            found = self._solver.newton(None, self._space.displaced(self._origin, self._basis @ z))
            basis = self._space.tangent().basis
            self._at = z.copy(), found, basis @ np.linalg.pinv(self._project @ basis)
        return self._at[1]

    def cost(self, z: FloatArray, wanted: Sequence[FloatArray]) -> tuple[float, FloatArray]:
        """Return half the square of the relative distance from the targets, and its slope."""
        self.at(z)
        solver = self._solver
        lack = solver._weights * solver._lacking(wanted) / solver.length
        rows = solver._weights[:, None] * solver.functions.rows() @ self._moves() / solver.length
        return 0.5 * float(lack @ lack), -lack @ rows

    def room(self, z: FloatArray) -> FloatArray:
        """Return how far limits are, not negative within them."""
        self.at(z)
        return self._limits.room()

    def room_rows(self, z: FloatArray) -> FloatArray:
        """Return its slope."""
        self.at(z)
        return self._limits.room_rows() @ self._moves()

    @property
    def _limits(self) -> Limits:
        limits = self._solver.limits
        assert limits is not None
        return limits

    def _moves(self) -> FloatArray:
        """Return speeds by rates of z in the present pose."""
        assert self._at is not None
        return self._at[2]


# ---- for users ----


@checks_keywords
@dataclass(frozen=True, eq=False)
class InverseKinematics(TableResult, NamedColumns):
    """Poses for targets: one, or one for each of a path (n,).

    Attributes
    ----------
    coordinates
        Names of the coordinates of the tree joints, (nq,); `result[name]` is one of them, float or (n,).
    q
        Their values, (nq,) or (n, nq).
    found
        Whether all targets are reached within the limits; bool or (n,).
    distance
        How far the targets are missed, m, angles times `length`; float or (n,). The pose is the nearest one found.
    steps
        Steps of all attempts together, int or (n,).
    targets
        Values by name.
    length
        m, by which angles are weighted.
    """

    coordinates: tuple[str, ...]
    q: FloatArray
    found: Any
    distance: Any
    steps: Any
    targets: dict[str, FloatArray]
    length: float
    _space: ConfigurationSpace

    @property
    def state(self) -> State:
        """The pose at rest; of a path the last one."""
        return self.states[-1]

    @property
    def states(self) -> list[State]:
        """All poses, at rest."""
        found = []
        for q in np.atleast_2d(self.q):
            self._space.enter(q)
            found.append(self._space.state())
        return found

    def __len__(self) -> int:
        """Return the number of poses."""
        return len(np.atleast_2d(self.q))

    @property
    def names(self) -> list[str]:
        """Names of the coordinates."""
        return list(self.coordinates)

    def __getitem__(self, name: str) -> Any:
        """Return a coordinate by name, float or (n,)."""
        if name not in self.coordinates:
            raise MechanismNameError(f"there is no coordinate {name!r}: {suggest(name, self.coordinates)}")
        values = self.q[..., self.coordinates.index(name)]
        return float(values) if values.ndim == 0 else values

    def _table(self) -> dict[str, NDArray[Any]]:
        n = len(self)
        columns: dict[str, NDArray[Any]] = {}
        for name, value in self.targets.items():
            rows = value.reshape(n, -1)
            ends = [""] if rows.shape[1] == 1 else [f"[{k + 1}]" for k in range(rows.shape[1])]
            columns |= {f"target.{name}{end}": column for end, column in zip(ends, rows.T, strict=True)}
        columns |= dict(zip(self.coordinates, np.atleast_2d(self.q).T, strict=True))
        return columns | {"found": np.atleast_1d(self.found), "distance": np.atleast_1d(self.distance)}

    def __repr__(self) -> str:
        if self.q.ndim == 2:
            missed = int(np.sum(~self.found))
            worst = f", {missed} not, by up to {np.max(self.distance):.3g} m" if missed else ""
            return f"InverseKinematics: {len(self) - missed} of {len(self)} poses found{worst}"
        return f"InverseKinematics: {self.summary()}"

    def summary(self) -> str:
        """Return whether the targets are reached, and the coordinates; of a path, how many are."""
        if self.q.ndim == 2:
            return repr(self)
        units = self._space.model.column
        missed = f"not found: the nearest pose misses by {self.distance:.3g} m (angles times {self.length:.3g} m)"
        rows = [(name, f"{round(self[name], 8) + 0.0: .6g}", units(name).unit) for name in self]
        return "\n".join(["found" if self.found else missed, *aligned(rows)])

    def to_dict(self) -> dict[str, Any]:
        """Return whether the targets are reached, and the coordinates, as plain data."""
        facts = {name: np.asarray(getattr(self, name)).tolist() for name in ("found", "distance", "steps", "length")}
        return facts | {"coordinates": {name: np.asarray(self[name]).tolist() for name in self}}


@checks_keywords
@on_one_thread
def inverse_kinematics(
    mechanism: Mechanism | ModelBase,
    targets: Targets,
    state: State | None = None,
    *,
    limits: Mapping[str, Bounds] | None = None,
    prefer: Mapping[str, ArrayLike] | None = None,
    starts: int = 8,
    length: float | None = None,
    unreachable: Unreachable = "return",
    progress: ProgressOption = None,
) -> InverseKinematics:
    """Return closed poses in which functions of the pose have given values.

    Parameters
    ----------
    mechanism
        Or a model.
    targets
        Values by name: "hand.r" (3,) m, "hand.Q" a unit quaternion (4,), "tip.e" a unit vector (3,), "A.q",
        "hand.r[3]", "gap.length". With one more leading dimension they are a path, each pose of which starts at the one
        before.
    state
        The start; by default the assembled start.
    limits
        Lower and upper bound of coordinates, or of other functions of the pose, by name; None: no bound. The bounds of
        `Stop` transitions hold for all coordinates that are not given.
    prefer
        Preferred values by name, kept as well as the targets allow. Without them, and in all that they leave open, the
        pose is next to the start, angles weighted by the length.
    starts
        How many more starts are tried where the first fails.
    length
        m, by which angles are weighted; by default a length of the mechanism.
    unreachable
        "return": a target that is not reached ends in the nearest pose found, with ``found=False``; "raise": with an
        error, whose `result` it is.
    progress
        Of a path: True, False, None (on a terminal) or a function.

    Examples
    --------
    >>> import linkwork as lw
    >>> mech = lw.Mechanism("arm")
    >>> for name in ("upper", "lower"):
    ...     mech.add_body(name, mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    >>> mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "upper", at=(0, 0, 0))
    >>> mech.add_joint("B", lw.Revolute((0, 0, 1)), "upper", "lower", parent_frame=lw.Frame((1, 0, 0)))
    >>> mech.add_point("tip", "lower", (1, 0, 0))
    >>> mech.start(q={"B": 0.5})
    >>> lw.inverse_kinematics(mech, {"tip.r": (1.0, 1.0, 0.0)})
    InverseKinematics: found
      A.q   0       rad
      B.q   1.5708  rad
    >>> lw.inverse_kinematics(mech, {"tip.r": (0.0, 3.0, 0.0)})
    InverseKinematics: not found: the nearest pose misses by 1 m (angles times 1 m)
      A.q   1.5708  rad
      B.q   0       rad
    """
    if unreachable not in ("return", "raise"):
        raise MechanismError(f'unreachable must be "return" or "raise", not {unreachable!r}')
    starts = whole_number(starts, "starts")
    model = model_of(mechanism)
    space = ConfigurationSpace(model, state, length)
    functions, values, is_path = checked_targets(space, targets, "targets")
    solver = PoseSolver(space, functions, Limits.of(space, limits), _preferences(space, prefer))
    if not solver.dof:
        raise MechanismError("the mechanism cannot move: it has no degree of freedom in its start")
    ends, q = [], space.q
    count = len(values[0])
    with Progress(progress) as shown:
        for k in range(count):
            ends.append(solver.solve([value[k] for value in values], q, starts=starts))
            q = ends[-1].q
            if shown.due:
                shown.count(k + 1, count, "poses")
    q, found, distance, steps = (
        np.array([getattr(one, name) for one in ends]) for name in ("q", "found", "distance", "steps")
    )
    named = {name: value if is_path else value[0] for name, value in zip(targets, values, strict=True)}
    result = InverseKinematics(
        coordinates=tuple(model.q_names),
        q=q if is_path else q[0],
        found=found if is_path else bool(found[0]),
        distance=distance if is_path else float(distance[0]),
        steps=steps if is_path else int(steps[0]),
        targets=named,
        length=space.length,
        _space=space,
    )
    if unreachable == "raise" and not np.all(result.found):
        missed = int(np.sum(~np.atleast_1d(result.found)))
        raise UnreachableError(
            f"{missed} of {count} targets are not reached: the nearest poses found miss by up to "
            f"{np.max(result.distance):.3g} m (angles times {space.length:.3g} m)",
            result,
        )
    return result


def checked_targets(space: ConfigurationSpace, targets: Targets, what: str) -> tuple[Stacked, list[FloatArray], bool]:
    """Return functions, their values (n, k), and whether they are a path."""
    if not isinstance(targets, Mapping) or not targets:
        raise MechanismError(f"{what} must be values by name, as {{'hand.r': (0, 0, 1)}}, not {shortened(targets)}")
    functions = Stacked(space, [pose_function(space, name) for name in targets])
    if twice := [name for k, name in enumerate(functions.names) if name in functions.names[:k]]:
        raise MechanismError(f"{what} give {twice[0]!r} twice")
    values = []
    for name, part in zip(targets, functions.parts, strict=True):
        whole = name.endswith(".Q")
        if not whole and part.names[0].endswith((".Q[1]", ".Q[2]", ".Q[3]")):
            raise MechanismError(f"{what}: {name!r} is no value: give the quaternion {name.split('[')[0]!r} as a whole")
        values.append(_value(targets[name], 4 if whole else part.size, f"{what}: {name!r}"))
        if whole or name.endswith(".e"):
            norms = np.linalg.norm(values[-1], axis=-1, keepdims=True)
            if np.any(np.abs(norms - 1.0) > 1e-6):
                kind = "unit quaternion (w, x, y, z)" if whole else "unit vector"
                raise MechanismError(f"{what}: {name!r} must be a {kind}; its length is {norms.flat[0]:.6g}")
            values[-1] = values[-1] / norms
    lengths = {len(value) for value in values if value.ndim == 2}
    if len(lengths) > 1:
        raise MechanismError(f"{what} of a path must be equally many, not {sorted(lengths)}")
    if lengths == {0}:
        raise MechanismError(f"{what} of a path are none")
    count = lengths.pop() if lengths else 1
    is_path = any(value.ndim == 2 for value in values)
    return functions, [np.broadcast_to(value, (count, value.shape[-1])) for value in values], is_path


def _value(given: ArrayLike, size: int, what: str) -> FloatArray:
    """Return finite numbers (size,) or (n, size); of one number also () and (n,)."""
    try:
        value = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        value = np.asarray(None, dtype=np.float64)
    if size == 1 and value.ndim < 2 and value.shape != (1,):
        value = value[..., None]
    if value.ndim not in (1, 2) or value.shape[-1] != size or not np.isfinite(value).all():
        numbers = f"{size} finite numbers" if size > 1 else "one finite number"
        raise MechanismError(f"{what} must be {numbers}, or a row of them for each pose, not {shortened(given)}")
    return value


def _preferences(
    space: ConfigurationSpace, prefer: Mapping[str, ArrayLike] | None
) -> tuple[Stacked, list[FloatArray]] | None:
    if not prefer:
        return None
    functions, values, is_path = checked_targets(space, prefer, "prefer")
    if is_path:
        raise MechanismError("prefer gives one value by name, not a path")
    return functions, [value[0] for value in values]
