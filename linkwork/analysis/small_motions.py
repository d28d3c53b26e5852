"""Small motions around a pose of rest: eigenvalues, modes and stability.

In the tangent coordinates c of `force_balance`, M c'' + D c' + K c = 0. Where K is symmetric (the forces have a
potential) and no damper drives, the pose is stable if K is positive definite (Lagrange, Dirichlet); else the
eigenvalues decide. A steady motion has gyroscopic terms in D.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from linkwork._util.checks import FloatArray

ZERO = 1e-10  # of the largest stiffness: none
GROWTH = 1e-7  # of the largest eigenvalue: a real part that counts


class SmallMotions(NamedTuple):
    """Eigenvalues (2 dof,), 1/s; frequencies (dof,), Hz; modes (dof, dof) in columns; unloaded directions (dof, k)."""

    eigenvalues: NDArray[np.complex128]
    frequencies: FloatArray
    modes: FloatArray
    free: FloatArray
    stable: bool | None


def small_motions(mass: FloatArray, damping: FloatArray, stiffness: FloatArray, least: float) -> SmallMotions:
    """Return the small motions of matrices (dof, dof) in tangent coordinates.

    Parameters
    ----------
    mass, damping, stiffness
        M, D and K.
    least
        N/m: stiffnesses are compared with this at least.

    Examples
    --------
    >>> found = small_motions(np.eye(1), np.zeros((1, 1)), np.array([[4.0 * np.pi**2]]), 1.0)
    >>> found.frequencies.round(12), found.stable
    (array([1.]), True)
    """
    n = len(mass)
    symmetric = 0.5 * (stiffness + stiffness.T)
    values, vectors = np.linalg.eigh(symmetric)
    zero = ZERO * max(float(np.abs(values).max(initial=0.0)), least)
    eigenvalues = _eigenvalues(mass, damping, stiffness)
    squares, modes = _modes(mass, symmetric)
    with np.errstate(invalid="ignore"):
        frequencies = np.sqrt(np.where(np.abs(values) <= zero, 0.0, squares)) / (2.0 * np.pi)
    if np.abs(stiffness - stiffness.T).max(initial=0.0) <= 1e-6 * max(float(np.abs(values).max(initial=0.0)), least):
        free = vectors[:, np.abs(values) <= zero]
    else:
        free = scipy.linalg.null_space(stiffness, rcond=ZERO) if n else vectors
    drives = float(np.linalg.eigvalsh(damping + damping.T).min(initial=0.0)) < -1e-9 * np.abs(damping).max(initial=0.0)
    if values.min(initial=np.inf) > zero and not drives and _has_potential(stiffness, zero):
        return SmallMotions(eigenvalues, frequencies, modes, free, True)
    size = float(np.abs(eigenvalues).max(initial=0.0))
    growth = float(eigenvalues.real.max(initial=-np.inf))
    if growth > GROWTH * size and not (free.shape[1] and growth <= 1e-4 * size):
        stable: bool | None = False
    else:
        stable = True if growth < -GROWTH * size else None
    return SmallMotions(eigenvalues, frequencies, modes, free, stable)


def _has_potential(stiffness: FloatArray, zero: float) -> bool:
    return bool(np.abs(stiffness - stiffness.T).max(initial=0.0) <= 1e4 * zero)


def _eigenvalues(mass: FloatArray, damping: FloatArray, stiffness: FloatArray) -> NDArray[np.complex128]:
    """Return the finite eigenvalues of the quadratic problem, sorted as those of a linear model."""
    n = len(mass)
    if not n:
        return np.zeros(0, dtype=np.complex128)
    one, none = np.eye(n), np.zeros((n, n))
    left = np.block([[none, one], [-stiffness, -damping]])
    right = np.block([[one, none], [none, mass]])
    if np.linalg.cond(mass) < 1e12:
        values = np.linalg.eigvals(np.linalg.solve(right, left)).astype(np.complex128)
    else:
        pencil = scipy.linalg.eigvals(left, right)
        values = pencil[np.isfinite(pencil)].astype(np.complex128)
    return values[np.lexsort((values.imag, values.real, np.abs(values)))]


def _modes(mass: FloatArray, stiffness: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return squares of angular frequencies, ascending, and modes; without mass in some directions not a number."""
    try:
        squares, modes = scipy.linalg.eigh(stiffness, mass)
    except np.linalg.LinAlgError:
        return np.full(len(mass), np.nan), np.full(mass.shape, np.nan)
    return squares, modes
