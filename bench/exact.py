"""Accelerations of a neutral mechanism whose degrees of freedom are known: the reference for errors.

Virtual power in the reduced coordinates y, for which the description gives qdot = G ydot and qddot = G yddot + g. In
extended precision where the machine has it, and linear in the number of bodies, so that it serves the largest sizes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

AXES = {"X": (0,), "Y": (1,), "Z": (2,), "U": (0, 1)}
Array = Any  # of numpy.longdouble


def accelerations(neutral: dict[str, Any]) -> np.ndarray:
    """Return the accelerations of the tree joints (nv,), rounded to double at the end."""
    G, g, qdot, tau, gravity = (_long(neutral[name]) for name in ("G", "g", "v", "tau", "grav"))
    mass, load = np.zeros((G.shape[1],) * 2, np.longdouble), G.T @ tau
    for joint, motion in zip(neutral["joints"], _motions(neutral, G, g, qdot), strict=True):
        R, W, V, w, alpha, a = motion
        c, inertia = R @ _long(joint["c"]), R @ _long(joint["I"]) @ R.T
        V, a = V - _skew(c) @ W, a + _at(c, w, alpha) - gravity
        mass += joint["m"] * (V.T @ V) + W.T @ inertia @ W
        load -= joint["m"] * (V.T @ a) + W.T @ (inertia @ alpha + _cross(w, inertia @ w))
    return np.asarray(G @ _solve(mass, load) + g, float)


def _motions(neutral: dict[str, Any], G: Array, g: Array, qdot: Array) -> list[tuple[Array, ...]]:
    """Of each body: rotation, partial velocities W and V by ydot, angular velocity, accelerations without yddot."""
    still, zero = np.zeros((3, G.shape[1]), np.longdouble), np.zeros(3, np.longdouble)
    ground = (np.eye(3, dtype=np.longdouble), still, still, zero, zero, zero)
    motions: list[tuple[Array, ...]] = []
    coordinate = 0
    for joint in neutral["joints"]:
        R, W, V, w, alpha, a = motions[joint["parent"]] if joint["parent"] >= 0 else ground
        r = R @ _long(joint["p"])
        V, a = V - _skew(r) @ W, a + _at(r, w, alpha)
        for axis in AXES[joint["type"]]:
            e = R[:, axis]
            alpha = alpha + e * g[coordinate] + _cross(w, e) * qdot[coordinate]
            W, w = W + np.outer(e, G[coordinate]), w + e * qdot[coordinate]
            R = R @ _rotation(axis, neutral["q"][coordinate])
            coordinate += 1
        motions.append((R, W, V, w, alpha, a))
    return motions


def _solve(matrix: Array, right: Array) -> Array:
    """Solve in double precision and refine."""
    solution = np.zeros_like(right)
    for _ in range(5):
        solution += np.linalg.solve(matrix.astype(float), (right - matrix @ solution).astype(float))
    return solution


def _at(r: Array, w: Array, alpha: Array) -> Array:
    """What a point at r accelerates beyond the origin."""
    return _cross(alpha, r) + _cross(w, _cross(w, r))


def _cross(a: Array, b: Array) -> Array:
    return _skew(a) @ b


def _skew(r: Array) -> Array:
    x, y, z = r
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], np.longdouble)


def _rotation(axis: int, angle: float) -> Array:
    c, s = np.cos(np.longdouble(angle)), np.sin(np.longdouble(angle))
    j, k = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3, dtype=np.longdouble)
    R[j, j], R[j, k], R[k, j], R[k, k] = c, -s, s, c
    return R


def _long(numbers: Any) -> Array:
    return np.asarray(numbers, np.longdouble)
