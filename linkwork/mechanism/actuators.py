"""Actuators: forces on joints by an input, with gears, stiffness, damping and limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork._util.checks import check_name, finite, number
from linkwork._util.keywords import checks_keywords
from linkwork._util.names import suggest
from linkwork.errors import MechanismError, MechanismNameError
from linkwork.mechanism.forces import NamedForce
from linkwork.mechanism.part_checks import check_joint_known

if TYPE_CHECKING:
    from linkwork.mechanism.surroundings import Surroundings

Range = tuple[float, float]


@checks_keywords
@dataclass(frozen=True)
class Actuator(NamedForce):
    """A motor, servo or tendon: an input, such as "grip.input", makes a force on one joint or several.

    The length of the actuator is the sum of gear times coordinate over its joints, its rate is that of gear times
    speed. The force

        gain input + offset - stiffness length - damping rate

    adds gear times force to the load of each joint. Input and force stay within their ranges. Several actuators and a
    `SpringDamper` may act on one joint. The stiffness is that of a control law: it stores no energy.

    A motor has a gain alone. A servo to a position has stiffness = gain = k, one to a speed damping = gain = k.

    Parameters
    ----------
    name
        A name, under which input, force, length and rate are found.
    gears
        By coordinate, as "A", or "U[2]" of a joint of several, what its gear is: not zero. Joints whose orientation is
        a quaternion, `Spherical` and `Free`, are named by speed, as "S[3]"; the actuator then has no length.
    gain
        Force of an input of one, N or N m as the first coordinate is a displacement or an angle.
    offset
        Force where input, length and rate are zero, N or N m.
    stiffness, damping
        N/m and N s/m, or N m/rad and N m s/rad. Without a length there is no stiffness.
    input_range, force_range
        Lower and upper limit; None: no limits.

    Raises
    ------
    MechanismError
        On gears that are no dictionary, numbers that are not finite, a gear of zero and ranges whose lower limit is not
        less than the upper one, naming the actuator.

    Examples
    --------
    >>> Actuator("motor", {"A": 20.0}, force_range=(-5, 5)).force_range
    (-5.0, 5.0)
    >>> servo = Actuator("grip", {"left": 0.5, "right": 0.5}, gain=100, stiffness=100, damping=10)
    >>> servo.gears
    {'left': 0.5, 'right': 0.5}
    """

    type_name = "actuator"
    call = "Actuator"
    name: str
    gears: Mapping[str, float]
    gain: float = 1.0
    offset: float = 0.0
    stiffness: float = 0.0
    damping: float = 0.0
    input_range: Range | None = None
    force_range: Range | None = None

    def __post_init__(self) -> None:
        check_name(self.name, self.call)
        if not isinstance(self.gears, Mapping) or not self.gears:
            raise MechanismError(
                f"{self.label}: gears must be a dictionary such as {{'A': 1.0}}, not {self.gears!r:.60}"
            )
        object.__setattr__(self, "gears", {key: self._gear(key, value) for key, value in self.gears.items()})
        for name in ("gain", "offset", "stiffness", "damping"):
            object.__setattr__(self, name, number(getattr(self, name), f"{self.label}: {name}"))
        for name in ("input_range", "force_range"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _range(getattr(self, name), f"{self.label}: {name}"))

    def _gear(self, coordinate: Any, value: Any) -> float:
        gear = number(value, f"{self.label}: the gear of {coordinate!r}")
        if gear == 0.0:
            raise MechanismError(f"{self.label}: the gear of {coordinate!r} is zero: leave it out")
        return gear

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints in which it acts, each once."""
        return tuple(dict.fromkeys(_joint(coordinate) for coordinate in self.gears))

    def places(self, mech: Surroundings) -> list[tuple[str, int]]:
        """Return joint and number of the speed, from 0, of each gear."""
        return [self._find(mech, coordinate) for coordinate in self.gears]

    def has_length(self, mech: Surroundings) -> bool:
        """Return whether all of its speeds are rates of coordinates."""
        return all(mech.joints[joint].kind.quaternion is None for joint in self.joint_names)

    def check(self, mech: Surroundings) -> None:
        """Refuse joints and coordinates that do not exist (any more), and stiffness without a length."""
        self.places(mech)
        if self.stiffness and not self.has_length(mech):
            joint = next(name for name in self.joint_names if mech.joints[name].kind.quaternion is not None)
            title = type(mech.joints[joint].kind).__name__
            raise MechanismError(
                f"{self.label}: the orientation of joint {joint!r} ({title}) is a quaternion, so that the actuator has "
                "no length: leave out stiffness (damping may stay)"
            )

    def _find(self, mech: Surroundings, coordinate: str) -> tuple[str, int]:
        joint = _joint(coordinate)
        check_joint_known(mech, joint, self.label)
        kind = mech.joints[joint].kind
        described = f"{self.label}: joint {joint!r} ({type(kind).__name__})"
        if kind.nu == 0:
            raise MechanismError(f"{described} has no coordinates to act on: name another joint")
        names = [joint] if kind.nu == 1 else [f"{joint}[{i + 1}]" for i in range(kind.nu)]
        if coordinate not in names:
            what = "coordinate" if kind.quaternion is None else "speed"
            raise MechanismNameError(f"{described} has no {what} {coordinate!r}: {suggest(coordinate, names)}")
        return joint, names.index(coordinate)


def _joint(coordinate: Any) -> Any:
    return coordinate.partition("[")[0] if isinstance(coordinate, str) else coordinate


def _range(value: Any, what: str) -> Range:
    lower, upper = finite(np.asarray(value), (2,), f"{what} (lower and upper limit)").tolist()
    if not lower < upper:
        raise MechanismError(f"{what}: the lower limit {lower:g} must be less than the upper limit {upper:g}")
    return lower, upper
