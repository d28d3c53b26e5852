"""The variables of a system by name, as users, results and FMUs see them. Each is an offset into the core's block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from linkwork.compiler.dependencies import Dependencies, Names
from linkwork.compiler.numbering import suffixes
from linkwork.coupling_variables import coupling_variables
from linkwork.distance_variables import distance_variables
from linkwork.force_variables import force_inputs, force_outputs, force_parameters
from linkwork.quantities import LOADS, Kind, Variable
from linkwork.transition_variables import (
    event_indicators,
    speeds_jump,
    transition_inputs,
    transition_outputs,
    transition_parameters,
)

if TYPE_CHECKING:
    from linkwork._native import Field
    from linkwork.description import JointKind
    from linkwork.system import System


@dataclass(frozen=True)
class _Row:
    """A quantity that every body or joint has: its name behind the dot, the field that holds it, and what it is."""

    name: str
    field: str
    unit: str
    text: str


_FRAME = (
    _Row("r", "position", "m", "origin of the joint frame in {}"),
    _Row("Q", "orientation", "1", "joint frame in {}, unit quaternion"),
)
_SPRING = (
    _Row("c", "stiffness", "{load}/{motion}", "stiffness of the spring in the joint"),
    _Row("d", "damping", "{load}.s/{motion}", "damping of the damper in the joint"),
    _Row("q_free", "free_coordinate", "{motion}", "coordinate at which the spring is free"),
)
_REACTION = (
    _Row("f", "reaction_force", "N", "force of the joint on its child, world axes"),
    _Row("t", "reaction_torque", "N.m", "torque of the joint on its child about its frame there, world axes"),
)
_POSE = (
    _Row("r", "body_position", "m", "position of the body frame in the world"),
    _Row("Q", "body_orientation", "1", "unit quaternion, body to world"),
)
_VELOCITY = (
    _Row("v", "body_velocity", "m/s", "velocity of the body frame's origin, world axes"),
    _Row("w", "body_angular_velocity", "rad/s", "angular velocity, world axes"),
)
# Fields that may be set while the mechanism moves: neither its closure nor its topology hangs on them.
_TUNABLE = {
    *("gravity", "body_mass", "body_com", "body_inertia", "stiffness", "damping", "free_coordinate"),
    *("spring_points", "spring_stiffness", "spring_damping", "spring_free_length", "wrench_point"),
    *("restitution", "correction_gain"),
}
_LIMITS: dict[str, tuple[float | None, float | None]] = {"body_mass": (0.0, None), "restitution": (0.0, 1.0)}


@dataclass(frozen=True, slots=True)
class _Element:
    """A coordinate or speed of a joint: what its name ends in, its position over all joints, and its unit."""

    suffix: str
    index: int
    unit: str


def _elements(span: slice, units: tuple[str, ...]) -> list[_Element]:
    places = range(span.start, span.stop)
    return [_Element(s, i, unit) for s, i, unit in zip(suffixes(len(units)), places, units, strict=True)]


class _Namer:
    """Makes the variables of one system; offsets come from the core's field table."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.mech = system.mechanism
        self.numbering = system.numbering
        self.tree = set(system.numbering.tree)
        self.fields: dict[str, Field] = system.fields
        self.defaults = system.block().reals
        self.depends = Dependencies(system.mechanism, system.widest_topology, system.numbering)
        self.jumps = speeds_jump(self)

    def at(self, field: str, index: int = 0) -> int:
        return self.fields[field].first + index

    def parameter(self, name: str, field: str, index: int, unit: str, text: str) -> Variable:
        reference = self.at(field, index)
        kind: Kind = "start" if field in ("q_start", "u_start") else "parameter"
        minimum, maximum = _LIMITS.get(field, (None, None))
        start = float(self.defaults[reference])
        variable = Variable(name, reference, kind, unit, text, start=start, tunable=field in _TUNABLE)
        return replace(variable, minimum=minimum, maximum=maximum) if field in _LIMITS else variable

    def load(self, name: str, field: str, index: int, unit: str, text: str) -> Variable:
        return Variable(name, self.at(field, index), "input", unit, text, start=0.0)

    def output(self, name: str, field: str, index: int, unit: str, text: str, depends: Names) -> Variable:
        return Variable(name, self.at(field, index), "output", unit, text, depends=depends)

    def vector(self, owner: str, row: _Row, index: int, depends: Names) -> Iterator[Variable]:
        """The elements of an output of body or joint `index`."""
        n = self.fields[row.field].columns
        for i in range(n):
            yield self.output(f"{owner}.{row.name}[{i + 1}]", row.field, n * index + i, row.unit, row.text, depends)

    def world(self) -> Iterator[Variable]:
        yield Variable("time", self.at("time"), "time", "s", "time")
        for i in range(3):
            yield self.parameter(f"gravity[{i + 1}]", "gravity", i, "m/s2", "gravitational acceleration, world axes")
        if self.system.widest_topology.clusters:
            for i, what in enumerate(("position", "speed")):
                text = (
                    f"feedback on the {what} errors of loops, couplings, distances; below zero: as fast as these move"
                )
                yield self.parameter(f"loop_gain.{what}", "correction_gain", i, "1/s", text)

    def body_parameters(self) -> Iterator[Variable]:
        pairs = [(i, j) for i in range(3) for j in range(i, 3)]
        for b, name in enumerate(self.mech.bodies):
            yield self.parameter(f"{name}.m", "body_mass", b, "kg", "mass")
            for i in range(3):
                yield self.parameter(f"{name}.r_cm[{i + 1}]", "body_com", 3 * b + i, "m", "centre of mass, body axes")
            for k, (i, j) in enumerate(pairs):
                text = "inertia about the centre of mass, body axes"
                yield self.parameter(f"{name}.I[{i + 1},{j + 1}]", "body_inertia", 6 * b + k, "kg.m2", text)

    def joint_parameters(self) -> Iterator[Variable]:
        for j, (name, joint) in enumerate(self.mech.joints.items()):
            note = f", {joint.kind.frame_note}" if joint.kind.frame_note else ""
            for side, body in (("parent", joint.parent), ("child", joint.child)):
                for row in _FRAME:
                    field = f"{side}_{row.field}"
                    n = self.fields[field].columns
                    text = row.text.format(body) + (note if row.name == "Q" else "")
                    for i in range(n):
                        element = f"{name}.{side}_frame.{row.name}[{i + 1}]"
                        yield self.parameter(element, field, n * j + i, row.unit, text)
            yield from self.springs(name, joint.kind)
            text = "start value; on a loop a guess"
            for e in self.coordinates(name):
                yield self.parameter(f"{name}.q_start{e.suffix}", "q_start", e.index, e.unit, text)
            for e in self.speeds(name):
                yield self.parameter(f"{name}.u_start{e.suffix}", "u_start", e.index, f"{e.unit}/s", text)

    def springs(self, joint: str, kind: JointKind) -> Iterator[Variable]:
        """Springs and dampers of a joint; none of the former on a quaternion."""
        rows = [row for row in _SPRING if row.name == "d" or kind.quaternion is None]
        for e in self.speeds(joint):
            units = {"load": LOADS[e.unit], "motion": e.unit}
            for row in rows:
                name = f"{joint}.{row.name}{e.suffix}"
                yield self.parameter(name, row.field, e.index, row.unit.format(**units), row.text)

    def coordinates(self, joint: str) -> list[_Element]:
        """The coordinates of a joint."""
        return _elements(self.numbering.q[joint], self.mech.joints[joint].kind.coordinate_units)

    def speeds(self, joint: str) -> list[_Element]:
        """The speeds of a joint; the unit is of what each is the rate of."""
        return _elements(self.numbering.u[joint], self.mech.joints[joint].kind.motion_units)

    def motion(self) -> Iterator[Variable]:
        for name in self.mech.joints:
            for e in self.speeds(name):
                yield self.load(f"{name}.tau{e.suffix}", "tau", e.index, LOADS[e.unit], "driving load of the joint")
            yield from (self.states if name in self.tree else self.cut_motion)(name)
            depends = self.depends.acceleration(name)
            for e in self.speeds(name):
                unit, text = f"{e.unit}/s2", "acceleration of the joint"
                yield self.output(f"{name}.a{e.suffix}", "acceleration", e.index, unit, text, depends)

    def states(self, joint: str) -> Iterator[Variable]:
        """Coordinates and speeds of a tree joint, and their derivatives."""
        acceleration = self.depends.acceleration(joint)
        for e, rate in zip(self.coordinates(joint), self.depends.coordinate_rates(joint), strict=True):
            yield from self.state(f"{joint}.q{e.suffix}", "q", e.index, e.unit, "coordinate of the joint", rate)
        for e in self.speeds(joint):
            yield from self.state(
                f"{joint}.u{e.suffix}", "u", e.index, f"{e.unit}/s", "speed of the joint", acceleration
            )

    def state(self, name: str, field: str, index: int, unit: str, text: str, depends: Names) -> Iterator[Variable]:
        """A state and its derivative."""
        jumps = self.jumps and field == "u"
        yield Variable(name, self.at(field, index), "state", unit, text, jumps=jumps)
        rate = f"{unit}2" if unit.endswith("/s") else f"{unit}/s"
        at, text = self.at(f"{field}dot", index), f"time derivative of {name}"
        yield Variable(f"der({name})", at, "derivative", rate, text, derivative_of=name, depends=depends)

    def cut_motion(self, joint: str) -> Iterator[Variable]:
        """Coordinates and speeds of a cut joint, which follow from the states."""
        q_depends, u_depends = self.depends.loop(joint)
        for e in self.coordinates(joint):
            at, text = self.at("q_cut", e.index - self.numbering.nq), "coordinate of the joint"
            yield Variable(f"{joint}.q{e.suffix}", at, "output", e.unit, text, depends=q_depends)
        for e in self.speeds(joint):
            at, text = self.at("u_cut", e.index - self.numbering.nu), "speed of the joint"
            yield Variable(f"{joint}.u{e.suffix}", at, "output", f"{e.unit}/s", text, depends=u_depends)

    def reactions(self) -> Iterator[Variable]:
        for j, name in enumerate(self.mech.joints):
            depends = self.depends.acceleration(name)
            for row in _REACTION:
                yield from self.vector(name, row, j, depends)

    def bodies(self) -> Iterator[Variable]:
        for b, name in enumerate(self.mech.bodies):
            positions, motion = self.depends.path(b)
            for rows, depends in ((_POSE, positions), (_VELOCITY, motion)):
                for row in rows:
                    yield from self.vector(name, row, b, depends)

    def totals(self) -> Iterator[Variable]:
        positions, motion = self.depends.everything
        for what, depends in (("kinetic", motion), ("potential", positions)):
            yield self.output(f"energy.{what}", f"energy_{what}", 0, "J", f"{what} energy", depends)
        for i, joint in enumerate(self.numbering.cut):
            for what, unit, text in (
                ("residual", "m", "gap of the loop, and misalignment times the loop's length"),
                ("conditioning", "1", "smallest pivot of the loop's closure: 0 at a singular pose"),
            ):
                yield self.output(f"loop.{joint}.{what}", f"loop_{what}", i, unit, text, self.depends.loop(joint)[0])


def list_variables(system: System) -> list[Variable]:
    """Return all variables of a system, in the order in which an FMU lists them."""
    namer = _Namer(system)
    groups: tuple[Iterable[Variable], ...] = (
        namer.world(),
        namer.body_parameters(),
        namer.joint_parameters(),
        force_parameters(namer),
        transition_parameters(namer),
        namer.motion(),
        force_inputs(namer),
        transition_inputs(namer),
        namer.reactions(),
        namer.bodies(),
        force_outputs(namer),
        coupling_variables(system),
        distance_variables(namer),
        transition_outputs(namer),
        namer.totals(),
    )
    return [variable for group in groups for variable in group]


def list_indicators(system: System) -> list[Variable]:
    """Return the event indicators of a system, in the order in which the core gives them."""
    return list(event_indicators(_Namer(system)))
