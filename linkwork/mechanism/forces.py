"""Forces that belong to the description of a mechanism, and those applied from outside.

Springs stand in `springs`, actuators in `actuators`. A new kind is one class: its record states its numbers, from which
files, variables, units, FMUs, pictures and the description to the core follow; the core has its row in `csrc/forces/`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from linkwork._util.checks import check_name, finite, number
from linkwork._util.keywords import checks_keywords
from linkwork._util.names import suggest
from linkwork._util.units import LOADS
from linkwork.errors import MechanismError, MechanismNameError
from linkwork.mechanism.frames import Frame
from linkwork.mechanism.part_checks import GROUND, check_body_known, check_joint_known, check_new_name
from linkwork.mechanism.quantities import OF_FORCE, OF_LINE, Quantity, Reading, indices, load, output, parameter

if TYPE_CHECKING:
    from linkwork.mechanism.surroundings import Surroundings

FORCES: dict[str, type[ForceElement]] = {}

POWER = output("{0}.power", "force_power", "W", "power that it gives the bodies", of=OF_FORCE, dependency=2)

Point = tuple[float, float, float]
_Kind = TypeVar("_Kind", bound="ForceElement")


class ForceElement:
    """A force of a mechanism; the fields of a kind of force are its keys in files.

    Attributes
    ----------
    type_name
        Its name in files.
    core_name
        Its name in the core; by default the same.
    record
        Its parameters, inputs and outputs, to which its power comes; `{1}` and `{2}` in their texts are its bodies. A
        parameter has the name of the argument that gives it. Their rules: of the pose, of the velocity, of the inputs
        as well. Empty: its numbers are those of its joint.
    input_label
        What messages call an input of it.
    """

    type_name: ClassVar[str]
    core_name: ClassVar[str]
    record: ClassVar[tuple[Quantity, ...]] = ()
    input_label: ClassVar[str] = "input"

    def __init_subclass__(cls) -> None:
        if cls.__dict__.get("record") and POWER not in cls.record:
            cls.record = (*cls.record, POWER)
        if "type_name" in cls.__dict__:
            FORCES[cls.type_name] = cls
            cls.core_name = cls.__dict__.get("core_name", cls.type_name)

    @classmethod
    def fields_of(cls, kind: str) -> list[Quantity]:
        """Return the quantities of its record that are of a kind."""
        return [one for one in cls.record if one.kind == kind]

    def listed(self, kind: str) -> list[Quantity]:
        """Return its own quantities that are of a kind, whatever their units."""
        return self.fields_of(kind)

    @property
    def label(self) -> str:
        """What messages call it."""
        return type(self).__name__

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints in which it acts."""
        return ()

    @property
    def ends(self) -> tuple[tuple[str, Point], ...]:
        """The bodies on which it acts otherwise, the ground among them, and a point of each, in the body's frame."""
        return ()

    @property
    def body_names(self) -> tuple[str, ...]:
        """The bodies of its ends."""
        return tuple(body for body, _ in self.ends)

    @property
    def keeps_energy(self) -> bool:
        """Whether it takes and gives no energy but what it stores and what inputs give."""
        return False

    def quantities(self, mech: Surroundings) -> Iterable[Quantity]:
        """Return what of its record it has in a mechanism, with its units: all but parameters that are not given."""
        return (one for one in self.record if one.kind != "parameter" or self.core_value(one, mech) is not None)

    def own_states(self, mech: Surroundings) -> tuple[Any, ...]:
        """Return the continuous states that it owns in a mechanism."""
        return ()

    def readings(self, mech: Surroundings) -> Sequence[Reading]:
        """Return what it reads of others, and of itself, by formulas."""
        return ()

    def core_value(self, one: Quantity, mech: Surroundings) -> Any:
        """Return the numbers of a parameter of its record for the core; None: they are not given."""
        return getattr(self, one.stem)

    def check(self, mech: Surroundings) -> None:
        """Refuse joints and bodies that do not exist (any more) or do not fit it."""
        for joint in self.joint_names:
            check_joint_known(mech, joint, self.label)
        for body in self.body_names:
            check_body_known(mech, self.label, body)

    def check_new(self, mech: Surroundings) -> None:
        """Refuse a conflict with the forces of a mechanism."""


