"""Stiff contacts that push and never pull: bump stops, backlash, tyres."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from linkwork.errors import MechanismError
from linkwork.mechanism.built_in_forces import (
    PLACE,
    Choice,
    Number,
    OnJoints,
    OnJointsOrBetweenPoints,
    built_in,
)
from linkwork.mechanism.forces import check_range

_DAMPING = Number("damping", "damping while it is compressed", "{load}.s/{motion}", "not negative")


def _contact(depth: str, rate: str, exponent: float = 1.0, ramp: bool = False) -> str:
    """Return the formula of a contact that pushes by its depth, and damps while that grows."""
    power = "" if exponent == 1.0 else f"^{exponent:.17g}"
    share = f"*min(1, ({depth})/damping_depth)" if ramp else ""
    return f"if({depth} > 0, stiffness*({depth}){power} + damping{share}*max(0, {rate}), 0)"


@built_in
@dataclass(frozen=True, repr=False)
class BumpStop(OnJointsOrBetweenPoints):
    """An elastic stop: it pushes back where a coordinate or length passes a limit, and never pulls.

    With the depth s of compression beyond a limit, it pushes by

        F = stiffness s^exponent + damping max(0, ds/dt)        where s > 0, else 0

    Between points `lower` is a bump stop, `upper` a strap or rebound stop. `Stop` is the rigid one, by events.

    Parameters
    ----------
    joint
        Name of a joint, or of a coordinate as "U[2]", or gears by name: the sum of gear times coordinate is limited.
    bodies, points
        Instead of a joint: the names of two bodies, one of them may be "ground", and a point of each, (2, 3), m, in the
        frame of its body; their distance is limited.
    lower, upper
        Limits beyond which it is compressed, m or rad; one of them or both.
    stiffness
        N/m or N m/rad; with another exponent N/m^exponent.
    exponent
        1, linear, or more, progressive, such as 1.5 or 2.
    damping
        While it is compressed further, N s/m or N m s/rad.
    damping_depth
        Depth over which damping grows from zero, m or rad: the force then has no jump at contact. None: damping is
        whole at once.
    name
        A name, under which all of these are found, as "stop.stiffness".

    Raises
    ------
    MechanismError
        Where no limit is given, the lower limit is not less than the upper one, or a number is out of its range.

    Examples
    --------
    >>> BumpStop("slide", upper=0.06, stiffness=2e5, name="stop").formula
    '-if(q - upper > 0, stiffness*(q - upper) + damping*max(0, u), 0)'
    >>> ends = {"bodies": ("chassis", "axle"), "points": ((0, 0, 0), (0, 0, 0))}
    >>> BumpStop(**ends, lower=0.3, stiffness=1e7, exponent=2, damping=500).formula
    '-(if(lower - length > 0, stiffness*(lower - length)^2 + damping*max(0, -rate), 0))'
    """

    type_name = "bump_stop"
    numbers = (
        Number("lower", "lower limit, below which it is compressed", "{motion}"),
        Number("upper", "upper limit, above which it is compressed", "{motion}"),
        Number("stiffness", "stiffness of the stop", limit="positive"),
        _DAMPING,
        Number("damping_depth", "depth over which damping grows", "{motion}", "positive"),
    )
    at_least_one = ("lower", "upper")
    _: KW_ONLY
    stiffness: float
    lower: float | None = None
    upper: float | None = None
    exponent: float = 1.0
    damping: float = 0.0
    damping_depth: float | None = None
    name: str = "stop"

    def check_arguments(self) -> None:
        """Refuse limits and exponents that do not fit."""
        if self.lower is not None and self.upper is not None:
            check_range((self.lower, self.upper), self.label)
        exponent = Number("exponent", "").check(self.exponent, f"{self.label}: exponent")
        if exponent < 1.0:
            raise MechanismError(f"{self.label}: exponent must be at least 1, and is {exponent:g}")
        object.__setattr__(self, "exponent", exponent)

    def law(self, x: str, v: str) -> str:
        """Return the formula of its push."""
        given: Any = (self.exponent, self.damping_depth is not None)
        below = None if self.lower is None else _contact(f"lower - {x}", f"-{v}", *given)
        above = None if self.upper is None else f"-{_contact(f'{x} - upper', v, *given)}"
        return f"{below} - {above[1:]}" if below and above else str(below or above)


@built_in
@dataclass(frozen=True, repr=False)
class Backlash(OnJoints):
    """Gears or a coupling with play: free within the backlash, and in stiff contact beyond, on either flank.

    With the sum q of gear times coordinate, the depth of a flank is s = abs(q) - backlash/2, and it pushes back by
    stiffness s + damping max(0, ds/dt) where s > 0. It takes the place of the coupling of the gears: `Stop` on a joint
    of the gear wheel gives rigid flanks, by events.

    Parameters
    ----------
    joint
        Gears by coordinate, such as {"pinion": 1.0, "wheel": 3.0}, or the name of a joint with play.
    backlash
        The whole play of q, rad or m.
    stiffness
        Of the teeth in contact, N m/rad or N/m, for q.
    damping
        While teeth are compressed, N m s/rad or N s/m.
    name
        A name, under which all of these are found, as "mesh.backlash".

    Raises
    ------
    MechanismError
        Where a number is out of its range, or a gear is zero.

    Examples
    --------
    >>> Backlash({"pinion": 1.0, "wheel": 3.0}, backlash=0.02, stiffness=5e4, damping=20, name="mesh").gears
    {'pinion': 1.0, 'wheel': 3.0}
    """

    type_name = "backlash"
    numbers = (
        Number("backlash", "whole play", "{motion}", "not negative"),
        Number("stiffness", "stiffness of teeth in contact", "{load}/{motion}", "positive"),
        _DAMPING,
    )
    _: KW_ONLY
    backlash: float
    stiffness: float
    damping: float = 0.0
    name: str = "backlash"

    def law(self, x: str, v: str) -> str:
        """Return the formula of its push."""
        return f"{_contact(f'-{x} - backlash/2', f'-{v}')} - {_contact(f'{x} - backlash/2', v)}"


@built_in
@dataclass(frozen=True, repr=False)
class Tyre(OnJointsOrBetweenPoints):
    """The vertical force of a tyre (tire): it pushes the wheel off the road, and never pulls.

    With the height h of the wheel's centre above the road's zero, the tyre is compressed by s = radius + road - h, and
    pushes by

        F = max(0, stiffness s + damping ds/dt)        where s > 0, else 0

    Inputs are the height "road" of the road, m, and its rate "road_rate", m/s. On a joint h is height + q. Between
    points h is their distance: the point of the ground lies on the road's zero below the wheel's centre, and the force
    has the direction of their line, so that the wheel should not move far aside.

    Parameters
    ----------
    joint
        A vertical coordinate that grows upwards, or gears by name.
    bodies, points
        Instead of a joint: usually ("ground", wheel) and a point of each, (2, 3), m, in the frame of its body.
    height
        On a joint: height of the wheel's centre above the road's zero at q = 0, m.
    radius
        Unloaded radius, m.
    stiffness
        Radial stiffness, N/m.
    damping
        Radial damping, N s/m.
    name
        A name, under which all of these are found, as "tyre.road".

    Raises
    ------
    MechanismError
        Where a number is out of its range, and where height is not given on a joint.

    Examples
    --------
    >>> Tyre("bounce", height=0.32, radius=0.32, stiffness=2e5).inputs
    ('road', 'road_rate')
    >>> Tyre(bodies=("ground", "wheel"), points=((0, 0, 0), (0, 0, 0)), radius=0.32, stiffness=2e5).is_along_line
    True
    """

    type_name = "tyre"
    numbers = (
        Number("height", "height of the wheel's centre above the road's zero at q = 0", "m"),
        Number("radius", "unloaded radius", "m", "positive"),
        Number("stiffness", "radial stiffness", "N/m", "positive"),
        Number("damping", "radial damping", "N.s/m", "not negative"),
    )
    motion = "m"
    choices = (PLACE, Choice((("joint", "height"), ("bodies",))))
    law_inputs = ("road", "road_rate")
    texts = {"road": "height of the road", "road_rate": "rate of the road's height"}  # noqa: RUF012
    _: KW_ONLY
    radius: float
    stiffness: float
    height: float | None = None
    damping: float = 0.0
    name: str = "tyre"

    def law(self, x: str, v: str) -> str:
        """Return the formula of its push."""
        depth = f"radius + road - {x}" if self.height is None else f"radius + road - height - {x}"
        return f"if({depth} > 0, max(0, stiffness*({depth}) + damping*(road_rate - {v})), 0)"
