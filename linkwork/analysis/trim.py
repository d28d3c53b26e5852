"""Constant motor loads that keep a requested pose: trim.

Motors load the tree with B'f, B the rows of their coordinates or lengths. With the basis T of all motions that the
constraints leave, and S of those that also keep the coordinates held, the pose S c and the loads f obey

    T'h + T'K S c = T'B' f

Where there are more motors than needed f has the least norm, N and N m counted alike, as in inverse dynamics. Where the
equations have no solution, a direction is left in which no motor works.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.analysis.configuration_space import TASK_TOLERANCE
from linkwork.analysis.force_balance import rows_of
from linkwork.analysis.load_distribution import least_loads
from linkwork.analysis.rest_search import ACCEPTED, RESIDUAL

if TYPE_CHECKING:
    from linkwork.analysis.rest_search import RestSearch

MOST_STEPS = 60


class Trim(NamedTuple):
    """A pose and the loads of motors that hold it."""

    # q, loads: coordinates (nq,), and loads of all motors, one after another
    q: FloatArray
    loads: FloatArray
    scale: float  # size of the forces, N
    lacking: FloatArray | None  # the motion (nu,) that no motor holds, or None
    converged: bool  # the forces are in balance


def find_motor_loads(search: RestSearch, q: FloatArray, *, fixed: bool) -> Trim:
    """Return loads of the motors of the forces that hold the coordinates held, from a closed pose that has them.

    Parameters
    ----------
    search
        With the coordinates held.
    q
        The pose to begin at; `fixed`: to be kept whole.
    """
    space, forces = search.space, search.forces
    best: Trim | None = None
    least = np.inf
    for _ in range(MOST_STEPS):
        balance = forces.at(q)
        basis, scale = balance.tangent.basis, forces.scale(balance)
        kept = basis[:, :0] if fixed else search.balance(q, ()).tangent.basis
        stiffness = basis.T @ forces.stiffness(q, balance) @ kept
        rows = rows_of(forces.motors, space)
        row_scale, rows = forces.row_scale(forces.motors, rows), rows @ basis
        force = rows.T @ forces.motor_loads + balance.gradient
        step, loads, lacking = _solve(stiffness, rows, row_scale, force, scale)
        if lacking is not None:
            return Trim(q, loads, scale, basis @ lacking, converged=False)
        forces.motor_loads = loads
        q = _moved(search, q, kept @ step)
        residual = forces.at(q).residual
        if residual < least:
            best, least = Trim(q, loads, scale, None, bool(residual <= ACCEPTED * scale)), residual
        elif best is not None and best.converged:
            break
        if fixed or residual <= 0.1 * RESIDUAL * scale:
            break
    assert best is not None
    return best


def _moved(search: RestSearch, q: FloatArray, step: FloatArray) -> FloatArray:
    """Return the closed pose after a step (nu,), which is shortened to half the size of the mechanism."""
    if not step.any():
        return q
    space = search.space
    size = float(np.abs(space.weights * step).max())
    return space.closed(space.displaced(q, step * min(1.0, 0.5 * space.length / size)), search.task(())).q


def _solve(
    by_pose: FloatArray, rows: FloatArray, row_scale: FloatArray, force: FloatArray, scale: float
) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Return c and the least f with by_pose c - rows' f + force = 0, and the direction that is left, or None."""
    left = _left_null(by_pose)
    found, missed = least_loads(rows @ left, left.T @ force, row_scale)
    step = np.linalg.lstsq(by_pose, rows.T @ found - force, rcond=TASK_TOLERANCE)[0].astype(np.float64)
    lack = -left @ missed
    size = float(np.abs(lack).max(initial=0.0))
    return step, found, lack / size if size > 1e-9 * scale else None


def _left_null(matrix: FloatArray) -> FloatArray:
    """Return (n, k), orthonormal: combinations of the rows of a matrix that vanish."""
    if not matrix.shape[1]:
        return np.eye(len(matrix))
    left, values, _ = np.linalg.svd(matrix)
    rank = int(np.sum(values > TASK_TOLERANCE * max(float(values.max(initial=0.0)), 1e-300)))
    return left[:, rank:]
