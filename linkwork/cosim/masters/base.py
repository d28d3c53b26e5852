"""The contract of a master algorithm."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from linkwork.cosim.network import Network


@dataclass
class Statistics:
    """What a run took.

    `steps` are accepted communication steps, `rejected` those whose error was too large, `rollbacks` how often
    instances went back to an earlier state, `events` how often one or more of them were in Event Mode, `iterations`
    the evaluations of algebraic loops.
    """

    steps: int = 0
    rejected: int = 0
    rollbacks: int = 0
    events: int = 0
    iterations: int = 0


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
    ended
        Whether an FMU has asked for the end of the simulation.
    """

    def __init__(self) -> None:
        self.statistics = Statistics()
        self.notices: list[str] = []
        self.ended = False

    def begin(self, network: Network, start: float, stop: float) -> None:
        """Prepare for a run."""
        self.network, self.start, self.stop = network, start, stop
        self.statistics, self.notices, self.ended = Statistics(), [], False

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

    def notice(self, text: str) -> None:
        """Say something once."""
        if text not in self.notices:
            self.notices.append(text)