class NamedForce(ForceElement):
    """A force that has a name of its own."""

    call: ClassVar[str]
    name: str

    def __post_init__(self) -> None:
        """Check the name and all parameters, which become numbers and tuples of their shapes."""
        check_name(self.name, self.call)
        for one in self.numbers_given():
            value, what = getattr(self, one.stem), f"{self.label}: {one.stem}"
            if value is None and getattr(type(self), one.stem, value) is None:
                continue
            object.__setattr__(
                self, one.stem, _tuples(finite(value, one.shape, what)) if one.shape else number(value, what)
            )

    def numbers_given(self) -> list[Quantity]:
        """Return the parameters that are given as numbers."""
        return self.fields_of("parameter")

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"{self.call} {self.name!r}"

    def check_new(self, mech: Surroundings) -> None:
        """Refuse a name that is taken, by a body or joint as well."""
        check_new_name(self.name, self.call, names_in_use(mech))


def shown_as(title: str, force: Any) -> str:
    """Return a force as the call of a class that chooses its own, without arguments that are None."""
    given = ((one.name, getattr(force, one.name)) for one in fields(force))
    return f"{title}({', '.join(f'{name}={value!r}' for name, value in given if value is not None)})"


def _tuples(array: Any) -> Any:
    return tuple(map(_tuples, array)) if array.ndim > 1 else tuple(array.tolist())


@dataclass(frozen=True, repr=False)
class ForceBetweenBodies(NamedForce):
    """A force between two bodies, or a body and the ground."""

    bodies: tuple[str, str]

    def __post_init__(self) -> None:
        bodies = tuple(self.bodies) if isinstance(self.bodies, tuple | list) else ()
        if len(bodies) != 2 or not all(isinstance(body, str) for body in bodies):
            raise MechanismError(f"{self.label}: bodies must be the names of two bodies, not {self.bodies!r}")
        object.__setattr__(self, "bodies", bodies)
        super().__post_init__()

    def check(self, mech: Surroundings) -> None:
        """Refuse bodies that do not exist (any more), and one that is given twice."""
        super().check(mech)
        if self.bodies[0] == self.bodies[1]:
            raise MechanismError(
                f"{self.label}: both ends are on {self.bodies[0]!r}, where it does nothing: name two bodies"
            )


@dataclass(frozen=True, repr=False)
class ForceBetweenPoints(ForceBetweenBodies):
    """A force along the line of two points, each of another body, or of a body and the ground."""

    points: tuple[Point, Point]

    @property
    def ends(self) -> tuple[tuple[str, Point], ...]:
        """Its two bodies and points."""
        return tuple(zip(self.bodies, self.points, strict=True))


@dataclass(frozen=True, repr=False)
class ForceBetweenFrames(ForceBetweenBodies):
    """A force and a torque between frames, each on another body, or on a body and the ground."""

    frames: tuple[Frame, Frame]

    def __post_init__(self) -> None:
        super().__post_init__()
        given = list(self.frames) if isinstance(self.frames, tuple | list) else []
        if len(given) != 2:
            raise MechanismError(f"{self.label}: frames must be two frames, one in each body, not {self.frames!r:.60}")
        object.__setattr__(self, "frames", tuple(_frame(one, self.label) for one in given))

    def numbers_given(self) -> list[Quantity]:
        """Return none: its numbers are those of frames."""
        return []

    @property
    def ends(self) -> tuple[tuple[str, Point], ...]:
        """Its two bodies and the origins of its frames."""
        origins = (tuple(frame.position.tolist()) for frame in self.frames)
        return tuple(zip(self.bodies, origins, strict=True))

    def core_value(self, one: Quantity, mech: Surroundings) -> Any:
        """Return the numbers of a parameter of its record for the core."""
        if one.stem == "points":
            return [frame.position for frame in self.frames]
        if one.stem == "rotations":
            return [frame.quaternion for frame in self.frames]
        return super().core_value(one, mech)


