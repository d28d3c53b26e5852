"""What a run gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from enum import StrEnum

from linkwork.solvers.problem import FloatArray


class Status(StrEnum):
    """How a run ended."""

    FINISHED = "finished"  #: at the end time
    TERMINATED = "terminated"  #: earlier, as an event handler or step hook asked
    FAILED = "failed"  #: earlier, by an error; the solution is partial


@dataclass
class Statistics:
    """What a run has cost.

    `rejected` is None where the method does not report it. `event_evaluations` counts calls of all indicators together;
    `events` counts times at which something was recorded, `restarts` those at which the solver started again. `methods`
    has the accepted steps by the name of the method that took them, `switches` counts the changes between the methods
    of "auto".
    """

    steps: int = 0
    rejected: int | None = 0
    evaluations: int = 0
    jacobian_evaluations: int = 0
    event_evaluations: int = 0
    events: int = 0
    restarts: int = 0
    switches: int = 0
    methods: dict[str, int] = field(default_factory=dict)

    def __add__(self, other: Statistics) -> Statistics:
        """Return the costs of both; what one of them does not report is unknown."""
        total = Statistics()
        for name in (one.name for one in fields(Statistics) if one.name != "methods"):
            values = getattr(self, name), getattr(other, name)
            setattr(total, name, None if None in values else sum(values))
        names = dict.fromkeys((*self.methods, *other.methods))
        total.methods = {name: self.methods.get(name, 0) + other.methods.get(name, 0) for name in names}
        return total


@dataclass(frozen=True)
class EventRecord:
    """An event: the indicators that changed at time t, each +1 (to z > 0) or -1 (to z <= 0), and the states, (n,)."""

    t: float
    indices: tuple[int, ...]
    directions: tuple[int, ...]
    y_before: FloatArray
    y_after: FloatArray


@dataclass(frozen=True)
class Solution:
    """The states along a run.

    Attributes
    ----------
    t, y
        Times (nt,) and states (nt, n). With `t_eval` exactly those times, as far as the run came; at the time of an
        event the state before it. Otherwise the start and the end of every step, times between where something
        turns far in one, and at an event the states before and after.
    t_end, y_end
        Where the run ended, and the state (n,) there, after a last event.
    events
        In the order in which they happened.
    message
        How the run ended, in words; for a failure what to try.
    """

    t: FloatArray
    y: FloatArray
    t_end: float
    y_end: FloatArray
    events: list[EventRecord]
    statistics: Statistics
    status: Status
    message: str


def attach(error: BaseException, t: float, result: Callable[[], object]) -> None:
    """Store a result on the exception that ended a run at a time; a note states the time."""
    where = f"the integration stopped at t = {t:.17g}"
    try:
        error.result = result()  # type: ignore[attr-defined]
        where += "; the attribute 'result' of this exception holds the partial result"
    except (AttributeError, TypeError):  # some foreign exceptions take no attributes
        where += " (this exception takes no partial result)"
    error.add_note(where)
