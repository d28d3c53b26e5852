"""Forces that belong to the description of a mechanism, and those applied from outside.

Springs stand in `springs`, actuators in `actuators`. A new kind is one class: its name in files, its fields, and what
it must find in a mechanism.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeVar

from linkwork._util.checks import check_name, finite
from linkwork._util.keywords import checks_keywords
from linkwork.errors import MechanismError
from linkwork.mechanism.part_checks import GROUND, check_body_known, check_joint_known, check_new_name

if TYPE_CHECKING:
    from linkwork.mechanism.surroundings import Surroundings

FORCES: dict[str, type[Force]] = {}

Point = tuple[float, float, float]
_Kind = TypeVar("_Kind", bound="Force")


class Force:
    """A force of a mechanism; the fields of a kind of force are its keys in files.

    Attributes
    ----------
    type_name
        Its name in files.
    """

    type_name: ClassVar[str]

    def __init_subclass__(cls) -> None:
        if "type_name" in cls.__dict__:
            FORCES[cls.type_name] = cls

    @property
    def label(self) -> str:
        """What messages call it."""
        return type(self).__name__

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints in which it acts."""
        return ()

    @property
    def body_names(self) -> tuple[str, ...]:
        """The bodies on which it acts otherwise, the ground among them."""
        return ()

    def check(self, mech: Surroundings) -> None:
        """Refuse joints and bodies that do not exist (any more) or do not fit it."""
        for joint in self.joint_names:
            check_joint_known(mech, joint, self.label)
        for body in self.body_names:
            check_body_known(mech, self.label, body)

    def check_new(self, mech: Surroundings) -> None:
        """Refuse a conflict with the forces of a mechanism."""


class NamedForce(Force):
    """A force that has a name of its own."""

    call: ClassVar[str]
    name: str

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"{self.call} {self.name!r}"

    def check_new(self, mech: Surroundings) -> None:
        """Refuse a name that is taken, by a body or joint as well."""
        check_new_name(self.name, self.call, names_in_use(mech))


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
    body: str
    point: Point = (0.0, 0.0, 0.0)
    name: str = "wrench"

    def __post_init__(self) -> None:
        check_name(self.name, self.call)
        object.__setattr__(self, "point", tuple(finite(self.point, (3,), f"{self.label}: point").tolist()))

    @property
    def body_names(self) -> tuple[str, ...]:
        """Its body."""
        return (self.body,)

    def check(self, mech: Surroundings) -> None:
        """Refuse a body that does not exist (any more), and the ground."""
        super().check(mech)
        if self.body == GROUND:
            raise MechanismError(f"{self.label}: it acts on the ground, which nothing moves: name a body")


def of_kind(forces: Iterable[Force], kind: type[_Kind]) -> list[_Kind]:
    """Return the forces of one kind, in their order."""
    return [force for force in forces if isinstance(force, kind)]


class Taken:
    """What the forces of a mechanism have taken: names, and joints that each can have one force.

    Read as the list grows, so that adding many stays cheap; where the list was edited, all is read again.
    """

    def __init__(self) -> None:
        self._read: list[Force] = []
        self.names: set[str] = set()
        self.joints: set[str] = set()

    def by(self, forces: list[Force]) -> Taken:
        """Return itself, brought up to a list of forces."""
        if self._read != forces[: len(self._read)]:
            self.__init__()  # type: ignore[misc]
        for force in forces[len(self._read) :]:
            self._read.append(force)
            if isinstance(force, NamedForce):
                self.names.add(force.name)
            else:
                self.joints.update(force.joint_names)
        return self


def names_in_use(mech: Surroundings, but: str = "") -> dict[str, Container[str]]:
    """Return all names by kind of thing, `but` for a kind with which a new name may be shared."""
    names: dict[str, Container[str]] = {"body": mech.bodies, "joint": mech.joints}
    names |= {"coupling": mech.couplings, "distance": mech.distances, "transition": mech.transitions}
    names |= {"point": mech.points, "measure": mech.measures}
    names["force"] = mech.taken.by(mech.forces).names
    return {kind: taken for kind, taken in names.items() if kind != but}