def _frame(given: Any, label: str) -> Frame:
    if isinstance(given, Mapping):
        given = Frame(**given)
    if not isinstance(given, Frame):
        raise MechanismError(f"{label}: frames must be lw.Frame, such as lw.Frame((0.1, 0, 0)), not {given!r:.60}")
    return given


class ForceAlongLine(NamedForce):
    """A force along the line through points of bodies or the ground, as of a cable over pulleys.

    The length of the line is the sum of factor times length of its straight pieces, and each piece has factor times the
    force.
    """

    bodies: tuple[str, ...]
    points: tuple[Point, ...]
    factors: tuple[float, ...] | None

    def __post_init__(self) -> None:
        bodies = tuple(self.bodies) if isinstance(self.bodies, tuple | list) else ()
        if len(bodies) < 2 or not all(isinstance(body, str) for body in bodies):
            raise MechanismError(f"{self.label}: bodies must be the names of two bodies or more, not {self.bodies!r}")
        object.__setattr__(self, "bodies", bodies)
        points = finite(self.points, (len(bodies), 3), f"{self.label}: points")
        object.__setattr__(self, "points", _tuples(points))
        if self.factors is not None:
            what = f"{self.label}: factors, one for each piece of the line"
            object.__setattr__(self, "factors", _tuples(finite(self.factors, (len(bodies) - 1,), what)))
        super().__post_init__()

    @property
    def ends(self) -> tuple[tuple[str, Point], ...]:
        """Its bodies and points, one for each."""
        return tuple(zip(self.bodies, self.points, strict=True))

    @property
    def factor_of_each(self) -> tuple[float, ...]:
        """By which each piece counts in its length."""
        return (1.0,) * (len(self.bodies) - 1) if self.factors is None else self.factors

    def pieces(self) -> Iterator[tuple[int, float]]:
        """Return the straight pieces that it has, by the number of their first point, and the factor of each."""
        return ((k, factor) for k, factor in enumerate(self.factor_of_each) if factor)

    def line_quantities(self) -> Iterator[Quantity]:
        """Return its points, and its factors where it has several pieces."""
        count = len(self.bodies)
        text = "ends: 1 in {1}, 2 in {2}" if count == 2 else f"points of the line, in {', '.join(self.bodies)}"
        yield parameter("{0}.points[]", "line_point", "m", text, elements=indices(count, 3), of=OF_LINE)
        if count > 2 or self.factors is not None:
            text = "by which the length of a piece counts, and the force acts in it"
            more = {"elements": indices(count - 1), "of": OF_LINE, "offset": 1}
            yield parameter("{0}.factors[]", "line_factor", "1", text, **more)

    def check(self, mech: Surroundings) -> None:
        """Refuse bodies that do not exist (any more), and a line that moves none against another."""
        super().check(mech)
        if all(self.bodies[k] == self.bodies[k + 1] for k, _ in self.pieces()):
            raise MechanismError(
                f"{self.label}: no piece of its line connects two bodies, so that it does nothing: name two bodies"
            )


