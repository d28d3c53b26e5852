"""Motors by their curve, detents, freewheels, weight compensation, thrust."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from linkwork._util.checks import finite
from linkwork.errors import MechanismError
from linkwork.formula import LookupTable, Source
from linkwork.mechanism.built_in_forces import BuiltInForce, Choice, Number, OnJoints, built_in
from linkwork.mechanism.forces import Point, check_range
from linkwork.mechanism.formula_forces import ByFormulaAtPoint, ByFormulaOnJoints, FormulaForce
from linkwork.mechanism.formulas import Given
from linkwork.mechanism.friction import SHARES, FrictionByFormula

if TYPE_CHECKING:
    from linkwork.mechanism.quantities import Quantity
    from linkwork.mechanism.surroundings import Surroundings

_COMMAND = "max(-1, min(1, command))"


@built_in
@dataclass(frozen=True, repr=False)
class MotorCharacteristic(OnJoints):
    """A motor by its torque-speed curve, with a command from -1 to 1 as an input.

    The command c is limited to -1 ... 1. The line of a DC motor at the share c of its rated voltage is

        T = stall_torque (c - u / no_load_speed)

    where u is the motor's speed: without voltage it brakes, as a motor with shorted terminals does, and beyond the
    no-load speed too. By a table T = c table(u sign(c)): the curve at full throttle in the direction of the command.

    Parameters
    ----------
    joint
        Name of a joint, or gears by name: the motor's speed is the sum of gear times speed, and gear times T loads
        each joint.
    stall_torque
        At rest with c = 1, N m, or N on a slide.
    no_load_speed
        Speed at which c = 1 gives no torque, rad/s or m/s.
    table
        Instead of both: a `LookupTable` of the torque over the speed, N m over rad/s.
    name
        A name, under which all of these are found, as "motor.command".

    Raises
    ------
    MechanismError
        Where neither stall torque and no-load speed nor a table are given, or one of them is not positive.

    Examples
    --------
    >>> MotorCharacteristic({"crank": 20.0}, stall_torque=1.2, no_load_speed=300.0, name="motor").formula
    'stall_torque*(max(-1, min(1, command)) - u/no_load_speed)'
    """

    type_name = "motor_characteristic"
    numbers = (
        Number("stall_torque", "torque at rest", "{load}", "positive"),
        Number("no_load_speed", "speed without torque", "{motion}/s", "positive"),
    )
    choices = (Choice((("stall_torque", "no_load_speed"), ("table",))),)
    law_inputs = ("command",)
    texts = {"command": "share of full voltage or throttle, -1 to 1", "table": "torque at a speed"}  # noqa: RUF012
    reads_position = False
    _: KW_ONLY
    stall_torque: float | None = None
    no_load_speed: float | None = None
    table: LookupTable | None = None
    name: str = "motor"

    def law(self, x: str, v: str) -> str:
        """Return the formula of its push."""
        if self.table is None:
            return f"stall_torque*({_COMMAND} - {v}/no_load_speed)"
        return f"{_COMMAND}*table({v}*sign(command))"


@built_in
@dataclass(frozen=True, repr=False)
class Detent(OnJoints):
    """A detent, or the cogging of a motor: a periodic load with stable positions at offset + k pitch.

        F = -peak sin(2 pi (q - offset) / pitch)

    Near a stable position the stiffness is 2 pi peak / pitch; the energy from one to the next is peak pitch / pi.

    Parameters
    ----------
    joint
        Name of a joint, or gears by name.
    peak
        Largest load, N m or N.
    pitch
        From one stable position to the next, rad or m.
    offset
        One of the stable positions, rad or m.
    name
        A name, under which all of these are found.

    Raises
    ------
    MechanismError
        Where peak is negative or pitch is not positive.

    Examples
    --------
    >>> Detent("knob", peak=0.05, pitch=0.2618, name="clicks").formula
    '-peak*sin(2*pi*(q - offset)/pitch)'
    """

    type_name = "detent"
    numbers = (
        Number("peak", "largest load", "{load}", "not negative"),
        Number("pitch", "from one stable position to the next", "{motion}", "positive"),
        Number("offset", "a stable position", "{motion}"),
    )
    _: KW_ONLY
    peak: float
    pitch: float
    offset: float = 0.0
    name: str = "detent"

    def law(self, x: str, v: str) -> str:
        """Return the formula of its push."""
        return f"-peak*sin(2*pi*({x} - offset)/pitch)"


@built_in
@dataclass(frozen=True, repr=False)
class Freewheel(OnJoints):
    """A freewheel (overrunning or one-way clutch) or backstop: free forwards, it holds backwards.

    Where its speed u is positive it has no load. Where u comes to zero from there it holds exactly, by any load from 0
    to the capacity, until the speed would rise again; where more load is needed it slips backwards with the capacity.
    It is dry friction of one direction, decided with all others (`Friction`). An impact turns it back, but where it
    has no capacity it takes an impulse, as a stop without restitution does.

    With `damping` it is regularised: F = min(capacity, damping max(0, -u)). It then has no events and does not hold
    still: under a load F it creeps backwards at F / damping.

    Parameters
    ----------
    joint
        Name of a joint, or gears by name, such as {"driven": 1.0, "driving": -1.0}: free where driven is faster.
    capacity
        Largest load, N m or N; None: no limit. A motion then cannot start backwards.
    damping
        Against the blocked direction, N m s/rad or N s/m; None: it holds exactly.
    name
        A name, under which all of these are found.

    Raises
    ------
    MechanismError
        Where damping or capacity is not positive.

    Examples
    --------
    >>> Freewheel({"driven": 1.0, "driving": -1.0}, capacity=80.0, name="clutch").sticks
    True
    >>> Freewheel({"driven": 1.0, "driving": -1.0}, damping=1e3, capacity=80.0, name="clutch").formula
    'min(capacity, damping*max(0, -u))'
    """

    type_name = "freewheel"
    numbers = (
        Number("damping", "damping against the blocked direction", "{load}.s/{motion}", "positive"),
        Number("capacity", "largest load", "{load}", "positive"),
    )
    reads_position = False
    acts_as = (FrictionByFormula, ByFormulaOnJoints)
    _: KW_ONLY
    capacity: float | None = None
    damping: float | None = None
    name: str = "freewheel"

    @classmethod
    def _place(cls, given: Mapping[str, Any]) -> type[FormulaForce]:
        return FrictionByFormula if given.get("damping") is None else ByFormulaOnJoints

    @property
    def is_limited(self) -> bool:
        """Whether it has a capacity."""
        return self.capacity is not None

    def numbers_given(self) -> list[Quantity]:
        """Return none: limits and shares of its friction follow from its capacity."""
        return []

    def core_value(self, one: Quantity, mech: Surroundings) -> Any:
        """Return the numbers of its friction for the core: none forwards, and without a capacity no limit backwards."""
        return {"forward": 0.0, "static": None if self.capacity is not None else math.inf}.get(one.stem)

    def quantities(self, mech: Surroundings) -> Iterable[Quantity]:
        """Return what it has in a mechanism: what makes its friction one-sided stays."""
        absent = ("static", *SHARES, "limit") if self.capacity is None else ("static", *SHARES)
        return (one for one in super().quantities(mech) if one.stem not in absent)

    def _sources(self, mech: Surroundings) -> list[Source]:
        if self.damping is None and self.capacity is None:
            return [Source(self.formula, "1", self.label)]
        return super()._sources(mech)

    def law(self, x: str, v: str) -> str:
        """Return the formula of its push; where it holds exactly, of its capacity, one without limit by `static`."""
        if self.damping is None:
            return "1" if self.capacity is None else "capacity"
        drag = f"damping*max(0, -{v})"
        return drag if self.capacity is None else f"min(capacity, {drag})"


@built_in
@dataclass(frozen=True, repr=False)
class GravityCompensation(BuiltInForce):
    """Weight compensation of a body: a force at its centre of mass, or another point, carries a part of its weight.

    The weight is that of the description, mass times gravity, as variables "balance.weight_x" and so on: a mass that
    is changed by parameters alone does not change it.

    Parameters
    ----------
    body
        Name of a body.
    fraction
        Of its weight; 1 carries all of it, more lets it rise.
    point
        Where the force acts, (3,), m, in the body's frame; None: at its centre of mass.
    name
        A name, under which all of these are found.

    Raises
    ------
    MechanismError
        Where fraction is not finite, and for the ground.

    Examples
    --------
    >>> GravityCompensation("forearm", fraction=0.9, name="balance")
    GravityCompensation(body='forearm', fraction=0.9, name='balance')
    """

    type_name = "gravity_compensation"
    acts_as = (ByFormulaAtPoint,)
    numbers = (
        Number("fraction", "fraction of the weight that is carried", "1"),
        *(Number(f"weight_{axis}", f"weight of the body along {axis}", "N") for axis in "xyz"),
    )
    force = tuple(f"-fraction*weight_{axis}" for axis in "xyz")
    torque = ("0", "0", "0")
    axes = "world"
    body: str
    _: KW_ONLY
    fraction: float = 1.0
    point: Point | None = None
    name: str = "gravity_compensation"

    def value_of(self, one: Number) -> Any:
        """Return a number as it is given; weights follow from the mechanism."""
        return self.fraction if one.name == "fraction" else 0.0

    def own_numbers(self) -> list[Number]:
        """Return all of its numbers."""
        return list(self.numbers)

    def given_parameters(self, mech: Surroundings) -> Mapping[str, Given]:
        """Return fraction and weight."""
        weight = cast(Any, mech).gravity * mech.bodies[self.body].mass
        axes = {f"weight_{axis}": (float(one), "N") for axis, one in zip("xyz", weight, strict=True)}
        return {"fraction": (self.fraction, "1"), **axes}

    def core_value(self, one: Quantity, mech: Surroundings) -> Any:
        """Return the numbers of a parameter for the core."""
        if one.stem == "point" and self.point is None:
            return mech.bodies[self.body].com
        return super().core_value(one, mech)

    @property
    def ends(self) -> tuple[tuple[str, Point], ...]:
        """Its body, and its point where that is given."""
        return ((self.body, self.point or (0.0, 0.0, 0.0)),)


@built_in
@dataclass(frozen=True, repr=False)
class Thrust(BuiltInForce):
    """A thruster, propeller or jet: a force at a point that turns with its body, by the input "thrust", N.

    Parameters
    ----------
    body
        Name of a body.
    axis
        Direction of the force on the body, (3,), in the body's axes; its length does not matter.
    point
        Where the force acts, (3,), m, in the body's frame.
    limits
        Lower and upper limit of the force, N; None: no limits. (0, 500) cannot push backwards.
    name
        A name, under which all of these are found, as "jet.thrust".

    Raises
    ------
    MechanismError
        On an axis without a direction, and on limits that do not increase.

    Examples
    --------
    >>> Thrust("drone", axis=(0, 0, 2), point=(0.2, 0, 0), limits=(0, 8), name="rotor").axis
    (0.0, 0.0, 1.0)
    """

    type_name = "thrust"
    acts_as = (ByFormulaAtPoint,)
    numbers = (Number("lower", "lower limit of the force", "N"), Number("upper", "upper limit of the force", "N"))
    law_inputs = ("thrust",)
    texts = {"thrust": "force along the axis"}  # noqa: RUF012
    torque = ("0", "0", "0")
    axes = "body"
    body: str
    _: KW_ONLY
    axis: tuple[float, float, float]
    point: Point = (0.0, 0.0, 0.0)
    limits: tuple[float, float] | None = None
    name: str = "thrust"

    def own_numbers(self) -> list[Number]:
        """Return its limits where they are given."""
        return [] if self.limits is None else list(self.numbers)

    def value_of(self, one: Number) -> Any:
        """Return a limit."""
        return cast(Any, self.limits)[0 if one.name == "lower" else 1]

    def check_others(self) -> None:
        """Refuse an axis without a direction and limits that do not increase."""
        given = finite(self.axis, (3,), f"{self.label}: axis")
        size = float(np.linalg.norm(given))
        if size == 0.0:
            raise MechanismError(f"{self.label}: axis has no direction: give numbers that are not all zero")
        object.__setattr__(self, "axis", tuple((given / size).tolist()))
        if self.limits is not None:
            lower, upper = finite(self.limits, (2,), f"{self.label}: limits").tolist()
            check_range((lower, upper), f"{self.label}: limits")
            object.__setattr__(self, "limits", (lower, upper))

    @property
    def force(self) -> tuple[str, ...]:
        """The formulas of the components of its force."""
        size = "thrust" if self.limits is None else "max(lower, min(upper, thrust))"
        return tuple(f"{one!r}*{size}" if one else "0" for one in self.axis)
