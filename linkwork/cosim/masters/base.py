"""The contract of a master algorithm."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable

from linkwork.cosim.network import Network, events
from linkwork.cosim.recording.result import Statistics


class Master(ABC):
    """Advances a network by communication steps.

    A run calls `begin` once and then `advance` until the end is reached. After each, the network is consistent: inputs
    are what the outputs make of them, all instances are at the same time and in Step Mode.

    Attributes
    ----------
    statistics
        Of the run under way.
    notices
        What a user should know of it, such as instances that cannot go back.
    events
        Time and component of each event.
    ended
        Whether an FMU has asked for the end of the simulation.
    """

    def __init__(self) -> None:
        self.statistics = Statistics()
        self.notices: list[str] = []
        self.events: list[tuple[float, str]] = []
        self.ended = False

    def begin(self, network: Network, start: float, stop: float, record: Callable[[float], None]) -> None:
        """Prepare for a run; `record` is called where values jump, before they do."""
        self.network, self.start, self.stop, self.record = network, start, stop, record
        self.statistics, self.notices, self.events, self.ended = Statistics(), [], [], False

    @abstractmethod
    def advance(self, time: float, limit: float) -> float:
        """Do one communication step from `time`, no further than `limit`, and return the time reached.

        Raises
        ------
        CosimError
            If it cannot go on.
        FmuError
            If an FMU fails.
        """

    def settle(self, time: float, asked: Iterable[str]) -> bool:
        """Handle events at a communication point if there are any; return whether there were."""
        changed = {*asked, *self.network.with_changed_discrete_inputs()}
        if changed:
            self.record(time)
            self.ended |= events.settle(self.network, time, asked)
            self.events += [(time, one.name) for one in self.network.each(changed)]
        return bool(changed)

    def before_events(self, time: float, goal: float) -> float:
        """A goal, or the first time before it at which an instance expects an event."""
        if not self.network.next_events:
            return goal
        return min([goal, *(event for event in self.network.next_events.values() if event > time)])

    def notice(self, text: str) -> None:
        """Say something once."""
        if text not in self.notices:
            self.notices.append(text)
