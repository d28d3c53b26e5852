"""Motions in rows: coordinates, speeds and accelerations of the tree joints at times, as a user gives them.

Functions of the pose f(q), as many as degrees of freedom, determine the pose along a branch; with their rows F and the
constraints' J

    [J; F] u = [-Phi_t; f'],    [J; F] udot = [c; f'' - F' u]

From row to row Newton's iteration begins where the linear part of the step leads, and a step that ends far from there
is divided: it might have changed the branch.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.interpolate import make_interp_spline

from linkwork._util.checks import FloatArray, real_array
from linkwork.analysis.continuation import STEEP, Curve
from linkwork.analysis.pose_functions import PoseFunction, pose_function
from linkwork.analysis.tables import read_over_time
from linkwork.errors import LinkworkError, MechanismError
from linkwork.simulation.inputs import Inputs, InputValue
from linkwork.simulation.result import Result
from linkwork.simulation.running_state import RunningState

if TYPE_CHECKING:
    from linkwork.analysis.configuration_space import ConfigurationSpace
    from linkwork.model.model import Model

SAMPLES = 2000  # of a function of time whose derivatives are not given
SPLINE_DEGREE = 5  # continuous up to the fourth derivative
MOST_PARTS = 64  # of a step between rows
MOST_STEPS = 12  # of Newton's iteration, from where the linear part leads
STRAY = 0.5  # of a step: by so much its end may differ from where its linear part leads
FULL_RANK = 1e-8  # of a singular value, relative to the largest


@dataclass(frozen=True, eq=False)
class MotionRows:
    """Rows of a motion."""

    t: FloatArray  # (rows,), s
    # q, u, udot: of the tree joints, (rows, nq), (rows, nu) and (rows, nu)
    q: FloatArray
    u: FloatArray
    udot: FloatArray
    inputs: FloatArray  # all inputs, (rows, n_inputs)
    # Coordinates from which those of the cut joints are counted, (rows, nq_cut); None: from row to row.
    turns: FloatArray | None = None
    discrete: Sequence[FloatArray] = ()  # the discrete state of each row; empty: that of the start
    error: LinkworkError | None = None  # why the rows end before the motion does; None: they do not

    def __len__(self) -> int:
        return len(self.t)

    def segments(self) -> list[slice]:
        """Return rows of equal discrete states."""
        ends = [i for i in range(1, len(self.discrete)) if (self.discrete[i] != self.discrete[i - 1]).any()]
        return [slice(first, end) for first, end in zip([0, *ends], [*ends, len(self)], strict=True)]


def times_of(t_eval: Any) -> FloatArray:
    """Return given times (rows,), s, which must ascend."""
    try:
        times = np.atleast_1d(np.asarray(t_eval, dtype=np.float64))
    except (TypeError, ValueError):
        times = np.empty((0, 0))
    if t_eval is None or times.ndim != 1 or not times.size:
        raise MechanismError(f"t_eval must be the times of the motion, (rows,), s, not {t_eval!r:.80}")
    if not np.isfinite(times).all():
        raise MechanismError(
            f"t_eval is not finite in row {int(np.argmin(np.isfinite(times))) + 1}: give finite times, s"
        )
    if (late := np.diff(times) <= 0).any():
        row = int(np.argmax(late)) + 1
        raise MechanismError(
            f"t_eval must ascend, and row {row + 1}, t = {times[row]:.6g} s, does not follow t = {times[row - 1]:.6g} s"
        )
    return times


# ---- of a simulation ----


def rows_of_result(model: Model, result: Result, inputs: FloatArray | None) -> MotionRows:
    """Return the rows of a simulated motion; `inputs` None: those of the simulation."""
    own, names = result.model, (model.q_names, model.u_names)
    if (own.q_names, own.u_names) != names:
        raise MechanismError(
            f"motion: the result of {result.name!r} has other coordinates than {model.mechanism.name!r}: give a result "
            "of "
            "the same mechanism"
        )
    n, run = model.numbering, result._trajectory
    moving = [name for name in n.tree if n.u[name].stop > n.u[name].start]
    udot = np.hstack([np.empty((len(result), 0)), *(_matrix(result[f"{name}.a"]) for name in moving)])
    finite = np.isfinite(udot).all(axis=1) & np.isfinite(run.inputs).all(axis=1)
    if not finite.all():
        raise MechanismError(
            f"motion: the result has no accelerations or inputs at t = {result.t[np.argmin(finite)]:.6g} s: cut it "
            "before, "
            "result[:t]"
        )
    discrete = list(run.discrete)
    given = run.inputs if inputs is None else inputs
    return MotionRows(result.t, run.y[:, : n.nq], run.y[:, n.nq :], udot, given, run.revolutions, discrete)


def _matrix(column: FloatArray) -> FloatArray:
    return column if column.ndim == 2 else column[:, None]


# ---- arrays ----


def rows_of_arrays(model: Model, arrays: Sequence[Any], t: FloatArray, inputs: FloatArray) -> MotionRows:
    """Return the rows of coordinates, speeds and accelerations, checked."""
    n = model.numbering
    found = []
    for name, values, size in zip(("q", "u", "udot"), arrays, (n.nq, n.nu, n.nu), strict=True):
        try:
            array = real_array(values)
        except (TypeError, ValueError):
            raise MechanismError(f"motion: {name} must be an array of numbers, not {values!r:.80}") from None
        if array.shape != (len(t), size):
            raise MechanismError(
                f"motion: {name} has shape {array.shape}; it must be ({len(t)}, {size}): a row for each time of t_eval"
            )
        if not np.isfinite(array).all():
            row, column = np.argwhere(~np.isfinite(array))[0]
            label = (model.q_names if name == "q" else model.u_names)[column]
            raise MechanismError(f"motion: {name} is not finite in row {row + 1}, t = {t[row]:.6g} s, at {label!r}")
        found.append(array)
    q, u, udot = found
    for joint, place in n.quaternions.items():
        if place.stop <= n.nq and not (lengths := q[:, place].any(axis=1)).all():
            raise MechanismError(f"motion: q of joint {joint!r} has no direction in row {int(np.argmin(lengths)) + 1}")
    return MotionRows(t, q, u, udot, inputs)


def motion_of_table(model: Model, path: str | os.PathLike[str]) -> tuple[FloatArray, Any]:
    """Return the times and the motion in a CSV file: all states and accelerations, or functions of the pose."""
    t, columns = read_over_time(path)
    accelerations = [_with_ending(name, "u", "a") for name in model.u_names]
    names = (model.q_names, model.u_names, accelerations)
    if all(name in columns for part in names for name in part):
        return t, tuple(np.column_stack([columns[name] for name in part]) for part in names)
    rates = {name: [_with_ending(name, "q", kind) for kind in "ua"] for name in columns}
    derived = {rate for name, both in rates.items() for rate in both if rate != name}
    motion: dict[str, Any] = {}
    for name, values in columns.items():
        if name in derived:
            continue
        given = name not in rates[name] and all(rate in columns for rate in rates[name])
        motion[name] = (values, *(columns[rate] for rate in rates[name])) if given else values
    return t, motion


def _with_ending(name: str, ending: str, other: str) -> str:
    """Return the name of another quantity of a joint: A.q, A.u for the endings q, u; U.q[2], U.u[2]."""
    what, bracket, index = name.partition("[")
    return f"{what.removesuffix('.' + ending)}.{other}{bracket}{index}" if what.endswith(f".{ending}") else name


# ---- functions of the pose ----


class Course:
    """A function of the pose in time: values, rates and accelerations (rows, n) at the times of a motion.

    Parameters
    ----------
    function
        Of the pose.
    given
        Values (rows,) or (rows, n); three such arrays: values, rates, accelerations; a function of time that returns a
        value, or value, rate and acceleration.
    t
        (rows,), s.
    """

    def __init__(self, function: PoseFunction, name: str, given: Any, t: FloatArray) -> None:
        self.function, self._name, self._t = function, name, t
        parts = self._sampled(given) if callable(given) else self._given(given)
        for what, part in zip(("value", "rate", "acceleration"), parts, strict=True):
            if not (finite := np.isfinite(part).all(axis=1)).all():
                row = int(np.argmin(finite))
                raise MechanismError(
                    f"motion of {name!r}: the {what} is not finite in row {row + 1}, t = {t[row]:.6g} s"
                )
        self.value, self.rate, self.acceleration = parts

    def _given(self, given: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
        if isinstance(given, tuple) and len(given) == 3 and (len(self._t) == 1 or all(map(np.ndim, given))):
            value, rate, acceleration = (self._rows(np.atleast_1d(one)) for one in given)
            return value, rate, acceleration
        return self._spline(self._t, self._rows(given))

    def _rows(self, values: Any) -> FloatArray:
        n, rows = self.function.size, len(self._t)
        try:
            array = real_array(values)
        except (TypeError, ValueError):
            array = np.empty((0, 0, 0))
        if array.shape == (rows,) and n == 1:
            array = array[:, None]
        if array.shape != (rows, n):
            wanted = f"({rows},)" if n == 1 else f"({rows}, {n})"
            raise MechanismError(
                f"motion of {self._name!r}: give an array of shape {wanted}, a number for each time of t_eval, three "
                "of "
                f"them (value, rate, acceleration) or a function of time, not {_described(values, array)}"
            )
        return array

    def _spline(self, t: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return values, rates and accelerations at the times of the motion from values (samples, n) at times t."""
        degree = min(SPLINE_DEGREE, len(t) - 1)
        if degree < 1 and np.isfinite(values).all():
            raise MechanismError(
                f"motion of {self._name!r}: one row has no rate and no acceleration: give them too, (value, rate, "
                "acceleration), zeros at rest, or several rows"
            )
        if not np.isfinite(values).all():
            return values, np.zeros_like(values), np.zeros_like(values)
        spline = make_interp_spline(t, values, k=degree)
        rate, acceleration = (
            spline(self._t, nu=k) if k <= degree else np.zeros((len(self._t), values.shape[1])) for k in (1, 2)
        )
        return spline(self._t), rate, acceleration

    def _sampled(self, function: Callable[[float], Any]) -> tuple[FloatArray, FloatArray, FloatArray]:
        n, times = self.function.size, self._t
        first = self._numbers(function, float(times[0]))
        if (first.shape == (3,) and n == 1) or first.shape == (3, n):
            found = np.array([self._numbers(function, float(t)).reshape(3, n) for t in times])
            return found[:, 0], found[:, 1], found[:, 2]
        if len(times) < 2:
            raise MechanismError(
                f"motion of {self._name!r}: at a single time a function must return value, rate and acceleration"
            )
        samples = np.linspace(times[0], times[-1], SAMPLES + 1)
        return self._spline(samples, np.array([self._numbers(function, float(t)).reshape(n) for t in samples]))

    def _numbers(self, function: Callable[[float], Any], t: float) -> FloatArray:
        n, given = self.function.size, function(t)
        try:
            array = real_array(given)
        except (TypeError, ValueError):
            array = np.empty((0, 0, 0))
        if array.shape not in ((), (1,), (3,), (3, 1)) if n == 1 else array.shape not in ((n,), (3, n)):
            wanted = "a number" if n == 1 else f"{n} numbers"
            raise MechanismError(
                f"motion of {self._name!r}: the function must return {wanted}, or value, rate and acceleration, not "
                f"{given!r:.80} at t = {t:.6g} s"
            )
        return array


