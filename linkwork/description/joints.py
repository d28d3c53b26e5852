"""The kinds of joints.

A new kind is one class here: its name in files, its numbers of coordinates and speeds, and the names of its axes.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from linkwork.description.checks import FloatArray, check_finite, numbers
from linkwork.errors import MechanismError

KINDS: dict[str, type[JointKind]] = {}


class JointKind:
    """What a joint lets its child do relative to its parent.

    Attributes
    ----------
    type_name
        Its name in files.
    nq, nu
        Numbers of its coordinates and of its speeds.
    axis_names
        Names of the axes that the constructor takes and that are attributes: unit vectors, (3,), in joint-frame axes.
        They are checked where the joint is added, so that the message can name it.
    """

    type_name: ClassVar[str]
    nq: ClassVar[int]
    nu: ClassVar[int]
    axis_names: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        KINDS[cls.type_name] = cls

    @property
    def axes(self) -> tuple[FloatArray, ...]:
        """The axes in the order of `axis_names`, each (3,)."""
        return tuple(getattr(self, name) for name in self.axis_names)

    def check(self, what: str) -> None:
        """Refuse an axis without a direction; `what` names the joint."""
        for name, axis in zip(self.axis_names, self.axes, strict=True):
            check_finite(axis, f"{what}: {name}")
            if not axis.any():
                raise MechanismError(f"{what}: {name} is zero; give a vector along it, such as (0, 0, 1)")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(str(tuple(axis.tolist())) for axis in self.axes)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JointKind):
            return NotImplemented
        return type(self) is type(other) and np.array_equal(self.axes, other.axes)

    def __hash__(self) -> int:
        return hash((self.type_name, *(tuple(axis.tolist()) for axis in self.axes)))


class Revolute(JointKind):
    """A hinge: q is the angle in rad of the child about `axis`, right-handed; u is its rate in rad/s.

    >>> Revolute(axis=(0, 2, 0))
    Revolute((0.0, 1.0, 0.0))
    """

    type_name = "revolute"
    nq = nu = 1
    axis_names = ("axis",)

    def __init__(self, axis: ArrayLike) -> None:
        self.axis = _direction(axis, "Revolute: axis")


class Prismatic(JointKind):
    """A slide: q is the displacement in m of the child along `axis`; u is its rate in m/s."""

    type_name = "prismatic"
    nq = nu = 1
    axis_names = ("axis",)

    def __init__(self, axis: ArrayLike) -> None:
        self.axis = _direction(axis, "Prismatic: axis")


class Fixed(JointKind):
    """A weld: no coordinate."""

    type_name = "fixed"
    nq = nu = 0


def _direction(vector: ArrayLike, what: str) -> FloatArray:
    """Return the unit vector along `vector` (3,); one without a direction is returned as it is."""
    given = numbers(vector, (3,), what)
    largest = np.abs(given).max()
    if not 0.0 < largest < np.inf:
        return given
    if largest < 2.0 and abs(np.linalg.norm(given) - 1.0) <= 1e-14:
        return given  # not rounded once more: a saved axis loads with the same bits
    scaled = given / largest  # whose length neither overflows nor vanishes
    unit: FloatArray = scaled / np.linalg.norm(scaled)
    unit.setflags(write=False)
    return unit
