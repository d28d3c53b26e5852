"""Springs and dampers that are not linear, gas pressure, and torsion bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from linkwork._util.checks import finite, length
from linkwork.errors import MechanismError
from linkwork.formula import LookupTable
from linkwork.mechanism.built_in_forces import (
    PLACE,
    Choice,
    Number,
    OnJoints,
    OnJointsOrBetweenPoints,
    built_in,
)

MOST_COEFFICIENTS = 9


@built_in
@dataclass(frozen=True, repr=False)
class NonlinearSpring(OnJointsOrBetweenPoints):
    """A spring by a polynomial or a table of its deflection x, the coordinate or length less the free one.

    It pulls back by c1 x + c2 x^2 + ... or by table(x). It stores energy, but `energy.potential` does not have it, as
    of all forces by formulas.

    Parameters
    ----------
    joint
        Name of a joint, or of a coordinate as "U[2]", or gears by name.
    bodies, points
        Instead of a joint: the names of two bodies, one of them may be "ground", and a point of each, (2, 3), m, in the
        frame of its body.
    coefficients
        c1, c2, ... up to nine, N/m, N/m^2, ... or N m/rad, ...: variables "spring.c1" and so on. Without even powers
        the spring is the same in both directions.
    table
        Instead: a `LookupTable` of the force over the deflection, N or N m; positive where it pulls back.
    free
        Coordinate or length without deflection, rad or m.
    name
        A name, under which all of these are found.

    Raises
    ------
    MechanismError
        Where not exactly one of coefficients and table is given, or numbers are not finite.

    Examples
    --------
    >>> NonlinearSpring("hinge", coefficients=(20.0, 0.0, 500.0), name="spring").formula
    '-(c1*(q - free) + c2*(q - free)^2 + c3*(q - free)^3)'
    >>> NonlinearSpring("hinge", table=LookupTable([-1, 0, 1], [-9.0, 0.0, 5.0])).formula
    '-table(q - free)'
    """

    type_name = "nonlinear_spring"
    numbers = (Number("free", "coordinate or length without deflection", "{motion}"),)
    choices = (PLACE, Choice((("coefficients",), ("table",))))
    texts = {"table": "force at a deflection"}  # noqa: RUF012
    _: KW_ONLY
    coefficients: Sequence[float] | None = None
    table: LookupTable | None = None
    free: float = 0.0
    name: str = "spring"

    def check_others(self) -> None:
        """Refuse coefficients that are no numbers."""
        given: Any = self.coefficients
        if given is None:
            return
        size = 0 if isinstance(given, str) else length(given)
        if not 1 <= size <= MOST_COEFFICIENTS:
            raise MechanismError(
                f"{self.label}: coefficients must be 1 to {MOST_COEFFICIENTS} numbers such as (20.0, 0.0, 500.0), not "
                f"{given!r:.60}"
            )
        found = finite(given, (size,), f"{self.label}: coefficients").tolist()
        object.__setattr__(self, "coefficients", tuple(found))

    def own_numbers(self) -> list[Number]:
        """Return its numbers, with a coefficient for each power."""
        powers = range(1, length(self.coefficients) + 1)
        found = [
            Number(f"c{n}", f"force by deflection to the power {n}", f"{{load}}/{{motion}}{n if n > 1 else ''}")
            for n in powers
        ]
        return [*self.numbers, *found]

    def value_of(self, one: Number) -> Any:
        """Return a number as it is given."""
        return self.free if one.name == "free" else self.coefficients[int(one.name[1:]) - 1]  # type: ignore[index]

    def law(self, x: str, v: str) -> str:
        """Return the formula of its push."""
        if self.table is not None:
            return f"-table({x} - free)"
        powers = range(1, length(self.coefficients) + 1)
        return f"-({' + '.join(f'c{n}*({x} - free)' + (f'^{n}' if n > 1 else '') for n in powers)})"


@built_in
@dataclass(frozen=True, repr=False)
class NonlinearDamper(OnJointsOrBetweenPoints):
    """A damper (shock absorber) with other rates in compression and rebound, or by a table of its speed.

    It resists by compression v where the coordinate or length shrinks, by rebound v where it grows, or by table(v).

    Parameters
    ----------
    joint
        Name of a joint, or of a coordinate as "U[2]", or gears by name.
    bodies, points
        Instead of a joint: the names of two bodies, one of them may be "ground", and a point of each, (2, 3), m, in the
        frame of its body.
    compression, rebound
        Damping where the coordinate or length shrinks and where it grows, N s/m or N m s/rad.
    table
        Instead: a `LookupTable` of the force over the speed, N or N m; positive for rebound, negative in compression.
    name
        A name, under which all of these are found.

    Raises
    ------
    MechanismError
        Where neither the two rates nor a table are given, or a rate is negative.

    Examples
    --------
    >>> NonlinearDamper("slide", compression=900.0, rebound=2500.0, name="damper").formula
    '-(if(u < 0, compression, rebound)*u)'
    """

    type_name = "nonlinear_damper"
    numbers = (
        Number("compression", "damping in compression", "{load}.s/{motion}", "not negative"),
        Number("rebound", "damping in rebound", "{load}.s/{motion}", "not negative"),
    )
    choices = (PLACE, Choice((("compression", "rebound"), ("table",))))
    texts = {"table": "force at a speed"}  # noqa: RUF012
    reads_position = False
    _: KW_ONLY
    compression: float | None = None
    rebound: float | None = None
    table: LookupTable | None = None
    name: str = "damper"

    def law(self, x: str, v: str) -> str:
        """Return the formula of its push."""
        return f"-table({v})" if self.table is not None else f"-(if({v} < 0, compression, rebound)*{v})"


@built_in
@dataclass(frozen=True, repr=False)
class GasPressure(OnJointsOrBetweenPoints):
    """Gas in a cylinder: its pressure p on a piston, less the ambient one, pushes by F = area (p - ambient).

    The volume grows with the coordinate or length: V = volume + area (x - reference). The pressure is polytropic,

        p = pressure (volume / V)^exponent

    or given by a table, over the coordinate or length, the volume, or a coordinate of another joint such as a crank.

    Parameters
    ----------
    joint
        A coordinate that grows as the gas expands; by gears, as {"slide": -1.0}, one that shrinks.
    bodies, points
        Instead of a joint: a gas spring between points of two bodies, (2, 3), m, in the frames of the bodies.
    area
        Of the piston, m^2. On an angle m^3/rad, the volume swept by a radian.
    pressure
        Absolute, Pa, where the volume is `volume`.
    volume
        m^3, where the coordinate or length is `reference`.
    reference
        m or rad.
    exponent
        1 isothermal, 1.4 adiabatic for air.
    table
        Instead of pressure: a `LookupTable` of the absolute pressure, Pa.
    over
        Argument of the table: "volume", or a quantity as "crank.q"; None: the coordinate or length itself.
    ambient
        Pressure on the back of the piston, Pa.
    name
        A name, under which all of these are found.

    Raises
    ------
    MechanismError
        Where neither pressure and volume nor a table are given, or a number is out of its range.

    Examples
    --------
    >>> GasPressure("slide", area=5e-3, pressure=1e5, volume=5e-4, ambient=1e5, name="gas").formula
    'area*(pressure*(volume/(volume + area*(q - reference)))^exponent - ambient)'
    >>> fired = LookupTable([0, 3.14, 6.28], [4e6, 1e5, 4e6], periodic=True)
    >>> GasPressure("slide", area=5e-3, table=fired, over="crank.q", ambient=1e5).formula
    'area*(table(crank.q) - ambient)'
    """

    type_name = "gas_pressure"
    numbers = (
        Number("area", "area of the piston", "{swept}", "positive"),
        Number("pressure", "absolute pressure at the volume given", "Pa", "positive"),
        Number("volume", "volume at the reference given", "m3", "positive"),
        Number("reference", "coordinate or length of the volume given", "{motion}"),
        Number("exponent", "polytropic exponent", "1", "positive"),
        Number("ambient", "pressure on the back of the piston", "Pa", "not negative"),
    )
    choices = (PLACE, Choice((("pressure", "volume"), ("table",)), optional=("volume",)))
    texts = {"table": "absolute pressure"}  # noqa: RUF012
    _: KW_ONLY
    area: float
    pressure: float | None = None
    volume: float | None = None
    reference: float = 0.0
    exponent: float = 1.4
    table: LookupTable | None = None
    over: str | None = None
    ambient: float = 0.0
    name: str = "gas"

    def check_others(self) -> None:
        """Refuse an argument of the table that is not there."""
        if self.over is not None and not isinstance(self.over, str):
            raise MechanismError(f"{self.label}: over must be a text such as 'crank.q', not {self.over!r:.60}")
        if self.table is None and self.over:
            raise MechanismError(f"{self.label}: over is the argument of a table: give table= in place of pressure=")
        if self.over == "volume" and self.volume is None:
            raise MechanismError(f"{self.label}: over='volume' needs volume=, the volume at the reference")
        if self.table is not None and self.volume is not None and self.over != "volume":
            raise MechanismError(f"{self.label}: the table does not depend on volume=: leave it out, or over='volume'")

    def own_numbers(self) -> list[Number]:
        """Return its numbers that its formula reads."""
        table = ("area", "volume", "reference", "ambient") if self.over == "volume" else ("area", "ambient")
        return [one for one in self.numbers if self.table is None or one.name in table]

    def law(self, x: str, v: str) -> str:
        """Return the formula of its push."""
        volume = f"volume + area*({x} - reference)"
        if self.table is None:
            return f"area*(pressure*(volume/({volume}))^exponent - ambient)"
        return f"area*(table({volume if self.over == 'volume' else self.over or x}) - ambient)"


@built_in
@dataclass(frozen=True, repr=False)
class TorsionBar(OnJoints):
    """A torsion bar (anti-roll bar, shaft): a torque by the difference of angles of two joints, or by one angle.

    It twists back by stiffness (q - free), where q is the sum of gear times angle. A round bar of steel has
    stiffness = G J / L, with J = pi (diameter^4 - inner_diameter^4) / 32.

    Parameters
    ----------
    joint
        Gears by joint, such as {"left": 1.0, "right": -1.0} for the difference, or the name of a joint.
    stiffness
        N m/rad.
    shear_modulus, active_length, diameter
        Instead of stiffness: G, Pa, L, m, and the outer diameter, m; all are variables.
    inner_diameter
        Of a hollow bar, m.
    free
        Angle q without torque, rad.
    name
        A name, under which all of these are found.

    Raises
    ------
    MechanismError
        Where neither stiffness nor the dimensions are given, the bar has no wall, or the joint is no hinge.

    Examples
    --------
    >>> roll = {"left": 1.0, "right": -1.0}
    >>> TorsionBar(roll, shear_modulus=79e9, active_length=1.1, diameter=0.022, name="bar").formula
    '-shear_modulus*pi*(diameter^4 - inner_diameter^4)/(32*active_length)*(q - free)'
    """

    type_name = "torsion_bar"
    numbers = (
        Number("stiffness", "stiffness of the bar", "N.m/rad", "not negative"),
        Number("shear_modulus", "shear modulus of the bar", "Pa", "positive"),
        Number("active_length", "length of the bar", "m", "positive"),
        Number("diameter", "outer diameter of the bar", "m", "positive"),
        Number("inner_diameter", "inner diameter of the bar", "m", "not negative"),
        Number("free", "angle without torque", "rad"),
    )
    motion = "rad"
    choices = (Choice((("stiffness",), ("shear_modulus", "active_length", "diameter"))),)
    _: KW_ONLY
    stiffness: float | None = None
    shear_modulus: float | None = None
    active_length: float | None = None
    diameter: float | None = None
    inner_diameter: float = 0.0
    free: float = 0.0
    name: str = "torsion_bar"

    def own_numbers(self) -> list[Number]:
        """Return its numbers that are given; those of a stiffness have no diameter."""
        return [one for one in super().own_numbers() if self.stiffness is None or one.name != "inner_diameter"]

    def check_arguments(self) -> None:
        """Refuse a bar without a wall."""
        if self.stiffness is not None and self.inner_diameter:
            raise MechanismError(f"{self.label}: a stiffness does not go with inner_diameter=: leave that out")
        if self.diameter is not None and not self.inner_diameter < self.diameter:
            raise MechanismError(
                f"{self.label}: inner_diameter {self.inner_diameter:g} m must be less than diameter {self.diameter:g} m"
            )

    def law(self, x: str, v: str) -> str:
        """Return the formula of its push."""
        if self.stiffness is not None:
            return f"-stiffness*({x} - free)"
        return f"-shear_modulus*pi*(diameter^4 - inner_diameter^4)/(32*active_length)*({x} - free)"
