"""Chains of spherical joints by other ways: Chou's equations written with the matrices E and G, and Newton-Euler.

Arrays of bodies have a leading axis n. The unknowns are those of the C core, body by body: R, V, P, S, (n, 14). The
residual takes complex numbers, so that a complex step gives its derivatives to rounding. Nothing is taken from the
package under test.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

STEP = 1e-40
ROWS = 14


@dataclass
class ChainData:
    """Bodies from the support to the tip; a is the inner joint and r the mass centre, both less the outer joint."""

    mass: Array
    inertia: Array
    a: Array
    r: Array
    gravity: Array
    support: Array

    @property
    def n(self) -> int:
        return len(self.mass)


def random_chain(rng: np.random.Generator, n: int) -> ChainData:
    """Bodies of differing size, with full inertia matrices that are possible."""
    turn = np.linalg.qr(rng.normal(size=(n, 3, 3)))[0]
    sides = rng.uniform(0.2, 1.0, (n, 3)) ** 2
    mass = rng.uniform(0.5, 3.0, n)
    moments = mass[:, None] / 12 * (sides.sum(axis=1, keepdims=True) - sides)
    inertia = np.einsum("nij,nj,nkj->nik", turn, moments, turn)
    a, r = rng.normal(size=(2, n, 3)) * 0.5
    return ChainData(mass, inertia, a, r, rng.normal(size=3) * 5, rng.normal(size=3))


def random_point(rng: np.random.Generator, n: int, scale: float = 1.0) -> tuple[Array, Array]:
    """Unknowns and rates that satisfy nothing, with quaternions near length 1."""
    x, xdot = rng.normal(size=(2, n, ROWS)) * scale
    p = rng.normal(size=(n, 4))
    x[:, 6:10] = p / np.linalg.norm(p, axis=1, keepdims=True) * rng.uniform(0.9, 1.1, (n, 1))
    return x.ravel(), xdot.ravel()


def closed_point(rng: np.random.Generator, data: ChainData, speed: float = 2.0) -> Array:
    """Unknowns on all constraints."""
    p = rng.normal(size=(data.n, 4))
    p /= np.linalg.norm(p, axis=1, keepdims=True)
    s = 0.5 * np.einsum("nji,nj->ni", matrix_g(p), rng.normal(size=(data.n, 3)) * speed)
    x = np.zeros((data.n, ROWS))
    x[:, 6:10], x[:, 10:] = p, s
    left = residual(data, x.ravel(), np.zeros(x.size)).reshape(-1, ROWS)
    x[:, :6] = -left[:, :6]
    return x.ravel()


# ---- matrices of quaternions -------------------------------------------------------------------------


def tilde(v: Array) -> Array:
    """(..., 3) to (..., 3, 3): tilde(v) @ w = v x w."""
    out = np.zeros((*v.shape, 3), dtype=v.dtype)
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -v[..., 2], v[..., 1], -v[..., 0]
    return out - np.swapaxes(out, -1, -2)


def matrix_e(p: Array) -> Array:
    """E(p) = [-e, e0 U + e~], (..., 3, 4)."""
    upper = p[..., :1, None] * np.eye(3) + tilde(p[..., 1:])
    return np.concatenate([-p[..., 1:, None], upper], axis=-1)


def matrix_g(p: Array) -> Array:
    """G(p) = [-e, e0 U - e~], (..., 3, 4)."""
    upper = p[..., :1, None] * np.eye(3) - tilde(p[..., 1:])
    return np.concatenate([-p[..., 1:, None], upper], axis=-1)


def attitude(p: Array) -> Array:
    """A = E G', body to world."""
    return matrix_e(p) @ np.swapaxes(matrix_g(p), -1, -2)


def attitude_rate(p: Array, s: Array) -> Array:
    """A' where p' = s."""
    rate = matrix_e(s) @ np.swapaxes(matrix_g(p), -1, -2) + matrix_e(p) @ np.swapaxes(matrix_g(s), -1, -2)
    return np.asarray(rate)


def quaternion_product(p: Array, q: Array) -> Array:
    """p q, (4,)."""
    return np.asarray(np.column_stack([p, matrix_g(p).T]) @ q)


def times(matrices: Array, vectors: Array) -> Array:
    return np.einsum("nij,nj->ni", matrices, vectors)


