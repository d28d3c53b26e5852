"""Controllers in the loop of a simulation, in Python: all inputs at once, with states of their own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray, finite, number
from linkwork._util.signatures import required_arguments
from linkwork.errors import MechanismError
from linkwork.simulation.running_state import RunningState

ControlFunction: TypeAlias = Callable[[float, RunningState], Mapping[str, ArrayLike]]


class Controller(ABC):
    """A controller with states of its own; a subclass defines `outputs`.

    A continuous controller (`sample_time` 0) is asked for its outputs at every state that the solver tries, back and
    forth in time: it must not remember. What it integrates are its continuous states: their start `x0`, their rates
    `rates`, and ``state.x`` in all calls. A digital one is called once a sample, in order, and holds its outputs in
    between: every attribute may be a state.

    Attributes
    ----------
    sample_time
        s, the time from one sample to the next, counted from the start of the run; 0: continuous.
    x0
        Continuous states at the start, (n,).

    Examples
    --------
    >>> import linkwork as lw
    >>> class Integral(lw.Controller):
    ...     x0 = (0.0,)
    ...     def outputs(self, t, state):
    ...         return {"A": -8.0 * state["A.q"] - 2.0 * state["A.u"] - 20.0 * state.x[0]}
    ...     def rates(self, t, state):
    ...         return [state["A.q"]]
    >>> mech = lw.Mechanism("arm")
    >>> mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    >>> result = lw.simulate(mech, t_end=20.0, controller=Integral())
    >>> bool(abs(result["A.q"][-1]) < 1e-3)
    True
    """

    sample_time: float = 0.0
    x0: ArrayLike = ()

    def start(self, t: float, state: RunningState) -> None:  # noqa: B027 (most need none)
        """Prepare for a run from a time and state on; by default nothing is to do."""

    @abstractmethod
    def outputs(self, t: float, state: RunningState) -> Mapping[str, ArrayLike]:
        """Return inputs of the mechanism by name, as `inputs` of `simulate` has them."""

    def rates(self, t: float, state: RunningState) -> ArrayLike:
        """Return the rates of the continuous states, (n,), per second; by default there are none."""
        return ()


class _OfFunction(Controller):
    """A function (t, state) as a controller."""

    def __init__(self, function: ControlFunction) -> None:
        self._function = function

    def outputs(self, t: float, state: RunningState) -> Mapping[str, ArrayLike]:
        """Return what the function returns."""
        return self._function(t, state)


def as_controller(given: Any, sample_time: float | None) -> tuple[Controller, float] | None:
    """Return the `controller` of `simulate` as a `Controller`, with its sample time, s; None: there is none."""
    if given is None:
        if sample_time is not None:
            raise MechanismError("sample_time is that of a controller: give controller= as well, or leave it out")
        return None
    if isinstance(given, type):
        raise MechanismError(f"controller must be an object, not the class {given.__name__}: write {given.__name__}()")
    if not isinstance(given, Controller):
        if not callable(given) or required_arguments(given) != 2:
            raise MechanismError(
                f"controller must be a function (t, state) that returns inputs by name, or a Controller, not {given!r}"
            )
        given = _OfFunction(given)
    own = number(given.sample_time, "sample_time of the controller")
    period = own if sample_time is None else number(sample_time, "sample_time")
    if own and period != own:
        raise MechanismError(f"sample_time is {period:g} s, but that of the controller is {own:g} s: give it once")
    if period < 0.0:
        raise MechanismError(f"sample_time must not be negative, not {period:g} s; 0 is a continuous controller")
    n = start_of(given).size
    if n and type(given).rates is Controller.rates:
        raise MechanismError(f"{type(given).__name__} has continuous states x0, but defines no rates(t, state)")
    if period and n:
        raise MechanismError("a digital controller has no continuous states x0: keep its states in attributes")
    return given, period


def start_of(controller: Controller) -> FloatArray:
    """Return the continuous states of a controller at the start, (n,)."""
    try:
        count = len(controller.x0)  # type: ignore[arg-type]
    except TypeError:
        raise MechanismError(f"x0 of a controller must be numbers, (n,), not {controller.x0!r}") from None
    return finite(controller.x0, (count,), "x0 of the controller") if count else finite((), (0,), "x0")
