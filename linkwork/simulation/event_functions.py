"""Events that a user defines by functions of time and state."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from linkwork._util.keywords import checks_keywords
from linkwork._util.signatures import required_arguments
from linkwork.errors import MechanismError
from linkwork.simulation.running_state import RunningState


@checks_keywords
@dataclass(frozen=True)
class EventFunction:
    """An event where a function of time and state changes its sign.

    Parameters
    ----------
    function
        (t, state) to a number. An event is a change between z <= 0 and z > 0.
    direction
        +1: only where it rises, -1: only where it falls, 0: both.
    terminal
        The run ends there.
    action
        (t, state), called at the event, such as to switch what a controller does; the solver starts again behind it.
    name
        In `Result.events`; by default the name of the function.

    Examples
    --------
    >>> import linkwork as lw
    >>> mech = lw.Mechanism("pendulum")
    >>> mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    >>> def lowest(t, state):
    ...     return state["A.q"] - 1.5707963267948966
    >>> result = lw.simulate(mech, t_end=5.0, events=[lw.EventFunction(lowest, terminal=True)])
    >>> result.events[0].functions, bool(result.t[-1] == result.events[0].t)
    (('lowest',), True)
    """

    function: Callable[[float, RunningState], float]
    direction: int = 0
    terminal: bool = False
    action: Callable[[float, RunningState], object] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if not callable(self.function) or required_arguments(self.function) != 2:
            raise MechanismError(f"events: give functions of (t, state) that return a number, not {self.function!r}")
        if self.direction not in (-1, 0, 1):
            raise MechanismError(f"events: direction is +1, -1 or 0 for both, not {self.direction!r}")
        if not self.name:
            object.__setattr__(self, "name", getattr(self.function, "__name__", type(self.function).__name__))

    def value(self, t: float, state: RunningState) -> float:
        """Return what the function returns, as a number."""
        found: Any = self.function(t, state)
        try:
            return float(found)
        except (TypeError, ValueError):
            raise MechanismError(f"events: {self.name} must return a number, not {found!r}") from None


def as_event_functions(given: Iterable[Any] | None) -> list[EventFunction]:
    """Return the `events` of `simulate` as event functions.

    A plain function may have SciPy's attributes `terminal` and `direction`.
    """
    if given is None:
        return []
    if callable(given) or isinstance(given, EventFunction):
        given = [given]
    if not isinstance(given, Iterable):
        raise MechanismError(f"events must be a list of functions (t, state), not {given!r}")
    return [one if isinstance(one, EventFunction) else _of_function(one) for one in given]


def _of_function(function: Any) -> EventFunction:
    direction, terminal = getattr(function, "direction", 0), getattr(function, "terminal", False)
    return EventFunction(function, (direction > 0) - (direction < 0), bool(terminal))
