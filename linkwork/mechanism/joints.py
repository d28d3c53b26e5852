"""The kinds of joints.

A new kind is one class here: its name in files, the units of its coordinates and speeds, its axes, and the canonical
joint frame in which the mechanics are written.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray, check_finite, numbers
from linkwork._util.rotations import rotation_from_z
from linkwork.errors import MechanismError
from linkwork.mechanism.frames import unit

KINDS: dict[str, type[JointKind]] = {}

_SLACK = 1e-5  # cosine of the angle between axes that are perpendicular but for the digits they were typed with
_EXACT = 1e-14  # what rounding leaves; not touched again, so that saved axes load with the same bits


class JointKind:
    """What a joint lets its child do relative to its parent.

    Attributes
    ----------
    type_name
        Its name in files.
    axis_names
        Names of the axes that the constructor takes and that are attributes: unit vectors, (3,), in joint-frame axes.
        They are checked where the joint is added, so that the message can name it.
    coordinate_units
        Of each coordinate: "rad", "m", or "1" for the elements of a unit quaternion [w, x, y, z], child in parent.
    motion_units
        Of what each speed is the rate of: "rad" or "m".
    nq, nu
        Numbers of coordinates and of speeds.
    quaternion
        Where the quaternion stands among the coordinates, None if there is none.
    frame_note
        Orientation of the canonical joint frame, for the description of a parameter.
    """

    type_name: ClassVar[str]
    axis_names: ClassVar[tuple[str, ...]] = ()
    coordinate_units: ClassVar[tuple[str, ...]] = ()
    motion_units: ClassVar[tuple[str, ...]] = ()
    nq: ClassVar[int]
    nu: ClassVar[int]
    quaternion: ClassVar[slice | None]
    frame_note: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        units = cls.coordinate_units
        cls.nq, cls.nu = len(units), len(cls.motion_units)
        cls.quaternion = slice(units.index("1"), units.index("1") + 4) if "1" in units else None
        KINDS[cls.type_name] = cls

    @property
    def axes(self) -> tuple[FloatArray, ...]:
        """The axes in the order of `axis_names`, each (3,)."""
        return tuple(getattr(self, name) for name in self.axis_names)

    @property
    def canonical_axes(self) -> FloatArray:
        """The canonical joint frame: its axes, (3, 3), one a column, in joint-frame axes."""
        return rotation_from_z(self.axes[0]) if self.axes else np.eye(3)

    @property
    def neutral(self) -> FloatArray:
        """Coordinates (nq,) at which the joint's frames coincide."""
        q = np.zeros(self.nq)
        if self.quaternion is not None:
            q[self.quaternion.start] = 1.0
        return q

    def normalised(self, q: FloatArray, what: str) -> FloatArray:
        """Return coordinates (nq,) with a quaternion of length 1; one of length 0 is refused; `what` names it all."""
        if self.quaternion is None:
            return q
        given = q[self.quaternion]
        if not given.any():
            raise MechanismError(
                f"{what} has a quaternion of length zero; give [w, x, y, z] of a rotation, such as (1, 0, 0, 0)"
            )
        normal = q.copy()
        normal[self.quaternion] = unit(given)
        normal.setflags(write=False)
        return normal

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
    axis_names = ("axis",)
    coordinate_units = motion_units = ("rad",)
    frame_note = "joint axis along z"

    def __init__(self, axis: ArrayLike) -> None:
        self.axis = _direction(axis, "Revolute: axis")


class Prismatic(JointKind):
    """A slide: q is the displacement in m of the child along `axis`; u is its rate in m/s."""

    type_name = "prismatic"
    axis_names = ("axis",)
    coordinate_units = motion_units = ("m",)
    frame_note = "joint axis along z"

    def __init__(self, axis: ArrayLike) -> None:
        self.axis = _direction(axis, "Prismatic: axis")


