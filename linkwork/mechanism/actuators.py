"""Actuators: forces on joints by an input, with gears, stiffness, damping and limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from linkwork._util.keywords import checks_keywords
from linkwork.mechanism.forces import ForceOnJoints, check_range
from linkwork.mechanism.quantities import indices, load, output, parameter

Range = tuple[float, float]


@checks_keywords
@dataclass(frozen=True)
class Actuator(ForceOnJoints):
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
    input_label = "actuator's input"
    record = (  # the rules: of the length, of the rate, of the force
        parameter("{0}.gain", "actuator_gain", "{load}", "force of an input of one"),
        parameter("{0}.offset", "actuator_offset", "{load}", "force where input, length and rate are zero"),
        parameter(
            "{0}.stiffness", "actuator_stiffness", "{load}/{motion}", "stiffness: what the force loses by length"
        ),
        parameter("{0}.damping", "actuator_damping", "{load}.s/{motion}", "damping: what the force loses by rate"),
        parameter(
            *("{0}.input_range[]", "actuator_input_range", "1", "lower and upper limit of the input"),
            elements=indices(2),
        ),
        parameter(
            *("{0}.force_range[]", "actuator_force_range", "{load}", "lower and upper limit of the force"),
            elements=indices(2),
        ),
        load("{0}.input", "actuator_input", "1", "input of the actuator, within its range"),
        output("{0}.length", "actuator_length", "{motion}", "sum of gear times coordinate"),
        output("{0}.rate", "actuator_rate", "{motion}/s", "sum of gear times speed", dependency=1),
        output(
            *("{0}.force", "actuator_force", "{load}"),
            "force of the actuator, within its range; gear times this loads each of its joints",
            dependency=2,
        ),
    )
    name: str
    gears: Mapping[str, float]
    gain: float = 1.0
    offset: float = 0.0
    stiffness: float = 0.0
    damping: float = 0.0
    input_range: Range | None = None
    force_range: Range | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, limits in (("input_range", self.input_range), ("force_range", self.force_range)):
            check_range(limits, f"{self.label}: {name}")
