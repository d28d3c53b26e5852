"""Steps all instances over the same length, which an event within it makes shorter."""

from __future__ import annotations

from collections.abc import Iterable

from linkwork.cosim.fmu.instance import Instance
from linkwork.cosim.masters.base import MasterRun
from linkwork.cosim.masters.step_inputs import Parallel
from linkwork.cosim.network import events
from linkwork.errors import CosimError
from linkwork.fmu.caller.instance import Outcome

MOST_TRIES = 200  # in one step: shorter ones after early returns and discarded ones
ULP = 2.0**-52
BEYOND = 1e-6  # of a step: how far beyond an event a repeated step ends, so that it finds the event again


class Together:
    """Steps instances in an order.

    Where one stops early, at an event or because its step is discarded, all step as far as it only: those that went
    further are rolled back. Where one of those cannot be, the one that stopped catches up alone. Snapshots are taken
    only where something may stop early, or `always`.

    FMI 2.0 allows an instance no other step after a discarded one, unless it is rolled back.
    """

    def __init__(self, run: MasterRun, inner: Parallel, *, always: bool = False) -> None:
        self.run, self.inner, self.network = run, inner, run.network
        can = {one.name for one in inner.order if one.model.abilities.save_state}
        may_stop = [one for one in inner.order if one.model.abilities.event_mode]
        self._can = can
        self._kept = {
            one.name
            for one in inner.order
            if one.name in can
            and (always or any(other is not one for other in may_stop) or (_needs_rollback(one) and _may_discard(one)))
        }

    def step(self, time: float, goal: float, label: str = "step", *, keep: bool = True) -> tuple[float, set[str]]:
        """Step all; return the time reached and the names of those that want to go to Event Mode there.

        `label` names the snapshots of the begin; without `keep` they are there already, of all that can be rolled back.
        """
        if keep and self._kept:
            self.network.snapshots.save(self._kept, label)
        asked: set[str] = set()
        kept = self._kept if keep else self._can
        for _ in range(MOST_TRIES):
            stopped = self._round(time, goal, asked)
            if stopped is None:
                return goal, asked
            instance, outcome = stopped
            shorter = outcome.reached
            if outcome.discarded:
                if _needs_rollback(instance) and instance.name not in kept:
                    raise self._stuck(instance, goal)
                self._kept = self._can  # from the next step on
                if shorter <= time:
                    shorter = time + (goal - time) / 2
            beyond = {one.name for one in self.inner.order if one.time > shorter}
            if beyond <= kept:
                if outcome.discarded and instance.name in kept:
                    beyond.add(instance.name)
                self.network.snapshots.restore(beyond, label)
                asked -= beyond
                goal = shorter
                if outcome.event:
                    asked.add(instance.name)
            elif outcome.discarded:
                self._notice(instance, "discards what it cannot do", beyond - kept)
                if _needs_rollback(instance):
                    self._catch_up_from(label, instance, goal)
                else:
                    self._catch_up_discarded(instance, goal)
            else:
                self._catch_up(instance, outcome, beyond - kept)
        raise self._helpless(instance, time)

    def _round(self, time: float, goal: float, asked: set[str]) -> tuple[Instance, Outcome] | None:
        """Step those that are not at the goal; return the first that stops before it."""
        inner, near = self.inner, goal - 4 * ULP * abs(goal)  # goal - time may be rounded
        for instance in inner.order:
            begin = instance.time
            if begin >= goal:
                continue
            if begin == time:
                inner.prepare(instance, time, goal)
            outcome = inner.step(instance, begin, goal - begin)
            if outcome.terminate:
                self.run.ended = True
            if outcome.reached < near:
                inner.stepped(instance)
                return instance, outcome
            instance.time = goal
            inner.stepped(instance)
            if outcome.event:
                asked.add(instance.name)
        return None

    def _catch_up(self, instance: Instance, outcome: Outcome, others: Iterable[str]) -> None:
        """Handle an event alone; the next round continues with held inputs."""
        self._notice(instance, "has events", others)
        if outcome.event:
            self.run.ended |= events.handle_alone(self.network, instance)
            self.run.events.append((instance.time, instance.name))

    def _catch_up_from(self, label: str, instance: Instance, goal: float) -> None:
        """Roll an instance back, and step it alone by steps so short that they succeed."""
        snapshots, names, last = self.network.snapshots, [instance.name], label
        snapshots.restore(names, last)
        begin, length = instance.time, (goal - instance.time) / 2
        for _ in range(MOST_TRIES):
            outcome = instance.step(instance.time, min(length, goal - instance.time))
            self.run.ended |= outcome.terminate
            if outcome.discarded:
                snapshots.restore(names, last)
                length /= 2
            elif outcome.terminate or instance.time >= goal - 4 * ULP * abs(goal):
                instance.time = goal
                self.inner.stepped(instance)
                return
            else:
                last = "alone"
                snapshots.save(names, last)
        raise self._helpless(instance, begin)

    def _catch_up_discarded(self, instance: Instance, goal: float) -> None:
        """Step an instance alone by a step so short that it succeeds, if there is one."""
        begin, length = instance.time, goal - instance.time
        while instance.time == begin and length > 8 * ULP * max(abs(begin), abs(goal)):
            length /= 2
            instance.step(begin, length)

    def _helpless(self, instance: Instance, time: float) -> CosimError:
        return CosimError(
            f"no step of {self.network.who(instance.name)} from t = {time:.9g} s succeeds, however short; "
            "look at its inputs there"
        )

    def _stuck(self, instance: Instance, goal: float) -> CosimError:
        ability = "vary its step" if instance.name in self._can else "save states"
        messages = f"; it reports: {'; '.join(instance.messages)}" if instance.messages else ""
        return CosimError(
            f"{self.network.who(instance.name)} discarded a step to t = {goal:.9g} s, at t = {instance.time:.9g} s"
            f"{messages}; FMI 2.0 allows no shorter one without a rollback, and it cannot {ability}: take smaller "
            f"communication steps, look at its inputs there, or export it so that it can {ability}"
        )

    def _notice(self, instance: Instance, what: str, others: Iterable[str]) -> None:
        names = ", ".join(map(repr, sorted(others)))
        self.run.notice(
            f"{instance.name!r} {what} within steps, but {names} cannot be rolled back there (no saving of states, "
            f"or not yet): others see {instance.name!r} at the next communication point only; a smaller step helps"
        )


def again(time: float, goal: float, reached: float, asked: set[str]) -> float:
    """Where a step that is made once more is to end; an event may come a little later then, and is to be met."""
    return min(goal, reached + BEYOND * (reached - time)) if asked else reached


def _needs_rollback(instance: Instance) -> bool:
    """Whether it must be rolled back after a discarded step before it makes another."""
    return not instance.model.description.fmi3


def _may_discard(instance: Instance) -> bool:
    """Whether a shorter step may succeed where it discards one."""
    return instance.model.abilities.variable_step