class ForceOnJoints(NamedForce):
    """A force on the sum of gear times coordinate of one joint or several: gear times it loads each of them.

    In the units of its record {motion} is that of the first coordinate, and {load} that of its load.

    Attributes
    ----------
    of_length
        Quantities of its record that it has where it has a length.
    """

    of_length: ClassVar[tuple[str, ...]] = ("stiffness", "length")
    gears: Mapping[str, float]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.gears, Mapping) or not self.gears:
            raise MechanismError(
                f"{self.label}: gears must be a dictionary such as {{'A': 1.0}}, not {self.gears!r:.60}"
            )
        object.__setattr__(self, "gears", {key: self._gear(key, value) for key, value in self.gears.items()})

    def _gear(self, coordinate: Any, value: Any) -> float:
        gear = number(value, f"{self.label}: the gear of {coordinate!r}")
        if gear == 0.0:
            raise MechanismError(f"{self.label}: the gear of {coordinate!r} is zero: leave it out")
        return gear

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints in which it acts, each once."""
        return tuple(dict.fromkeys(_joint(coordinate) for coordinate in self.gears))

    @property
    def has_gears(self) -> bool:
        """Whether its gears are parameters."""
        return True

    def places(self, mech: Surroundings) -> list[tuple[str, int]]:
        """Return joint and number of the speed, from 0, of each gear."""
        return [self._find(mech, coordinate) for coordinate in self.gears]

    def units(self, mech: Surroundings) -> list[str]:
        """Return the unit of the motion along each of its speeds."""
        return [mech.joints[joint].kind.motion_units[element] for joint, element in self.places(mech)]

    def motion_unit(self, mech: Surroundings) -> str:
        """Return the unit of its length, "rad" or "m": that of its first coordinate."""
        return self.units(mech)[0]

    def has_length(self, mech: Surroundings) -> bool:
        """Return whether all of its speeds are rates of coordinates."""
        return all(mech.joints[joint].kind.quaternion is None for joint in self.joint_names)

    def quantities(self, mech: Surroundings) -> Iterable[Quantity]:
        """Return what of its record it has in a mechanism, in units of the first coordinate."""
        motion, left_out = self.motion_unit(mech), () if self.has_length(mech) else self.of_length
        for one in super().quantities(mech):
            if one.stem not in left_out:
                yield replace(one, unit=str(one.unit).format(motion=motion, load=LOADS[motion]))

    def check(self, mech: Surroundings) -> None:
        """Refuse joints and coordinates that do not exist (any more), and stiffness without a length."""
        self.places(mech)
        if getattr(self, "stiffness", 0.0) and not self.has_length(mech):
            joint = next(name for name in self.joint_names if mech.joints[name].kind.quaternion is not None)
            title = type(mech.joints[joint].kind).__name__
            raise MechanismError(
                f"{self.label}: the orientation of joint {joint!r} ({title}) is a quaternion, so that the "
                f"{self.call.lower()} has no length: leave out stiffness (damping may stay)"
            )

    def _find(self, mech: Surroundings, coordinate: str) -> tuple[str, int]:
        joint = _joint(coordinate)
        check_joint_known(mech, joint, self.label)
        kind = mech.joints[joint].kind
        described = f"{self.label}: joint {joint!r} ({type(kind).__name__})"
        if kind.nu == 0:
            raise MechanismError(f"{described} has no coordinates to act on: name another joint")
        names = [joint] if kind.nu == 1 else [f"{joint}[{i + 1}]" for i in range(kind.nu)]
        if coordinate not in names:
            what = "coordinate" if kind.quaternion is None else "speed"
            raise MechanismNameError(f"{described} has no {what} {coordinate!r}: {suggest(coordinate, names)}")
        return joint, names.index(coordinate)


def _joint(coordinate: Any) -> Any:
    return coordinate.partition("[")[0] if isinstance(coordinate, str) else coordinate


def check_range(limits: tuple[float, float] | None, what: str) -> None:
    """Refuse a lower limit that is not less than the upper one; None has no limits."""
    if limits is not None and not limits[0] < limits[1]:
        lower, upper = limits
        raise MechanismError(f"{what}: the lower limit {lower:g} must be less than the upper limit {upper:g}")


@checks_keywords
@dataclass(frozen=True)
class Wrench(NamedForce):
    """A force and a torque applied to a body from outside: inputs such as "push.F[1]" and "push.T[3]", world axes.

    They are zero unless a simulation, a function of the system or an importer of the FMU gives them.

    Parameters
    ----------
    body
        Name of a body.
    point
        Where the force acts, in the body's frame, (3,), m.
    name
        A name, under which force and torque are found.

    Raises
    ------
    MechanismError
        On a point that is not three finite numbers, naming the wrench.

    Examples
    --------
    >>> Wrench("arm", point=(0.5, 0, 0), name="push")
    Wrench(body='arm', point=(0.5, 0.0, 0.0), name='push')
    """

    type_name = "wrench"
    call = "Wrench"
    input_label = "wrench"
    record = (
        parameter("{0}.point[]", "wrench_point", "m", "where the force acts in {1}", elements=indices(3)),
        load("{0}.F[]", "applied_force", "N", "force applied to {1}, world axes", elements=indices(3)),
        load("{0}.T[]", "applied_torque", "N.m", "torque applied to {1}, world axes", elements=indices(3)),
    )
    body: str
    point: Point = (0.0, 0.0, 0.0)
    name: str = "wrench"

    @property
    def ends(self) -> tuple[tuple[str, Point], ...]:
        """Its body and point."""
        return ((self.body, self.point),)

    @property
    def keeps_energy(self) -> bool:
        """Its inputs alone give energy."""
        return True

    def check(self, mech: Surroundings) -> None:
        """Refuse a body that does not exist (any more), and the ground."""
        super().check(mech)
        if self.body == GROUND:
            raise MechanismError(f"{self.label}: it acts on the ground, which nothing moves: name a body")


def of_kind(forces: Iterable[ForceElement], kind: type[_Kind]) -> list[_Kind]:
    """Return the forces of one kind, in their order."""
    return [force for force in forces if isinstance(force, kind)]


def by_kind(forces: Iterable[ForceElement]) -> dict[type[ForceElement], list[Any]]:
    """Return the forces that have a record, by the kinds of the core, each kind's in their order."""
    kinds = [kind for kind in FORCES.values() if kind.record]
    of_core: dict[str, list[Any]] = {kind.core_name: [] for kind in kinds}
    for force in forces:
        if force.record:
            of_core[force.core_name].append(force)
    return {kind: of_core[kind.core_name] for kind in kinds}


