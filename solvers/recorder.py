"""The record of a run: rows, events, statistics and the end, over all parts of the run."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from linkwork.errors import SolverValueError
from linkwork.solvers.arguments import real, vector
from linkwork.solvers.base import Failure, Solver
from linkwork.solvers.output import Output
from linkwork.solvers.problem import FloatArray, IntArray, Problem, StepControl
from linkwork.solvers.solution import EventRecord, Solution, Statistics, Status

ROUNDING = 1e-12  # of the largest time: times of rows that are as near to an end of the run are there
FIRST_LOOK = 100_000  # steps, and again each time that their number has doubled
HOPELESS = 10.0  # times the steps that are left


class Recorder:
    """Record of a run from `t_start` to `t_end`; the only source of its result, whether it ended or failed.

    `integrate` fills it. A run may have several parts, each one a call of `integrate` from the end of the last one.

    Parameters
    ----------
    t_start, t_end
        Times of the whole run.
    t_eval
        Times of the rows, shape (nt,), those within rounding of an end of the run at that end; without them every step
        makes a row. At the time of an event the row holds the state before it; where one part ends and the next one
        starts, the state at the start of the next.
    """

    output: Output  #: the rows; exists once the first part has begun

    def __init__(
        self, t_start: float, t_end: float, t_eval: npt.ArrayLike | None = None, n_step_values: int = 0
    ) -> None:
        self.t_start, self.t_end = t_start, t_end = checked_span(t_start, t_end)
        self.progress = StepProgress(t_start, t_end)  # the steps so far, by which runs without hope are given up
        # t, y: time and state (n,) reached, after the last event
        self.t = t_start
        self.y: FloatArray = np.empty(0)
        self.events: list[EventRecord] = []  # in the order in which they happened
        # Numbers, (n_step_values,), that `on_step` and `on_event` of the problem keep; the rows hold those of the last
        # step before them.
        self.step_values: FloatArray = np.zeros(n_step_values)
        # What the step size control remembers at the end of the last part; None: the solver does not know it.
        self.step_control: StepControl | None = None
        # The absolute tolerances of the states at the end of the last part, (n,); None: they have one.
        self.atols: FloatArray | None = None
        # message, status: how the last part ended
        self.message = ""
        self.status = Status.FAILED
        self._times = None if t_eval is None else checked_times(t_eval, t_start, t_end)
        self._past = Statistics()  # of the parts that have ended
        self._part: Statistics | None = None

    @property
    def started(self) -> bool:
        """Whether the run has begun, so that there is a result."""
        return self._part is not None

    @property
    def times_given(self) -> bool:
        """Whether the times of the rows are given; otherwise every step makes a row."""
        return self._times is not None

    @property
    def statistics(self) -> Statistics:
        """Costs of all parts so far."""
        return self._past if self._part is None else self._past + self._part

    # ---- filled by `integrate` ----

    def begin(self, problem: Problem, t_end: float, statistics: Statistics) -> None:
        """Begin a part of the run, from the start of a problem to `t_end`."""
        if not self.started:
            self.output = Output(problem.n, self._times, self.t_end < self.t_start, self.step_values)
        self._past, self._part = self.statistics, statistics
        self.t, self.y = problem.t0, problem.y0.copy()
        self.output.resume()
        if t_end != self.t_end:
            self.output.stop_before(t_end)
        if not self.times_given:
            self.output.append(self.t, self.y)
        elif not self.output.complete and self.output.t[self.output.count] == self.t:
            self.output.fill(self.y[np.newaxis])

    def reach(self, t: float, y: FloatArray) -> None:
        """Record the time and the state that the solver has reached."""
        self.t, self.y = t, y.copy()

    def event(self, crossings: IntArray, y_after: FloatArray) -> None:
        """Record an event at the end of the last step."""
        indices = tuple(int(i) for i in np.flatnonzero(crossings))
        directions = tuple(int(crossings[i]) for i in indices)
        self.events.append(EventRecord(self.t, indices, directions, self.y, y_after))
        if y_after is not self.y and not self.times_given:
            self.output.append(self.t, y_after)
        self.y = y_after

    def end(self, status: Status, message: str) -> None:
        """Record how a part of the run ended."""
        self.status, self.message = status, message

    # ---- for the caller of the run ----

    def solution(self) -> Solution:
        """Return everything recorded so far as arrays."""
        times, states = self.output.rows()
        return Solution(times, states, self.t, self.y, self.events, self.statistics, self.status, self.message)

    def result(self) -> object:
        """Return the object that the caller of the run gets, also on an exception."""
        return self.solution()

    def attach_to(self, error: BaseException) -> None:
        """Store the result on the exception that ended the run, as its attribute `result`; a note states the time."""
        if not self.started:
            return
        attach(error, self.t, self.result)


def attach(error: BaseException, t: float, result: Callable[[], object]) -> None:
    """Store a result on the exception that ended a run at a time; a note states the time."""
    where = f"the integration stopped at t = {t:.17g}"
    try:
        error.result = result()  # type: ignore[attr-defined]
        where += "; the attribute 'result' of this exception holds the partial result"
    except (AttributeError, TypeError):  # some foreign exceptions take no attributes
        where += " (this exception takes no partial result)"
    error.add_note(where)


def checked_span(t_start: float, t_end: float) -> tuple[float, float]:
    """Return the times between which a run is, s; SolverValueError if they are not finite."""
    t_start, t_end = real(t_start, "t0"), real(t_end, "t_end")
    if not (math.isfinite(t_start) and math.isfinite(t_end)):
        raise SolverValueError(f"the run from t0 = {t_start} to t_end = {t_end} must be between finite times")
    return t_start, t_end


def checked_times(t_eval: npt.ArrayLike, t0: float, t_end: float) -> FloatArray:
    """Return the times of rows (nt,); SolverValueError if they are no sequence within the run."""
    times = vector(t_eval, "t_eval")
    for end in (t0, t_end):  # sums of steps miss it by rounding
        beyond = (times < min(t0, t_end)) if end == min(t0, t_end) else (times > max(t0, t_end))
        times[beyond & (np.abs(times - end) <= ROUNDING * max(abs(t0), abs(t_end)))] = end
    direction = -1.0 if t_end < t0 else 1.0
    if (np.diff(times) * direction <= 0.0).any():
        raise SolverValueError(
            "t_eval must be strictly " + ("increasing" if direction > 0.0 else "decreasing, as time is")
        )
    outside = times[(times < min(t0, t_end)) | (times > max(t0, t_end))]
    if outside.size:
        raise SolverValueError(f"t_eval contains {outside[0]:.17g}, outside the run from {t0:.17g} to {t_end:.17g}")
    return times


class StepProgress:
    """The progress of a run to `t_end`, over all of its parts: one without hope of its end is given up early."""

    def __init__(self, t_start: float, t_end: float) -> None:
        self._t_end = t_end
        self._past = 0  # steps of the parts that have ended
        self._part = 0
        self._limit: int | None = None
        self._next = FIRST_LOOK
        self._before = 0, t_start  # steps and time at the last look

    def begin(self, limit: int | None) -> None:
        """Begin a part of the run, which may take `limit` steps; None: any number."""
        self._past += self._part
        self._part = 0
        self._limit = limit

    def check(self, method: Solver) -> None:
        """Raise an error if the run cannot come to its end within the limit, at its speed since the last look."""
        self._part = method.statistics.steps + (method.statistics.rejected or 0)
        taken = self._past + self._part
        if taken < self._next or self._limit is None:
            return
        advance = abs(method.t - self._before[1]) / (taken - self._before[0])
        self._before, self._next = (taken, method.t), 2 * taken
        needed = abs(self._t_end - method.t) / advance if advance else math.inf
        if needed > HOPELESS * (self._limit - self._part):
            raise method.fail(
                Failure.TOO_SLOW,
                f"after {taken} steps, the last ones of about {advance:.2g} each, {needed:.2g} more would be needed to "
                f"the end at {self._t_end:.6g}",
            )
