"""Forces that belong to the description of a mechanism: in joints, between points of bodies, and applied to a body.

A new kind is one class here: its name in files, its fields, and what it must find in a mechanism.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, overload

from numpy.typing import ArrayLike

from linkwork.description.checks import (
    GROUND,
    check_body_known,
    check_joint_known,
    check_name,
    check_new_name,
    finite,
    number,
)
from linkwork.errors import MechanismError

if TYPE_CHECKING:
    from linkwork.description.mechanism import Mechanism

FORCES: dict[str, type[Force]] = {}

Point = tuple[float, float, float]
_Kind = TypeVar("_Kind", bound="Force")


class Force:
    """A force of a mechanism; the fields of a kind of force are its keys in files.

    Attributes
    ----------
    type_name
        Its name in files.
    joint_names, body_names
        What it acts on.
    """

    type_name: ClassVar[str]

    def __init_subclass__(cls) -> None:
        if "type_name" in cls.__dict__:
            FORCES[cls.type_name] = cls

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Joints in which it acts."""
        return ()

    @property
    def body_names(self) -> tuple[str, ...]:
        """Bodies on which it acts, the ground among them."""
        return ()

    @property
    def label(self) -> str:
        """What messages call it."""
        return type(self).__name__

    def check_references(self, mech: Mechanism) -> None:
        """Refuse joints and bodies that do not exist (any more)."""
        for joint in self.joint_names:
            check_joint_known(mech, joint, self.label)
        for body in self.body_names:
            check_body_known(mech, self.label, body)

    def check_new(self, mech: Mechanism) -> None:
        """Refuse to join a mechanism that has no place for it."""
        self.check_references(mech)


class SpringDamper(Force):
    """A linear spring and damper, in a joint or between points of two bodies.

    In a joint, it adds -stiffness (q - free) - damping u to the joint's load. Between points, it pulls them towards
    each other with stiffness (length - free) + damping d(length)/dt, or pushes where that is negative; where they
    coincide, there is no direction and no force.

    Parameters
    ----------
    joint
        Name of a joint with one coordinate.
    bodies, points
        Instead of a joint: the names of two bodies, one of them may be "ground", and a point of each, (2, 3), m, in the
        frame of its body.
    stiffness
        N/m, in a revolute joint N m/rad; may be negative.
    damping
        N s/m, in a revolute joint N m s/rad; may be negative.
    free
        Length, in a joint coordinate, at which the spring is relaxed, m or rad.
    name
        Between points: a name, under which its length and force are found.

    Raises
    ------
    MechanismError
        On a value that is not finite or not of its shape, naming the joint or the spring.

    Examples
    --------
    >>> SpringDamper("A", stiffness=20)
    SpringDamper(joint='A', stiffness=20.0, damping=0.0, free=0.0)
    >>> SpringDamper(bodies=("ground", "arm"), points=((0, 0, 1), (0.5, 0, 0)), stiffness=300, free=0.8, name="spring")
    SpringDamper(bodies=('ground', 'arm'), points=((0.0, 0.0, 1.0), (0.5, 0.0, 0.0)), stiffness=300.0, damping=0.0, \
free=0.8, name='spring')
    """

    @overload
    def __new__(
        cls, joint: str, stiffness: float = 0.0, damping: float = 0.0, free: float = 0.0
    ) -> JointSpringDamper: ...
    @overload
    def __new__(
        cls,
        *,
        bodies: tuple[str, str],
        points: ArrayLike,
        stiffness: float = 0.0,
        damping: float = 0.0,
        free: float = 0.0,
        name: str = "spring",
    ) -> PointSpringDamper: ...
    def __new__(cls, *args: Any, **given: Any) -> SpringDamper:
        """Choose by what is given; the classes themselves come here too, without arguments when they are copied."""
        if cls is not SpringDamper:
            return super().__new__(cls)
        in_joint, between = bool(args) or "joint" in given, given.keys() & {"bodies", "points", "name"}
        if in_joint and between:
            raise MechanismError(
                f"SpringDamper: a joint does not go with {', '.join(sorted(between))}: "
                "give either the joint, or bodies= and points="
            )
        if not in_joint and not between >= {"bodies", "points"}:
            raise MechanismError(
                "SpringDamper: give a joint as in SpringDamper('A', stiffness=1.0), or both "
                "bodies=('a', 'b') and points=((x, y, z), (x, y, z))"
            )
        return super().__new__(JointSpringDamper if in_joint else PointSpringDamper)

    def __repr__(self) -> str:
        return f"SpringDamper({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in fields(self))})"  # type: ignore[arg-type]


