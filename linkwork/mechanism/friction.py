"""Dry friction in joints and across gears: it slides, or sticks until the load exceeds a limit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linkwork._util.keywords import checks_keywords
from linkwork._util.units import LOADS
from linkwork.errors import MechanismError
from linkwork.formula import LookupTable, Source
from linkwork.mechanism.forces import ForceOnJoints, shown_as
from linkwork.mechanism.formula_forces import FormulaForce, motion_of_speed
from linkwork.mechanism.formulas import Given
from linkwork.mechanism.quantities import Quantity, Reading, output, parameter

if TYPE_CHECKING:
    from linkwork.mechanism.surroundings import Surroundings

STICKS = 2.0  # a state of dry friction


PRESSED = ("Revolute", "Prismatic", "Cylindrical", "Universal", "Screw")
SHARES = ("forward", "backward")


def _shares(core_name: str) -> tuple[Quantity, ...]:
    return tuple(
        parameter(f"{{0}}.{one}", f"{core_name}_{one}", "1", f"share of it at {sign} speeds")
        for one, sign in zip(SHARES, ("positive", "negative"), strict=True)
    )


class DryFriction(ForceOnJoints):
    """Dry friction: in one speed of a joint, or in the sum of gear times speed of several.

    Attributes
    ----------
    sticks
        Whether it sticks, by events.
    is_limited
        Whether its load has a limit; else it never slides backwards.
    """

    sticks: bool
    is_limited: bool = True
    joint: str | Mapping[str, float]

    def __post_init__(self) -> None:
        gears: Any = {self.joint: 1.0} if isinstance(self.joint, str) else self.joint
        object.__setattr__(self, "gears", gears)
        super().__post_init__()
        if not isinstance(self.joint, str):
            object.__setattr__(self, "joint", self.gears)

    @property
    def has_gears(self) -> bool:
        """Its gears stay: what sticks is held by them."""
        return False

    @property
    def is_sum(self) -> bool:
        """Whether it acts across gears, and not in one speed."""
        return list(self.gears.values()) != [1.0]

    @property
    def place(self) -> str:
        """Where it acts, in words: "A", or "2 driven - driving"."""
        return sum_of(self.gears) if self.is_sum else next(iter(self.gears))

    def shares(self, mech: Surroundings) -> tuple[float, float]:
        """Return by which it counts forwards and backwards."""
        given = [self.core_value(one, mech) for one in self.record if one.stem in SHARES]
        forward, backward = (1.0 if one is None else float(one) for one in given)
        return forward, backward

    def _check_shares(self) -> None:
        for one in SHARES:
            value = getattr(self, one)
            if value is not None and value < 0.0:
                raise MechanismError(f"{self.label}: {one} must not be negative, and is {value:g}")
        if self.forward == self.backward == 0.0:  # type: ignore[attr-defined]
            raise MechanismError(f"{self.label}: with forward and backward of zero it does nothing: leave it out")

    def check(self, mech: Surroundings) -> None:
        """Refuse joints that do not exist (any more), and sums of rotations about no fixed axes."""
        super().check(mech)
        for joint in self.joint_names if len(self.gears) > 1 else ():
            if mech.joints[joint].kind.quaternion is not None:
                raise MechanismError(
                    f"{self.label}: joint {joint!r} ({type(mech.joints[joint].kind).__name__}) turns by a quaternion, "
                    "whose speeds do not add up to one that sticks: name joints of fixed axes"
                )


def sum_of(gears: Mapping[str, float]) -> str:
    """Return a sum of gear times coordinate in words.

    >>> sum_of({"crank": 1.0, "hinge": -2.0})
    'crank - 2 hinge'
    """
    text = ""
    for name, gear in gears.items():
        size = "" if abs(gear) == 1.0 else f"{abs(gear):g} "
        sign = ("-" if gear < 0.0 else "") if not text else (" - " if gear < 0.0 else " + ")
        text += f"{sign}{size}{name}"
    return text


@checks_keywords
@dataclass(frozen=True, repr=False)
class Friction(DryFriction):
    """Dry friction in one speed u of a joint, or in a sum of speeds of several.

    While it slides, the load is

        -sign(u) (coulomb + (static - coulomb) exp(-(u / stribeck)^2)) - viscous u

    (Armstrong-Helouvry, Dupont, Canudas de Wit: Automatica 30 (1994) 1083-1138). Where the speed comes to zero it
    sticks: it is held exactly, by any load up to `static`, and slides again where more is needed. Which joints stick
    and which slide is decided for all of them at once. An impact has no impulse of friction.

    With `mu` the joint's own reaction N presses its surfaces together: mu radius N is added to `coulomb`, and
    static_mu radius N to `static`; a slide has no radius. N is

    - of a revolute joint, a universal joint's pin and a cylindrical joint the radial force of the bearing, across its
      axis;
    - of a prismatic joint, and of a cylindrical joint's slide, the transverse force;
    - of a screw of mean thread radius r and lead angle l the normal force of a square thread by cos(l), so that the
      axial force F is raised by the torque F r tan(l + phi) with tan(phi) = mu.

    Loads and reactions are solved for together with the accelerations, exactly.

    Parameters
    ----------
    joint
        Name of a joint, as "A", or of one of its speeds, as "U[2]"; or gears by name, not zero, such as
        {"driven": 1.0, "driving": -1.0} between two shafts: u is then the sum of gear times speed, and gear times the
        load loads each. Their orientations are no quaternions.
    coulomb
        Load of friction while it slides, N or N m; not negative. None: 0, where `mu` is given.
    static
        Up to which load it sticks, not less than `coulomb`; None: `coulomb`.
    stribeck
        Speed over which static friction decays, rad/s or m/s; 0: it acts at rest alone.
    viscous
        Load per speed, N s/m or N m s/rad.
    smooth
        Speed over which the load turns, rad/s or m/s, with tanh(u / smooth) in place of sign(u): then it never sticks,
        creeps under any load, and has no events. None: it sticks.
    mu
        Coefficient of friction by the pressing force while it slides; None: the reaction has no effect.
    radius
        Radius of the bearing or thread, m, for speeds of rotation; a slide has none.
    static_mu
        Coefficient up to which it sticks, not less than `mu`; None: `mu`.
    forward, backward
        By which all of it but `viscous` counts against positive and against negative speeds, limits of sticking too; 0:
        it has none in this direction. None: 1.
    name
        A name, under which all of these are found.

    Raises
    ------
    MechanismError
        On numbers that are negative or not finite, `smooth` of zero, static friction less than Coulomb friction,
        neither `coulomb` nor `mu`, `mu` of a joint whose surfaces have no one pressing force or across gears, and a
        radius that is missing or too much.

    Examples
    --------
    >>> Friction("hinge", coulomb=0.2, static=0.3).static
    0.3
    >>> Friction("hinge", mu=0.1, radius=0.01).coulomb
    0.0
    """

    type_name = "friction"
    call = "Friction"
    of_length = ()
    record = (
        parameter("{0}.coulomb", "friction_coulomb", "{load}", "load of friction while it slides"),
        parameter("{0}.static", "friction_static", "{load}", "load up to which it sticks"),
        parameter("{0}.stribeck", "friction_stribeck", "{motion}/s", "speed over which static friction decays"),
        parameter("{0}.viscous", "friction_viscous", "{load}.s/{motion}", "load of friction per speed"),
        parameter("{0}.smooth", "friction_smooth", "{motion}/s", "speed over which the load turns"),
        parameter("{0}.mu", "friction_mu", "1", "coefficient of friction by the pressing force"),
        parameter("{0}.radius", "friction_radius", "m", "radius of the bearing or thread"),
        parameter("{0}.static_mu", "friction_static_mu", "1", "coefficient up to which it sticks"),
        *_shares("friction"),
        output("{0}.state", "friction_state", "1", "1, -1: slides in this direction; 2, 3, -3: sticks", discrete=True),
        output("{0}.limit", "friction_limit", "{load}", "load up to which it sticks", dependency=2),
        output("{0}.pressing", "friction_pressing", "N", "force that presses its surfaces together", dependency=2),
        output("{0}.force", "friction_force", "{load}", "load of friction, holding ones too", dependency=2),
    )
    joint: str | Mapping[str, float]
    coulomb: float | None = None
    static: float | None = None
    stribeck: float = 0.0
    viscous: float = 0.0
    smooth: float | None = None
    mu: float | None = None
    radius: float | None = None
    static_mu: float | None = None
    forward: float | None = None
    backward: float | None = None
    name: str = "friction"

    def __post_init__(self) -> None:
        if self.coulomb is None:
            if self.mu is None:
                raise MechanismError(f"{self.label}: give coulomb, a load, or mu, a coefficient by reactions")
            object.__setattr__(self, "coulomb", 0.0)
        super().__post_init__()
        for name in ("coulomb", "static", "stribeck", "viscous", "smooth", "mu", "radius", "static_mu"):
            value = getattr(self, name)
            if value is not None and value < 0.0:
                raise MechanismError(f"{self.label}: {name} must not be negative, and is {value:g}")
        if self.smooth == 0.0:
            raise MechanismError(f"{self.label}: smooth must be greater than zero; leave it out, and it sticks exactly")
        if self.static is not None and self.coulomb is not None and self.static < self.coulomb:
            raise MechanismError(
                f"{self.label}: static = {self.static:g} must not be less than coulomb = {self.coulomb:g}"
            )
        if self.mu is None and (self.static_mu is not None or self.radius is not None):
            one = "radius" if self.static_mu is None else "static_mu"
            raise MechanismError(f"{self.label}: {one} is of friction by the joint's reaction: give mu as well")
        if self.static_mu is not None and self.mu is not None and self.static_mu < self.mu:
            raise MechanismError(f"{self.label}: static_mu = {self.static_mu:g} must not be less than mu = {self.mu:g}")
        if self.radius == 0.0:
            raise MechanismError(f"{self.label}: radius must be greater than zero")
        self._check_shares()

    def check(self, mech: Surroundings) -> None:
        """Refuse, besides, a pressing force that its joint does not have, and a radius that does not fit it."""
        super().check(mech)
        if self.mu is None:
            return
        if self.is_sum:
            raise MechanismError(
                f"{self.label}: the reaction of one joint presses its surfaces (mu), and it acts across gears, "
                f"{self.place}: name the joint, or give coulomb"
            )
        joint = self.places(mech)[0][0]
        kind = mech.joints[joint].kind
        if type(kind).__name__ not in PRESSED:
            raise MechanismError(
                f"{self.label}: the surfaces of joint {joint!r} ({type(kind).__name__}) have no one pressing force, "
                f"which mu needs; it may be {', '.join(PRESSED)}. Give coulomb, or a load by Brake"
            )
        slides = self.units(mech)[0] == "m"
        if slides and self.radius is not None:
            raise MechanismError(f"{self.label}: {self.place!r} slides, and has no radius: leave radius out")
        if not slides and self.radius is None:
            raise MechanismError(f"{self.label}: {self.place!r} turns: give the radius of its bearing or thread")

    def __repr__(self) -> str:
        return shown_as("Friction", self)

    @property
    def sticks(self) -> bool:  # type: ignore[override]
        """Whether it sticks, by events."""
        return self.smooth is None

    def quantities(self, mech: Surroundings) -> Iterable[Quantity]:
        """Return what of its record it has in a mechanism: a state and a limit where it sticks, what `mu` needs."""
        absent: tuple[str, ...] = () if self.sticks else ("state", "limit")
        absent += () if self.mu is not None else ("pressing",)
        return (one for one in super().quantities(mech) if one.stem not in absent)


class FrictionByFormula(FormulaForce, DryFriction):
    """Dry friction whose load a formula gives."""

    core_name = "brake"
    input_label = "brake's input"
    of_length = ()
    sticks = True
    record = (
        parameter("{0}.static", "brake_static", "1", "load up to which it sticks by that while it slides"),
        *_shares("brake"),
        output("{0}.state", "brake_state", "1", "1, -1: slides in this direction; 2, 3, -3: sticks", discrete=True),
        output("{0}.limit", "brake_limit", "{load}", "load up to which it sticks", dependency=2),
        output("{0}.force", "brake_force", "{load}", "load of friction, holding ones too", dependency=2),
    )
    formula: str

    def _sources(self, mech: Surroundings) -> list[Source]:
        return [Source(self.formula, LOADS[self.units(mech)[0]], self.label)]

    def _own(self, mech: Surroundings) -> dict[str, Reading]:
        return {} if self.is_sum else motion_of_speed(mech, *self.places(mech)[0])


@checks_keywords
@dataclass(frozen=True, repr=False)
class Brake(FrictionByFormula):
    """A brake or clutch: dry friction in one speed u of a joint, or in a sum of speeds, whose load a formula gives.

    While it slides, the load is -sign(u) times the capacity, the value of the formula, where that is positive. It
    sticks as `Friction` does, with any load up to `static` times the capacity.

    Parameters
    ----------
    joint
        Name of a joint, as "A", or of one of its speeds, as "U[2]"; or gears by name, as of `Friction`. A clutch is in
        the joint between its shafts, or across {"driven": 1.0, "driving": -1.0}.
    capacity
        A formula, as of `Force`, such as "mu*radius*clamp", N m or N. Across gears it reads speeds by names of joints,
        as "driven.u".
    static
        The load up to which it sticks, by the capacity; not less than 1. None: 1.
    forward, backward
        By which it counts against positive and against negative speeds, as of `Friction`. None: 1.
    parameters, tables, inputs
        Of the formula, as of `Force`.
    name
        A name, under which all of these are found, as "brake.clamp".

    Raises
    ------
    MechanismError
        As of `Force`, and on `static` below 1.

    Examples
    --------
    >>> Brake("disc", "mu*radius*clamp", parameters={"mu": 0.4, "radius": (0.12, "m")}, inputs=("clamp",)).capacity
    'mu*radius*clamp'
    """

    type_name = "brake"
    core_name = "brake"
    call = "Brake"
    joint: str | Mapping[str, float]
    capacity: str
    static: float | None = None
    forward: float | None = None
    backward: float | None = None
    parameters: Mapping[str, Given] | None = None  # type: ignore[assignment]
    tables: Mapping[str, LookupTable] | None = None  # type: ignore[assignment]
    inputs: tuple[str, ...] = ()
    name: str = "brake"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.static is not None and self.static < 1.0:
            raise MechanismError(f"{self.label}: static = {self.static:g} must not be less than 1")
        self._check_shares()

    def __repr__(self) -> str:
        return shown_as("Brake", self)

    @property
    def formula(self) -> str:  # type: ignore[override]
        """The formula of its load."""
        return self.capacity


def sticking(mech: Surroundings) -> list[DryFriction]:
    """Return the frictions that stick, in their order."""
    return [one for one in mech.forces if isinstance(one, DryFriction) and one.sticks]


def pressed(mech: Surroundings) -> list[Friction]:
    """Return the frictions by the reactions of their joints, in their order."""
    return [one for one in mech.forces if isinstance(one, Friction) and one.mu is not None]


def refuse_pressed(mech: Surroundings, what: str) -> None:
    """Refuse friction by the reactions of joints, which follows from accelerations alone."""
    for one in pressed(mech):
        raise MechanismError(
            f"{one.label} is by the reactions of joint {one.place!r} (mu), which {what} does not take; give it coulomb "
            "instead of mu"
        )


def has_events(mech: Surroundings) -> bool:
    """Return whether events may occur: there are transitions, or joints that stick."""
    return bool(mech.transitions) or bool(sticking(mech))
