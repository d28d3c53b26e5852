"""Forces with states of their own: DC motors, first-order actuators, hydraulic cylinders."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from linkwork._util.checks import finite
from linkwork.errors import MechanismError
from linkwork.mechanism.built_in_forces import Number, OnJoints, OnJointsOrBetweenPoints, built_in
from linkwork.mechanism.own_states import StateLaw


@built_in
@dataclass(frozen=True, repr=False)
class DCMotor(OnJoints):
    """A DC motor with its electric circuit: the voltage is an input, the current a state.

        L di/dt = voltage - R i - gear k u        T = efficiency gear k i

    where u is the speed of the joint, gear u that of the motor, and k the torque constant, which is that of the back
    EMF in SI units as well. Without inductance the current follows at once, i = (voltage - gear k u) / R. The drive's
    supply limits the voltage, which gives the falling line of torque over speed, and its protection the current: a
    current at `max_current` does not rise further. The
    efficiency multiplies the torque whichever way power flows, and the back EMF is without it. The inertia of the rotor
    times gear^2 is the `reflected_inertia` of the joint (`Mechanism.add_joint`).

    Parameters
    ----------
    joint
        Name of a joint, or gears by name: u is the sum of gear times speed.
    resistance
        Of the winding, Ohm.
    constant
        Torque by current, N m/A, which is V s/rad; N/A on a slide.
    inductance
        Of the winding, H; None: the current is no state.
    gear
        Speed of the motor by that of the joint.
    efficiency
        Of the gear, above 0, at most 1.
    current
        At the start, A.
    max_voltage
        Of the supply, V: a voltage beyond it counts as this, in both directions. None: no limit.
    max_current
        Of the drive, A, in both directions; None: no limit.
    name
        A name, under which all of these are found, as "motor.voltage" and "motor.current".

    Raises
    ------
    MechanismError
        Where resistance, inductance, constant, efficiency or a limit is not positive, efficiency is above 1, or the
        current starts beyond its limit.

    Examples
    --------
    >>> DCMotor("axle", resistance=0.5, inductance=2e-3, constant=0.1, gear=20.0, name="motor").formula
    'efficiency*gear*constant*current'
    """

    type_name = "dc_motor"
    numbers = (
        Number("resistance", "resistance of the winding", "Ohm", "positive"),
        Number("constant", "torque by current, and back EMF by speed", "{load}/A", "positive"),
        Number("inductance", "inductance of the winding", "H", "positive"),
        Number("gear", "speed of the motor by that of the joint", "1"),
        Number("efficiency", "factor of the torque", "1", "positive"),
        Number("max_voltage", "voltage of the supply", "V", "positive"),
        Number("max_current", "largest current of the drive", "A", "positive"),
    )
    law_inputs = ("voltage",)
    texts = {"voltage": "voltage at the terminals"}  # noqa: RUF012
    reads_position = False
    _: KW_ONLY
    resistance: float
    constant: float
    inductance: float | None = None
    gear: float = 1.0
    efficiency: float = 1.0
    current: float = 0.0
    max_voltage: float | None = None
    max_current: float | None = None
    name: str = "motor"

    def check_arguments(self) -> None:
        """Refuse an efficiency above 1, and a current that is no state or beyond its limit."""
        if self.efficiency > 1.0:
            raise MechanismError(f"{self.label}: efficiency must not be above 1, and is {self.efficiency:g}")
        if self.inductance is None and self.current:
            raise MechanismError(f"{self.label}: without inductance the current has no start value: leave current= out")
        if self.max_current is not None and abs(self.current) > self.max_current:
            limit = f"max_current = {self.max_current:g} A"
            raise MechanismError(f"{self.label}: current = {self.current:g} A at the start is beyond {limit}")

    @property
    def _voltage(self) -> str:
        return "voltage" if self.max_voltage is None else "max(-max_voltage, min(max_voltage, voltage))"

    def law(self, x: str, v: str) -> str:
        """Return the formula of its push."""
        current = "current"
        if self.inductance is None:
            current = f"({self._voltage} - gear*constant*{v})/resistance"
            if self.max_current is not None:
                current = f"max(-max_current, min(max_current, {current}))"
        return f"efficiency*gear*constant*{current}"

    def state_laws(self, x: str, v: str) -> tuple[StateLaw, ...]:
        """Return its current."""
        if self.inductance is None:
            return ()
        rate = f"({self._voltage} - resistance*current - gear*constant*{v})/inductance"
        if self.max_current is not None:
            falls, rises = f"if(current < max_current, {rate}, min(0, {rate}))", f"max(0, {rate})"
            rate = f"if(current > -max_current, {falls}, {rises})"
        return (StateLaw("current", "current in the winding", "A", rate, self.current),)


@built_in
@dataclass(frozen=True, repr=False)
class FirstOrderActuator(OnJoints):
    """An actuator whose load follows its command with a first-order lag.

        d load/dt = (command - load) / time_constant

    where the command, an input, counts within -limit ... limit. After a step of it the load has made 63 % of the
    way in one time constant.

    Parameters
    ----------
    joint
        Name of a joint, or gears by name: gear times load acts on each.
    time_constant
        s.
    limit
        Largest size of the command, and so of the load, N m or N; None: no limit.
    load
        At the start, N m or N.
    name
        A name, under which all of these are found, as "servo.command" and "servo.load".

    Raises
    ------
    MechanismError
        Where time constant or limit is not positive.

    Examples
    --------
    >>> FirstOrderActuator("hinge", time_constant=0.05, limit=20.0, name="servo").state_laws("q", "u")[0].formula
    '(max(-limit, min(limit, command)) - load)/time_constant'
    """

    type_name = "first_order_actuator"
    numbers = (
        Number("time_constant", "time constant of the lag", "s", "positive"),
        Number("limit", "largest size of the command", "{load}", "positive"),
    )
    law_inputs = ("command",)
    texts = {"command": "load that it follows"}  # noqa: RUF012
    reads_position = False
    _: KW_ONLY
    time_constant: float
    limit: float | None = None
    load: float = 0.0
    name: str = "actuator"

    def law(self, x: str, v: str) -> str:
        """Return the formula of its push."""
        return "load"

    def state_laws(self, x: str, v: str) -> tuple[StateLaw, ...]:
        """Return its load."""
        command = "command" if self.limit is None else "max(-limit, min(limit, command))"
        nominal = self.limit if self.limit is not None else 1.0
        rate = f"({command} - load)/time_constant"
        return (StateLaw("load", "load of the actuator", "{load}", rate, self.load, nominal),)


@built_in
@dataclass(frozen=True, repr=False)
class HydraulicCylinder(OnJointsOrBetweenPoints):
    """A hydraulic cylinder with two chambers and a four-way valve: both pressures are states.

        F = area p_a - rod_area p_b
        dp_a/dt = bulk_modulus / V_a (Q_a - area v - leakage (p_a - p_b))        V_a = volume + area s
        dp_b/dt = bulk_modulus / V_b (Q_b + rod_area v + leakage (p_a - p_b))    V_b = volume + rod_area (stroke - s)

    with the displacement s = x - retracted of the piston, its speed v, and F along it: it drives the points of its ends
    from each other, or the joint in its positive direction. The opening of the valve, an input from -1 to 1, lets the
    supply into chamber a and chamber b out to the tank where it is positive, and the other way round where it is
    negative. Through an edge that is open by the share o at a pressure drop d flows

        Q = rated_flow o y / (y^2 + smoothing^2)^(1/4),   y = d / rated_pressure

    which is rated_flow o sqrt(y) but for small drops: the root has an infinite slope at zero, and this has not. At ten
    times `smoothing` it differs by 0.25 %. The ends of the stroke are no stops: add a `Stop`.

    Parameters
    ----------
    joint
        Name of a joint, or gears by name; on hinges areas are volumes by angle, m^3/rad.
    bodies, points
        Instead: names of two bodies, and a point of each in its frame, m.
    area, rod_area
        Of the piston in chamber a and in chamber b, m^2.
    volume
        Of each chamber with its pipe at its end of the stroke, m^3.
    stroke
        m.
    bulk_modulus
        Of the fluid, Pa.
    rated_flow, rated_pressure
        Of one edge of the valve that is fully open: m^3/s at a pressure drop in Pa.
    supply, tank
        Pressures, Pa.
    retracted
        Coordinate or length of the retracted cylinder, m.
    leakage
        From chamber to chamber, m^3/(s Pa).
    smoothing
        Share of rated_pressure below which the flow is linear.
    pressures
        Of chambers a and b at the start, Pa; None: that of the tank.
    name
        A name, under which all of these are found, as "lift.opening" and "lift.pressure_a".

    Raises
    ------
    MechanismError
        Where areas, volume, stroke, bulk modulus, rated flow or pressure or smoothing are not positive, leakage is
        negative, or supply is not above tank.

    Examples
    --------
    >>> lift = HydraulicCylinder(
    ...     "slide", area=2e-3, rod_area=1.5e-3, volume=1e-4, stroke=0.5, rated_flow=5e-4, supply=1.6e7, name="lift"
    ... )
    >>> lift.formula
    'area*pressure_a - rod_area*pressure_b'
    """

    type_name = "hydraulic_cylinder"
    numbers = (
        Number("area", "piston area in chamber a", "{swept}", "positive"),
        Number("rod_area", "piston area in chamber b", "{swept}", "positive"),
        Number("volume", "volume of a chamber at its end of the stroke", "m3", "positive"),
        Number("stroke", "stroke", "{motion}", "positive"),
        Number("bulk_modulus", "bulk modulus of the fluid", "Pa", "positive"),
        Number("rated_flow", "flow through an open edge at rated_pressure", "m3/s", "positive"),
        Number("rated_pressure", "pressure drop of rated_flow", "Pa", "positive"),
        Number("supply", "pressure of the supply", "Pa"),
        Number("tank", "pressure of the tank", "Pa"),
        Number("retracted", "coordinate or length of the retracted cylinder", "{motion}"),
        Number("leakage", "flow from chamber to chamber by pressure", "m3/(s.Pa)", "not negative"),
        Number("smoothing", "share of rated_pressure below which the flow is linear", "1", "positive"),
    )
    law_inputs = ("opening",)
    texts = {"opening": "opening of the valve, -1 to 1"}  # noqa: RUF012
    _: KW_ONLY
    area: float
    rod_area: float
    volume: float
    stroke: float
    rated_flow: float
    supply: float
    bulk_modulus: float = 1.4e9
    rated_pressure: float = 3.5e6
    tank: float = 0.0
    retracted: float = 0.0
    leakage: float = 0.0
    smoothing: float = 1e-3
    pressures: tuple[float, float] | None = None
    name: str = "cylinder"

    def check_others(self) -> None:
        """Refuse pressures that are no two numbers."""
        if self.pressures is not None:
            given = finite(self.pressures, (2,), f"{self.label}: pressures").tolist()
            object.__setattr__(self, "pressures", (given[0], given[1]))

    def check_arguments(self) -> None:
        """Refuse a supply that is not above the tank."""
        if not self.supply > self.tank:
            raise MechanismError(f"{self.label}: supply must be above tank, and is {self.supply:g} Pa")

    def law(self, x: str, v: str) -> str:
        """Return the formula of its push."""
        return "area*pressure_a - rod_area*pressure_b"

    def state_laws(self, x: str, v: str) -> tuple[StateLaw, ...]:
        """Return both pressures."""
        leak, s = "leakage*(pressure_a - pressure_b)", f"({x} - retracted)"
        into_a = f"{_OPEN}*{_flow('supply - pressure_a')} + {_SHUT}*{_flow('pressure_a - tank')}"
        into_b = f"-{_OPEN}*{_flow('pressure_b - tank')} - {_SHUT}*{_flow('supply - pressure_b')}"
        a = f"bulk_modulus/(volume + area*{s})*({into_a} - area*{v} - {leak})"
        b = f"bulk_modulus/(volume + rod_area*(stroke - {s}))*({into_b} + rod_area*{v} + {leak})"
        starts = (self.tank, self.tank) if self.pressures is None else self.pressures
        nominal = max(abs(self.supply), abs(self.tank))
        return tuple(
            StateLaw(f"pressure_{one}", f"pressure in chamber {one}", "Pa", rate, start, nominal)
            for one, rate, start in zip("ab", (a, b), starts, strict=True)
        )


_OPEN, _SHUT = "max(0, min(1, opening))", "min(0, max(-1, opening))"


def _flow(drop: str) -> str:
    """Return the formula of the flow through an edge that is fully open."""
    share = f"(({drop})/rated_pressure)"
    return f"rated_flow*{share}/sqrt(sqrt({share}^2 + smoothing^2))"
