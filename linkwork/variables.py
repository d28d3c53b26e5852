"""The variables of a system by name, as users, results and FMUs see them. Each is an offset into the core's block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from linkwork.compiler.dependencies import Dependencies, Names
from linkwork.force_variables import force_inputs, force_outputs, force_parameters

if TYPE_CHECKING:
    from linkwork._native import Field
    from linkwork.system import System

Kind = Literal["parameter", "start", "input", "state", "derivative", "output", "time"]


@dataclass(frozen=True)
class Variable:
    """One scalar variable.

    Attributes
    ----------
    name
        Structured name such as "A.q" or "coupler.r[1]".
    reference
        Offset in the block; the value reference in an FMU.
    kind
        What may be done with it.
    unit
        SI, "1" if none.
    description
        One line for users.
    start
        Default of parameters, start values and inputs, else None.
    derivative_of
        Name of the state whose derivative this is, else None.
    depends
        States and inputs that a derivative or output depends on; None: on all of them.
    minimum
        Least value allowed, else None.
    """

    name: str
    reference: int
    kind: Kind
    unit: str
    description: str
    start: float | None = None
    derivative_of: str | None = None
    depends: tuple[str, ...] | None = None
    minimum: float | None = None


@dataclass(frozen=True)
class Column:
    """A quantity of one or more numbers that stand side by side in the block."""

    first: int
    count: int
    unit: str
    vector: bool


@dataclass(frozen=True)
class _Row:
    """A quantity that every body or joint has: its name behind the dot, the field that holds it, and what it is."""

    name: str
    field: str
    unit: str
    text: str


_FRAME = (
    _Row("r", "position", "m", "origin of the joint frame in {}"),
    _Row("Q", "orientation", "1", "joint frame in {}, unit quaternion, joint axis along z"),
)
_COORDINATE = (
    _Row("c", "stiffness", "{load}/{angle}", "stiffness of the spring in the joint"),
    _Row("d", "damping", "{load}.s/{angle}", "damping of the damper in the joint"),
    _Row("q_free", "free_coordinate", "{angle}", "coordinate at which the spring is free"),
    _Row("q_start", "q_start", "{angle}", "start value; on a loop a guess"),
    _Row("u_start", "u_start", "{angle}/s", "start value; on a loop a guess"),
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


class _Namer:
    """Makes the variables of one system; offsets come from the core's field table."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.mech = system.mechanism
        self.numbering = system.numbering
        self.fields: dict[str, Field] = system.fields
        self.defaults = system.block().reals
        self.depends = Dependencies(system.mechanism, system.topology, system.numbering)

    def at(self, field: str, index: int = 0) -> int:
        return self.fields[field].first + index

    def parameter(self, name: str, field: str, index: int, unit: str, text: str) -> Variable:
        reference = self.at(field, index)
        kind: Kind = "start" if field in ("q_start", "u_start") else "parameter"
        minimum = 0.0 if field == "body_mass" else None
        return Variable(name, reference, kind, unit, text, start=float(self.defaults[reference]), minimum=minimum)

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
        if self.system.topology.loops:
            for i, what in enumerate(("position", "speed")):
                text = f"feedback on the {what} errors of loops; below zero: as fast as the loop moves"
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
            for side, body in (("parent", joint.parent), ("child", joint.child)):
                for row in _FRAME:
                    field = f"{side}_{row.field}"
                    n = self.fields[field].columns
                    for i in range(n):
                        element = f"{name}.{side}_frame.{row.name}[{i + 1}]"
                        yield self.parameter(element, field, n * j + i, row.unit, row.text.format(body))
            units = self.units(name)
            for suffix, c in self.columns(name):
                for row in _COORDINATE:
                    yield self.parameter(f"{name}.{row.name}{suffix}", row.field, c, row.unit.format(**units), row.text)

    def columns(self, joint: str) -> list[tuple[str, int]]:
        """Name suffix and position over all joints of each speed of a joint."""
        span = self.numbering.u[joint]
        many = span.stop - span.start > 1
        return [(f"[{i + 1}]" if many else "", c) for i, c in enumerate(range(span.start, span.stop))]

    def units(self, joint: str) -> dict[str, str]:
        """Units of load and coordinate."""
        slides = self.mech.joints[joint].kind.type_name == "prismatic"
        return {"load": "N", "angle": "m"} if slides else {"load": "N.m", "angle": "rad"}

    def motion(self) -> Iterator[Variable]:
        for name in self.mech.joints:
            unit = self.units(name)
            for suffix, c in self.columns(name):
                tau = f"{name}.tau{suffix}"
                yield Variable(tau, self.at("tau", c), "input", unit["load"], "driving load of the joint", start=0.0)
                yield from (self.states if c < self.numbering.nu else self.cut_motion)(name, suffix, c, unit["angle"])
                a, depends = f"{name}.a{suffix}", self.depends.acceleration(name)
                at = self.at("acceleration", c)
                yield Variable(a, at, "output", f"{unit['angle']}/s2", "acceleration of the joint", depends=depends)

    def states(self, joint: str, suffix: str, c: int, angle: str) -> Iterator[Variable]:
        """Coordinate and speed of a tree joint, and their derivatives."""
        rows = (
            ("q", "qdot", angle, "coordinate of the joint", self.depends.coordinate_rate(joint)),
            ("u", "udot", f"{angle}/s", "speed of the joint", self.depends.acceleration(joint)),
        )
        for field, derivative, unit, text, depends in rows:
            state = f"{joint}.{field}{suffix}"
            yield Variable(state, self.at(field, c), "state", unit, text)
            rate = f"{unit}/s" if field == "q" else f"{angle}/s2"
            text = f"time derivative of {state}"
            at = self.at(derivative, c)
            yield Variable(f"der({state})", at, "derivative", rate, text, derivative_of=state, depends=depends)

    def cut_motion(self, joint: str, suffix: str, c: int, angle: str) -> Iterator[Variable]:
        """Coordinate and speed of a cut joint, which follow from the states."""
        q_depends, u_depends = self.depends.loop(joint)
        q, u, i = f"{joint}.q{suffix}", f"{joint}.u{suffix}", c - self.numbering.nu
        yield Variable(q, self.at("q_cut", i), "output", angle, "coordinate of the joint", depends=q_depends)
        yield Variable(u, self.at("u_cut", i), "output", f"{angle}/s", "speed of the joint", depends=u_depends)

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
            name, reference = f"energy.{what}", self.at(f"energy_{what}")
            yield Variable(name, reference, "output", "J", f"{what} energy", depends=depends)
        for i, joint in enumerate(self.numbering.cut):
            for what, unit, text in (
                ("residual", "m", "gap of the loop, and misalignment times the loop's length"),
                ("conditioning", "1", "smallest pivot of the loop's closure: 0 at a singular pose"),
            ):
                name, reference = f"loop.{joint}.{what}", self.at(f"loop_{what}", i)
                yield Variable(name, reference, "output", unit, text, depends=self.depends.loop(joint)[0])