# ---- Chou's equations --------------------------------------------------------------------------------


def residual(data: ChainData, x: Array, xdot: Array) -> Array:
    """F(X, X'), (14 n)."""
    x, xdot = x.reshape(-1, ROWS), xdot.reshape(-1, ROWS)
    R, V, P, S = x[:, :3], x[:, 3:6], x[:, 6:10], x[:, 10:]
    V_rate, P_rate, S_rate = xdot[:, 3:6], xdot[:, 6:10], xdot[:, 10:]
    A, A_rate, G = attitude(P), attitude_rate(P, S), matrix_g(P)
    z = data.mass[:, None] * (V_rate - data.gravity)
    tau = np.cumsum(z[::-1], axis=0)[::-1]
    w, w_rate = 2 * times(G, S), 2 * times(G, S_rate)
    inward = np.swapaxes(A, 1, 2)
    torque = -times(data.inertia, w_rate) - np.cross(w, times(data.inertia, w))
    torque = torque - np.cross(data.r, times(inward, z)) + np.cross(data.a, times(inward, tau))
    rows = [
        R - data.support - times(A, data.r) + np.cumsum(times(A, data.a), axis=0),
        V - times(A_rate, data.r) + np.cumsum(times(A_rate, data.a), axis=0),
        torque,
        np.sum(P * P, axis=1)[:, None] - 1,
        np.sum(P * S, axis=1)[:, None],
        2 * times(G, P_rate - S),
    ]
    return np.concatenate(rows, axis=1).ravel()


def newton_times(data: ChainData, x: Array, xdot: Array, cj: float, v: Array) -> Array:
    """(dF/dX + cj dF/dX') v by a complex step; no matrix is formed."""
    return np.asarray(residual(data, x + 1j * STEP * v, xdot + 1j * STEP * cj * v).imag / STEP)


def newton_matrix(data: ChainData, x: Array, xdot: Array, cj: float) -> Array:
    """dF/dX + cj dF/dX', column by column."""
    return np.column_stack([newton_times(data, x, xdot, cj, column) for column in np.eye(x.size)])


def rate_times(data: ChainData, x: Array, xdot: Array, v: Array) -> Array:
    """dF/dX' v."""
    return np.asarray(residual(data, x + 0j, xdot + 1j * STEP * v).imag / STEP)


# ---- Newton-Euler with joint forces ------------------------------------------------------------------


def accelerations(data: ChainData, x: Array) -> tuple[Array, Array]:
    """Accelerations of mass centres in the world and of turning in body axes, (n, 3) each, from the equations

    m v' = m g + f_i - f_(i+1),  I w' + w x I w = (a - r) x A' f_i + r x A' f_(i+1)

    with joint forces f as unknowns, and joints that stay closed; one dense symmetric system for all of them.
    """
    n = data.n
    x = x.reshape(-1, ROWS)
    A = attitude(x[:, 6:10])
    w = 2 * times(matrix_g(x[:, 6:10]), x[:, 10:])
    system, rhs = np.zeros((9 * n, 9 * n)), np.zeros(9 * n)
    for i in range(n):
        v, turn = slice(3 * i, 3 * i + 3), slice(3 * (n + i), 3 * (n + i) + 3)
        system[v, v], rhs[v] = data.mass[i] * np.eye(3), data.mass[i] * data.gravity
        system[turn, turn], rhs[turn] = data.inertia[i], -np.cross(w[i], data.inertia[i] @ w[i])
    for i in range(n):  # joint i: its point on body i less that on body i - 1 does not move
        force = slice(3 * (2 * n + i), 3 * (2 * n + i) + 3)
        for body, arm, sign in ((i, data.a[i] - data.r[i], 1.0), (i - 1, -data.r[i - 1], -1.0)):
            if body < 0:
                continue
            v, turn = slice(3 * body, 3 * body + 3), slice(3 * (n + body), 3 * (n + body) + 3)
            system[force, v] += sign * np.eye(3)
            system[force, turn] += -sign * A[body] @ tilde(arm)
            rhs[force] -= sign * A[body] @ np.cross(w[body], np.cross(w[body], arm))
        system[: 6 * n, force] = -system[force, : 6 * n].T
    solution = np.linalg.solve(system, rhs)
    return solution[: 3 * n].reshape(n, 3), solution[3 * n : 6 * n].reshape(n, 3)
