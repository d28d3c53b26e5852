"""Locks: speeds of joints that become zero and stay so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linkwork._util.checks import whole_number
from linkwork._util.keywords import checks_keywords
from linkwork.errors import MechanismError
from linkwork.mechanism.actions import Action, named
from linkwork.mechanism.part_checks import check_joint_known

if TYPE_CHECKING:
    from linkwork.mechanism.surroundings import Surroundings


@dataclass(frozen=True)
class SpeedAction(Action):
    """On speeds of a joint: all or some of them."""

    verb: ClassVar[str]
    joint: str
    speeds: int | Sequence[int] | None = None

    def __post_init__(self) -> None:
        what = f"{type(self).__name__} of joint {named(self.joint, type(self).__name__, 'joint')!r}"
        object.__setattr__(self, "speeds", _speeds(self.speeds, f"{what}: speeds"))

    def check(self, mech: Surroundings, what: str) -> None:
        """Refuse a joint that does not exist (any more), one without speeds, and speeds that it does not have."""
        check_joint_known(mech, self.joint, what)
        kind = mech.joints[self.joint].kind
        described = f"{what}: joint {self.joint!r} ({type(kind).__name__})"
        if kind.nu == 0:
            raise MechanismError(f"{described} has nothing to {self.verb}: name another joint")
        for number in self.elements(mech):
            if number >= kind.nu:
                has = "one speed only" if kind.nu == 1 else f"speeds 1 to {kind.nu}"
                raise MechanismError(f"{described} has {has}, not {number + 1}")

    def elements(self, mech: Surroundings) -> tuple[int, ...]:
        """Return the positions, from 0, of its speeds among those of the joint, ascending."""
        if isinstance(self.speeds, Sequence):
            return tuple(number - 1 for number in self.speeds)
        return tuple(range(mech.joints[self.joint].kind.nu))


@checks_keywords
@dataclass(frozen=True)
class Lock(SpeedAction):
    """The speeds of a joint become zero, by an impulse, and stay so.

    Parameters
    ----------
    joint
        Name of the joint.
    speeds
        Numbers of the speeds, from 1 as in "ball.u[2]": one or a sequence; None: all.

    Examples
    --------
    >>> Lock("hinge")
    Lock(joint='hinge', speeds=None)
    >>> Lock("ball", (3, 1)).speeds
    (1, 3)
    """

    type_name = "lock"
    verb = "lock"


@checks_keywords
@dataclass(frozen=True)
class Unlock(SpeedAction):
    """The speeds of a joint that a `Lock` holds are free again; parameters as those of `Lock`."""

    type_name = "unlock"
    verb = "unlock"

    def check_whole(self, mech: Surroundings, what: str) -> None:
        """Refuse to unlock what nothing locks."""
        for other in mech.transitions.values():
            if isinstance(other.action, Lock) and self.frees(mech, other.action):
                return
        where = "" if self.speeds is None else f" in {_counted(self.elements(mech))}"
        raise MechanismError(f"{what}: nothing locks joint {self.joint!r}{where}: add a Lock, or leave it out")

    def frees(self, mech: Surroundings, lock: Lock) -> bool:
        """Return whether it frees a speed that a lock holds."""
        return self.joint == lock.joint and not set(self.elements(mech)).isdisjoint(lock.elements(mech))


def _speeds(value: object, what: str) -> tuple[int, ...] | None:
    if value is None:
        return None
    listed = value.tolist() if isinstance(value, np.ndarray) else value
    listed = listed if isinstance(listed, list | tuple | range) else [listed]
    speeds = sorted(whole_number(one, what, 1) for one in listed)
    if not speeds:
        raise MechanismError(f"{what} must not be empty: give numbers such as (1, 2), or leave it out for all")
    if len(set(speeds)) < len(speeds):
        raise MechanismError(f"{what} names one twice: {value!r}")
    return tuple(speeds)


def _counted(elements: Sequence[int]) -> str:
    listed = " or ".join(str(element + 1) for element in elements)
    return f"speed {listed}" if len(elements) == 1 else f"speeds {listed}"
