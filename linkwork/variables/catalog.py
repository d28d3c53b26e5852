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
from linkwork.mechanism import Force
from linkwork.mechanism.forces import ForceOnJoints
from linkwork.mechanism.points import ANGLE
from linkwork.mechanism.quantities import Kind, Quantity, indices, load, output, parameter
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
        force_variables(namer, "parameter"),
        point_parameters(namer),
        transition_parameters(namer),
        namer.motion(),
        force_variables(namer, "input"),
        transition_inputs(namer),
        namer.reactions(),
        namer.bodies(),
        force_variables(namer, "output"),
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


def force_variables(namer: Namer, kind: Kind) -> Iterator[Entity]:
    """Return the quantities of a kind that forces have by their records, and with the parameters those of gears."""
    first_gear = first_number = first_input = first_value = 0
    for force_kind, forces in namer.force_kinds:
        by_formula = issubclass(force_kind, Force)
        may_have = by_formula or force_kind.fields_of(kind)
        for k, force in enumerate(forces):
            labels = (*force.body_names, "", "")[:2]
            quantities = [one for one in force.quantities(namer.mech) if one.kind == kind] if may_have else []
            if quantities:
                places = (k, first_number, first_input, first_value)
                yield namer.entity(force.name, places, quantities, partial(namer.depends.force, force), labels)
            if by_formula:
                first_number += len(force.program(namer.mech).numbers)
                first_input += len(force.inputs)
                first_value += force.table_values
            if kind == "parameter" and isinstance(force, ForceOnJoints):
                yield from _gears(namer, force, first_gear) if force.has_gears else ()
                first_gear += len(force.gears)


def _gears(namer: Namer, force: ForceOnJoints, first: int) -> Iterator[Entity]:
    units, text = force.units(namer.mech), "load of a force of one, and part in length and rate"
    for g, (coordinate, unit) in enumerate(zip(force.gears, units, strict=True), start=first):
        gear = parameter("{0}.{1}.gear", "force_gear", unit_ratio(units[0], unit), text)
        yield namer.entity(force.name, (g,), [gear], labels=(coordinate, ""))


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
