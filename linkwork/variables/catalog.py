"""The variables of a system by name, as users, results and FMUs see them. Each is an offset into the core's block.

What all bodies or all joints have is one list of quantities here; add a variable to the list of its entity.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork._util.part_names import suffixes
from linkwork._util.units import LOADS
from linkwork.mechanism import Actuator, PointSpringDamper, Wrench
from linkwork.mechanism.forces import of_kind
from linkwork.mechanism.points import ANGLE
from linkwork.mechanism.quantities import Quantity, indices, load, output, parameter
from linkwork.variables.couplings import coupling_variables, unit_ratio
from linkwork.variables.dependencies import Names
from linkwork.variables.namer import Layout, Namer
from linkwork.variables.schema import Variable
from linkwork.variables.templates import Entity, Pattern
from linkwork.variables.transitions import (
    event_indicators,
    transition_inputs,
    transition_outputs,
    transition_parameters,
)

if TYPE_CHECKING:
    from linkwork._util.checks import FloatArray
    from linkwork.mechanism import JointKind

_AXES, _QUATERNION = indices(3), indices(4)
_OF_Q, _OF_U = 1, 2  # among the places of a joint: its first coordinate and speed; before them stands its number
_NO_NAMES: tuple[Names, ...] = (None,)

_BODY_PARAMETERS = (
    parameter("{0}.mass", "body_mass", "kg", "mass"),
    parameter("{0}.com[]", "body_com", "m", "centre of mass, body axes", elements=_AXES),
    parameter(
        *("{0}.inertia[]", "body_inertia", "kg.m2", "inertia about the centre of mass, body axes"),
        elements=tuple(f"[{i},{j}]" for i in (1, 2, 3) for j in range(i, 4)),
    ),
)
_BODY_OUTPUTS = (  # the rules: of the pose, of the velocity
    output("{0}.r[]", "body_position", "m", "position of the body frame in the world", elements=_AXES),
    output("{0}.Q[]", "body_orientation", "1", "unit quaternion, body to world", elements=_QUATERNION),
    output(
        "{0}.v[]",
        "body_velocity",
        "m/s",
        "velocity of the body frame's origin, world axes",
        elements=_AXES,
        dependency=1,
    ),
    output("{0}.w[]", "body_angular_velocity", "rad/s", "angular velocity, world axes", elements=_AXES, dependency=1),
)
_SHARED = "world axes; of least norm along redundant constraints"
_REACTIONS = (
    output(
        "{0}.f[]",
        "reaction_force",
        "N",
        f"force of the joint on its child, {_SHARED}",
        elements=_AXES,
    ),
    output(
        "{0}.t[]", "reaction_torque", "N.m", f"torque on its child about its frame there, {_SHARED}", elements=_AXES
    ),
)
_LOOP_OUTPUTS = (
    output("{0}.residual", "loop_residual", "m", "gap of the loop, and misalignment times the loop's length"),
    output("{0}.conditioning", "loop_conditioning", "1", "smallest pivot of the loop's closure: 0 at a singular pose"),
)
_FEEDBACK = "feedback on the {} errors of loops, couplings, distances; below zero: as fast as these move"


def _joint_parameters(kind: type[JointKind], limited: bool) -> Iterator[Quantity]:
    """Frames, springs, drives and start values of a joint; its words are the names of its parent and its child."""
    note = f", {kind.frame_note}" if kind.frame_note else ""
    for side, body in (("parent", "{1}"), ("child", "{2}")):
        name, r, q = f"{{0}}.{side}_frame", f"{side}_position", f"{side}_orientation"
        yield parameter(f"{name}.position[]", r, "m", f"origin of the joint frame in {body}", elements=_AXES)
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


def _tree_motion(kind: type[JointKind], jumps: bool) -> Iterator[Quantity]:
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


def _cut_motion(kind: type[JointKind], nq: int, nu: int) -> Iterator[Quantity]:
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


class _Catalog(Namer):
    """Quantities of the world, bodies, joints and loops."""

    def world(self) -> Iterator[Entity]:
        """Time, gravity and gains."""
        yield self.entity("time", (0,), [Quantity("{0}", "time", "time", "s", "time")])
        text = "gravitational acceleration, world axes"
        yield self.entity("gravity", (0,), [parameter("{0}[]", "gravity", "m/s2", text, elements=_AXES)])
        if self.layout.topology.clusters:
            gains = [
                parameter(f"{{0}}.{what}", "correction_gain", "1/s", _FEEDBACK.format(what), offset=i)
                for i, what in enumerate(("position", "speed"))
            ]
            yield self.entity("loop_gain", (0,), gains)

    def body_parameters(self) -> Iterator[Entity]:
        """Masses and inertias."""
        pattern = Pattern(_BODY_PARAMETERS, self.fields)
        for b, name in enumerate(self.mech.bodies):
            yield Entity(pattern, (name, "", ""), (b,), _nothing)

    def joint_parameters(self) -> Iterator[Entity]:
        """Frames, springs, drives and start values of joints."""
        for name, joint in self.mech.joints.items():
            kind = type(joint.kind)
            limited = bool(np.isfinite(joint.max_load).any())
            pattern = self.pattern(("parameters", kind, limited), partial(_joint_parameters, kind, limited))
            yield Entity(pattern, (name, joint.parent, joint.child), self.places[name], _nothing)

    @cached_property
    def places(self) -> dict[str, tuple[int, int, int]]:
        """Of each joint its number, its first coordinate and its first speed."""
        q, u = self.numbering.q, self.numbering.u
        return {name: (j, q[name].start, u[name].start) for j, name in enumerate(self.mech.joints)}

    def motion(self) -> Iterator[Entity]:
        """Loads, coordinates, speeds and accelerations of joints."""
        for name, joint in self.mech.joints.items():
            kind = type(joint.kind)
            if name in self.tree:
                pattern = self.pattern(("tree", kind), partial(_tree_motion, kind, self.jumps))
                depends = partial(self._of_tree_joint, name)
            else:
                pattern = self.pattern(("cut", kind), partial(_cut_motion, kind, self.numbering.nq, self.numbering.nu))
                depends = partial(self._of_cut_joint, name)
            yield Entity(pattern, (name, "", ""), self.places[name], depends)

    def _of_tree_joint(self, joint: str) -> tuple[Names, ...]:
        return (*self.depends.coordinate_rates(joint), self.depends.acceleration(joint))

    def _of_cut_joint(self, joint: str) -> tuple[Names, ...]:
        return (*self.depends.loop(joint), self.depends.acceleration(joint))

    def reactions(self) -> Iterator[Entity]:
        """What joints do to their children."""
        pattern = Pattern(_REACTIONS, self.fields)
        for j, name in enumerate(self.mech.joints):
            yield Entity(pattern, (name, "", ""), (j,), partial(self._of_reaction, name))

    def _of_reaction(self, joint: str) -> tuple[Names, ...]:
        return (self.depends.acceleration(joint),)

    def bodies(self) -> Iterator[Entity]:
        """Poses and velocities of bodies."""
        pattern = Pattern(_BODY_OUTPUTS, self.fields)
        for b, name in enumerate(self.mech.bodies):
            yield Entity(pattern, (name, "", ""), (b,), partial(self.depends.path, b))

    def totals(self) -> Iterator[Entity]:
        """Energies, and the residual of each loop."""
        energies = [
            output(f"{{0}}.{what}", f"energy_{what}", "J", f"{what} energy", dependency=dependency)
            for what, dependency in (("kinetic", 1), ("potential", 0))
        ]
        yield self.entity("energy", (0,), energies, lambda: self.depends.everything)
        pattern = Pattern(_LOOP_OUTPUTS, self.fields)
        for i, joint in enumerate(self.numbering.cut):
            yield Entity(pattern, (f"loop.{joint}", "", ""), (i,), partial(self.depends.loop, joint))


def _nothing() -> tuple[Names, ...]:
    return _NO_NAMES


def list_entities(layout: Layout) -> list[Entity]:
    """Return all that has variables, in the order in which an FMU lists these."""
    namer = _Catalog(layout)
    groups: tuple[Iterable[Entity], ...] = (
        namer.world(),
        namer.body_parameters(),
        namer.joint_parameters(),
        force_parameters(namer),
        actuator_parameters(namer),
        point_parameters(namer),
        transition_parameters(namer),
        namer.motion(),
        force_inputs(namer),
        actuator_inputs(namer),
        transition_inputs(namer),
        namer.reactions(),
        namer.bodies(),
        force_outputs(namer),
        actuator_outputs(namer),
        point_outputs(namer),
        coupling_variables(namer),
        distance_variables(namer),
        transition_outputs(namer),
        namer.totals(),
    )
    return [entity for group in groups for entity in group]


def list_variables(layout: Layout, values: FloatArray) -> list[Variable]:
    """Return all variables in the order in which an FMU lists them; `values` of the block as the model is loaded."""
    return [variable for entity in list_entities(layout) for variable in entity.variables(values)]


def list_indicators(layout: Layout) -> list[Entity]:
    """Return the event indicators in the order in which the core gives them."""
    return list(event_indicators(Namer(layout)))


_COUPLING = 1  # among the places of a distance: its number among the couplings; before it stands that among its like

_DISTANCE_QUANTITIES = (  # the rules: of the positions, of the force
    parameter(
        "{0}.points[]", "distance_points", "m", "ends of the distance: 1 in {1}, 2 in {2}", elements=indices(2, 3)
    ),
    parameter("{0}.length", "coupling_offset", "m", "distance between its points", of=_COUPLING),
    output("{0}.residual", "coupling_residual", "m", "distance less length", of=_COUPLING),
    output("{0}.force", "distance_force", "N", "pulls both ends towards each other; below zero: pushes", dependency=1),
)


def distance_variables(namer: Namer) -> Iterator[Entity]:
    """Return the variables of distances."""
    couplings = namer.layout.sizes.couplings - namer.layout.sizes.distances
    for i, one in enumerate(namer.mech.distances.values()):
        depends = partial(_distance_depends, namer, i, one.bodies)
        yield namer.entity(one.name, (i, couplings + i), _DISTANCE_QUANTITIES, depends, labels=one.bodies)


def _distance_depends(namer: Namer, index: int, bodies: tuple[str, str]) -> tuple[Names, ...]:
    return namer.depends.between(*bodies)[0], namer.depends.distance_force(index)


_ACTUATOR_INPUT = (load("{0}.input", "actuator_input", "1", "input of the actuator, within its range"),)
_LIMIT_NAMES = indices(2)  # lower, upper


def actuator_parameters(namer: Namer) -> Iterator[Entity]:
    """Gains, limits and gears."""
    first_gear = 0
    for k, actuator in enumerate(of_kind(namer.mech.forces, Actuator)):
        units = _actuator_units(namer, actuator)
        yield namer.entity(
            actuator.name, (k,), _parameter_quantities(actuator, units[0], actuator.has_length(namer.mech))
        )
        for g, (coordinate, unit) in enumerate(zip(actuator.gears, units, strict=True), start=first_gear):
            text = "load of a force of one, and part in length and rate"
            gear = parameter("{0}.{1}.gear", "actuator_gear", unit_ratio(units[0], unit), text)
            yield namer.entity(actuator.name, (g,), [gear], labels=(coordinate, ""))
        first_gear += len(actuator.gears)


def actuator_inputs(namer: Namer) -> Iterator[Entity]:
    """The input of each."""
    for k, actuator in enumerate(of_kind(namer.mech.forces, Actuator)):
        yield namer.entity(actuator.name, (k,), _ACTUATOR_INPUT)


def actuator_outputs(namer: Namer) -> Iterator[Entity]:
    """Lengths, rates and forces."""
    for k, actuator in enumerate(of_kind(namer.mech.forces, Actuator)):
        outputs = _output_quantities(_actuator_units(namer, actuator)[0], actuator.has_length(namer.mech))
        yield namer.entity(actuator.name, (k,), outputs, partial(namer.depends.actuator, actuator))


def _actuator_units(namer: Namer, actuator: Actuator) -> list[str]:
    """Of the motion along each of its speeds."""
    return [namer.mech.joints[joint].kind.motion_units[element] for joint, element in actuator.places(namer.mech)]


def _parameter_quantities(actuator: Actuator, unit: str, has_length: bool) -> Iterator[Quantity]:
    force = LOADS[unit]
    yield parameter("{0}.gain", "actuator_gain", force, "force of an input of one")
    yield parameter("{0}.offset", "actuator_offset", force, "force where input, length and rate are zero")
    if has_length:
        yield parameter(
            "{0}.stiffness", "actuator_stiffness", f"{force}/{unit}", "stiffness: what the force loses by length"
        )
    yield parameter("{0}.damping", "actuator_damping", f"{force}.s/{unit}", "damping: what the force loses by rate")
    if actuator.input_range is not None:
        text = "lower and upper limit of the input"
        yield parameter("{0}.input_range[]", "actuator_input_range", "1", text, elements=_LIMIT_NAMES)
    if actuator.force_range is not None:
        text = "lower and upper limit of the force"
        yield parameter("{0}.force_range[]", "actuator_force_range", force, text, elements=_LIMIT_NAMES)


def _output_quantities(unit: str, has_length: bool) -> Iterator[Quantity]:
    """The rules: of the length, of the rate, of the force."""
    if has_length:
        yield output("{0}.length", "actuator_length", unit, "sum of gear times coordinate")
    yield output("{0}.rate", "actuator_rate", f"{unit}/s", "sum of gear times speed", dependency=1)
    text = "force of the actuator, within its range; gear times this loads each of its joints"
    yield output("{0}.force", "actuator_force", LOADS[unit], text, dependency=2)


_SPRING_PARAMETERS = (
    parameter("{0}.points[]", "spring_points", "m", "ends of the spring: 1 in {1}, 2 in {2}", elements=indices(2, 3)),
    parameter("{0}.stiffness", "spring_stiffness", "N/m", "stiffness of the spring"),
    parameter("{0}.damping", "spring_damping", "N.s/m", "damping of the damper"),
    parameter("{0}.free", "spring_free_length", "m", "length at which the spring is free"),
)
_SPRING_OUTPUTS = (  # the rules: of positions, of positions and speeds
    output("{0}.length", "spring_length", "m", "distance of the spring's points"),
    output("{0}.rate", "spring_rate", "m/s", "time derivative of the length", dependency=1),
    output("{0}.force", "spring_force", "N", "force of spring and damper; pulling is positive", dependency=1),
)
_WRENCH_PARAMETERS = (parameter("{0}.point[]", "wrench_point", "m", "where the force acts in {1}", elements=_AXES),)
_WRENCH_INPUTS = (
    load("{0}.F[]", "applied_force", "N", "force applied to {1}, world axes", elements=_AXES),
    load("{0}.T[]", "applied_torque", "N.m", "torque applied to {1}, world axes", elements=_AXES),
)


def force_parameters(namer: Namer) -> Iterator[Entity]:
    """Where forces act, and what springs and dampers are made of."""
    for s, spring in enumerate(of_kind(namer.mech.forces, PointSpringDamper)):
        yield namer.entity(spring.name, (s,), _SPRING_PARAMETERS, labels=spring.bodies)
    for w, wrench in enumerate(of_kind(namer.mech.forces, Wrench)):
        yield namer.entity(wrench.name, (w,), _WRENCH_PARAMETERS, labels=(wrench.body, ""))


def force_inputs(namer: Namer) -> Iterator[Entity]:
    """Applied forces and torques."""
    for w, wrench in enumerate(of_kind(namer.mech.forces, Wrench)):
        yield namer.entity(wrench.name, (w,), _WRENCH_INPUTS, labels=(wrench.body, ""))


def force_outputs(namer: Namer) -> Iterator[Entity]:
    """Lengths of springs, and what they pull with."""
    for s, spring in enumerate(of_kind(namer.mech.forces, PointSpringDamper)):
        yield namer.entity(spring.name, (s,), _SPRING_OUTPUTS, partial(namer.depends.between, *spring.bodies))


_POINT_PARAMETERS: tuple[Quantity, ...] = (
    parameter("{0}.point[]", "point_in_body", "m", "point of interest in {1}", elements=_AXES),
)
_AXIS_PARAMETERS = (
    parameter("{0}.axis[]", "axis_in_body", "1", "direction of any length, axes of {1}", elements=_AXES),
)
_POINT_OUTPUTS: tuple[Quantity, ...] = (  # the rules: of positions, of velocities, of accelerations
    output("{0}.r[]", "point_position", "m", "position of the point of {1}, world axes", elements=_AXES),
    output("{0}.v[]", "point_velocity", "m/s", "velocity of the point, world axes", elements=_AXES, dependency=1),
    output(
        "{0}.a[]", "point_acceleration", "m/s2", "acceleration of the point, world axes", elements=_AXES, dependency=2
    ),
)
_AXIS_OUTPUTS = (output("{0}.e[]", "point_axis", "1", "direction at the point, world axes", elements=_AXES),)
_DISTANCE_OUTPUTS: tuple[Quantity, ...] = (  # the rules: of positions, of positions and speeds
    output("{0}.length", "measure_value", "m", "distance of {1} and {2}"),
    output("{0}.rate", "measure_rate", "m/s", "time derivative of the length", dependency=1),
)
_ANGLE_OUTPUTS = (
    output("{0}.angle", "measure_value", "rad", "angle between the directions of {1} and {2}, 0 to pi"),
    output("{0}.rate", "measure_rate", "rad/s", "time derivative of the angle", dependency=1),
)


def point_parameters(namer: Namer) -> Iterator[Entity]:
    """Where points of interest are in their bodies."""
    for k, point in enumerate(namer.mech.points.values()):
        quantities = _POINT_PARAMETERS if point.axis is None else (*_POINT_PARAMETERS, *_AXIS_PARAMETERS)
        yield namer.entity(point.name, (k,), quantities, labels=(point.body, ""))


def point_outputs(namer: Namer) -> Iterator[Entity]:
    """Motions of points of interest, then measures."""
    for k, point in enumerate(namer.mech.points.values()):
        quantities = _POINT_OUTPUTS if point.axis is None else (*_POINT_OUTPUTS, *_AXIS_OUTPUTS)
        yield namer.entity(
            point.name, (k,), quantities, partial(namer.depends.motion, point.body), labels=(point.body, "")
        )
    for k, one in enumerate(namer.mech.measures.values()):
        bodies = (namer.mech.points[name].body for name in one.points)
        outputs = _ANGLE_OUTPUTS if one.quantity == ANGLE else _DISTANCE_OUTPUTS
        yield namer.entity(one.name, (k,), outputs, partial(namer.depends.between, *bodies), labels=one.points)
