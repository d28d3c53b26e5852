"""Frames and rotations."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray, check_finite, finite, length, numbers, shortened
from linkwork._util.keywords import checks_keywords
from linkwork._util.rotations import matrix_of, quaternions_of
from linkwork.errors import MechanismError

_SLACK = 1e-3  # a rotation or quaternion typed with four digits is accepted, and made exact
EXACT = 1e-14  # rounding errors; such a matrix stays as it is, so that a saved one loads with the same bits
_PARALLEL_ANGLE = 1e-9  # rad; a direction nearer to a line is parallel to it
_PARALLEL = np.eye(3)
_PARALLEL.setflags(write=False)


@checks_keywords
class Frame:
    """A frame in another one: that of a body, or the world.

    Its values are checked where the frame is used, so that the message can name the joint. The columns of `rotation`
    are the frame's axes. ``a @ b`` is the frame `b`, which is given in `a`, in the frame in which `a` is given.

    Parameters
    ----------
    position
        Origin of the frame, (3,), m.
    rotation
        Axes of the frame: a rotation matrix (3, 3), frame to body, or a unit quaternion [w, x, y, z]; None: parallel.

    Examples
    --------
    >>> Frame((0.4, 0, 0)).position
    array([0.4, 0. , 0. ])
    >>> flange = Frame((0.4, 0, 0)) @ Frame.from_euler(math.pi / 2, "z")
    >>> flange.apply((0.1, 0, 0)).round(12)
    array([0.4, 0.1, 0. ])
    """

    position: FloatArray
    rotation: FloatArray

    def __init__(self, position: ArrayLike = (0.0, 0.0, 0.0), rotation: ArrayLike | None = None) -> None:
        self.position = numbers(position, (3,), "Frame: position")
        self.rotation = rotation_matrix(rotation, "Frame: rotation")

    @classmethod
    def from_axes(
        cls,
        x: ArrayLike | None = None,
        y: ArrayLike | None = None,
        z: ArrayLike | None = None,
        origin: ArrayLike = (0.0, 0.0, 0.0),
    ) -> Frame:
        """Return the frame whose axes have given directions; two of three suffice.

        Parameters
        ----------
        x, y, z
            Directions of its axes, (3,), of any length; perpendicular to each other within 0.001 rad, and made exactly
            so.
        origin
            Its origin, (3,), m.

        Raises
        ------
        MechanismError
            On fewer than two axes, one without a direction, axes that are not perpendicular, or three left-handed ones.

        Examples
        --------
        >>> Frame.from_axes(x=(0, 2, 0), z=(0, 0, 1)).rotation[:, 1]
        array([-1.,  0.,  0.])
        """
        given = {name: _direction(axis, name) for name, axis in zip("xyz", (x, y, z), strict=True) if axis is not None}
        _check_axes(given)
        axes = [given.get(name, _PARALLEL[0]) for name in "xyz"]
        for k, name in enumerate("xyz"):
            if name not in given:
                axes[k] = np.cross(axes[k - 2], axes[k - 1])
        return cls(origin, _orthonormal(np.column_stack(axes)))

    @classmethod
    def from_euler(
        cls, angles: ArrayLike, order: str = "xyz", origin: ArrayLike = (0.0, 0.0, 0.0), *, degrees: bool = False
    ) -> Frame:
        """Return the frame rotated by Euler angles, in the conventions of SciPy's ``Rotation.from_euler``.

        Parameters
        ----------
        angles
            One angle for each axis of `order`, rad; for one axis a plain number.
        order
            One to three axes: lower case for rotations about the fixed axes, as "xyz" (roll, pitch, yaw), upper case
            for rotations about the axes as they have been rotated before, as "ZYX". The first letter is the first
            rotation.
        origin
            Its origin, (3,), m.
        degrees
            True: the angles are in degrees.

        Examples
        --------
        >>> Frame.from_euler((90, 0, 90), "xyz", degrees=True).apply((1, 1, 0)).round(12)
        array([0., 1., 1.])
        """
        axes = _rotation_axes(order)
        values = finite(np.atleast_1d(np.asarray(angles)), (len(axes),), f"Frame.from_euler: angles of {order!r}")
        rotation: FloatArray = np.eye(3)
        for axis, angle in zip(axes, np.radians(values) if degrees else values, strict=True):
            one = _about(axis, float(angle))
            rotation = rotation @ one if order.isupper() else one @ rotation
        return cls(origin, rotation)

    @classmethod
    def from_two_points(
        cls, a: ArrayLike, b: ArrayLike, axis: Literal["x", "y", "z"] = "x", up: ArrayLike | None = None
    ) -> Frame:
        """Return the frame at `a` with one of its axes towards `b`: that of a rod, a cylinder or an eye.

        Parameters
        ----------
        a, b
            Two points, (3,), m; the first is the origin.
        axis
            Which axis leads from `a` to `b`.
        up
            A direction, (3,), whose part perpendicular to the line is the direction of the frame's z axis, or of its y
            axis where `axis` is "z". By default z, or y for a line along z.

        Raises
        ------
        MechanismError
            If the points coincide, or `up` is parallel to their line.

        Examples
        --------
        >>> rod = Frame.from_two_points((0, 0, 1), (0, 2, 1))
        >>> rod.apply((2, 0, 0))
        array([0., 2., 1.])
        >>> rod.rotation[:, 2]
        array([0., 0., 1.])
        """
        if axis not in ("x", "y", "z"):
            raise MechanismError(f"Frame.from_two_points: axis must be 'x', 'y' or 'z', not {axis!r}")
        start, end = (finite(p, (3,), f"Frame.from_two_points: {n}") for n, p in (("a", a), ("b", b)))
        along = unit(end - start)
        if not along.any():
            raise MechanismError(f"Frame.from_two_points: both points are {start.tolist()}; give two different ones")
        upper = "y" if axis == "z" else "z"
        return cls.from_axes(**{axis: along, upper: _upwards(along, up)}, origin=start)

    @property
    def quaternion(self) -> FloatArray:
        """Its axes as a unit quaternion [w, x, y, z], w >= 0, (4,)."""
        found: FloatArray = quaternions_of(self.rotation[None])[0]
        return found

    def apply(self, points: ArrayLike) -> FloatArray:
        """Return points (..., 3), m, that are given in this frame, in the frame in which it is given."""
        return self.rotate(points) + self.position

    def rotate(self, vectors: ArrayLike) -> FloatArray:
        """Return directions (..., 3) in the axes of this frame in those of the frame in which it is given."""
        given = np.asarray(vectors, dtype=np.float64)
        if given.shape[-1:] != (3,):
            raise MechanismError(f"Frame: points and vectors have three coordinates, not the shape {given.shape}")
        rotated: FloatArray = given @ self.rotation.T
        return rotated

    def inverse(self) -> Frame:
        """Return the frame in which this one is given, in this one: ``f @ f.inverse()`` is ``Frame()``."""
        return Frame(-self.position @ self.rotation, self.rotation.T)

    def __matmul__(self, other: Frame) -> Frame:
        if not isinstance(other, Frame):
            return NotImplemented
        return Frame(self.apply(other.position), self.rotation @ other.rotation)

    def __repr__(self) -> str:
        turned = "" if np.array_equal(self.rotation, np.eye(3)) else f", {self.rotation.tolist()}"
        return f"Frame({tuple(self.position.tolist())}{turned})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Frame):
            return NotImplemented
        return np.array_equal(self.position, other.position) and np.array_equal(self.rotation, other.rotation)

    def __hash__(self) -> int:
        return hash((*self.position.tolist(), *self.rotation.ravel().tolist()))

    def check(self, what: str) -> None:
        """Refuse a position that is not finite and a rotation that is none; `what` names the frame."""
        check_finite(self.position, f"{what}: position")
        check_rotation(self.rotation, f"{what}: rotation")


def rotation_matrix(rotation: ArrayLike | None, what: str) -> FloatArray:
    """Return the matrix (3, 3), read-only, of a matrix, a quaternion [w, x, y, z] or None.

    A rotation with a few typed digits becomes exact; any other matrix is returned as it is, for `check_rotation` to
    refuse.

    >>> rotation_matrix([0, 0, 0, 1], "rotation").diagonal()
    array([-1., -1., 1.])
    """
    if rotation is None:
        return _PARALLEL
    if length(rotation) == 4:
        matrix = _from_quaternion(numbers(rotation, (4,), what))
    else:
        matrix = _nearest_rotation(numbers(rotation, (3, 3), what))
    matrix.setflags(write=False)
    return matrix


def check_rotation(matrix: FloatArray, what: str) -> None:
    """Refuse a matrix (3, 3) that is not a rotation."""
    if matrix is _PARALLEL:
        return
    check_finite(matrix, what)
    if _deviation(matrix) > EXACT or np.linalg.det(matrix) < 0:
        raise MechanismError(
            f"{what} must be a rotation matrix (orthonormal, determinant +1) or a unit quaternion [w, x, y, z]; "
            f"as a matrix it is {matrix.tolist()}"
        )


_LETTERS = "xyz"


def direction(given: ArrayLike, what: str) -> FloatArray:
    """Return the unit vector (3,) along a vector, or along the axis that "x", "y" or "z" names; `what` names it.

    >>> direction("y", "axis"), direction((0, 0, 2), "axis")
    (array([0., 1., 0.]), array([0., 0., 1.]))
    """
    if isinstance(given, str):
        if given not in [*_LETTERS]:
            raise MechanismError(f"{what} must be a vector, or 'x', 'y' or 'z', not {given!r}")
        axis = np.zeros(3)
        axis[_LETTERS.index(given)] = 1.0
        axis.setflags(write=False)
        return axis
    vector = finite(given, (3,), what)
    if not vector.any():
        raise MechanismError(f"{what} is zero; give a vector along it, such as (0, 0, 1)")
    return unit(vector)


def unit(vector: FloatArray) -> FloatArray:
    """Return `vector` (n,) with length 1, read-only; one without a direction is returned as it is."""
    parts = vector.tolist()
    if parts.count(0.0) == len(parts) - 1 and (1.0 in parts or -1.0 in parts):  # along an axis, as most are
        return vector
    largest = np.abs(vector).max()
    if not 0.0 < largest < np.inf:
        return vector
    if largest < 2.0 and abs(np.linalg.norm(vector) - 1.0) <= EXACT:
        return vector
    scaled = vector / largest  # whose length neither overflows nor vanishes
    result: FloatArray = scaled / np.linalg.norm(scaled)
    result.setflags(write=False)
    return result


def _deviation(matrix: FloatArray) -> float:
    if not np.abs(matrix).max() <= 2.0:  # far off or NaN; the product below might overflow
        return np.inf
    return float(np.abs(matrix.T @ matrix - np.eye(3)).max())


def _nearest_rotation(matrix: FloatArray) -> FloatArray:
    if EXACT < _deviation(matrix) <= _SLACK:
        left, _, right = np.linalg.svd(matrix)
        matrix = left @ right
    return matrix


def _direction(axis: ArrayLike, name: str) -> FloatArray:
    """Return an axis with length 1."""
    found = unit(finite(axis, (3,), f"Frame.from_axes: {name}"))
    if not found.any():
        raise MechanismError(f"Frame.from_axes: {name} is zero and has no direction")
    return found


def _check_axes(axes: dict[str, FloatArray]) -> None:
    """Refuse fewer than two axes, those that are not perpendicular, and three left-handed ones."""
    if len(axes) < 2:
        raise MechanismError(
            "Frame.from_axes: give two of the axes x, y and z; with one, Frame.from_two_points chooses the others"
        )
    for first, second in ("xy", "xz", "yz"):
        if first in axes and second in axes and abs(cosine := float(axes[first] @ axes[second])) > _SLACK:
            angle = math.degrees(math.acos(max(-1.0, min(1.0, cosine))))
            raise MechanismError(
                f"Frame.from_axes: {first} and {second} must be perpendicular, and the angle between them is "
                f"{angle:.6g} deg; take off from one of them its part along the other"
            )
    if len(axes) == 3 and np.cross(axes["x"], axes["y"]) @ axes["z"] < 0.0:
        raise MechanismError("Frame.from_axes: x, y and z are left-handed; change the sign of one of them")


def _orthonormal(matrix: FloatArray) -> FloatArray:
    """Return the rotation nearest to a matrix."""
    if _deviation(matrix) <= EXACT:
        return matrix
    left, _, right = np.linalg.svd(matrix)
    nearest: FloatArray = left @ right
    return nearest


def _rotation_axes(order: str) -> list[int]:
    """Return the axes, from 0, of rotations such as "xyz" or "ZYX"."""
    axes = ["xyz".find(letter) for letter in order.lower()] if isinstance(order, str) else []
    one_case = isinstance(order, str) and order in (order.lower(), order.upper())
    twice = any(first == second for first, second in pairwise(axes))
    if not one_case or not 1 <= len(axes) <= 3 or -1 in axes or twice:
        raise MechanismError(
            f"Frame.from_euler: order must be one to three axes, none twice in a row, such as 'xyz' (fixed axes) or "
            f"'ZYX' (rotated axes), not {shortened(order)}"
        )
    return axes


def _about(axis: int, angle: float) -> FloatArray:
    """Return the rotation (3, 3) by an angle about one of the axes."""
    cosine, sine = math.cos(angle), math.sin(angle)
    rotation: FloatArray = np.eye(3)
    first, second = (axis + 1) % 3, (axis + 2) % 3
    rotation[[first, second], [first, second]] = cosine
    rotation[second, first], rotation[first, second] = sine, -sine
    return rotation


def _upwards(along: FloatArray, up: ArrayLike | None) -> FloatArray:
    """Return the part of a direction that is perpendicular to a line, of length 1."""
    if up is None:
        wanted = _PARALLEL[2] if abs(along[2]) < 1.0 - _SLACK**2 else _PARALLEL[1]
    else:
        wanted = unit(finite(up, (3,), "Frame.from_two_points: up"))
    across: FloatArray = wanted - (wanted @ along) * along
    if np.linalg.norm(across) < _PARALLEL_ANGLE:
        raise MechanismError(
            f"Frame.from_two_points: up, {shortened(wanted.tolist())}, is parallel to the line from a to b; give "
            "another direction"
        )
    across = unit(across)
    return unit(across - (across @ along) * along)  # again, for the digits that were lost where it is nearly parallel


def _from_quaternion(quaternion: FloatArray) -> FloatArray:
    with np.errstate(over="ignore", invalid="ignore"):  # a length far from 1 gives no rotation, which is refused later
        norm = np.linalg.norm(quaternion)
        return matrix_of(quaternion / norm if abs(norm - 1.0) <= _SLACK else quaternion)
