"""Frames and rotations."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray, check_finite, length, numbers
from linkwork._util.keywords import checks_keywords
from linkwork._util.rotations import matrix_of
from linkwork.errors import MechanismError

_SLACK = 1e-3  # a rotation or quaternion typed with four digits is accepted, and made exact
_EXACT = 1e-14  # rounding errors; such a matrix stays as it is, so that a saved one loads with the same bits
_PARALLEL = np.eye(3)
_PARALLEL.setflags(write=False)


@checks_keywords
class Frame:
    """A frame in the axes of a body or of the world.

    Its values are checked where the frame is used, so that the message can name the joint.

    Parameters
    ----------
    position
        Origin of the frame, (3,), m.
    rotation
        Axes of the frame: a rotation matrix (3, 3), frame to body, or a unit quaternion [w, x, y, z]; None: parallel.

    Raises
    ------
    MechanismError
        On arrays of the wrong shape.

    Examples
    --------
    >>> Frame((0.4, 0, 0)).position
    array([0.4, 0. , 0. ])
    """

    position: FloatArray
    rotation: FloatArray

    def __init__(self, position: ArrayLike = (0.0, 0.0, 0.0), rotation: ArrayLike | None = None) -> None:
        self.position = numbers(position, (3,), "Frame: position")
        self.rotation = rotation_matrix(rotation, "Frame: rotation")

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
    if _deviation(matrix) > _EXACT or np.linalg.det(matrix) < 0:
        raise MechanismError(
            f"{what} must be a rotation matrix (orthonormal, determinant +1) or a unit quaternion [w, x, y, z]; "
            f"as a matrix it is {matrix.tolist()}"
        )


def unit(vector: FloatArray) -> FloatArray:
    """Return `vector` (n,) with length 1, read-only; one without a direction is returned as it is."""
    largest = np.abs(vector).max()
    if not 0.0 < largest < np.inf:
        return vector
    if largest < 2.0 and abs(np.linalg.norm(vector) - 1.0) <= _EXACT:
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
    if _EXACT < _deviation(matrix) <= _SLACK:
        left, _, right = np.linalg.svd(matrix)
        matrix = left @ right
    return matrix


def _from_quaternion(quaternion: FloatArray) -> FloatArray:
    with np.errstate(over="ignore", invalid="ignore"):  # a length far from 1 gives no rotation, which is refused later
        norm = np.linalg.norm(quaternion)
        return matrix_of(quaternion / norm if abs(norm - 1.0) <= _SLACK else quaternion)
