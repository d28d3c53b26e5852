"""Actions of transitions: stops and applied impulses. Locks are in `locks`, pins in `pins`.

A new kind is one class: its name in files, its fields, and what it must find in a mechanism.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from linkwork._util.checks import FloatArray, finite, number, whole_number
from linkwork._util.keywords import checks_keywords
from linkwork.errors import MechanismError
from linkwork.mechanism.forces import Point
from linkwork.mechanism.part_checks import GROUND, check_body_known, check_joint_known
from linkwork.mechanism.triggers import plain_coordinates

if TYPE_CHECKING:
    from linkwork.mechanism.surroundings import Surroundings

ACTIONS: dict[str, type[Action]] = {}


class Action:
    """What a transition does; the fields of a kind of action are its keys in files."""

    type_name: ClassVar[str]  # its name in files

    def __init_subclass__(cls) -> None:
        if "type_name" in cls.__dict__:
            ACTIONS[cls.type_name] = cls

    def check(self, mech: Surroundings, what: str) -> None:
        """Refuse joints and bodies that do not exist (any more) or do not fit; `what` names the transition."""

    def check_whole(self, mech: Surroundings, what: str) -> None:
        """Refuse what a mechanism that is complete has no use for; `what` names the transition."""


@checks_keywords
@dataclass(frozen=True)
class Stop(Action):
    """A coordinate of a joint stays within bounds: it rebounds from them, or rests on them.

    Parameters
    ----------
    joint
        Name of the joint.
    lower, upper
        Bounds of the coordinate, rad or m; at least one of them.
    restitution
        Coefficient of restitution: speed after an impact by that before it, 0 to 1.
    coordinate
        In a joint of several coordinates: the number of the one that is bounded, from 1; not of a quaternion.

    Examples
    --------
    >>> Stop("hinge", lower=0, restitution=0.5)
    Stop(joint='hinge', lower=0.0, upper=None, restitution=0.5, coordinate=None)
    """

    type_name = "stop"
    joint: str
    lower: float | None = None
    upper: float | None = None
    restitution: float = 0.0
    coordinate: int | None = None

    def __post_init__(self) -> None:
        what = f"Stop of joint {named(self.joint, 'Stop', 'joint')!r}"
        for name in ("lower", "upper"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, number(getattr(self, name), f"{what}: {name}"))
        if self.lower is None and self.upper is None:
            raise MechanismError(f"{what} has no bound: give lower=, upper= or both")
        if self.lower is not None and self.upper is not None and self.lower >= self.upper:
            raise MechanismError(
                f"{what}: lower = {self.lower:g} must be less than upper = {self.upper:g}; "
                "to hold the joint take a Lock"
            )
        object.__setattr__(self, "restitution", number(self.restitution, f"{what}: restitution"))
        if not 0.0 <= self.restitution <= 1.0:
            raise MechanismError(f"{what}: restitution must be from 0 (none) to 1 (elastic), not {self.restitution:g}")
        if self.coordinate is not None:
            object.__setattr__(self, "coordinate", whole_number(self.coordinate, f"{what}: coordinate", 1))

    def check(self, mech: Surroundings, what: str) -> None:
        """Refuse a joint that does not exist (any more) or has no such coordinate, and a start beyond a bound."""
        check_joint_known(mech, self.joint, what)
        kind = mech.joints[self.joint].kind
        described = f"{what}: joint {self.joint!r} ({type(kind).__name__})"
        plain = plain_coordinates(mech, self.joint) if kind.nq == kind.nu else []
        if not plain:
            raise MechanismError(
                f"{described} has no angle or displacement to bound: name a joint that has, such as a Revolute"
            )
        numbered = " or ".join(str(i + 1) for i in plain)
        if self.coordinate is None and kind.nq > 1:
            raise MechanismError(f"{described} has several coordinates: choose one by coordinate={numbered}")
        if self.element not in plain:
            raise MechanismError(
                f"{described} has no angle or displacement {self.coordinate}: coordinate must be {numbered}"
            )
        if self.joint in mech.start_q:
            self.check_start(mech.start_q[self.joint])

    @property
    def element(self) -> int:
        """Position of the coordinate among those of the joint, from 0."""
        return 0 if self.coordinate is None else self.coordinate - 1

    def check_start(self, q: FloatArray) -> None:
        """Refuse start values (nq,) of its joint that are beyond a bound."""
        value = q[self.element]
        for name, bound, beyond in (("lower", self.lower, value.__lt__), ("upper", self.upper, value.__gt__)):
            if bound is not None and beyond(bound):
                side = "below" if name == "lower" else "above"
                raise MechanismError(
                    f"start q of joint {self.joint!r}: {value:g} is {side} {name} = {bound:g} of its Stop: start "
                    "within the bounds, or move them"
                )


@checks_keywords
@dataclass(frozen=True)
class Impulse(Action):
    """An impulse on a body, given by the inputs "kick.impulse.f[1..3]" and "kick.impulse.t[1..3]", world axes.

    Parameters
    ----------
    body
        Name of a body.
    point
        Where the impulse acts, in the body's frame, (3,), m.
    force, torque
        What the inputs hold unless they are set: impulse, N s, and angular impulse, N m s, world axes, (3,).

    Examples
    --------
    >>> Impulse("ball", force=(0, 0, 2)).force
    (0.0, 0.0, 2.0)
    """

    type_name = "impulse"
    body: str
    point: Point = (0.0, 0.0, 0.0)
    force: Point = (0.0, 0.0, 0.0)
    torque: Point = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        what = f"Impulse on body {named(self.body, 'Impulse', 'body')!r}"
        for name in ("point", "force", "torque"):
            value = finite(getattr(self, name), (3,), f"{what}: {name}")
            object.__setattr__(self, name, tuple(value.tolist()))

    def check(self, mech: Surroundings, what: str) -> None:
        """Refuse a body that does not exist (any more), and the ground."""
        check_body_known(mech, what, self.body)
        if self.body == GROUND:
            raise MechanismError(f"{what}: its Impulse acts on the ground, which nothing moves: name a body")


def named(name: object, action: str, of: str) -> str:
    """Return the name of a joint or a body; other values are refused."""
    if not isinstance(name, str):
        raise MechanismError(f"{action}: {of} must be a name, not {name!r}")
    return name