def list_variables(system: System) -> list[Variable]:
    """Return all variables of a system, in the order in which an FMU lists them."""
    namer = _Namer(system)
    groups: tuple[Iterable[Variable], ...] = (
        namer.world(),
        namer.body_parameters(),
        namer.joint_parameters(),
        force_parameters(namer),
        namer.motion(),
        force_inputs(namer),
        namer.reactions(),
        namer.bodies(),
        force_outputs(namer),
        namer.totals(),
    )
    return [variable for group in groups for variable in group]


def columns_of(variables: Iterable[Variable]) -> dict[str, Column]:
    """Return every variable by name, and every group of elements by the name without its index.

    >>> r = [Variable(f"arm.r[{i + 1}]", 40 + i, "output", "m", "") for i in range(3)]
    >>> columns_of(r)["arm.r"], columns_of(r)["arm.r[2]"]
    (Column(first=40, count=3, unit='m', vector=True), Column(first=41, count=1, unit='m', vector=False))
    """
    found: dict[str, Column] = {}
    for v in variables:
        found[v.name] = Column(v.reference, 1, v.unit, False)
        base, bracket, _ = v.name.partition("[")
        if bracket and not v.name.startswith("der("):
            before = found.get(base, Column(v.reference, 0, v.unit, True))
            found[base] = replace(before, count=before.count + 1)
    return found