class Universal(JointKind):
    """A Cardan joint: two hinges whose axes are perpendicular and intersect.

    q are the angles in rad about `axis1`, fixed in the parent, and about `axis2`, fixed in the child; u are their rates
    in rad/s. The child is turned about axis2 first, then about axis1.

    >>> Universal((0, 0, 1), (2, 0, 0))
    Universal((0.0, 0.0, 1.0), (1.0, 0.0, 0.0))
    """

    type_name = "universal"
    axis_names = ("axis1", "axis2")
    coordinate_units = motion_units = ("rad", "rad")
    frame_note = "axis1 along z, axis2 along x"

    def __init__(self, axis1: ArrayLike, axis2: ArrayLike) -> None:
        self.axis1 = _direction(axis1, "Universal: axis1")
        self.axis2 = _perpendicular(_direction(axis2, "Universal: axis2"), self.axis1)

    def check(self, what: str) -> None:
        """Refuse axes without a direction and axes that are not perpendicular."""
        super().check(what)
        if abs(self.axis1 @ self.axis2) > _EXACT:
            angle = np.degrees(np.arccos(np.clip(self.axis1 @ self.axis2, -1.0, 1.0)))
            raise MechanismError(
                f"{what}: axis1 and axis2 of a Universal must be perpendicular where its coordinates are zero, not at "
                f"{angle:.6g} degrees; correct one of them, or put the other angle into child_frame"
            )

    @property
    def canonical_axes(self) -> FloatArray:
        """The canonical joint frame: axis1 is its z, axis2 its x."""
        return np.column_stack([self.axis2, np.cross(self.axis1, self.axis2), self.axis1])


class Cylindrical(JointKind):
    """A slide that also turns.

    q are the angle in rad about and the displacement in m along `axis`; u are their rates in rad/s and m/s.
    """

    type_name = "cylindrical"
    axis_names = ("axis",)
    coordinate_units = motion_units = ("rad", "m")
    frame_note = "joint axis along z"

    def __init__(self, axis: ArrayLike) -> None:
        self.axis = _direction(axis, "Cylindrical: axis")


class Planar(JointKind):
    """A plane across `normal` on which the child slides and turns.

    q are the displacements in m along x and y, fixed in the parent, and the angle in rad about the normal; u are their
    rates in m/s and rad/s. x is the joint frame's x axis projected on the plane (its y axis where the normal is within
    25 degrees of x), and y completes the right-handed frame x, y, normal.
    """

    type_name = "planar"
    axis_names = ("normal",)
    coordinate_units = motion_units = ("m", "m", "rad")
    frame_note = "normal along z, displacements along x and y"

    def __init__(self, normal: ArrayLike) -> None:
        self.normal = _direction(normal, "Planar: normal")

    @property
    def canonical_axes(self) -> FloatArray:
        """The canonical joint frame: the normal is its z, the displacements are along its x and y."""
        z = self.normal
        nearest = np.eye(3)[1 if abs(z[0]) > 0.9 else 0]
        x = unit(nearest - (nearest @ z) * z)
        return np.column_stack([x, np.cross(z, x), z])


class Spherical(JointKind):
    """A ball in a socket.

    q is the unit quaternion [w, x, y, z] of the child in the parent; u is the angular velocity of the child relative to
    the parent in rad/s, in child axes. An element of u is not the rate of one of q.
    """

    type_name = "spherical"
    coordinate_units = ("1",) * 4
    motion_units = ("rad",) * 3


class Free(JointKind):
    """No constraint: the child moves freely relative to the parent.

    q are the position in m of the child's joint frame in the parent's, in parent axes, and the unit quaternion
    [w, x, y, z] of the child in the parent; u are the angular velocity in rad/s of the child relative to the parent and
    the relative velocity in m/s of its frame's origin, both in child axes.
    """

    type_name = "free"
    coordinate_units = ("m",) * 3 + ("1",) * 4
    motion_units = ("rad",) * 3 + ("m",) * 3


class Fixed(JointKind):
    """A weld: no coordinate."""

    type_name = "fixed"


def _direction(vector: ArrayLike, what: str) -> FloatArray:
    """Return the unit vector along `vector` (3,); one without a direction is returned as it is."""
    return unit(numbers(vector, (3,), what))


def _perpendicular(vector: FloatArray, axis: FloatArray) -> FloatArray:
    """Return a unit vector that is nearly perpendicular to a unit vector as one that is; any other as it is."""
    with np.errstate(invalid="ignore"):  # values that are not finite are refused later
        cosine = float(vector @ axis)
    return unit(vector - cosine * axis) if _EXACT < abs(cosine) <= _SLACK else vector
