"""Forces that belong to the description of a mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from linkwork.description.checks import number
from linkwork.errors import MechanismError

FORCES: dict[str, type[Force]] = {}


@dataclass(frozen=True)
class Force:
    """A force that acts in a joint; the fields of a kind of force are its keys in files.

    Attributes
    ----------
    type_name
        Its name in files.
    joint
        Name of the joint it acts in.
    """

    type_name: ClassVar[str]
    joint: str

    def __init_subclass__(cls) -> None:
        FORCES[cls.type_name] = cls


@dataclass(frozen=True)
class SpringDamper(Force):
    """A linear spring and damper on the coordinate of a joint: tau = -stiffness (q - free) - damping u.

    Parameters
    ----------
    joint
        Name of a joint with one coordinate.
    stiffness
        N m/rad in a revolute, N/m in a prismatic joint; may be negative.
    damping
        N m s/rad or N s/m; may be negative.
    free
        Coordinate at which the spring is relaxed, rad or m.

    Raises
    ------
    MechanismError
        On a value that is not a finite number, naming the joint.

    Examples
    --------
    >>> SpringDamper("A", stiffness=20)
    SpringDamper(joint='A', stiffness=20.0, damping=0.0, free=0.0)
    """

    type_name = "spring_damper"
    stiffness: float = 0.0
    damping: float = 0.0
    free: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.joint, str):
            raise MechanismError(f"SpringDamper: joint must be the name of a joint, not {self.joint!r}")
        for name in ("stiffness", "damping", "free"):
            value = number(getattr(self, name), f"SpringDamper on joint {self.joint!r}: {name}")
            object.__setattr__(self, name, value)
