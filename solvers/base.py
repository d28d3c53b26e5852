"""The contract of a solver.

A solver promises:

1. `start(t, y)` makes it ready at (t, y). It is called once before the first step and again whenever the state or the
   derivative has jumped; nothing remembered from before the jump may be used. A first step that was asked for is used
   at every start, otherwise one is chosen again.
2. `step()` advances by one accepted step in the direction of `t_end`, of at most `max_step`, and never beyond `t_end`;
   it reaches `t_end` exactly. Without events it returns None.
3. If an indicator changes between z <= 0 and z > 0, the step ends just after the first change: `t` is within some
   units in the last place of it and beyond it. `step()` then returns the zero crossings, +1, -1 or 0 for each
   indicator. Several that change together are reported together. An indicator that is exactly zero at a start and
   leaves zero is no event. A change that is undone within the step is found, unless the indicator has several
   extremes within a quarter of the step, or within a twelfth of a turn of what turns fastest
   (`Problem.angular_speed`): a step has more samples where something turns far.
4. `dense(t)` gives the states within the last step (its cut part, if it ended at an event) to the method's dense order;
   at the end of the step it equals `y` to the bit.
5. `run(output, tries)` takes one or more of the same steps and fills the rows of the output that they cover; where
   every step makes a row, also rows within steps, at every twelfth of a turn (`Output.follows`). It returns
   at `t_end`, at an event with its zero crossings, or earlier: no step begins once `tries` steps are accepted or
   rejected. At the end of each step it calls `on_step` of the problem, and returns with its `action` if there is one.
   Whatever it raises, the rows of the steps before are filled.
6. `statistics` is counted during the run, up to date whenever `step` or `run` ends, and survives restarts.
7. A derivative that is not finite makes the step shorter; at a start it is an error.
8. A class that solves problems with `implicit` equations declares it by `takes_implicit`; the others never see them.
9. A failure raises `SolverError` with a text from `failure`, which states the remedy. The last good (t, y)
   stays readable. An exception of the problem's functions passes through as the same object.

`solve` in `linkwork.solvers.driver` does the rest, the same for all: outputs, handlers, the limit of steps, partial
results. A new solver is a module with a subclass of `Solver`, a line in `linkwork.solvers.registry`, and a line in the
list of the tests.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from linkwork.errors import SolverError, SolverValueError
from linkwork.solvers.arguments import count, real
from linkwork.solvers.output import Output
from linkwork.solvers.problem import FloatArray, IntArray, Problem, Terminate
from linkwork.solvers.solution import Statistics
from linkwork.solvers.thresholds import MAX_EVENTS, MAX_STEPS, SMALLEST_RTOL

STEPS_AT_ONCE = 64  # of a method in Python, before progress is reported


class Failure(StrEnum):
    """Why a run cannot continue, and the remedy."""

    STEP_TOO_SMALL = (
        "the error or the domain of the derivative cannot be met with any step; the solution may grow without bound "
        "there, or be discontinuous (give it as an event); else relax rtol and atol"
    )
    TOO_MANY_STEPS = "max_steps is used up; raise it, relax rtol and atol, or try a stiff solver such as 'rodas5p'"
    TOO_SLOW = (
        "max_steps would be used up long before the end; raise it, relax rtol and atol, or try a stiff solver such as "
        "'rodas5p'"
    )
    NOT_FINITE = (
        "the state, its derivative or an event indicator is not finite there; check the start values and parameters"
    )
    STOPPED = "the compiled derivative or event function asked to stop; see its own message"
    NOT_CONVERGED = (
        "the method's equations could not be solved; check the jacobian, relax rtol and atol, or try another solver"
    )
    SINGULAR = (
        "the Newton matrix dF/dy + cj dF/dy' is singular there; check the jacobian, drop or regularise redundant "
        "equations, and give every state an equation"
    )
    INCONSISTENT_START = (
        "the start values do not fulfil the equations within rtol and atol; give consistent ones (a mechanism can be "
        "assembled), check that derivative and residual belong together, or relax rtol and atol"
    )
    START_NOT_LEFT = (
        "the solution does not get away from its start; the start values may not fulfil what the equations imply for "
        "their rates (hidden constraints), or the index is too high: give consistent values, mark the algebraic "
        "states, reduce the index, check the jacobian, or relax rtol and atol"
    )


def failure(kind: Failure, solver: str, t: float, y: FloatArray, reason: str | None = None) -> SolverError:
    """Return the exception that states where and why the run stopped and the remedy."""
    size = float(np.linalg.norm(y))
    text = f"{solver} stopped at t = {t:.17g}, where the norm of the state is {size:.6g}: {kind}"
    return SolverError(text if reason is None else f"{text}; {reason}")


@dataclass(frozen=True)
class Options:
    """Accuracy and limits of steps.

    Parameters
    ----------
    rtol, atol
        The local error of a state y is kept below about atol + rtol |y|.
    atols
        Absolute tolerances of the single states in place of `atol`, shape (n,), by their sizes; zero where the size is
        unknown. A solver may let smaller ones grow with their states, up to `atol`.
    max_step, first_step
        Longest and first step, in units of time, positive also backwards; None leaves them to the solver.
    """

    rtol: float = 1e-8
    atol: float = 1e-8
    max_step: float | None = None
    first_step: float | None = None
    atols: FloatArray | None = None

    def __post_init__(self) -> None:
        for name in ("rtol", "atol", "max_step", "first_step"):
            value = getattr(self, name)
            if value is not None or name in ("rtol", "atol"):
                object.__setattr__(self, name, real(value, name))
        if not SMALLEST_RTOL <= self.rtol < np.inf:
            raise SolverValueError(
                f"rtol = {self.rtol:g} cannot be kept in double precision; give at least {SMALLEST_RTOL:.2g}"
            )
        if not 0.0 < self.atol < np.inf:
            raise SolverValueError(
                f"atol = {self.atol:g}; give a positive number, the error that is harmless near zero"
            )
        for name in ("max_step", "first_step"):
            value = getattr(self, name)
            if value is not None and not value > 0.0:
                raise SolverValueError(f"{name} = {value:g}; give a positive time, or None to leave it to the solver")


@dataclass(frozen=True)
class Limits:
    """Limits that end a run with an error."""

    # Largest number of steps, the rejected ones included where the method counts them; None: no limit.
    steps: int | None = MAX_STEPS
    events: int | None = MAX_EVENTS  # largest number of events within one unit of time; None: no limit

    def __post_init__(self) -> None:
        for name in ("steps", "events"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, count(value, f"max_{name}"))


class Solver(ABC):
    """One run of a method on a problem; the contract stands at the top of this module.

    Attributes
    ----------
    takes_implicit
        Whether the class solves problems with `implicit` equations.
    action
        What the problem's `on_step` asked for at the end of the last step; None: to continue.
    """

    takes_implicit = False

    def __init__(self, name: str, problem: Problem, t_end: float, options: Options) -> None:
        self.name = name
        self.problem = problem
        self.t_end = t_end
        self.options = options
        self.statistics = Statistics()
        self.t: float = problem.t0
        self.y: FloatArray = problem.y0
        self.action: Terminate | None = None

    @abstractmethod
    def start(self, t: float, y: FloatArray) -> None:
        """Start, or start again, at time t and state y, shape (n,)."""

    @abstractmethod
    def step(self) -> IntArray | None:
        """Take one step; return the zero crossings, shape (n_events,), if it ended at an event."""

    @abstractmethod
    def dense(self, t: FloatArray) -> FloatArray:
        """Return the states, shape (nt, n), at times within the last step, shape (nt,)."""

    def run(self, output: Output, tries: int) -> IntArray | None:
        """Take steps and fill the output; return the zero crossings, (n_events,), if the last ended at an event."""
        left = min(tries, STEPS_AT_ONCE)
        while True:
            before = self.tries
            crossings = self.step()
            if not output.times_given:
                output.append(self.t, self.y)
            elif (due := output.due(self.t)).size:
                output.fill(self.dense(due))
            self.call_on_step()
            left -= max(self.tries - before, 1)  # what an event has left of a step counts too
            if crossings is not None or self.action is not None or self.t == self.t_end or left <= 0:
                return crossings

    @property
    def tries(self) -> int:
        """Steps accepted and rejected."""
        return self.statistics.steps + (self.statistics.rejected or 0)

    def call_on_step(self) -> None:
        """Call the problem's `on_step`, if there is one, at the end of a step."""
        if self.problem.on_step is not None:
            self.action = self.problem.on_step(self.t, self.y.copy())

    def derivative(self, t: float, y: FloatArray) -> FloatArray:
        """Call the problem's derivative, counted and checked."""
        self.statistics.evaluations += 1
        ydot = np.asarray(self.problem.derivative(t, y), dtype=np.float64)
        if ydot.shape != y.shape:
            raise SolverError(f"the derivative has shape {ydot.shape}, the state {y.shape}; they must agree")
        return ydot

    def indicators(self, t: float, y: FloatArray) -> FloatArray:
        """Call the problem's events, counted."""
        self.statistics.event_evaluations += 1
        return self.problem.event_values(t, y)

    def fail(self, kind: Failure, reason: str | None = None) -> SolverError:
        """Return the exception for a failure at the last good state."""
        return failure(kind, self.name, self.t, self.y, reason)
