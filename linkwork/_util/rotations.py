"""Rotations as matrices and as unit quaternions [w, x, y, z], over leading dimensions.

The functions keep the length and the sign of a quaternion, which integrated orientations need.
"""

from __future__ import annotations

import numpy as np

from linkwork._util.checks import FloatArray


def matrix_of(quaternion: FloatArray) -> FloatArray:
    """Return the matrix (3, 3) of a quaternion (4,); it is a rotation if the quaternion has length 1.

    >>> matrix_of(np.array([0.0, 0.0, 0.0, 1.0])).diagonal()
    array([-1., -1.,  1.])
    """
    w, x, y, z = quaternion
    return np.array(
        [
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
    )


def quaternions_of(rotations: FloatArray) -> FloatArray:
    """Return the unit quaternions [w, x, y, z], w >= 0, (n, 4), of rotation matrices (n, 3, 3)."""
    r = rotations.transpose(1, 2, 0)
    squares = 1.0 + np.array(
        [
            r[0, 0] + r[1, 1] + r[2, 2],
            r[0, 0] - r[1, 1] - r[2, 2],
            r[1, 1] - r[0, 0] - r[2, 2],
            r[2, 2] - r[0, 0] - r[1, 1],
        ]
    )
    largest = squares.argmax(axis=0)  # the divisor
    square = squares.max(axis=0)
    products = np.array(
        [
            [square, r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]],
            [r[2, 1] - r[1, 2], square, r[0, 1] + r[1, 0], r[0, 2] + r[2, 0]],
            [r[0, 2] - r[2, 0], r[0, 1] + r[1, 0], square, r[1, 2] + r[2, 1]],
            [r[1, 0] - r[0, 1], r[0, 2] + r[2, 0], r[1, 2] + r[2, 1], square],
        ]
    )
    q: FloatArray = products[largest, :, np.arange(len(rotations))]
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    return np.where(q[:, :1] < 0, -q, q)


def rotation_from_z(axis: FloatArray) -> FloatArray:
    """Return a rotation (3, 3) whose third column is the unit vector `axis`, the shortest one from z.

    >>> rotation_from_z(np.array([1.0, 0.0, 0.0]))[:, 2]
    array([1., 0., 0.])
    """
    x, y, z = axis
    if z < -0.5:  # half a revolution about x first, away from the singularity at -z
        about_x = np.diag([1.0, -1.0, -1.0])
        opposite: FloatArray = about_x @ rotation_from_z(np.array([x, -y, -z]))
        return opposite
    f = 1.0 / (1.0 + z)
    rotation: FloatArray = np.array([[1 - f * x * x, -f * x * y, x], [-f * x * y, 1 - f * y * y, y], [-x, -y, z]])
    return rotation


def product(p: FloatArray, q: FloatArray) -> FloatArray:
    """Return p q, (..., 4).

    >>> product(np.array([0.0, 1, 0, 0]), np.array([0.0, 0, 1, 0]))
    array([0., 0., 0., 1.])
    """
    w = p[..., :1] * q[..., :1] - np.sum(p[..., 1:] * q[..., 1:], axis=-1, keepdims=True)
    v = p[..., :1] * q[..., 1:] + q[..., :1] * p[..., 1:] + np.cross(p[..., 1:], q[..., 1:])
    return np.concatenate([w, v], axis=-1)


def running_product(p: FloatArray) -> FloatArray:
    """Return p_0, p_0 p_1, p_0 p_1 p_2 and so on, (n, 4), of (n, 4): products of pairs first, 2 n products in all.

    >>> running_product(np.array([[0.0, 0, 0, 1]] * 3))[:2]
    array([[ 0.,  0.,  0.,  1.],
           [-1.,  0.,  0.,  0.]])
    """
    if len(p) < 2:
        return p
    pairs = running_product(product(p[:-1:2], p[1::2]))
    result = np.empty_like(p)
    result[0] = p[0]
    result[1::2] = pairs
    result[2::2] = product(pairs[: (len(p) - 1) // 2], p[2::2])
    return result


def conjugate(p: FloatArray) -> FloatArray:
    """Return p*, (..., 4): the inverse rotation, where p has length 1."""
    return np.asarray(p * np.array([1.0, -1.0, -1.0, -1.0]))


def rotate(p: FloatArray, v: FloatArray) -> FloatArray:
    """Return vectors (..., 3) rotated by p of length 1."""
    twice = 2.0 * np.cross(p[..., 1:], v)
    return np.asarray(v + p[..., :1] * twice + np.cross(p[..., 1:], twice))


def rate(p: FloatArray, w: FloatArray) -> FloatArray:
    """Return p', (..., 4), where p rotates with w (..., 3), rad/s in the rotated axes."""
    return 0.5 * product(p, np.concatenate([np.zeros_like(w[..., :1]), w], axis=-1))


def spin(p: FloatArray, p_rate: FloatArray) -> FloatArray:
    """Return the angular velocity, (..., 3), rad/s in the rotated axes, from the rate of p."""
    return 2.0 * product(conjugate(p), p_rate)[..., 1:]
