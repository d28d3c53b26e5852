"""Running a solver: recorder, event handlers and limits, the same for all solvers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwork.errors import SolverError
from linkwork.solvers.base import MAX_EVENTS, MAX_STEPS, Failure, Limits, Options, Solver
from linkwork.solvers.problem import Action, Continue, IntArray, Problem, Restart, Terminate
from linkwork.solvers.recorder import Recorder
from linkwork.solvers.registry import create
from linkwork.solvers.solution import Solution, Status

# Step attempts between two checks for a signal such as Ctrl-C: half a second at 0.3 ms per derivative.
BATCH = 256

# So many events in succession within this part of the elapsed time accumulate at a point.
CHATTERING_EVENTS = 100
CHATTERING_SPAN = 1e-10


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
        less. For stiff problems "rodas5p", "Radau", "BDF", "LSODA" or "ida"; for implicit equations "ida".
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
    recorder = Recorder(problem.t0, t_end, t_eval)
    try:
        integrate(problem, recorder.t_end, recorder, solver, options, Limits(max_steps, max_events))
    except BaseException as error:
        recorder.attach_to(error)
        raise
    return recorder.solution()


def integrate(
    problem: Problem, t_end: float, recorder: Recorder, solver: str, options: Options, limits: Limits
) -> None:
    """Integrate a problem to `t_end`, the whole run or a part of it, into a recorder; arguments as of `solve`.

    Raises
    ------
    Exception
        Without a result: the caller attaches that of the recorder to it.
    """
    method = create(solver, problem, t_end, options)
    recorder.begin(problem, t_end, method.statistics)
    try:
        status, message = _run(method, recorder, limits)
    except BaseException as error:
        recorder.end(Status.FAILED, str(error))
        raise
    finally:
        if not method.statistics.methods:
            method.statistics.methods = {solver: method.statistics.steps}
    recorder.step_control = method.step_control
    recorder.atols = method.atols
    recorder.end(status, message)


def _run(method: Solver, recorder: Recorder, limits: Limits) -> tuple[Status, str]:
    """Step to the end; return how the run ended."""
    problem, statistics = method.problem, method.statistics
    chattering = _Chattering(recorder, problem.t0, limits.events)
    recorder.progress.begin(limits.steps)
    method.start(problem.t0, problem.y0.copy())
    if problem.step_control is not None:
        method.continue_from(problem.step_control)
    while method.t != method.t_end:
        tries = BATCH
        if limits.steps is not None:
            tries = min(tries, limits.steps - statistics.steps - (statistics.rejected or 0))
        if tries <= 0:
            raise method.fail(Failure.TOO_MANY_STEPS)
        try:
            crossings = method.run(recorder.output, tries)
        finally:
            recorder.reach(method.t, method.y)
        if problem.on_progress is not None:
            problem.on_progress(method.t)
        recorder.progress.check(method)
        action: Action | None = method.action
        if crossings is not None and not isinstance(action, Terminate):
            chattering.check_number()
            action = _handle_event(method, recorder, problem.requested(crossings))
            chattering.check()
        if isinstance(action, Terminate):
            message = f"ended at t = {method.t:.17g}, as the event handler or step hook asked"
            return Status.TERMINATED, message
        if isinstance(action, Restart) and method.t != method.t_end:
            statistics.restarts += 1
            recorder.output.forget_step_control()
            method.start(method.t, recorder.y.copy())
    return Status.FINISHED, f"reached t = {method.t_end:.15g}"


def _handle_event(method: Solver, recorder: Recorder, crossings: IntArray) -> Action | None:
    """Call the handler of an event and record it with the state after it."""
    if not crossings.any():
        return None
    method.statistics.events += 1
    handler = method.problem.on_event
    action = None if handler is None else handler(method.t, method.y.copy(), crossings)
    if not isinstance(action, Continue | Restart | Terminate | None):
        raise SolverError(f"on_event returned {action!r}; return Continue(), Restart(y) or Terminate()")
    y_after = recorder.y
    if isinstance(action, Restart | Terminate) and action.y is not None:
        y_after = np.array(action.y, dtype=np.float64)
        if y_after.shape != recorder.y.shape:
            raise SolverError(f"on_event returned a state of shape {y_after.shape} instead of {recorder.y.shape}")
    recorder.event(crossings, y_after)
    return action


class _Chattering:
    """Detection of events of one part of a run that accumulate at a point of time, or are more than the limit."""

    def __init__(self, recorder: Recorder, t_start: float, limit: int | None) -> None:
        self._recorder = recorder
        self._t_start = t_start
        self._limit = limit
        self._first = len(recorder.events)

    def check_number(self) -> None:
        """Raise `ChatteringError` if one more event is too many."""
        if self._limit is not None and self._duration(self._limit, first=0) < 1.0:
            raise ChatteringError(f"more than max_events = {self._limit} in one unit of time{self._where()}")

    def check(self) -> None:
        """Raise `ChatteringError` if the last events accumulate."""
        t = self._recorder.t
        if self._duration(CHATTERING_EVENTS, self._first) <= CHATTERING_SPAN * max(abs(t - self._t_start), abs(t)):
            raise ChatteringError(f"{CHATTERING_EVENTS} events follow one another without end{self._where()}")

    def _duration(self, count: int, first: int) -> float:
        """Return the time since the last `count` events began; infinite if there were fewer from the `first` on."""
        events = self._recorder.events
        return abs(self._recorder.t - events[-count].t) if len(events) - first >= count else np.inf

    def _where(self) -> str:
        fired = ", ".join(str(i) for i in self._recorder.events[-1].indices)
        return (
            f" at t = {self._recorder.t:.17g}, the last of indicator {fired}; let on_event bring the motion to rest or "
            "terminate"
        )
