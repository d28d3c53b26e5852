"""Rigid poses, independent of the package under test so that both cannot share a mistake."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Pose(NamedTuple):
    """Axes (3, 3) and origin (3,) of one frame, given in another."""

    rotation: Array
    position: Array

    def then(self, inner: Pose) -> Pose:
        """The pose of a frame that is given as `inner` within this one."""
        return Pose(self.rotation @ inner.rotation, self.position + self.rotation @ inner.position)

    def inverse(self) -> Pose:
        return Pose(self.rotation.T, -self.rotation.T @ self.position)


IDENTITY = Pose(np.eye(3), np.zeros(3))


def cross_matrix(v: Array) -> Array:
    """The matrix whose product with w is v x w."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def turn(axis: Array, angle: float) -> Array:
    """Rotation matrix about a unit axis (Rodrigues)."""
    k = cross_matrix(axis)
    return np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * (k @ k)


def random_rotation(rng: np.random.Generator) -> Array:
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return q * np.sign(np.linalg.det(q))


def random_unit(rng: np.random.Generator) -> Array:
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def unit(v: Array) -> Array:
    return v / np.linalg.norm(v)


def quaternion_matrix(q: Array) -> Array:
    """Rotation matrix of a unit quaternion [w, x, y, z]."""
    w, v = q[0], q[1:]
    k = cross_matrix(v)
    return np.eye(3) + 2.0 * w * k + 2.0 * (k @ k)


def matrix_quaternion(rotation: Array) -> Array:
    """The unit quaternion [w, x, y, z] of a rotation matrix that has w >= 0."""
    r = rotation
    antisymmetric = np.array([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]])
    symmetric = np.zeros((4, 4))  # its eigenvalue 3 belongs to the quaternion, the others are -1
    symmetric[0, 0] = np.trace(r)
    symmetric[0, 1:] = symmetric[1:, 0] = antisymmetric
    symmetric[1:, 1:] = r + r.T - np.trace(r) * np.eye(3)
    quaternion = np.linalg.eigh(symmetric)[1][:, 3]
    return quaternion * np.copysign(1.0, quaternion[0])


def quaternion_product(a: Array, b: Array) -> Array:
    return np.r_[a[0] * b[0] - a[1:] @ b[1:], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])]
