"""Forces by formulas: in joints, along lines through points of bodies, at a point of a body, between frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, overload

from numpy.typing import ArrayLike

from linkwork._util.keywords import checks_keywords
from linkwork._util.part_names import suffixes
from linkwork._util.units import LOADS
from linkwork.errors import MechanismError
from linkwork.formula import LookupTable, Source
from linkwork.mechanism.forces import (
    ForceAlongLine,
    ForceBetweenFrames,
    ForceOnJoints,
    NamedForce,
    Point,
    shown_as,
)
from linkwork.mechanism.formulas import Given, JointNames, WithFormulas, rates
from linkwork.mechanism.own_states import StateLaw, StateOfForce, read_states
from linkwork.mechanism.part_checks import GROUND
from linkwork.mechanism.quantities import OF_INPUT, Quantity, Reading, indices, load, output, parameter

if TYPE_CHECKING:
    from linkwork.mechanism.frames import Frame
    from linkwork.mechanism.surroundings import Surroundings


class FormulaForce(NamedForce, WithFormulas):
    """A force whose load, or what gives it, is a formula with parameters, tables and inputs."""

    inputs: tuple[str, ...]
    states: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "states", read_states(self.states, self.label))
        inputs: Any = self.inputs
        if isinstance(inputs, str) or not all(isinstance(one, str) for one in inputs):
            raise MechanismError(f"{self.label}: inputs must be names such as ('p',), not {inputs!r:.60}")
        object.__setattr__(self, "inputs", tuple(inputs))
        self._take_formulas()

    def _own(self, mech: Surroundings) -> dict[str, Reading]:
        """Return what it reads of itself."""
        raise NotImplementedError

    def _names(self, mech: Surroundings) -> JointNames:
        own = {"time": Reading("time", None, 0, "s"), **self._own(mech)}
        own |= {one.law.stem: one.reading() for one in self.own_states(mech)}
        inputs = {name: Reading("formula_input", self.name, k, None) for k, name in enumerate(self.inputs)}
        return JointNames(own | inputs, mech)

    def _check_own_names(self, mech: Surroundings) -> None:
        states = [one.law.stem for one in self.own_states(mech)]
        taken = {one.stem for one in self.record} | {"time", *self._own(mech), *states}
        if twice := [one for one in states if one in {"time", *self._own(mech)}]:
            raise MechanismError(f"{self.label}: {twice[0]!r} means something else here: rename the state")
        for name in (*self.parameters, *self.tables, *self.inputs):
            if name in taken:
                raise MechanismError(f"{self.label}: {name!r} means something else here: rename it")

    def _laws_in(self, mech: Surroundings) -> Iterable[StateLaw]:
        """Return the laws of its states, with their units in a mechanism."""
        return (StateLaw(name, "state of the force", **one) for name, one in (self.states or {}).items())

    def own_states(self, mech: Surroundings) -> tuple[StateOfForce, ...]:
        """Return the states that it owns in a mechanism."""
        return tuple(StateOfForce(self, k, law) for k, law in enumerate(self._laws_in(mech)))

    def _further_sources(self, mech: Surroundings) -> list[Source]:
        laws = [state.law for state in self.own_states(mech)]
        return [Source(law.formula, f"{law.unit}/s", f"{self.label}: state {law.stem!r}") for law in laws]

    def readings(self, mech: Surroundings) -> list[Reading]:
        """Return what its formulas read."""
        return self.program(mech).readings

    def listed(self, kind: str) -> list[Quantity]:
        """Return the quantities that are of a kind, whatever their units."""
        own = [
            load(f"{{0}}.{name}", "formula_input", "1", self._text(name, "input"), of=OF_INPUT, offset=k)
            for k, name in enumerate(self.inputs)
        ]
        return [*super().listed(kind), *(own if kind == "input" else ())]

    def quantities(self, mech: Surroundings) -> Iterable[Quantity]:
        """Return what it has in a mechanism, with the units that follow from its formulas."""
        units = self.program(mech).units
        yield from self.formula_parameters(mech)
        for one in self.listed("input"):
            yield replace(one, unit=units[one.stem])
        yield from super().quantities(mech)

    def check(self, mech: Surroundings) -> None:
        """Refuse joints and bodies that do not exist (any more) or do not fit it, and texts that are no formulas."""
        super().check(mech)
        self.program(mech)
        for formula in self.whole_program(mech).formulas[len(self._sources(mech)) :]:
            if formula.tables:
                raise MechanismError(
                    f"{self.label}: table {formula.tables[0]!r} is in the formula of a state, which takes none: give "
                    "the state by Mechanism.add_state, whose tables are its own"
                )


@checks_keywords
class Force(FormulaForce):
    """A force by a formula: on a joint or several, along a line through points of bodies, at a point, between frames.

    On joints the result is the load, N or N m, where it is positive as the coordinate is. Along a line it is the
    tension, N, which pulls the points of each of its straight pieces towards each other, or pushes where it is
    negative: between two points, or as of a cable through several. At a point three formulas are the components of the
    force, N, and three those of a torque, N m; and so between frames, where they act on the second body at its frame's
    origin, in axes of the first frame, and the opposite acts on the first body.

    A formula reads its parameters and inputs, "time", "crank.q" and "crank.u" of any joint "crank", "ball.u[3]" of
    joints of several; of itself "q" and "u" on joints, "length" and "rate" along a line; between frames, in axes of the
    first one, the second's "displacement[1]", its rotation vector "rotation[2]", their rate "velocity[3]" and
    "angular_velocity[1]". Numbers in it have no unit: one that has is a parameter. A formula stores no energy.

    Parameters
    ----------
    joint
        Name of a joint, as "A", or of a coordinate in one of several, as "U[2]"; or by their names gears, not zero: q
        and u are then the sums of gear times coordinate and speed, and gear times the result loads each.
    formula
        Such as "-k*q - d*u*abs(u)". Operators + - * / ^, functions such as sqrt, exp, log, sin, atan2, min, max, abs,
        sign, floor and mod, comparisons in if(condition, a, b), and pi.
    bodies, points
        Instead of a joint: the names of two bodies or more, "ground" may be among them, and a point of each, (n, 3), m,
        in the frame of its body. The line is straight from each to the next.
    factors
        Along a line, for each of its pieces, (n - 1,): by which its length counts in the length of the line, and the
        tension in the piece; 0: there is none between these points. By default 1.
    frames
        With two bodies, instead of points: a `Frame` in each, whose origins may have any displacement.
    body, point
        Or the name of a body, and where the force acts, (3,), m, in its frame.
    force, torque
        At a point: a formula for each component.
    axes
        "world" or "body": the axes of force and torque at a point.
    parameters
        Values by name, in SI units, or pairs of value and unit, such as (3.0, "N.m/rad"). They are variables and
        parameters of FMUs, as "spring.k".
    tables
        Lookup tables by name, which formulas call as functions, "gas(q)"; or their arguments as dictionaries. Their
        values are variables, "spring.gas[3]" and of two arguments "spring.gas[3,1]", and parameters of FMUs; those of
        tables with more than 10 000 are not. A periodic table has no last row of its own: it is the first.
    inputs
        Names of inputs, as "spring.p".
    states
        Continuous states of the force by name, such as an activation: the formula of the time derivative, or a
        dictionary of "formula", "start", "unit" and "nominal", a size that counts as one. It reads what the formula of
        the force reads, and this reads it; lookup tables aside. Its variables are "motor.act", "der(motor.act)" and
        "motor.act_start".
    name
        A name, under which all of these are found.

    Raises
    ------
    MechanismError
        On a text that is no formula, with the place, on unknown names, on units that contradict each other, and on
        parameters, tables and inputs that no formula uses. Names of joints and units are checked by
        `Mechanism.add_force`.

    Examples
    --------
    >>> Force("hinge", "-k*q - d*u*abs(u)", parameters={"k": 3.0, "d": 0.1}).parameters
    {'k': 3.0, 'd': 0.1}
    >>> bump = {"bump": LookupTable([0.0, 0.1, 0.2], [0.0, 3.0, 40.0], interpolation="monotone")}
    >>> Force("hinge", "-bump(q)", tables=bump, name="stop").tables
    {'bump': LookupTable(3 rows from 0 to 0.2, monotone, outside hold)}
    >>> ends = {"bodies": ("ground", "arm"), "points": ((0, 0, 1), (0, 0, 0))}
    >>> Force(**ends, formula="max(0, k*(length - free))", parameters={"k": 300, "free": 0.4}).formula
    'max(0, k*(length - free))'
    >>> lag = {"act": {"formula": "(p - act)/T", "start": 0.5}}
    >>> Force("hinge", "F*act", parameters={"F": 20.0, "T": (0.1, "s")}, inputs=("p",), states=lag).states["act"]
    {'formula': '(p - act)/T', 'start': 0.5, 'unit': '1', 'nominal': 1.0}
    >>> Force(body="arm", force=("thrust", "0", "0"), axes="body", inputs=("thrust",)).torque
    ('0', '0', '0')
    """

    call: ClassVar[str] = "Force"
    input_label: ClassVar[str] = "force's input"

    @overload
    def __new__(
        cls,
        joint: str | Mapping[str, float],
        formula: str,
        *,
        parameters: Mapping[str, Given] | None = None,
        tables: Mapping[str, LookupTable | Mapping[str, Any]] | None = None,
        inputs: Sequence[str] = (),
        states: Mapping[str, str | Mapping[str, Any]] | None = None,
        name: str = "force",
    ) -> JointForce: ...
    @overload
    def __new__(
        cls,
        *,
        bodies: Sequence[str],
        points: ArrayLike,
        formula: str,
        factors: ArrayLike | None = None,
        parameters: Mapping[str, Given] | None = None,
        tables: Mapping[str, LookupTable | Mapping[str, Any]] | None = None,
        inputs: Sequence[str] = (),
        states: Mapping[str, str | Mapping[str, Any]] | None = None,
        name: str = "force",
    ) -> LineForce: ...
    @overload
    def __new__(
        cls,
        *,
        bodies: tuple[str, str],
        frames: tuple[Frame, Frame],
        force: Sequence[str] = ("0", "0", "0"),
        torque: Sequence[str] = ("0", "0", "0"),
        parameters: Mapping[str, Given] | None = None,
        tables: Mapping[str, LookupTable | Mapping[str, Any]] | None = None,
        inputs: Sequence[str] = (),
        states: Mapping[str, str | Mapping[str, Any]] | None = None,
        name: str = "force",
    ) -> FrameForce: ...
    @overload
    def __new__(
        cls,
        *,
        body: str,
        point: ArrayLike = (0.0, 0.0, 0.0),
        force: Sequence[str] = ("0", "0", "0"),
        torque: Sequence[str] = ("0", "0", "0"),
        axes: str = "world",
        parameters: Mapping[str, Given] | None = None,
        tables: Mapping[str, LookupTable | Mapping[str, Any]] | None = None,
        inputs: Sequence[str] = (),
        states: Mapping[str, str | Mapping[str, Any]] | None = None,
        name: str = "force",
    ) -> PointForce: ...
    def __new__(
        cls,
        joint: Any = None,
        formula: Any = None,
        *,
        bodies: Any = None,
        points: Any = None,
        factors: Any = None,
        frames: Any = None,
        body: Any = None,
        point: Any = None,
        force: Any = None,
        torque: Any = None,
        axes: Any = None,
        parameters: Any = None,
        tables: Any = None,
        inputs: Any = None,
        states: Any = None,
        name: Any = None,
    ) -> Force:
        """Choose by the arguments; the classes themselves come here too, without arguments when they are copied."""
        if cls is not Force:
            return super().__new__(cls)
        given = {"joint": joint, "formula": formula, "bodies": bodies, "points": points, "body": body, "point": point}
        given |= {"factors": factors, "frames": frames, "force": force, "torque": torque, "axes": axes}
        found = {key for key, one in given.items() if one is not None}
        for kind, needed, taken in _ARGUMENTS:
            if needed <= found <= taken:
                return super().__new__(kind)
        raise MechanismError(
            f"Force: {', '.join(sorted(found)) or 'nothing'} does not fit: give joint and formula as in "
            "Force('A', '-k*q'), or bodies, points and formula, or body with point, force, torque and axes, or bodies "
            "and frames with force and torque"
        )

    def __repr__(self) -> str:
        return shown_as("Force", self)


def elements_of(mech: Surroundings, joint: str) -> dict[str, Reading]:
    """Return what the coordinates and speeds of a joint of several are called in its own formulas: "u[2]"."""
    kind = mech.joints[joint].kind
    own: dict[str, Reading] = {}
    for what, units in (("q", kind.coordinate_units), ("u", rates(kind.motion_units))):
        each = zip(suffixes(len(units)) if len(units) > 1 else (), units, strict=False)
        own |= {f"{what}{end}": Reading(what, joint, k, unit) for k, (end, unit) in enumerate(each)}
    return own


def motion_of_speed(mech: Surroundings, joint: str, element: int) -> dict[str, Reading]:
    """Return what formulas on one speed of a joint read of it: "u", and "q" where the coordinate has this rate."""
    kind = mech.joints[joint].kind
    own = {"u": Reading("u", joint, element, f"{kind.motion_units[element]}/s")}
    if kind.quaternion is None:
        own["q"] = Reading("q", joint, element, kind.coordinate_units[element])
    return own | elements_of(mech, joint)


class ByFormulaOnJoints(Force, ForceOnJoints):
    """Forces by a formula of the joint, or of the sum of gear times coordinate of several: it loads these."""

    core_name = "joint_formula"
    of_length = ("length",)
    record = (  # the rules: of the length, of the rate, of the force
        output("{0}.length", "joint_formula_length", "{motion}", "sum of gear times coordinate"),
        output("{0}.rate", "joint_formula_rate", "{motion}/s", "sum of gear times speed", dependency=1),
        output("{0}.force", "joint_formula_force", "{load}", "force by its formula", dependency=2),
    )
    joint: str | Mapping[str, float]
    formula: str

    def __post_init__(self) -> None:
        gears = {self.joint: 1.0} if isinstance(self.joint, str) else self.joint
        object.__setattr__(self, "gears", gears)
        super().__post_init__()
        if not isinstance(self.joint, str):
            object.__setattr__(self, "joint", self.gears)

    @property
    def has_gears(self) -> bool:
        """Whether gears were given."""
        return not isinstance(self.joint, str)

    def _sources(self, mech: Surroundings) -> list[Source]:
        return [Source(self.formula, LOADS[self.motion_unit(mech)], self.label)]

    def _own(self, mech: Surroundings) -> dict[str, Reading]:
        motion = self.motion_unit(mech)
        own = {"q": Reading("joint_formula_length", self.name, 0, motion)} if self.has_length(mech) else {}
        own["u"] = Reading("joint_formula_rate", self.name, 0, f"{motion}/s")
        if len(self.joint_names) == 1:
            own |= elements_of(mech, self.joint_names[0])
        return own


@dataclass(frozen=True, repr=False)
class JointForce(ByFormulaOnJoints):
    """A force by a formula of the joint, or of the sum of gear times coordinate of several: it loads these."""

    type_name = "joint_force"
    core_name = ByFormulaOnJoints.core_name
    joint: str | Mapping[str, float]
    formula: str
    parameters: Mapping[str, Given] | None = None  # type: ignore[assignment]
    tables: Mapping[str, LookupTable] | None = None  # type: ignore[assignment]
    inputs: tuple[str, ...] = ()
    states: Mapping[str, Any] | None = None
    name: str = "force"


class ByFormulaAlongLine(Force, ForceAlongLine):
    """Forces by a formula along the line through points of bodies, which they tighten."""

    core_name = "line_formula"
    record = (
        output("{0}.length", "line_formula_length", "m", "length of the line through its points"),
        output("{0}.rate", "line_formula_rate", "m/s", "time derivative of the length", dependency=1),
        output("{0}.force", "line_formula_force", "N", "force by its formula; pulling is positive", dependency=2),
    )
    formula: str

    def listed(self, kind: str) -> list[Quantity]:
        """Return the quantities that are of a kind, whatever their units."""
        return [*(self.line_quantities() if kind == "parameter" else ()), *super().listed(kind)]

    def quantities(self, mech: Surroundings) -> Iterable[Quantity]:
        """Return what it has in a mechanism, with the points of its line."""
        yield from self.line_quantities()
        yield from super().quantities(mech)

    def _sources(self, mech: Surroundings) -> list[Source]:
        return [Source(self.formula, "N", self.label)]

    def _own(self, mech: Surroundings) -> dict[str, Reading]:
        units = {"length": "m", "rate": "m/s"}
        return {what: Reading(f"line_formula_{what}", self.name, 0, unit) for what, unit in units.items()}


@dataclass(frozen=True, repr=False)
class LineForce(ByFormulaAlongLine):
    """A force by a formula along the line through points of bodies, which it tightens."""

    type_name = "line_force"
    core_name = ByFormulaAlongLine.core_name
    bodies: tuple[str, ...]
    points: tuple[Point, ...]
    formula: str
    factors: tuple[float, ...] | None = None
    parameters: Mapping[str, Given] | None = None  # type: ignore[assignment]
    tables: Mapping[str, LookupTable] | None = None  # type: ignore[assignment]
    inputs: tuple[str, ...] = ()
    states: Mapping[str, Any] | None = None
    name: str = "force"


class ByFormulaAtPoint(Force):
    """Forces at a point of a body and torques, each component by a formula."""

    core_name = "point_formula"
    record = (
        parameter("{0}.point[]", "point_formula_point", "m", "where the force acts in {1}", elements=indices(3)),
        parameter("{0}.axes", "point_formula_axes", "1", "axes of its components: 0 world, 1 the body's"),
        output(
            *("{0}.force[]", "point_formula_force", "N", "force by its formulas, world axes"),
            elements=indices(3),
            dependency=2,
        ),
        output(
            *("{0}.torque[]", "point_formula_torque", "N.m", "torque by its formulas, world axes"),
            elements=indices(3),
            dependency=2,
        ),
    )
    body: str
    point: Point
    force: tuple[str, str, str]
    torque: tuple[str, str, str]
    axes: str

    @property
    def ends(self) -> tuple[tuple[str, Point], ...]:
        """Its body and point."""
        return ((self.body, self.point),)

    def core_value(self, one: Quantity, mech: Surroundings) -> Any:
        """Return the numbers of a parameter for the core."""
        return _AXES.index(self.axes) if one.stem == "axes" else super().core_value(one, mech)

    def numbers_given(self) -> list[Quantity]:
        """Return the parameters that are given as numbers."""
        return [one for one in super().numbers_given() if one.stem != "axes"]

    def quantities(self, mech: Surroundings) -> Iterable[Quantity]:
        """Return what it has in a mechanism; the axes of its formulas stay."""
        return (one for one in super().quantities(mech) if one.stem != "axes")

    def _sources(self, mech: Surroundings) -> list[Source]:
        return _components(self)

    def _own(self, mech: Surroundings) -> dict[str, Reading]:
        return {}

    def check(self, mech: Surroundings) -> None:
        """Refuse a body that does not exist (any more), and the ground."""
        if self.body == GROUND:
            raise MechanismError(f"{self.label}: it acts on the ground, which nothing moves: name a body")
        super().check(mech)


@dataclass(frozen=True, repr=False)
class PointForce(ByFormulaAtPoint):
    """A force at a point of a body and a torque, each component by a formula."""

    type_name = "point_force"
    core_name = ByFormulaAtPoint.core_name
    body: str
    point: Point = (0.0, 0.0, 0.0)
    force: tuple[str, str, str] = ("0", "0", "0")
    torque: tuple[str, str, str] = ("0", "0", "0")
    axes: str = "world"
    parameters: Mapping[str, Given] | None = None  # type: ignore[assignment]
    tables: Mapping[str, LookupTable] | None = None  # type: ignore[assignment]
    inputs: tuple[str, ...] = ()
    states: Mapping[str, Any] | None = None
    name: str = "force"

    def __post_init__(self) -> None:
        if self.axes not in _AXES:
            raise MechanismError(f"{self.label}: axes must be 'world' or 'body', not {self.axes!r:.40}")
        _take_components(self)
        super().__post_init__()


class ByFormulaBetweenFrames(Force, ForceBetweenFrames):
    """Forces and torques between frames on two bodies, each component by a formula."""

    core_name = "frame_formula"
    record = (
        parameter(
            *("{0}.points[]", "frame_formula_points", "m", "origins of its frames: 1 in {1}, 2 in {2}"),
            elements=indices(2, 3),
        ),
        parameter(
            "{0}.rotations[]", "frame_formula_rotations", "1", "quaternions of its frames", elements=indices(2, 4)
        ),
        *(
            output(f"{{0}}.{what}[]", f"frame_formula_{what}", unit, text, elements=indices(3), dependency=rule)
            for what, unit, text, rule in (
                ("displacement", "m", "of the second origin, axes of the first frame", 0),
                ("rotation", "rad", "rotation vector, axes of its first frame", 0),
                ("velocity", "m/s", "rate of the displacement", 1),
                ("angular_velocity", "rad/s", "relative one, axes of its first frame", 1),
                ("force", "N", "on {2} by its formulas, axes of its first frame", 2),
                ("torque", "N.m", "on {2} at the second origin by its formulas", 2),
            )
        ),
    )
    force: tuple[str, str, str]
    torque: tuple[str, str, str]

    def _sources(self, mech: Surroundings) -> list[Source]:
        return _components(self)

    def _own(self, mech: Surroundings) -> dict[str, Reading]:
        units = {"displacement": "m", "rotation": "rad", "velocity": "m/s", "angular_velocity": "rad/s"}
        return {
            f"{what}[{k + 1}]": Reading(f"frame_formula_{what}", self.name, k, unit)
            for what, unit in units.items()
            for k in range(3)
        }


@dataclass(frozen=True, repr=False)
class FrameForce(ByFormulaBetweenFrames):
    """A force and a torque between frames on two bodies, each component by a formula."""

    type_name = "frame_force"
    core_name = ByFormulaBetweenFrames.core_name
    force: tuple[str, str, str] = ("0", "0", "0")
    torque: tuple[str, str, str] = ("0", "0", "0")
    parameters: Mapping[str, Given] | None = None  # type: ignore[assignment]
    tables: Mapping[str, LookupTable] | None = None  # type: ignore[assignment]
    inputs: tuple[str, ...] = ()
    states: Mapping[str, Any] | None = None
    name: str = "force"

    def __post_init__(self) -> None:
        _take_components(self)
        super().__post_init__()


def _take_components(one: PointForce | FrameForce) -> None:
    for what in ("force", "torque"):
        given = getattr(one, what)
        if isinstance(given, str) or len(given) != 3:
            raise MechanismError(f"{one.label}: {what} must be three formulas such as ('0', '0', '-k'), not {given!r}")
        object.__setattr__(one, what, tuple(given))


def _components(one: ByFormulaAtPoint | ByFormulaBetweenFrames) -> list[Source]:
    units = (("force", "N"), ("torque", "N.m"))
    return [
        Source(text, unit, f"{one.label}: {what}[{k + 1}]")
        for what, unit in units
        for k, text in enumerate(getattr(one, what))
    ]


_AXES = ("world", "body")
_ARGUMENTS: tuple[tuple[type[Force], set[str], set[str]], ...] = (
    (JointForce, {"joint", "formula"}, {"joint", "formula"}),
    (LineForce, {"bodies", "points", "formula"}, {"bodies", "points", "factors", "formula"}),
    (PointForce, {"body"}, {"body", "point", "force", "torque", "axes"}),
    (FrameForce, {"bodies", "frames"}, {"bodies", "frames", "force", "torque"}),
)
