"""The contract of a master algorithm: its settings, and its state during a run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable

from linkwork.cosim.network import Network, events
from linkwork.cosim.recording.result import Statistics


class Master(ABC):
    """The settings of a master algorithm, a frozen dataclass: one master serves any number of runs."""

    @abstractmethod
    def begin(self, network: Network, t_start: float, t_end: float, record_row: Callable[[float], None]) -> MasterRun:
        """Return the state of a run; `record_row` is called before values jump at an event.

        Raises
        ------
        CosimError
            If the settings do not fit the network.
        """


class MasterRun(ABC):
    """Advances a network by communication steps; the state of a master during one run.

    `advance` is called until the end is reached. After each call the network is consistent: the inputs correspond to
    the outputs, and all instances are at the same time and in Step Mode.
    """

    def __init__(self, network: Network, t_start: float, t_end: float, record_row: Callable[[float], None]) -> None:
        self.network, self.t_start, self.t_end, self.record_row = network, t_start, t_end, record_row
        self.statistics = Statistics()  # counts of the run
        self.notices: list[str] = []  # messages for the user, such as which instances cannot restore a state
        self.events: list[tuple[float, str]] = []  # time and component of each event
        self.ended = False  # whether an FMU has requested the end of the simulation

    @abstractmethod
    def advance(self, time: float, limit: float) -> float:
        """Do one communication step from `time`, no further than `limit`, and return the time reached.

        Raises
        ------
        CosimError
            If no step succeeds.
        FmuError
            If an FMU fails.
        """

    def handle_events(self, time: float, asked: Iterable[str]) -> bool:
        """Handle events at a communication point if there are any; return whether there were."""
        changed = {*asked, *self.network.with_changed_discrete_inputs()}
        if changed:
            self.record_row(time)
            self.ended |= events.handle(self.network, time, asked)
            self.events += [(time, one.name) for one in self.network.each(changed)]
        return bool(changed)

    def before_events(self, time: float, goal: float) -> float:
        """A goal, or the first time before it at which an instance expects an event."""
        if not self.network.next_events:
            return goal
        return min([goal, *(event for event in self.network.next_events.values() if event > time)])

    def notice(self, text: str) -> None:
        """Add a message once."""
        if text not in self.notices:
            self.notices.append(text)
