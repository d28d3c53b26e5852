"""The problem for a solver: an initial value problem, its events, and the actions at them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from linkwork.errors import SolverError
from linkwork.solvers.implicit import Implicit

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Continue:
    """Continue as if nothing had happened."""


@dataclass(frozen=True)
class Restart:
    """Start again at the event, because the state, the derivative or both have jumped there.

    Parameters
    ----------
    y
        State after the event, shape (n,); None keeps the state.
    """

    y: npt.ArrayLike | None = None


@dataclass(frozen=True)
class Terminate:
    """End the run here, which counts as success.

    Parameters
    ----------
    y
        State after the event, shape (n,); None keeps the state.
    """

    y: npt.ArrayLike | None = None


Action: TypeAlias = Continue | Restart | Terminate

Derivative: TypeAlias = Callable[[float, FloatArray], npt.ArrayLike]
VectorEvents: TypeAlias = Callable[[float, FloatArray], npt.ArrayLike]
ScalarEvent: TypeAlias = Callable[[float, FloatArray], float]
EventHandler: TypeAlias = Callable[[float, FloatArray, IntArray], Action | None]
StepHook: TypeAlias = Callable[[float, FloatArray], Terminate | None]
AngularSpeed: TypeAlias = Callable[[float, FloatArray, float], tuple[float, float]]
TurnOfStep: TypeAlias = Callable[[float, FloatArray, FloatArray], tuple[float, float]]


@dataclass(frozen=True)
class CompiledFunctions:
    """Addresses of C functions `int f(void *context, double t, const double *y, double *out)`.

    They return 0; a positive value means "not here, try a shorter step", a negative one "stop". A compiled solver calls
    them without going through Python; the others use the Python functions of the problem, which must compute the same.

    Parameters
    ----------
    derivative, context
        Addresses of the function and of its first argument, which must outlive the run.
    events
        Address of the event indicators; 0 if there are none.
    event_resolution
        Smaller event indicators are rounding; 0: events are located to the last digits of the time.
    jacobian
        Address of an `lw_ode_jacobian` as in `linkwork.h`; 0: solvers that need one take differences of the
        derivative.
    on_step
        Address of a function that stands for `on_step` of the problem, which is then not called, and writes nothing; 0
        if there is none.
    angular_speed
        Address of the function that `lw_ode_set_angular_speed` of `linkwork.h` takes; 0: nothing turns.
    raise_caught
        Called whenever they have asked to stop: raises what functions in Python, called by them, have raised.
    """

    derivative: int
    context: int
    events: int = 0
    jacobian: int = 0
    on_step: int = 0
    angular_speed: int = 0
    event_resolution: float = 0.0
    raise_caught: Callable[[], None] | None = None


@dataclass(frozen=True)
class Problem:
    """An initial value problem y' = derivative(t, y), y(t0) = y0 with n states.

    Parameters
    ----------
    derivative
        (t, y) to y', shape (n,). It may return a number that is not finite where the derivative does not exist: the
        solver then tries a shorter step. An exception ends the run and reaches the caller.
    t0, y0
        Start time and state, shape (n,).
    jacobian
        (t, y) to the matrix of derivatives of y' by y, shape (n, n). Used by implicit solvers, which otherwise take
        differences.
    events
        Indicators: one function (t, y) to an array (n_events,), or a sequence of functions (t, y) to a number. An event
        is a change of an indicator between z <= 0 and z > 0. One that is exactly zero at the start or at a restart and
        leaves zero makes no event.
    directions
        For each indicator +1 (only from z <= 0 to z > 0), -1 (only the other way) or 0 (both, the default).
    on_event
        (t, y, `crossings`) to an `Action`, called just after an event; None means `Continue`. `crossings` has +1, -1
        or 0 for each indicator. Without a handler events are recorded and the run continues.
    on_step
        (t, y), called at the end of every accepted step, and before `on_event` where the step ends at an event. It may
        return `Terminate()` to end the run; to abort with an error it raises. Without it a compiled solver takes many
        steps at a time, which is several times faster where the derivative is compiled too.
    on_progress
        (t), called now and then with the time reached: after every batch of steps, which a solver takes without coming
        back here. It costs nothing, unlike `on_step`, and its times are arbitrary.
    angular_speed
        (t, y, `enough`) to the largest angular speed, rad per unit of time, and a bound of it that is at hand; where
        the bound is at most `enough`, it may stand for both. Where something turns far in a step, events are looked for
        at more times, rows are made within it where every step makes one, and `on_step` is called more often. None:
        nothing turns.
    turn_of_step
        (step, y, y after it) to the bounds of the angular speed times the step at the ends, of which the larger counts,
        and in the middle, as far as these states show it at no cost: where both are small, `angular_speed` is not
        asked. None: it always is. The arrays may be shared and must not be changed.
    compiled
        The derivative and the events as C functions.
    implicit
        Differential-algebraic equations in place of y' = derivative(t, y). The derivative is then asked only at the
        start and at restarts, for a y' that fits y there. Solvers of explicit equations refuse such a problem.

    The arrays given to all of these are copies: they may be kept and changed.

    Raises
    ------
    SolverError
        If `y0` is not a vector, or `directions` does not fit.
    """

    derivative: Derivative
    t0: float
    y0: FloatArray
    jacobian: Derivative | None = None
    events: VectorEvents | Sequence[ScalarEvent] | None = None
    directions: Sequence[int] | None = None
    on_event: EventHandler | None = None
    on_step: StepHook | None = None
    on_progress: Callable[[float], None] | None = None
    angular_speed: AngularSpeed | None = None
    turn_of_step: TurnOfStep | None = None
    compiled: CompiledFunctions | None = None
    implicit: Implicit | None = None

    def __post_init__(self) -> None:
        y0 = np.array(self.y0, dtype=np.float64)
        if y0.ndim != 1:
            raise SolverError(f"y0 has shape {y0.shape}; give a vector of the states at t0")
        y0.setflags(write=False)
        object.__setattr__(self, "t0", float(self.t0))
        object.__setattr__(self, "y0", y0)
        if self.compiled is not None and self.compiled.events and self.events is None:
            raise SolverError("the problem has compiled events but no Python ones; give both")

    @property
    def n(self) -> int:
        """Number of states."""
        return self.y0.size

    @cached_property
    def n_events(self) -> int:
        """Number of event indicators; a vector function is called once to find out."""
        if self.events is None:
            return 0
        if callable(self.events):
            return int(np.size(self.events(self.t0, self.y0.copy())))
        return len(self.events)

    def event_values(self, t: float, y: FloatArray) -> FloatArray:
        """Return the indicators at (t, y), shape (n_events,)."""
        if self.events is None:
            return np.empty(0)
        values = self.events(t, y) if callable(self.events) else [event(t, y) for event in self.events]
        z = np.asarray(values, dtype=np.float64).reshape(-1)
        if z.size != self.n_events:
            raise SolverError(f"events returned {z.size} indicators at t = {t:.17g} but {self.n_events} at the start")
        return z

    def requested(self, crossings: IntArray) -> IntArray:
        """Return the zero crossings in the requested directions."""
        if self.directions is None:
            return crossings
        directions = np.asarray(self.directions, dtype=np.int32)
        if directions.shape != crossings.shape or not np.isin(directions, (-1, 0, 1)).all():
            raise SolverError(
                f"directions = {list(self.directions)} does not fit {crossings.size} event indicators; "
                "give -1, 0 or +1 for each"
            )
        return np.where((directions == 0) | (directions == crossings), crossings, 0).astype(np.int32)