def _described(values: Any, array: FloatArray) -> str:
    return f"an array of shape {array.shape}" if array.size else f"{values!r:.80}"


class PrescribedMotion:
    """The motion of a mechanism by functions of its pose in time."""

    def __init__(
        self,
        space: ConfigurationSpace,  # at a pose of the branch
        motion: Mapping[str, Any],  # what each function does, by name
        t: FloatArray,  # (rows,), s
        inputs: FloatArray,  # (rows, n_inputs)
    ) -> None:
        self._space, self._t, self._inputs = space, t, inputs
        self._courses = [self._course(name, given) for name, given in motion.items()]
        self._enter_time(0, 0, 0.0)
        count, dof = sum(one.function.size for one in self._courses), space.tangent().dof
        if count != dof:
            raise MechanismError(
                f"motion: {', '.join(map(repr, motion)) or 'nothing'} gives {_numbered(count, 'function')} of the "
                f"pose, and the mechanism has {_numbered(dof, 'degree')} of freedom: give as many"
            )

        self._curve = Curve(space) if count == 1 and not space.model.numbering.n_motion else None
        self._speed = None if self._curve is None else self._curve.speed_of(self._courses[0].function)

    def _course(self, name: str, given: Any) -> Course:
        function = pose_function(self._space, name)
        if name.endswith(".Q"):
            raise MechanismError(f"motion: {name!r} is an orientation; give coordinates or points instead")
        return Course(function, name, given, self._t)

    def rows(self) -> MotionRows:
        """Return the motion, as far as the mechanism follows."""
        space, rows = self._space, len(self._t)
        q, u, udot = np.empty((rows, space.nq)), np.empty((rows, space.nu)), np.empty((rows, space.nu))
        done, error = 0, None
        try:
            while done < rows:
                self._follow(done)
                q[done] = space.q
                u[done], udot[done] = self._rates(done)
                done += 1
                if self._speed is not None and done < rows:
                    done = self._follow_in_core(done, q, u, udot)
        except LinkworkError as failed:
            where = f"motion: at t = {self._t[done]:.6g} s "
            error = failed if str(failed).startswith(where) else MechanismError(f"{where}{failed}")
        return MotionRows(self._t[:done], q[:done], u[:done], udot[:done], self._inputs[:done], error=error)

    def _follow_in_core(self, first: int, q: FloatArray, u: FloatArray, udot: FloatArray) -> int:
        """Write rows from one on, as far as the core follows; return their end.

        With the coordinate p at rate 1, speeds u_p and accelerations a_p: u = p' u_p and udot = p'' u_p + p'^2 a_p.
        """
        space, speed, course = self._space, self._speed, self._courses[0]
        assert self._curve is not None
        assert self._curve.core is not None
        assert speed is not None
        start = self._curve.point(q[first - 1])
        if start is None:
            return first
        values, length = course.value[first:, 0], space.length
        least, turns = STEEP * space.weights[speed] / length, np.zeros(space.model.numbering.nq_cut)
        rows = self._curve.core.rows((start.q, start.tangent), speed, 1.0, values, length, least, turns)
        by_value = start.tangent / space.weights * (space.weights[speed] / start.tangent[speed])
        before, count = q[first - 1], 0
        for pose, rates in zip(rows.q, rows.u, strict=True):
            step = by_value * (values[count] - before[space.coordinate_of_speed[speed]])
            if not self._is_near(pose, space.displaced(before, step), step):
                break
            before, by_value, count = pose, rates, count + 1
        end = first + count
        rate, second = course.rate[first:end], course.acceleration[first:end]
        q[first:end] = rows.q[:count]
        u[first:end] = rate * rows.u[:count]
        udot[first:end] = second * rows.u[:count] + rate**2 * rows.udot[:count]
        space.enter(q[end - 1])
        return end

    def _enter_time(self, last: int, row: int, part: float) -> None:
        """Bring time and inputs between two rows."""
        t, inputs = self._t, self._inputs
        between = inputs[last] + part * (inputs[row] - inputs[last])
        self._space.block.enter_inputs(between, float(t[last] + part * (t[row] - t[last])))

    def _follow(self, row: int) -> None:
        """Go from the pose of the row before to that of a row, in as many parts as needed."""
        space, last = self._space, max(row - 1, 0)
        start = [one.value[last] if row else one.function.value() for one in self._courses]
        done, parts = 0.0, 1.0
        while done < 1.0:
            part = min(1.0, done + 1.0 / parts)
            wanted = [value + part * (one.value[row] - value) for one, value in zip(self._courses, start, strict=True)]
            self._enter_time(last, row, part)
            q = space.q
            if self._step(q, wanted):
                done, parts = part, max(1.0, parts / 2)
                continue
            space.enter(q)
            parts *= 2
            if parts > MOST_PARTS:
                self._enter_time(last, row, 1.0)
                raise MechanismError(
                    f"motion: at t = {self._t[row]:.6g} s the mechanism cannot follow {self._names}: no pose on this "
                    "branch has these values, or it is a dead point of them; keep the motion within reach, or give "
                    "other functions of the pose"
                )

    def _step(self, q: FloatArray, wanted: Sequence[FloatArray]) -> bool:
        """Go from a pose to one of wanted values; False where the step is too long, or nothing is there."""
        space = self._space

        def task() -> tuple[FloatArray, FloatArray]:
            ahead = [one.function.difference(value) for one, value in zip(self._courses, wanted, strict=True)]
            return -np.concatenate([np.zeros(0), *ahead]) * self._lengths, self._rows() * self._lengths[:, None]

        space.enter(q)
        left, rows = task()
        step = space.least_step(np.vstack([space.jacobian(), rows]), -np.concatenate([space.violation(), left]))
        ahead = space.displaced(q, step)
        near = space.closed(ahead, task, MOST_STEPS)
        return near.found and self._is_near(near.q, ahead, step)

    def _is_near(self, q: FloatArray, ahead: FloatArray, step: FloatArray) -> bool:
        """Whether a pose is so near to where the linear part of a step leads that it is on the branch."""
        space = self._space
        size = float(np.linalg.norm(space.weights * step))
        return space.distance(q, ahead) <= STRAY * size + 1e-9 * space.length

    def _rows(self) -> FloatArray:
        return np.vstack([one.function.rows() for one in self._courses] or [np.zeros((0, self._space.nu))])

    @property
    def _lengths(self) -> FloatArray:
        """By which the functions count in metres."""
        units = [unit for one in self._courses for unit in one.function.units]
        return np.array([1.0 if unit == "m" else self._space.length for unit in units])

    def _rates(self, row: int) -> tuple[FloatArray, FloatArray]:
        """Return speeds and accelerations of a row in the present pose."""
        space = self._space
        rows = np.vstack([space.jacobian(), self._rows() * self._lengths[:, None]])
        space.enter_speeds(np.zeros(space.nu))
        of_time = space.violation_rate()
        rate = np.concatenate([one.rate[row] for one in self._courses] or [np.zeros(0)])
        left, values, right = np.linalg.svd(rows / space.weights, full_matrices=False)
        if not values[space.nu - 1 : space.nu].min(initial=np.inf) > FULL_RANK * values[:1].max(initial=0.0):
            raise MechanismError(
                f"motion: at t = {self._t[row]:.6g} s {self._names} do not determine the pose: "
                f"{self._lacking(right[-1])}; give functions that do, or keep away from this pose"
            )

        def solved(rhs: FloatArray) -> FloatArray:
            found: FloatArray = (right.T @ ((left.T @ rhs) / values)) / space.weights
            return found

        u = solved(np.concatenate([-of_time, rate * self._lengths]))
        space.enter_speeds(u)
        bias = np.concatenate([one.function.bias() for one in self._courses] or [np.zeros(0)])
        second = np.concatenate([one.acceleration[row] for one in self._courses] or [np.zeros(0)])
        return u, solved(np.concatenate([space.kinematic_bias(), (second - bias) * self._lengths]))

    def _lacking(self, direction: FloatArray) -> str:
        return f"{describe_direction(self._space, direction / self._space.weights)} is possible while they rest"

    @property
    def _names(self) -> str:
        return ", ".join(repr(name) for one in self._courses for name in one.function.names)


