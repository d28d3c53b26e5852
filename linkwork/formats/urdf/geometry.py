"""Origins and axes of URDF elements."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray
from linkwork.errors import MechanismError
from linkwork.formats.xml_tree import Element
from linkwork.mechanism import Frame
from linkwork.mechanism.frames import unit

_ZERO = (0.0, 0.0, 0.0)
_UNIT_TOLERANCE = 1e-3  # a length that typed digits explain


def origin_of(element: Element, tag: str = "origin") -> Frame:
    """Return the frame of the child `tag`: xyz in m, and rpy in rad about the fixed axes x, y, z; without one, Frame().

    URDF 1.1 has quat_xyzw in place of rpy.
    """
    origin = element.child(tag)
    if origin is None:
        return Frame()
    position = origin.vector("xyz", 3, _ZERO)
    if not origin.has("quat_xyzw"):
        return Frame.from_euler(origin.vector("rpy", 3, _ZERO), "xyz", position)
    if origin.has("rpy"):
        raise origin.error("it has rpy and quat_xyzw: leave one of them")
    x, y, z, w = origin.vector("quat_xyzw", 4)
    quaternion = unit(np.array([w, x, y, z]))
    if not quaternion.any():
        raise origin.error("quat_xyzw is zero: give x y z w of a rotation, such as 0 0 0 1")
    return Frame(position, quaternion)


def axis_of(
    element: Element, tag: str = "axis", default: ArrayLike | None = (1.0, 0.0, 0.0)
) -> tuple[FloatArray, float]:
    """Return the direction of the child `tag` and the length that the file gives it; with None it must be there."""
    axis = element.child(tag)
    if axis is None:
        if default is None:
            raise element.error(f"the element {tag!r} is missing")
        return np.array(default), 1.0
    given = axis.vector("xyz", 3, default if default is not None else _ZERO)
    direction = unit(given)
    if not direction.any():
        raise axis.error("it is zero: give a direction such as 0 0 1")
    return direction, float(np.linalg.norm(given))


def is_unit(length: float) -> bool:
    """Return whether a length is 1 but for typed digits."""
    return abs(length - 1.0) <= _UNIT_TOLERANCE


def rotation_onto(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return a rotation (3, 3) that turns the unit vector a onto b."""
    if not (a.shape == b.shape == (3,)):
        raise MechanismError("rotation_onto: two vectors of three numbers are needed")
    first, second = _basis(a), _basis(b)
    if np.linalg.norm(a - b) < 1e-12:
        return np.eye(3)
    cross = np.cross(a, b)
    if np.linalg.norm(cross) > 1e-9:  # about the common perpendicular, the shortest way
        n = unit(cross)
        first, second = np.column_stack([a, n, np.cross(a, n)]), np.column_stack([b, n, np.cross(b, n)])
    turned: FloatArray = second @ first.T
    return turned


def _basis(direction: FloatArray) -> FloatArray:
    """Return a right-handed frame (3, 3) whose first axis is `direction`."""
    other = np.eye(3)[int(np.abs(direction).argmin())]
    second = unit(np.cross(direction, other))
    return np.column_stack([direction, second, np.cross(direction, second)])
