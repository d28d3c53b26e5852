"""Steps all instances over the same length, which an event within it makes shorter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from linkwork.cosim.fmu.instance import Instance, Outcome
from linkwork.cosim.network import Network, events
from linkwork.errors import CosimError

MOST_TRIES = 200  # in one step: shorter ones after early returns and discarded ones


class Stepper(Protocol):
    """What a master does before and after a step of an instance; `done` have made theirs."""

    network: Network
    ended: bool

    def prepare(self, instance: Instance, time: float, length: float, done: Sequence[Instance]) -> None:
        """Give an instance its inputs for a step."""

    def stepped(self, instance: Instance) -> None:
        """Look at an instance after its step."""

    def notice(self, text: str) -> None:
        """Say something once."""


class Together:
    """Steps instances in an order.

    Where one stops early, at an event or because its step is discarded, all step as far as it only: those that went
    further go back. Where one of those cannot go back, the one that stopped catches up alone.
    """

    def __init__(self, master: Stepper, order: Sequence[Instance]) -> None:
        self.master, self.order = master, list(order)
        may_stop = [one for one in self.order if one.model.abilities.event_mode]
        self._kept = {
            one.name
            for one in self.order
            if one.model.abilities.save_state and any(other is not one for other in may_stop)
        }

    def step(self, time: float, goal: float) -> tuple[float, set[str]]:
        """Step all; return the time reached and the names of those that want to go to Event Mode there.

        Raises
        ------
        CosimError
            If no step succeeds, however short.
        """
        self._keep()
        asked: set[str] = set()
        for _ in range(MOST_TRIES):
            stopped = self._round(time, goal, asked)
            if stopped is None:
                return goal, asked
            instance, outcome = stopped
            shorter = outcome.reached
            if outcome.discarded and shorter <= time:
                shorter = time + (goal - time) / 2
            beyond = {one.name for one in self.order if one.time > shorter}
            if beyond <= self._kept:
                self.master.network.snapshots.restore(beyond, "step")
                asked -= beyond
                goal = shorter
                if outcome.event:
                    asked.add(instance.name)
            else:
                self._catch_up(instance, outcome, beyond - self._kept)
        raise CosimError(f"no step from t = {time:.9g} s succeeds, however short; it is stopped by {instance.name!r}")

    def _keep(self) -> None:
        if self._kept:
            self.master.network.snapshots.save(self._kept, "step")

    def _round(self, time: float, goal: float, asked: set[str]) -> tuple[Instance, Outcome] | None:
        """Step those that are not at the goal; return the first that stops before it."""
        for instance in self.order:
            if instance.time >= goal:
                continue
            if instance.time == time:
                done = [one for one in self.order if one.time >= goal]
                self.master.prepare(instance, time, goal - time, done)
            outcome = instance.step(instance.time, goal - instance.time)
            self.master.ended |= outcome.terminate
            if outcome.reached < goal:
                return instance, outcome
            instance.time = goal
            self.master.stepped(instance)
            if outcome.event:
                asked.add(instance.name)
        return None

    def _catch_up(self, instance: Instance, outcome: Outcome, others: set[str]) -> None:
        """Go on alone with held inputs."""
        names = ", ".join(map(repr, sorted(others)))
        self.master.notice(
            f"{instance.name!r} has events within steps, but {names} cannot save states and so not go back to them: "
            "other instances see its events at the next communication point; a smaller step helps"
        )
        if outcome.event:
            events.alone(instance)