def describe_direction(space: ConfigurationSpace, u: FloatArray, most: int = 4) -> str:
    """Return a motion by speeds (nu,) in words: the speeds that move most, the largest as one."""
    size = np.abs(space.weights * u)
    order = [k for k in np.argsort(-size) if size[k] > 1e-3 * size.max()]
    scale = 1.0 / u[order[0]]
    units = [("rad/s" if turn else "m/s") for turn in space.is_rotation]
    parts = [f"{space.model.u_names[k]} = {scale * u[k]:.3g} {units[k]}" for k in order[:most]]
    return "the motion " + ", ".join(parts) + (", ..." if len(order) > most else "")


def _numbered(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


# ---- inputs ----


def input_rows(model: Model, given: Mapping[str, InputValue] | None, t: FloatArray) -> FloatArray:
    """Return all inputs (rows, n_inputs) at times, from constants and functions of time by name."""
    inputs = Inputs({} if given is None else given, model.numbering, model.arguments.no_inputs)
    rows = np.tile(inputs.constant, (len(t), 1))
    if inputs.of_time:
        for row, time in zip(rows, t, strict=True):
            inputs.put(float(time), row)
        if not (finite := np.isfinite(rows).all(axis=1)).all():
            raise MechanismError(f"inputs are not finite at t = {t[np.argmin(finite)]:.6g} s")
    return rows


def add_inputs_of_state(
    model: Model, given: Mapping[str, InputValue] | None, rows: MotionRows, space: ConfigurationSpace
) -> None:
    """Write the inputs that are functions of time and state into the rows of a motion."""
    inputs = Inputs({} if given is None else given, model.numbering, model.arguments.no_inputs)
    if not inputs.of_state:
        return
    running, none = RunningState(model, space.block), np.empty(0)
    for i, t in enumerate(rows.t.tolist()):
        space.block.enter(rows.q[i], rows.u[i], rows.inputs[i], t)
        for one in inputs.of_state:
            rows.inputs[i, one.span] = one.numbers(one.function(t, running.begin(none)), t)
