"""Forces that belong to the description of a mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from linkwork.description.checks import finite, length, number
from linkwork.description.joints import JointKind
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

    def check(self, kind: JointKind) -> None:
        """Refuse a kind of joint that the force cannot act in."""
        if kind.nu == 0:
            raise MechanismError(
                f"{type(self).__name__}: joint {self.joint!r} ({type(kind).__name__}) has no coordinates to act on: "
                "name another joint"
            )


@dataclass(frozen=True)
class SpringDamper(Force):
    """Linear springs and dampers on the coordinates of a joint: tau = -stiffness (q - free) - damping u.

    Parameters
    ----------
    joint
        Name of the joint. In one of several speeds each value is a number for all of them, or one for each.
    stiffness
        N m/rad of an angle, N/m of a displacement; may be negative. Joints whose orientation is a quaternion,
        `Spherical` and `Free`, take none.
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
    >>> SpringDamper("ball", damping=[0.1, 0.1, 0.3]).damping
    (0.1, 0.1, 0.3)
    """

    type_name = "spring_damper"
    stiffness: float | Sequence[float] = 0.0
    damping: float | Sequence[float] = 0.0
    free: float | Sequence[float] = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.joint, str):
            raise MechanismError(f"SpringDamper: joint must be the name of a joint, not {self.joint!r}")
        for name in ("stiffness", "damping", "free"):
            value = _number_or_numbers(getattr(self, name), f"{self._what}: {name}")
            object.__setattr__(self, name, value)

    @property
    def _what(self) -> str:
        return f"SpringDamper on joint {self.joint!r}"

    def check(self, kind: JointKind) -> None:
        """Refuse values of another size than the joint's speeds, and springs against a quaternion."""
        super().check(kind)
        title = type(kind).__name__
        for name in ("stiffness", "damping", "free"):
            count = np.size(getattr(self, name))
            if count not in (1, kind.nu):
                raise MechanismError(
                    f"{self._what}: {name} has {count} numbers, but a {title} has {kind.nu} speeds: "
                    f"give one number for all of them, or {kind.nu}"
                )
        if kind.quaternion is not None and (np.any(self.stiffness) or np.any(self.free)):
            raise MechanismError(
                f"{self._what}: the orientation of a {title} is a quaternion, on which no spring acts: leave out "
                "stiffness and free (damping may stay), and put springs between points of the two bodies instead"
            )


def _number_or_numbers(value: ArrayLike, what: str) -> float | tuple[float, ...]:
    size = 0 if isinstance(value, str) else length(value)
    return tuple(finite(value, (size,), what).tolist()) if size else number(value, what)
