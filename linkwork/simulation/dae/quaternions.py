"""Quaternions [w, x, y, z] and the vectors they turn, over leading dimensions."""

from __future__ import annotations

import numpy as np

from linkwork.core.chain_kernels import FloatArray


def product(p: FloatArray, q: FloatArray) -> FloatArray:
    """Return p q, (..., 4).

    >>> product(np.array([0.0, 1, 0, 0]), np.array([0.0, 0, 1, 0]))
    array([0., 0., 0., 1.])
    """
    w = p[..., :1] * q[..., :1] - np.sum(p[..., 1:] * q[..., 1:], axis=-1, keepdims=True)
    v = p[..., :1] * q[..., 1:] + q[..., :1] * p[..., 1:] + np.cross(p[..., 1:], q[..., 1:])
    return np.concatenate([w, v], axis=-1)


def running_product(p: FloatArray) -> FloatArray:
    """Return p_0, p_0 p_1, p_0 p_1 p_2 and so on, (n, 4), of (n, 4): of pairs first, which makes n products twice.

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
    """Return p*, (..., 4): the turn back, where p has length 1."""
    return np.asarray(p * np.array([1.0, -1.0, -1.0, -1.0]))


def turned(p: FloatArray, v: FloatArray) -> FloatArray:
    """Return vectors (..., 3) turned by p of length 1."""
    twice = 2.0 * np.cross(p[..., 1:], v)
    return np.asarray(v + p[..., :1] * twice + np.cross(p[..., 1:], twice))


def rate(p: FloatArray, w: FloatArray) -> FloatArray:
    """Return p', (..., 4), where p turns with w (..., 3), rad/s in the axes that it turns."""
    return 0.5 * product(p, np.concatenate([np.zeros_like(w[..., :1]), w], axis=-1))


def spin(p: FloatArray, p_rate: FloatArray) -> FloatArray:
    """Return the angular velocity, (..., 3), rad/s in the axes that p turns, from its rate."""
    return 2.0 * product(conjugate(p), p_rate)[..., 1:]
