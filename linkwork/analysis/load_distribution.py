"""Loads of motors from their equations, A tau = e in each row of a motion: exact, of least norm, or within limits.

Least norm is of sum w tau^2, with x = sqrt(w) tau by the pseudo-inverse of A / sqrt(w). Where its loads exceed limits,
tau = tau_p + Z y with Z a basis of the loads that do nothing; min |y| with lower <= tau <= upper is least distance
programming, which non-negative least squares solves in finitely many steps: C. L. Lawson and R. J. Hanson, Solving
Least Squares Problems, 1974, chapter 23.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from linkwork._util.checks import FloatArray

LOAD_RANK_TOLERANCE = 1e-10  # of a singular value, relative to the largest
UNDRIVEN = 1e-6  # motion of a coordinate, both weighed, that counts as none: dead points are known to about 1e-7
WITHIN = 1e-9  # by so much of the largest load limits may be exceeded: rounding


class Distribution(NamedTuple):
    """Loads of least norm."""

    loads: FloatArray  # (rows, motors)
    # 1 / (|A| |A^-1|) in the Frobenius norm, (rows,): 0 where motors do not drive all degrees of freedom.
    conditioning: FloatArray
    residual: FloatArray  # largest |A tau - e| of each row, (rows,)


def least_norm(matrix: FloatArray, load: FloatArray, weights: FloatArray) -> Distribution:
    """Return the loads with A tau = e, in the sense of least squares, whose sum w tau^2 is least.

    Parameters
    ----------
    matrix, load
        A (rows, dof, motors) and e (rows, dof).
    weights
        w (motors,).

    Examples
    --------
    >>> found = least_norm(np.array([[[1.0, 2.0]]]), np.array([[5.0]]), np.ones(2))
    >>> found.loads.round(12), found.conditioning
    (array([[1., 2.]]), array([1.]))
    """
    scaled = matrix / np.sqrt(weights)
    inverse, conditioning = _inverses(scaled)
    x = np.einsum("kij,kj->ki", inverse, load)
    x += np.einsum("kij,kj->ki", inverse, load - np.einsum("kij,kj->ki", scaled, x))  # digits that rounding has cost
    residual = np.abs(np.einsum("kij,kj->ki", scaled, x) - load).max(axis=1, initial=0.0)
    return Distribution(x / np.sqrt(weights), conditioning, residual)


def undriven(rows: FloatArray) -> FloatArray:
    """Return the motions (dof, k), orthonormal, in which no load does work.

    Parameters
    ----------
    rows
        (n, dof), how far the coordinates of loads move by motions, both weighed, so that rows are of order 1.

    Examples
    --------
    >>> undriven(np.array([[1e-9, 1.0]])).round(6)
    array([[-1.],
           [ 0.]])
    """
    if not rows.size:
        return np.eye(rows.shape[1])
    values, right = np.linalg.svd(rows)[1:]
    found: FloatArray = right[int(np.sum(values > UNDRIVEN)) :].T
    return found


def least_loads(
    rows: FloatArray,  # (n, dof), by which loads act along motions
    force: FloatArray,  # (dof,), which they are to balance
    scale: FloatArray | float = 1.0,  # of each row, by which it is of order 1, (n, 1)
) -> tuple[FloatArray, FloatArray]:
    """Return loads (n,) of least norm with rows' loads = force as far as they work, and what is left of force."""
    free = undriven(rows * scale)
    lack: FloatArray = free @ (free.T @ force)
    loads = np.linalg.lstsq(rows.T - free @ (free.T @ rows.T), force - lack, rcond=LOAD_RANK_TOLERANCE)[0]
    return loads.astype(np.float64), lack


def _inverses(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return pseudo-inverses and conditioning; those of square matrices of full rank quickly."""
    rows, dof, motors = matrix.shape
    if dof == 0:
        return np.zeros((rows, motors, 0)), np.ones(rows)
    if dof == motors:
        try:
            inverse = np.linalg.inv(matrix).astype(np.float64, copy=False)
        except np.linalg.LinAlgError:
            pass
        else:
            conditioning = 1.0 / (_norms(matrix) * _norms(inverse))
            if conditioning.min(initial=1.0) > LOAD_RANK_TOLERANCE:
                return inverse, conditioning
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    kept = values > LOAD_RANK_TOLERANCE * np.maximum(values[:, :1], np.finfo(float).tiny)
    reciprocal = np.where(kept, 1.0 / np.where(kept, values, 1.0), 0.0)
    inverse = np.einsum("kji,kj,klj->kil", right, reciprocal, left)
    size = np.linalg.norm(values, axis=1) * np.linalg.norm(reciprocal, axis=1)
    full = kept.sum(axis=1) == dof
    return inverse, np.where(full, 1.0 / np.where(full, size, 1.0), 0.0)


def _norms(matrix: FloatArray) -> FloatArray:
    found: FloatArray = np.sqrt(np.einsum("kij,kij->k", matrix, matrix))
    return found


def within(
    matrix: FloatArray,  # A (dof, motors) of full rank
    loads: FloatArray,  # those of least norm without limits, (motors,)
    # weights, lower, upper: (motors,); limits may be infinite
    weights: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
) -> FloatArray | None:
    """Return the loads (motors,) of least norm within limits; None where there are none.

    Examples
    --------
    >>> limit = np.full(2, 1.8)
    >>> found = within(np.array([[1.0, 2.0]]), np.array([1.0, 2.0]), np.ones(2), -2 * limit, limit)
    >>> found.round(12)
    array([1.4, 1.8])
    """
    root = np.sqrt(weights)
    size = float(np.abs(root * loads).max()) or 1.0
    x, lower, upper = root * loads / size, root * lower / size, root * upper / size
    if (x >= lower - WITHIN).all() and (x <= upper + WITHIN).all():
        return loads
    free = np.linalg.svd(matrix / root)[2][len(matrix) :].T  # (motors, motors - dof)
    rows = np.vstack([free[np.isfinite(lower)], -free[np.isfinite(upper)]])  # rows @ y >= least
    least = np.concatenate([(lower - x)[np.isfinite(lower)], (x - upper)[np.isfinite(upper)]])
    y = _least_distance(rows, least)
    return None if y is None else size * (x + free @ y) / root


def _least_distance(rows: FloatArray, least: FloatArray) -> FloatArray | None:
    """Return the shortest y with rows @ y >= least; None: there is none."""
    target = np.zeros(rows.shape[1] + 1)
    target[-1] = 1.0
    matrix = np.vstack([rows.T, least])
    shares, distance = nnls(matrix, target)
    if distance < WITHIN:
        return None
    left = matrix @ shares - target
    y: FloatArray = -left[:-1] / left[-1]
    return y if (rows @ y >= least - WITHIN * max(1.0, float(np.abs(least).max()))).all() else None
