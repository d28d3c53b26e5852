"""The quantities of the parts of a mechanism, by which variables, results and FMUs know their numbers in the core.

What all bodies or all joints have is one list here; a new variable is a line in the list of its part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from linkwork._util.part_names import suffixes
from linkwork._util.units import LOADS
from linkwork.mechanism.actions import Impulse, Stop
from linkwork.mechanism.couplings import POWERS
from linkwork.mechanism.locks import Lock
from linkwork.mechanism.pins import Pin
from linkwork.mechanism.quantities import Quantity, Reading, indices, load, output, parameter
from linkwork.mechanism.triggers import Crossing, PointDistance, Time

if TYPE_CHECKING:
    from linkwork.mechanism.couplings import Coupling
    from linkwork.mechanism.forces import ForceOnJoints
    from linkwork.mechanism.joints import JointKind
    from linkwork.mechanism.surroundings import Surroundings
    from linkwork.mechanism.transitions import Transition

AXES, _QUATERNION = indices(3), indices(4)
_OF_Q, _OF_U = 1, 2  # among the places of a joint: its first coordinate and speed; before them stands its number

BODY_PARAMETERS = (
    parameter("{0}.mass", "body_mass", "kg", "mass"),
    parameter("{0}.com[]", "body_com", "m", "centre of mass, body axes", elements=AXES),
    parameter(
        *("{0}.inertia[]", "body_inertia", "kg.m2", "inertia about the centre of mass, body axes"),
        elements=tuple(f"[{i},{j}]" for i in (1, 2, 3) for j in range(i, 4)),
    ),
)
BODY_OUTPUTS = (  # the rules: of the pose, of the velocity
    output("{0}.r[]", "body_position", "m", "position of the body frame in the world", elements=AXES),
    output("{0}.Q[]", "body_orientation", "1", "unit quaternion, body to world", elements=_QUATERNION),
    output(
        "{0}.v[]",
        "body_velocity",
        "m/s",
        "velocity of the body frame's origin, world axes",
        elements=AXES,
        dependency=1,
    ),
    output("{0}.w[]", "body_angular_velocity", "rad/s", "angular velocity, world axes", elements=AXES, dependency=1),
)
SPRING_OUTPUTS = (output("{0}.spring_power", "spring_power", "W", "power that its spring and damper give the bodies"),)
_SHARED = "world axes; of least norm along redundant constraints"
REACTIONS = (
    output(
        "{0}.f[]",
        "reaction_force",
        "N",
        f"force of the joint on its child, {_SHARED}",
        elements=AXES,
    ),
    output("{0}.t[]", "reaction_torque", "N.m", f"torque on its child about its frame there, {_SHARED}", elements=AXES),
)
LOOP_OUTPUTS = (
    output("{0}.residual", "loop_residual", "m", "gap of the loop, and misalignment times the loop's length"),
    output("{0}.conditioning", "loop_conditioning", "1", "smallest pivot of the loop's closure: 0 at a singular pose"),
)
FEEDBACK = "feedback on the {} errors of loops, couplings, distances; below zero: as fast as these move"


TIME = Quantity("{0}", "time", "time", "s", "time")
GRAVITY = parameter("{0}[]", "gravity", "m/s2", "gravitational acceleration, world axes", elements=AXES)
ENERGIES = (  # the rules: of the pose, of all states
    output("{0}.kinetic", "energy_kinetic", "J", "kinetic energy", dependency=1),
    output("{0}.potential", "energy_potential", "J", "potential energy"),
)


def gears(mech: Surroundings, force: ForceOnJoints) -> Iterator[tuple[str, Quantity]]:
    """Return the coordinates of a force, the second words, with its gears."""
    unit_of_force, text = force.motion_unit(mech), "load of a force of one, and part in length and rate"
    for coordinate, unit in zip(force.gears, force.units(mech), strict=True):
        yield coordinate, parameter("{0}.{1}.gear", "force_gear", unit_ratio(unit_of_force, unit), text)


def joint_parameters(kind: type[JointKind], limited: bool) -> Iterator[Quantity]:
    """Frames, springs, drives and start values of a joint; its words are the names of its parent and its child."""
    note = f", {kind.frame_note}" if kind.frame_note else ""
    for side, body in (("parent", "{1}"), ("child", "{2}")):
        name, r, q = f"{{0}}.{side}_frame", f"{side}_position", f"{side}_orientation"
        yield parameter(f"{name}.position[]", r, "m", f"origin of the joint frame in {body}", elements=AXES)
        text = f"joint frame in {body}, unit quaternion{note}"
        yield parameter(f"{name}.rotation[]", q, "1", text, elements=_QUATERNION)
    if kind.parameter:
        name, unit, text = kind.parameter
        yield parameter(f"{{0}}.{name}", "joint_parameter", unit, text)
    yield from _springs(kind)
    yield from _drives(kind, limited)
    text = "start value; on a loop a guess"
    yield parameter("{0}.q_start[]", "q_start", kind.coordinate_units, text, **_coordinates(kind))
    yield parameter("{0}.u_start[]", "u_start", _per(kind.motion_units, "s"), text, **_speeds(kind))


def _springs(kind: type[JointKind]) -> Iterator[Quantity]:
    """Springs and dampers of a joint; none of the former on a quaternion."""
    units = kind.motion_units
    if kind.quaternion is None:
        stiffness = tuple(f"{LOADS[unit]}/{unit}" for unit in units)
        yield parameter(
            "{0}.stiffness[]", "stiffness", stiffness, "stiffness of the spring in the joint", **_speeds(kind)
        )
    damping = tuple(f"{LOADS[unit]}.s/{unit}" for unit in units)
    yield parameter("{0}.damping[]", "damping", damping, "damping of the damper in the joint", **_speeds(kind))
    if kind.quaternion is None:
        text = "coordinate at which the spring is free"
        yield parameter("{0}.free[]", "free_coordinate", units, text, **_speeds(kind))


def _drives(kind: type[JointKind], limited: bool) -> Iterator[Quantity]:
    """Reflected inertia of a joint, and where one was given the limit of its load."""
    units = tuple("kg.m2" if unit == "rad" else "kg" for unit in kind.motion_units)
    text = "inertia of the rotor, times the gear ratio squared"
    yield parameter("{0}.reflected_inertia[]", "reflected_inertia", units, text, **_speeds(kind))
    if limited:
        units = tuple(LOADS[unit] for unit in kind.motion_units)
        text = "size at which the driving load saturates"
        yield parameter("{0}.max_load[]", "max_load", units, text, **_speeds(kind))


def tree_motion(kind: type[JointKind], jumps: bool) -> Iterator[Quantity]:
    """Load, coordinates and speeds with their derivatives, and acceleration of a joint of the tree.

    The rules: of the rate of each coordinate, then of the acceleration.
    """
    q_units, u_units = kind.coordinate_units, _per(kind.motion_units, "s")
    q, u, text = _coordinates(kind), _speeds(kind), "time derivative of {0}."
    rates, accelerations = tuple(range(kind.nq)), {**u, "dependency": kind.nq}
    yield _driving(kind)
    yield Quantity("{0}.q[]", "state", "q", q_units, "coordinate of the joint", **q)
    yield Quantity("der({0}.q[])", "derivative", "qdot", _per(q_units, "s"), f"{text}q[]", **q, dependency=rates)
    yield Quantity("{0}.u[]", "state", "u", u_units, "speed of the joint", **u, jumps=jumps)
    yield Quantity("der({0}.u[])", "derivative", "udot", _accelerations(kind), f"{text}u[]", **accelerations)
    yield output("{0}.a[]", "acceleration", _accelerations(kind), "acceleration of the joint", **accelerations)


def cut_motion(kind: type[JointKind], nq: int, nu: int) -> Iterator[Quantity]:
    """The same of a cut joint, whose coordinates and speeds follow from the states; `nq`, `nu` are the tree's.

    The rules: of the coordinates, of the speeds, of the acceleration.
    """
    q, u, u_units = _coordinates(kind), _speeds(kind), _per(kind.motion_units, "s")
    yield _driving(kind)
    yield output("{0}.q[]", "q_cut", kind.coordinate_units, "coordinate of the joint", **q, offset=-nq)
    yield output("{0}.u[]", "u_cut", u_units, "speed of the joint", **u, offset=-nu, dependency=1)
    yield output("{0}.a[]", "acceleration", _accelerations(kind), "acceleration of the joint", **u, dependency=2)


def _driving(kind: type[JointKind]) -> Quantity:
    units = tuple(LOADS[unit] for unit in kind.motion_units)
    return load("{0}.tau[]", "tau", units, "driving load of the joint", **_speeds(kind))


def _coordinates(kind: type[JointKind]) -> dict[str, Any]:
    return {"elements": tuple(suffixes(kind.nq)), "of": _OF_Q}


def _speeds(kind: type[JointKind]) -> dict[str, Any]:
    return {"elements": tuple(suffixes(kind.nu)), "of": _OF_U}


def _per(units: Iterable[str], time: str) -> tuple[str, ...]:
    return tuple(f"{unit}/{time}" for unit in units)


def _accelerations(kind: type[JointKind]) -> tuple[str, ...]:
    return _per(kind.motion_units, "s2")


_COUPLING = 1  # among the places of a distance: its number among the couplings; before it stands that among its like

DISTANCE_QUANTITIES = (  # the rules: of the positions, of the force
    parameter(
        "{0}.points[]", "distance_points", "m", "ends of the distance: 1 in {1}, 2 in {2}", elements=indices(2, 3)
    ),
    parameter("{0}.length", "coupling_offset", "m", "distance between its points", of=_COUPLING),
    output("{0}.residual", "coupling_residual", "m", "distance less length", of=_COUPLING),
    output("{0}.force", "distance_force", "N", "pulls both ends towards each other; below zero: pushes", dependency=1),
)


def coupling_units(mech: Surroundings, coupling: Coupling) -> list[str]:
    """Of the coordinates that are coupled; all of a coupling is counted in that of the first one."""
    return [mech.joints[term.joint].kind.coordinate_units[term.element] for term in coupling.terms.values()]


def coupling_offset(unit: str) -> Quantity:
    """Return the offset of a coupling."""
    return parameter("{0}.offset", "coupling_offset", unit, "what the terms add up to")


def coupling_coefficients(unit: str, of_term: str) -> Iterator[Quantity]:
    """Of the powers of one coordinate, which is the second word."""
    for k in range(1, POWERS + 1):
        text = f"coefficient of {_power('q', k)} in the coupling"
        yield parameter(
            f"{{0}}.{{1}}.coefficient[{k}]", "coupling_coefficient", unit_ratio(unit, of_term, k), text, offset=k - 1
        )


def coupling_motion(unit: str) -> Iterator[Quantity]:
    """Parameters and inputs of a motion."""
    for k in range(1, POWERS):
        text = f"coefficient of {_power('t', k)} in the motion"
        yield parameter(f"{{0}}.polynomial[{k}]", "coupling_motion", f"{unit}/{_power('s', k, '')}", text, offset=k)
    for k, (what, of) in enumerate((("amplitude", unit), ("frequency", "Hz"), ("phase", "rad")), start=POWERS):
        yield parameter(f"{{0}}.{what}", "coupling_motion", of, f"{what} of the motion", offset=k)
    inputs = (("q", unit, "value"), ("u", f"{unit}/s", "rate"), ("a", f"{unit}/s2", "acceleration"))
    for k, (what, of, text) in enumerate(inputs):
        yield load(f"{{0}}.{what}_in", "motion_in", of, f"adds to the {text} of the motion", offset=k)


def coupling_outputs(unit: str) -> Iterator[Quantity]:
    """The rules: of the residual, of the load."""
    yield output("{0}.residual", "coupling_residual", unit, "terms less offset and motion")
    text = "on each of its joints acts the slope of its term times this"
    yield output("{0}.load", "coupling_load", LOADS[unit], text, dependency=1)


def _power(base: str, exponent: int, sign: str = "^") -> str:
    return base if exponent == 1 else f"{base}{sign}{exponent}"


def unit_ratio(unit: str, of_term: str, power: int = 1) -> str:
    """The unit of the coefficient of a power of a coordinate.

    >>> unit_ratio("m", "rad"), unit_ratio("rad", "rad"), unit_ratio("rad", "rad", 3)
    ('m/rad', '1', '1/rad2')
    """
    if unit != of_term:
        return f"{unit}/{_power(of_term, power, '')}"
    return "1" if power == 1 else f"1/{_power(of_term, power - 1, '')}"


AXES = indices(3)
IMPULSE = (
    load("{0}.impulse.f[]", "impulse", "N.s", "impulse on {1}, world axes", elements=AXES, discrete=True),
    load(
        *("{0}.impulse.t[]", "impulse", "N.m.s", "angular impulse on {1}, world axes"),
        elements=AXES,
        offset=3,
        discrete=True,
    ),
)
ACTIVE = {Lock: "its lock holds", Pin: "its pin is closed", Stop: "the joint rests on it"}
OF_EVENTS = (
    output("energy.lost", "energy_lost", "J", "kinetic energy lost in events so far", discrete=True),
    output("events", "event_count", "1", "number of events so far", type="integer", discrete=True),
)


def impulses_of_joints() -> Iterator[Quantity]:
    """What events have done to the children of joints."""
    for what, field, unit, text in (
        ("f", "impulse_force", "N.s", "impulse"),
        ("t", "impulse_torque", "N.m.s", "angular impulse"),
    ):
        meaning = f"last {text} of the joint on its child, world axes"
        yield output(f"{{0}}.impulse.{what}[]", field, unit, meaning, elements=AXES, discrete=True)


def transition_parameters(mech: Surroundings, transition: Transition) -> Iterator[Quantity]:
    """When a transition happens, and the bounds of a stop."""
    match transition.action, transition.when:
        case Stop() as stop, _:
            unit = mech.joints[stop.joint].kind.coordinate_units[stop.element]
            for k, bound in enumerate(("lower", "upper")):
                if getattr(stop, bound) is not None:
                    text = f"{bound} bound of the coordinate"
                    yield parameter(f"{{0}}.{bound}", "transition_value", unit, text, offset=k)
            yield parameter("{0}.restitution", "restitution", "1", "speed after an impact, by that before")
        case _, Time():
            yield parameter("{0}.time", "transition_value", "s", "when it happens")
        case _, Crossing() as crossing:
            yield parameter("{0}.value", "transition_value", crossing_unit(mech, crossing), "trigger level")


def crossing_unit(mech: Surroundings, crossing: Crossing) -> str:
    """Return the unit of what crosses a value."""
    watched = crossing.watched(mech)
    if isinstance(watched, PointDistance):
        return "m/s" if watched.rate else "m"
    if isinstance(watched, Reading):
        return watched.unit or "1"
    kind = mech.joints[watched.joint].kind
    return f"{kind.motion_units[watched.element]}/s" if watched.is_speed else kind.coordinate_units[watched.element]


def command(end: str) -> Quantity:
    """Return the command of a transition; `end`: what its end does."""
    text = f"makes the transition happen where it becomes true{end}"
    return load("{0}.command", "command", "1", text, type="boolean", discrete=True)


def transition_outputs(transition: Transition) -> Iterator[Quantity]:
    """What a transition has brought about."""
    for action, meaning in ACTIVE.items():
        if isinstance(transition.action, action):
            more: dict[str, Any] = {"type": "boolean", "discrete": True}
            yield output("{0}.active", "transition_active", "1", f"whether {meaning}", **more)


def impulse_inputs(transition: Transition) -> Iterator[Quantity]:
    """The impulse of a transition on its body, the second word."""
    if isinstance(transition.action, Impulse):
        yield from IMPULSE


# ---- all of a part ----


def of_all(name: str, has_events: bool) -> Iterator[Quantity]:
    """What the whole mechanism has under a name."""
    yield from {"time": [TIME], "gravity": [GRAVITY], "energy": ENERGIES}.get(name, ())
    if has_events:
        yield from (one for one in OF_EVENTS if one.name.partition(".")[0] == name)


def of_joint(joint_kind: JointKind, limited: bool, has_events: bool) -> Iterator[Quantity]:
    """What any joint has, of the tree or cut."""
    kind = type(joint_kind)
    yield from joint_parameters(kind, limited)
    yield from (one for one in tree_motion(kind, jumps=False) if one.kind != "derivative")
    yield from REACTIONS
    yield from impulses_of_joints() if has_events else ()


def of_coupling(mech: Surroundings, coupling: Coupling) -> Iterator[Quantity]:
    """What a coupling has but for the coefficients of its terms."""
    unit = coupling_units(mech, coupling)[0]
    yield coupling_offset(unit)
    yield from coupling_motion(unit) if coupling.motion else ()
    yield from coupling_outputs(unit)