class Taken:
    """What the forces of a mechanism have taken: names, and joints that each can have one force.

    Read as the list grows, so that adding many stays cheap; where the list was edited, all is read again.
    """

    def __init__(self) -> None:
        self._read: list[ForceElement] = []
        self._only_grows = False
        self.names: set[str] = set()
        self.joints: set[str] = set()

    def by(self, forces: list[ForceElement]) -> Taken:
        """Return itself, brought up to a list of forces."""
        count = len(self._read)
        if not self._only_grows and self._read != (forces if len(forces) == count else forces[:count]):
            self.__init__()  # type: ignore[misc]
        for force in forces[len(self._read) :]:
            self._read.append(force)
            if isinstance(force, NamedForce):
                self.names.add(force.name)
            else:
                self.joints.update(force.joint_names)
        return self

    @contextmanager
    def only_growing(self) -> Iterator[None]:
        """Expect that forces are only added meanwhile: those that were read are not compared again at each new one."""
        self._only_grows = True
        try:
            yield
        finally:
            self._only_grows = False


def names_in_use(mech: Surroundings, but: str = "") -> dict[str, Container[str]]:
    """Return all names by kind of thing, `but` for a kind with which a new name may be shared."""
    names: dict[str, Container[str]] = {"body": mech.bodies, "joint": mech.joints}
    names |= {"coupling": mech.couplings, "distance": mech.distances, "transition": mech.transitions}
    names |= {"point": mech.points, "measure": mech.measures, "output": mech.outputs, "state": mech.states}
    names["force"] = mech.taken.by(mech.forces).names
    names.pop(but, None)
    return names
