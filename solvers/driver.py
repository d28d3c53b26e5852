"""Running a solver on equations of a user: the record, event handlers and limits, the same for all solvers.

The run of the C core, `lw_run`, needs a mechanism; equations without one run here, those of FMUs in Model Exchange too.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from linkwork.errors import SolverError
from linkwork.solvers.arguments import checked_span, checked_times
from linkwork.solvers.base import Failure, Limits, Options, Solver
from linkwork.solvers.output import Output
from linkwork.solvers.problem import Action, Continue, FloatArray, IntArray, Problem, Restart, Terminate
from linkwork.solvers.registry import create
from linkwork.solvers.solution import EventRecord, Solution, Status, attach
from linkwork.solvers.thresholds import (
    CHATTERING_EVENTS,
    CHATTERING_SPAN,
    FIRST_LOOK,
    HOPELESS,
    MAX_EVENTS,
    MAX_STEPS,
)

# Step attempts between two checks for a signal such as Ctrl-C: half a second at 0.3 ms per derivative.
BATCH = 256


class ChatteringError(SolverError):
    """Events follow one another without end."""


def solve(
    problem: Problem,
    t_end: float,
    solver: str = "auto",
    rtol: float = 1e-8,
    atol: float | None = None,
    *,
    t_eval: npt.ArrayLike | None = None,
    max_step: float | None = None,
    first_step: float | None = None,
    max_steps: int | None = MAX_STEPS,
    max_events: int | None = MAX_EVENTS,
) -> Solution:
    """Integrate a problem from its start to `t_end`, forwards or backwards in time.

    Parameters
    ----------
    problem
        What to integrate.
    t_end
        End time, reached exactly unless a handler ends the run before.
    solver
        One of `solver_names()`. "auto" is "dopri5" until stability limits its steps, then "rodas5p" while that costs
        less. For tight tolerances "dop853"; for stiff problems "rodas5p", "Radau", "BDF", "LSODA" or "ida"; for
        implicit equations "ida".
    rtol, atol
        Relative and absolute error allowed in a step; `atol` is `rtol` if left out.
    t_eval
        Times of the output, shape (nt,), between the start and `t_end` and in the direction of the run; they do not
        change the steps. Without them the output has every step, and times between where something turns far in one.
    max_step, first_step
        Longest and first step, positive.
    max_steps
        Largest number of steps, the rejected ones included where the method counts them; None: no limit.
    max_events
        Largest number of events within one unit of time; None: no limit.

    Returns
    -------
    Solution
        The states, the events and what the run has cost.

    Raises
    ------
    SolverError
        If an argument makes no sense or the run cannot continue.
    Exception
        Whatever a function of the problem raises, unchanged.

    However a run fails, the attribute `result` of the exception holds the solution computed until then, on a
    `SolverError` and on any foreign exception that takes attributes; a note on the exception states the time.
    """
    options = Options(rtol, rtol if atol is None else atol, max_step, first_step)
    t_start, t_end = checked_span(problem.t0, t_end)
    times = None if t_eval is None else checked_times(t_eval, t_start, t_end)
    limits = Limits(max_steps, max_events)
    run = _Run(create(solver, problem, t_end, options), times, limits)
    try:
        status, message = run.to_end()
    except BaseException as error:
        text = str(error)
        attach(error, run.t, lambda: run.solution(Status.FAILED, text))
        raise
    return run.solution(status, message)


class _Run:
    """A run of a method, and its record: the only source of the result, whether it ended or failed.

    At the time of an event a row holds the state before it; without given times another one holds that after it.
    """

    def __init__(self, method: Solver, times: FloatArray | None, limits: Limits) -> None:
        problem = method.problem
        self._method, self._limits = method, limits
        self._output = Output(problem.n, times, method.t_end < problem.t0, np.empty(0))
        self._events: list[EventRecord] = []  # in the order in which they happened
        self._y = problem.y0.copy()  # reached, after the last event
        self._next_look, self._last_look = FIRST_LOOK, (0, problem.t0)  # steps; steps and time
        if times is None:
            self._output.append(self.t, self._y)
        elif times.size and times[0] == self.t:
            self._output.fill(self._y[np.newaxis])

    @property
    def t(self) -> float:
        """Time that is reached."""
        return self._method.t

    def solution(self, status: Status, message: str) -> Solution:
        """Return everything recorded so far as arrays."""
        statistics = self._method.statistics
        if not statistics.methods:
            statistics.methods = {self._method.name: statistics.steps}
        return Solution(*self._output.rows(), self.t, self._y, self._events, statistics, status, message)

    def to_end(self) -> tuple[Status, str]:
        """Step to the end; return how the run ended."""
        method, problem = self._method, self._method.problem
        method.start(problem.t0, problem.y0.copy())
        while method.t != method.t_end:
            action = self._advance()
            if isinstance(action, Terminate):
                message = f"ended at t = {method.t:.17g}, as the event handler or step hook asked"
                return Status.TERMINATED, message
            if isinstance(action, Restart) and method.t != method.t_end:
                method.statistics.restarts += 1
                method.start(method.t, self._y.copy())
        return Status.FINISHED, f"reached t = {method.t_end:.15g}"

    def _advance(self) -> Action | None:
        """Take a batch of steps, and handle the event at its end; return what its handler or the step hook asks for."""
        method, problem, tries = self._method, self._method.problem, BATCH
        if self._limits.steps is not None:
            tries = min(tries, self._limits.steps - method.tries)
        if tries <= 0:
            raise method.fail(Failure.TOO_MANY_STEPS)
        try:
            crossings = method.run(self._output, tries)
        finally:
            self._y = method.y.copy()
        if problem.on_progress is not None:
            problem.on_progress(method.t)
        self._check_progress()
        if crossings is None or isinstance(method.action, Terminate):
            return method.action
        if self._limits.events is not None and self._duration_of(self._limits.events) < 1.0:
            raise self._chattering(f"more than max_events = {self._limits.events} in one unit of time")
        action = self._handle_event(problem.requested(crossings))
        elapsed = max(abs(self.t - problem.t0), abs(self.t))
        if self._duration_of(CHATTERING_EVENTS) <= CHATTERING_SPAN * elapsed:
            raise self._chattering(f"{CHATTERING_EVENTS} events follow one another without end")
        return action

    def _handle_event(self, crossings: IntArray) -> Action | None:
        """Call the handler of an event and record it with the state after it."""
        if not crossings.any():
            return None
        method, handler = self._method, self._method.problem.on_event
        method.statistics.events += 1
        action = None if handler is None else handler(self.t, method.y.copy(), crossings)
        if not isinstance(action, Continue | Restart | Terminate | None):
            raise SolverError(f"on_event returned {action!r}; return Continue(), Restart(y) or Terminate()")
        y_after = self._y
        if isinstance(action, Restart | Terminate) and action.y is not None:
            y_after = np.array(action.y, dtype=np.float64)
            if y_after.shape != self._y.shape:
                raise SolverError(f"on_event returned a state of shape {y_after.shape} instead of {self._y.shape}")
            if not self._output.times_given:
                self._output.append(self.t, y_after)
        indices = tuple(np.flatnonzero(crossings).tolist())
        directions = tuple(int(crossings[i]) for i in indices)
        self._events.append(EventRecord(self.t, indices, directions, self._y, y_after))
        self._y = y_after
        return action

    def _duration_of(self, count: int) -> float:
        """Return the time since the last `count` events began; infinite if there were fewer."""
        return abs(self.t - self._events[-count].t) if len(self._events) >= count else np.inf

    def _chattering(self, reason: str) -> ChatteringError:
        fired = ", ".join(str(i) for i in self._events[-1].indices)
        return ChatteringError(
            f"{reason} at t = {self.t:.17g}, the last of indicator {fired}; let on_event bring the motion to rest or "
            "terminate"
        )

    def _check_progress(self) -> None:
        """Raise an error if the run cannot come to its end within the limit, at its speed since the last look."""
        method, limit = self._method, self._limits.steps
        if limit is None or method.tries < self._next_look:
            return
        taken, (steps, time) = method.tries, self._last_look
        advance = abs(self.t - time) / (taken - steps)
        self._last_look, self._next_look = (taken, self.t), 2 * taken
        needed = abs(method.t_end - self.t) / advance if advance else math.inf
        if needed > HOPELESS * (limit - taken):
            raise method.fail(
                Failure.TOO_SLOW,
                f"after {taken} steps, the last ones of about {advance:.2g} each, {needed:.2g} more would be needed to "
                f"the end at {method.t_end:.6g}",
            )
