"""Running a solver: outputs, event handlers, limits and partial results, the same for all solvers."""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np
import numpy.typing as npt

from linkwork.errors import SolverError
from linkwork.solvers.base import Failure, Options, Solver
from linkwork.solvers.output import Output
from linkwork.solvers.problem import Action, Continue, FloatArray, IntArray, Problem, Restart, Terminate
from linkwork.solvers.registry import create
from linkwork.solvers.solution import EventRecord, Solution, Statistics, Status

# Tries of a step between two chances for a signal such as Ctrl-C: half a second at 0.3 ms for a derivative.
BATCH = 256

# That many events in a row within this part of the time already run mean that they accumulate at a point.
CROWD = 100
CROWDED = 1e-10


class ChatteringError(SolverError):
    """Events follow one another without end."""


def solve(
    problem: Problem,
    t_end: float,
    solver: str = "dopri5",
    rtol: float = 1e-8,
    atol: float | None = None,
    *,
    t_eval: npt.ArrayLike | None = None,
    max_step: float | None = None,
    first_step: float | None = None,
    max_steps: int | None = None,
) -> Solution:
    """Integrate a problem from its start to `t_end`, forwards or backwards in time.

    Parameters
    ----------
    problem
        What to integrate.
    t_end
        End time, reached exactly unless a handler ends the run before.
    solver
        One of `solver_names()`. For stiff problems "rodas5p", "Radau", "BDF", "LSODA" or "ida"; for implicit
        equations "ida".
    rtol, atol
        Relative and absolute error allowed in a step; `atol` is `rtol` if left out.
    t_eval
        Times of the output, shape (nt,), between the start and `t_end` and in the direction of the run; they do not
        change the steps. Without them the output has every step.
    max_step, first_step
        Longest and first step, positive.
    max_steps
        Largest number of steps, the rejected ones included where the method counts them.

    Returns
    -------
    Solution
        The states, the events and what the run has cost.

    Raises
    ------
    SolverError
        If an argument makes no sense or the run cannot go on.
    Exception
        Whatever a function of the problem raises, unchanged.

    However a run fails, its attribute `solution` holds what was computed until then, on a `SolverError` and on any
    foreign exception that takes attributes and has none of that name; a note on the exception tells the time.
    """
    options = Options(rtol, rtol if atol is None else atol, max_step, first_step)
    if not (math.isfinite(problem.t0) and math.isfinite(t_end)):
        raise SolverError(f"the run from t0 = {problem.t0} to t_end = {t_end} must be between finite times")
    if max_steps is not None and max_steps < 1:
        raise SolverError(f"max_steps = {max_steps}; give at least 1, or None for no limit")
    record = _Record(problem, t_end, t_eval)
    method = create(solver, problem, float(t_end), options)
    try:
        message = _run(method, record, max_steps)
    except BaseException as error:
        _keep(error, record.solution(method.statistics, Status.FAILED, str(error)))
        raise
    status = Status.FINISHED if record.t == t_end and not record.terminated else Status.TERMINATED
    return record.solution(method.statistics, status, message)


class _Record:
    """What a run has produced so far."""

    def __init__(self, problem: Problem, t_end: float, t_eval: npt.ArrayLike | None) -> None:
        self.t = problem.t0
        self.y: FloatArray = problem.y0.copy()
        self.terminated = False
        self.events: list[EventRecord] = []
        times = None if t_eval is None else _checked_times(t_eval, problem.t0, t_end)
        self.output = Output(problem.n, times, backwards=t_end < problem.t0)
        if times is None:
            self.output.append(self.t, self.y)
        elif times.size and times[0] == self.t:
            self.output.fill(self.y[np.newaxis])

    def follow(self, method: Solver) -> None:
        """Be where the solver is."""
        self.t, self.y = method.t, method.y.copy()

    def event(self, crossings: IntArray, y_after: FloatArray) -> None:
        """Take over an event at the end of the last step."""
        indices = tuple(int(i) for i in np.flatnonzero(crossings))
        directions = tuple(int(crossings[i]) for i in indices)
        self.events.append(EventRecord(self.t, indices, directions, self.y, y_after))
        if y_after is not self.y and not self.output.wanted:
            self.output.append(self.t, y_after)
        self.y = y_after

    def crowded(self, t_start: float) -> bool:
        """Tell whether the last events accumulate at a point of time."""
        if len(self.events) < CROWD:
            return False
        return abs(self.t - self.events[-CROWD].t) <= CROWDED * max(abs(self.t - t_start), abs(self.t))

    def solution(self, statistics: Statistics, status: Status, message: str) -> Solution:
        """Return everything as arrays."""
        times, states = self.output.rows()
        return Solution(times, states, self.t, self.y, self.events, statistics, status, message)


