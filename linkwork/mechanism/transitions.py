"""Transitions: instantaneous changes of a mechanism, and their triggers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Protocol

from linkwork._util.checks import FloatArray
from linkwork.errors import MechanismError
from linkwork.mechanism.actions import Action, Impulse, Stop
from linkwork.mechanism.locks import Lock, Unlock
from linkwork.mechanism.pins import Pin, Release
from linkwork.mechanism.surroundings import Surroundings
from linkwork.mechanism.triggers import Command, Trigger


@dataclass(frozen=True)
class Transition:
    """A change at an instant."""

    name: str  # its name, unique among all names of the mechanism
    action: Action  # what happens
    when: Trigger | None = None  # what makes it happen; None for a `Stop`, which watches its bounds

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"transition {self.name!r}"

    @cached_property
    def subject(self) -> str:
        """The joint, pin or body on which it acts."""
        match self.action:
            case Lock() | Unlock() | Release() | Stop():
                return self.action.joint
            case Impulse():
                return self.action.body
        return self.name

    def check(self, mech: Surroundings) -> None:
        """Refuse joints and bodies that do not exist (any more) or do not fit it."""
        self.action.check(mech, self.label)
        if self.when is not None:
            self.when.check(mech, self.label)

    def check_beside(self, mech: Surroundings, other: Transition) -> None:
        """Refuse one that would undo another of the same subject at the same event."""
        undone = self.undoes(mech, other) or other.undoes(mech, self)
        if undone and self.when and other.when and self.when.meets(mech, other.when):
            raise MechanismError(
                f"transitions {other.name!r} ({type(other.action).__name__}) and {self.name!r} "
                f"({type(self.action).__name__}) act on {self.subject!r} at the same event, {self.when!r}: "
                "give one of them another"
            )

    def check_whole(self, mech: Surroundings) -> None:
        """Refuse what a mechanism that is complete has no use for."""
        self.action.check_whole(mech, self.label)

    def undoes(self, mech: Surroundings, other: Transition) -> bool:
        """Return whether it unlocks what another one locks, or opens the pin of another one."""
        match self.action, other.action:
            case Unlock(), Lock():
                return self.action.frees(mech, other.action)
            case Release(), Pin():
                return self.action.joint == other.name
        return False

    def falls(self, mech: WithTransitions) -> bool:
        """Return whether the falling edge of its input undoes it: it is a lock or a pin that nothing else undoes."""
        return (
            isinstance(self.when, Command)
            and isinstance(self.action, Lock | Pin)
            and not any(other.undoes(mech, self) for other in mech.transitions.values())
        )


class WithTransitions(Surroundings, Protocol):
    """A mechanism whose transitions are of this file."""

    @property
    def transitions(self) -> Mapping[str, Transition]:
        """By name."""


def transition(name: str, action: Action, when: Trigger | None) -> Transition:
    """Return a transition, which is not yet checked against a mechanism; errors name it."""
    what = f"transition {name!r}"
    if not isinstance(action, Action):
        raise MechanismError(f"{what}: give a Lock, Unlock, Pin, Release, Stop or Impulse first, not {action!r}")
    if not isinstance(when, Trigger | None):
        raise MechanismError(f"{what}: when must be a Time, a Crossing or a Command, such as Time(0.7), not {when!r}")
    if isinstance(action, Stop) and when is not None:
        raise MechanismError(f"{what}: a Stop acts wherever its bounds are met: leave out when=")
    if not isinstance(action, Stop) and when is None:
        raise MechanismError(
            f"{what}: give a trigger: when=Time(0.7), Crossing('hinge.q', 0.5) or Command() for '{name}.command'"
        )
    return Transition(name, action, when)


def check_among(mech: WithTransitions, one: Transition) -> None:
    """Refuse a transition that does not fit a mechanism or those before it."""
    one.check(mech)
    for other in takewhile(lambda other: other is not one, mech.transitions.values()):
        if other.subject == one.subject:
            one.check_beside(mech, other)


def stop_range(mech: Surroundings, joint: str, element: int) -> tuple[float, float]:
    """Return the tightest bounds of the stops of a coordinate, rad or m; infinite without any."""
    stops = [one.action for one in mech.transitions.values() if isinstance(one.action, Stop)]
    stops = [one for one in stops if (one.joint, one.element) == (joint, element)]
    lower = max((one.lower for one in stops if one.lower is not None), default=-math.inf)
    return lower, min((one.upper for one in stops if one.upper is not None), default=math.inf)


def check_starts(mech: Surroundings, q: Mapping[str, FloatArray]) -> None:
    """Refuse start values by joint that are beyond a bound of a stop."""
    for one in mech.transitions.values():
        if isinstance(one.action, Stop) and one.action.joint in q:
            one.action.check_start(q[one.action.joint])
