"""The variables of a system by name, as users, results and FMUs see them. Each is an offset into the core's block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from linkwork.compiler.dependencies import Dependencies

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


class _Namer:
    """Makes the variables of one system; offsets come from the core's field table."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.mech = system.mechanism
        self.fields: dict[str, Field] = system.fields
        self.depends = Dependencies(system.mechanism, system.topology, system.numbering)
        self.block = system.block()

    def at(self, field: str, index: int = 0) -> int:
        return self.fields[field].first + index

    def parameter(self, name: str, field: str, index: int, unit: str, text: str, minimum: float | None = None) -> Variable:
        reference = self.at(field, index)
        kind: Kind = "start" if field in ("q_start", "u_start") else "parameter"
        return Variable(name, reference, kind, unit, text, start=float(self.block.reals[reference]), minimum=minimum)

    def vector(self, name: str, field: str, row: int, unit: str, text: str, depends: tuple[str, ...] | None) -> Iterator[Variable]:
        columns = self.fields[field].columns
        for i in range(columns):
            reference = self.at(field, row * columns + i)
            yield Variable(f"{name}[{i + 1}]", reference, "output", unit, text, depends=depends)

    def world(self) -> Iterator[Variable]:
        yield Variable("time", self.at("time"), "time", "s", "time")
        for i in range(3):
            yield self.parameter(f"gravity[{i + 1}]", "gravity", i, "m/s2", "gravitational acceleration, world axes")
        if self.system.topology.loops:
            text = "feedback on loop {} errors; below zero: the loop's rate"
            yield self.parameter("loop_gain.position", "correction_gain", 0, "1/s", text.format("position"))
            yield self.parameter("loop_gain.speed", "correction_gain", 1, "1/s", text.format("speed"))

    def body_parameters(self) -> Iterator[Variable]:
        for b, name in enumerate(self.mech.bodies):
            yield self.parameter(f"{name}.m", "body_mass", b, "kg", f"mass of {name}", minimum=0.0)
            for i in range(3):
                yield self.parameter(f"{name}.r_cm[{i + 1}]", "body_com", 3 * b + i, "m", "centre of mass, body axes")
            pairs = [(i, j) for i in range(3) for j in range(i, 3)]
            for k, (i, j) in enumerate(pairs):
                text = "inertia about the centre of mass, body axes"
                yield self.parameter(f"{name}.I[{i + 1},{j + 1}]", "body_inertia", 6 * b + k, "kg.m2", text)

    def joint_parameters(self) -> Iterator[Variable]:
        for j, (name, joint) in enumerate(self.mech.joints.items()):
            for side, body in (("parent", joint.parent), ("child", joint.child)):
                for i in range(3):
                    text = f"origin of the joint frame in {body}"
                    yield self.parameter(f"{name}.{side}_frame.r[{i + 1}]", f"{side}_position", 3 * j + i, "m", text)
                for i in range(4):
                    text = f"joint frame in {body}, unit quaternion, joint axis along z"
                    yield self.parameter(f"{name}.{side}_frame.Q[{i + 1}]", f"{side}_orientation", 4 * j + i, "1", text)
            for suffix, column in self.columns(name):
                force, angle = self.units(name)
                at = f"{name}.{{}}{suffix}"
                yield self.parameter(at.format("c"), "stiffness", column, f"{force}/{angle}", "stiffness of the joint's spring")
                yield self.parameter(at.format("d"), "damping", column, f"{force}.s/{angle}", "damping of the joint's damper")
                yield self.parameter(at.format("q_free"), "free_coordinate", column, angle, "where the spring is free")
                yield self.parameter(at.format("q_start"), "q_start", column, angle, "start value; a guess on loops")
                yield self.parameter(at.format("u_start"), "u_start", column, f"{angle}/s", "start value; a guess on loops")

    def columns(self, joint: str) -> list[tuple[str, int]]:
        """Name suffix and position over all joints of each speed of a joint."""
        span = self.system.numbering.u[joint]
        many = span.stop - span.start > 1
        return [(f"[{i + 1}]" if many else "", c) for i, c in enumerate(range(span.start, span.stop))]

    def units(self, joint: str) -> tuple[str, str]:
        """Units of load and coordinate."""
        return ("N", "m") if self.mech.joints[joint].kind.type_name == "prismatic" else ("N.m", "rad")

    def motion(self) -> Iterator[Variable]:
        nu = self.system.numbering.nu
        for name in self.mech.joints:
            force, angle = self.units(name)
            for suffix, c in self.columns(name):
                q, u = f"{name}.q{suffix}", f"{name}.u{suffix}"
                text = f"of joint {name}"
                yield Variable(f"{name}.tau{suffix}", self.at("tau", c), "input", force, f"driving load {text}", start=0.0)
                if c < nu:
                    rate = self.depends.coordinate_rate(name)
                    yield Variable(q, self.at("q", c), "state", angle, f"coordinate {text}")
                    yield Variable(u, self.at("u", c), "state", f"{angle}/s", f"speed {text}")
                    yield Variable(f"der({q})", self.at("qdot", c), "derivative", f"{angle}/s", "", derivative_of=q, depends=rate)
                    yield Variable(
                        f"der({u})", self.at("udot", c), "derivative", f"{angle}/s2", "", derivative_of=u,
                        depends=self.depends.acceleration(name),
                    )  # fmt: skip
                else:
                    positions, motion = self.depends.loop(name)
                    yield Variable(q, self.at("q_cut", c - nu), "output", angle, f"coordinate {text}", depends=positions)
                    yield Variable(u, self.at("u_cut", c - nu), "output", f"{angle}/s", f"speed {text}", depends=motion)
                yield Variable(
                    f"{name}.a{suffix}", self.at("acceleration", c), "output", f"{angle}/s2", f"acceleration {text}",
                    depends=self.depends.acceleration(name),
                )  # fmt: skip

    def reactions(self) -> Iterator[Variable]:
        for j, name in enumerate(self.mech.joints):
            depends = self.depends.acceleration(name)
            yield from self.vector(f"{name}.f", "reaction_force", j, "N", "force of the joint on its child, world axes", depends)
            yield from self.vector(f"{name}.t", "reaction_torque", j, "N.m", "torque of the joint on its child, world axes", depends)

    def bodies(self) -> Iterator[Variable]:
        for b, name in enumerate(self.mech.bodies):
            positions, motion = self.depends.path(b)
            yield from self.vector(f"{name}.r", "body_position", b, "m", "position of the body frame in the world", positions)
            yield from self.vector(f"{name}.Q", "body_orientation", b, "1", "unit quaternion, body to world", positions)
            yield from self.vector(f"{name}.v", "body_velocity", b, "m/s", "velocity of the body frame, world axes", motion)
            yield from self.vector(f"{name}.w", "body_angular_velocity", b, "rad/s", "angular velocity, world axes", motion)

    def totals(self) -> Iterator[Variable]:
        positions, motion = self.depends.everything
        yield Variable("energy.kinetic", self.at("energy_kinetic"), "output", "J", "kinetic energy", depends=motion)
        text = "potential energy of gravity and springs"
        yield Variable("energy.potential", self.at("energy_potential"), "output", "J", text, depends=positions)
        for i, name in enumerate(self.system.numbering.cut):
            depends = self.depends.loop(name)[0]
            text = f"gap of the loop that joint {name} closes"
            yield Variable(f"loop.{name}.residual", self.at("loop_residual", i), "output", "m", text, depends=depends)
            text = "least pivot of the loop's closure, 1 far from and 0 at a singular pose"
            yield Variable(f"loop.{name}.conditioning", self.at("loop_conditioning", i), "output", "1", text, depends=depends)


def list_variables(system: System) -> list[Variable]:
    """Return all variables of a system, in the order in which an FMU lists them."""
    namer = _Namer(system)
    groups: tuple[Iterable[Variable], ...] = (
        namer.world(),
        namer.body_parameters(),
        namer.joint_parameters(),
        namer.motion(),
        namer.reactions(),
        namer.bodies(),
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
            before = found.get(base)
            found[base] = Column(before.first if before else v.reference, (before.count if before else 0) + 1, v.unit, True)
    return found