@dataclass(frozen=True, repr=False)
class JointSpringDamper(SpringDamper):
    """A spring and damper on the coordinate of a joint: tau = -stiffness (q - free) - damping u."""

    type_name = "spring_damper"
    joint: str
    stiffness: float = 0.0
    damping: float = 0.0
    free: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.joint, str):
            raise MechanismError(f"SpringDamper: joint must be the name of a joint, not {self.joint!r}")
        _make_floats(self, f"SpringDamper on joint {self.joint!r}")

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Its joint."""
        return (self.joint,)

    @property
    def label(self) -> str:
        """What messages call it."""
        return "SpringDamper"

    def check_new(self, mech: Mechanism) -> None:
        """Refuse a joint that is not fit for it."""
        self.check_references(mech)
        coordinates = mech.joints[self.joint].kind.nu
        if coordinates != 1:
            raise MechanismError(
                f"SpringDamper: joint {self.joint!r} has {coordinates} coordinates, a SpringDamper acts on one: "
                "name another joint"
            )
        if any(other.joint == self.joint for other in of_kind(mech.forces, JointSpringDamper)):
            raise MechanismError(f"joint {self.joint!r} has a SpringDamper already: give one with the sum of both")


@dataclass(frozen=True, repr=False)
class PointSpringDamper(SpringDamper):
    """A spring and damper between points of two bodies: pulls with stiffness (length - free) + damping d(length)/dt."""

    type_name = "point_spring_damper"
    bodies: tuple[str, str]
    points: tuple[Point, Point]
    stiffness: float = 0.0
    damping: float = 0.0
    free: float = 0.0
    name: str = "spring"

    def __post_init__(self) -> None:
        check_name(self.name, "SpringDamper")
        bodies = tuple(self.bodies) if isinstance(self.bodies, tuple | list) else ()
        if len(bodies) != 2 or not all(isinstance(body, str) for body in bodies):
            raise MechanismError(f"{self.label}: bodies must be the names of two bodies, not {self.bodies!r}")
        points = finite(self.points, (2, 3), f"{self.label}: points (one in the frame of each body)")
        object.__setattr__(self, "bodies", bodies)
        object.__setattr__(self, "points", tuple(map(tuple, points.tolist())))
        _make_floats(self, self.label)

    @property
    def body_names(self) -> tuple[str, ...]:
        """Its bodies."""
        return self.bodies

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"SpringDamper {self.name!r}"

    def check_new(self, mech: Mechanism) -> None:
        """Refuse a name that is taken and bodies that are not fit for it."""
        _check_named(self, "SpringDamper", self.name, mech)
        first, second = self.bodies
        if first == second:
            raise MechanismError(f"{self.label}: both ends are on {first!r}, where it does nothing: name two bodies")


@dataclass(frozen=True)
class Wrench(Force):
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
    body: str
    point: Point = (0.0, 0.0, 0.0)
    name: str = "wrench"

    def __post_init__(self) -> None:
        check_name(self.name, "Wrench")
        object.__setattr__(self, "point", tuple(finite(self.point, (3,), f"{self.label}: point").tolist()))

    @property
    def body_names(self) -> tuple[str, ...]:
        """Its body."""
        return (self.body,)

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"Wrench {self.name!r}"

    def check_new(self, mech: Mechanism) -> None:
        """Refuse a name that is taken and bodies that are not fit for it."""
        _check_named(self, "Wrench", self.name, mech)
        if self.body == GROUND:
            raise MechanismError(f"{self.label}: it acts on the ground, which nothing moves: name a body")


def of_kind(forces: Iterable[Force], kind: type[_Kind]) -> list[_Kind]:
    """Return the forces of one kind, in their order."""
    return [force for force in forces if isinstance(force, kind)]


def names_of(forces: Iterable[Force]) -> list[str]:
    """Return the names of those forces that have one."""
    return [force.name for force in forces if isinstance(force, PointSpringDamper | Wrench)]


def _check_named(force: Force, what: str, name: str, mech: Mechanism) -> None:
    """Refuse a force whose name is taken, by a body or joint as well, or that acts on what does not exist."""
    check_new_name(name, what, {"body": mech.bodies, "joint": mech.joints, "force": names_of(mech.forces)})
    force.check_references(mech)


def _make_floats(force: Force, what: str) -> None:
    for name in ("stiffness", "damping", "free"):
        object.__setattr__(force, name, number(getattr(force, name), f"{what}: {name}"))