def _checked_times(t_eval: npt.ArrayLike, t0: float, t_end: float) -> FloatArray:
    times = np.array(t_eval, dtype=np.float64)
    if times.ndim != 1 or not np.isfinite(times).all():
        raise SolverError("t_eval must be a vector of finite times")
    direction = -1.0 if t_end < t0 else 1.0
    if (np.diff(times) * direction <= 0.0).any():
        raise SolverError("t_eval must be strictly " + ("increasing" if direction > 0.0 else "decreasing, as time is"))
    outside = times[(times < min(t0, t_end)) | (times > max(t0, t_end))]
    if outside.size:
        raise SolverError(f"t_eval contains {outside[0]:.17g}, outside the run from {t0:.17g} to {t_end:.17g}")
    return times


def _run(method: Solver, record: _Record, max_steps: int | None) -> str:
    """Step to the end; return how the run ended."""
    problem, statistics = method.problem, method.statistics
    method.start(problem.t0, problem.y0.copy())
    while method.t != method.t_end:
        tries = BATCH if problem.on_step is None else 1
        if max_steps is not None:
            tries = min(tries, max_steps - statistics.steps - (statistics.rejected or 0))
        if tries <= 0:
            raise method.fail(Failure.TOO_MANY_STEPS)
        try:
            crossings = method.run(record.output, tries)
        finally:
            record.follow(method)
        if problem.on_progress is not None:
            problem.on_progress(method.t)
        action: Action | None = None if problem.on_step is None else problem.on_step(method.t, method.y.copy())
        if crossings is not None and not isinstance(action, Terminate):
            action = _handle_event(method, record, problem.wanted(crossings))
        if isinstance(action, Terminate):
            record.terminated = True
            return f"ended at t = {method.t:.17g}, as the event handler or step hook asked"
        if isinstance(action, Restart) and method.t != method.t_end:
            statistics.restarts += 1
            method.start(method.t, record.y.copy())
    return f"reached t = {method.t_end:.15g}"


def _handle_event(method: Solver, record: _Record, crossings: IntArray) -> Action | None:
    """Ask the handler about an event and record it with the state after it."""
    if not crossings.any():
        return None
    method.statistics.events += 1
    handler = method.problem.on_event
    action = None if handler is None else handler(method.t, method.y.copy(), crossings)
    if not isinstance(action, Continue | Restart | Terminate | None):
        raise SolverError(f"on_event returned {action!r}; return Continue(), Restart(y) or Terminate()")
    y_after = record.y
    if isinstance(action, Restart | Terminate) and action.y is not None:
        y_after = np.array(action.y, dtype=np.float64)
        if y_after.shape != record.y.shape:
            raise SolverError(f"on_event returned a state of shape {y_after.shape} instead of {record.y.shape}")
    record.event(crossings, y_after)
    if record.crowded(method.problem.t0):
        fired = ", ".join(str(i) for i in record.events[-1].indices)
        raise ChatteringError(
            f"{CROWD} events follow one another without end at t = {method.t:.17g}, the last of indicator {fired}; "
            "let on_event bring the motion to rest or terminate"
        )
    return action


def _keep(error: BaseException, solution: Solution) -> None:
    """Attach a partial solution to an exception as far as it lets us."""
    where = f"the integration stopped at t = {solution.t_end:.17g}"
    if isinstance(error, SolverError) and error.result is None:
        error.result = solution
    if not hasattr(error, "solution"):
        with suppress(AttributeError, TypeError):
            error.solution = solution  # type: ignore[attr-defined]
            where += "; the attribute 'solution' of this exception holds what was computed until then"
    error.add_note(where)
