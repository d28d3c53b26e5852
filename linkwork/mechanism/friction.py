"""Dry friction in joints: they slide, or stick until the load exceeds a limit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

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


@checks_keywords
@dataclass(frozen=True, repr=False)
class Friction(ForceOnJoints):
    """Dry friction in one speed u of a joint.

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
        Name of a joint, as "A", or of one of its speeds, as "U[2]".
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
    name
        A name, under which all of these are found.

    Raises
    ------
    MechanismError
        On numbers that are negative or not finite, `smooth` of zero, static friction less than Coulomb friction,
        neither `coulomb` nor `mu`, `mu` of a joint whose surfaces have no one pressing force, and a radius that is
        missing or too much.

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
        output("{0}.state", "friction_state", "1", "1, -1: slides in this direction; 2: sticks", discrete=True),
        output("{0}.limit", "friction_limit", "{load}", "load up to which it sticks", dependency=2),
        output("{0}.pressing", "friction_pressing", "N", "force that presses its surfaces together", dependency=2),
        output("{0}.force", "friction_force", "{load}", "load of friction, holding ones too", dependency=2),
    )
    joint: str
    coulomb: float | None = None
    static: float | None = None
    stribeck: float = 0.0
    viscous: float = 0.0
    smooth: float | None = None
    mu: float | None = None
    radius: float | None = None
    static_mu: float | None = None
    name: str = "friction"

    def __post_init__(self) -> None:
        _take_joint(self)
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

    def check(self, mech: Surroundings) -> None:
        """Refuse, besides, a pressing force that its joint does not have, and a radius that does not fit it."""
        super().check(mech)
        if self.mu is None:
            return
        joint = self.places(mech)[0][0]
        kind = mech.joints[joint].kind
        if type(kind).__name__ not in PRESSED:
            raise MechanismError(
                f"{self.label}: the surfaces of joint {joint!r} ({type(kind).__name__}) have no one pressing force, "
                f"which mu needs; it may be {', '.join(PRESSED)}. Give coulomb, or a load by Brake"
            )
        slides = self.units(mech)[0] == "m"
        if slides and self.radius is not None:
            raise MechanismError(f"{self.label}: {self.joint!r} slides, and has no radius: leave radius out")
        if not slides and self.radius is None:
            raise MechanismError(f"{self.label}: {self.joint!r} turns: give the radius of its bearing or thread")

    def __repr__(self) -> str:
        return shown_as("Friction", self)

    @property
    def sticks(self) -> bool:
        """Whether it sticks, by events."""
        return self.smooth is None

    def quantities(self, mech: Surroundings) -> Iterable[Quantity]:
        """Return what of its record it has in a mechanism: a state and a limit where it sticks, what `mu` needs."""
        absent: tuple[str, ...] = () if self.sticks else ("state", "limit")
        absent += () if self.mu is not None else ("pressing",)
        return (one for one in super().quantities(mech) if one.stem not in absent)

    @property
    def has_gears(self) -> bool:
        """Its gear is one."""
        return False


@checks_keywords
@dataclass(frozen=True, repr=False)
class Brake(FormulaForce, ForceOnJoints):
    """A brake or clutch: dry friction in one speed u of a joint, whose load a formula gives.

    While it slides, the load is -sign(u) times the capacity, the value of the formula, where that is positive. It
    sticks as `Friction` does, with any load up to `static` times the capacity.

    Parameters
    ----------
    joint
        Name of a joint, as "A", or of one of its speeds, as "U[2]". A clutch is in the joint between its shafts.
    capacity
        A formula, as of `Force`, such as "mu*radius*clamp", N m or N.
    static
        The load up to which it sticks, by the capacity; not less than 1. None: 1.
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
    input_label = "brake's input"
    of_length = ()
    record = (
        parameter("{0}.static", "brake_static", "1", "load up to which it sticks by that while it slides"),
        output("{0}.state", "brake_state", "1", "1, -1: slides in this direction; 2: sticks", discrete=True),
        output("{0}.limit", "brake_limit", "{load}", "load up to which it sticks", dependency=2),
        output("{0}.force", "brake_force", "{load}", "load of friction, holding ones too", dependency=2),
    )
    joint: str
    capacity: str
    static: float | None = None
    parameters: Mapping[str, Given] | None = None  # type: ignore[assignment]
    tables: Mapping[str, LookupTable] | None = None  # type: ignore[assignment]
    inputs: tuple[str, ...] = ()
    name: str = "brake"

    def __post_init__(self) -> None:
        _take_joint(self)
        super().__post_init__()
        if self.static is not None and self.static < 1.0:
            raise MechanismError(f"{self.label}: static = {self.static:g} must not be less than 1")

    def __repr__(self) -> str:
        return shown_as("Brake", self)

    @property
    def has_gears(self) -> bool:
        """Its gear is one."""
        return False

    def _sources(self, mech: Surroundings) -> list[Source]:
        return [Source(self.capacity, LOADS[self.units(mech)[0]], self.label)]

    def _own(self, mech: Surroundings) -> dict[str, Reading]:
        return motion_of_speed(mech, *self.places(mech)[0])


def _take_joint(friction: Friction | Brake) -> None:
    if not isinstance(friction.joint, str):
        raise MechanismError(f"{friction.call}: joint must be the name of a joint, not {friction.joint!r:.60}")
    gears: Mapping[str, float] = {friction.joint: 1.0}
    object.__setattr__(friction, "gears", gears)


def sticking(mech: Surroundings) -> list[Friction | Brake]:
    """Return the frictions that stick, in their order."""
    return [one for one in mech.forces if isinstance(one, Brake) or (isinstance(one, Friction) and one.sticks)]


def pressed(mech: Surroundings) -> list[Friction]:
    """Return the frictions by the reactions of their joints, in their order."""
    return [one for one in mech.forces if isinstance(one, Friction) and one.mu is not None]


def refuse_pressed(mech: Surroundings, what: str) -> None:
    """Refuse friction by the reactions of joints, which follows from accelerations alone."""
    for one in pressed(mech):
        raise MechanismError(
            f"{one.label} is by the reactions of joint {one.joint!r} (mu), which {what} does not take; give it coulomb "
            "instead of mu"
        )


def has_events(mech: Surroundings) -> bool:
    """Return whether events may occur: there are transitions, or joints that stick."""
    return bool(mech.transitions) or bool(sticking(mech))
