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
MASSLESS = 1e-13  # of the largest mass: none
GROWTH = 1e-7  # of the largest eigenvalue: a real part that counts


class SmallMotions(NamedTuple):
    """Eigenvalues (2 dof,), 1/s; frequencies (n,), Hz; modes (dof, n) in columns; unloaded directions (dof, k)."""

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
    squares, modes = _modes(mass, symmetric, zero)
    along = np.einsum("ik,ij,jk->k", modes, symmetric, modes) / np.einsum("ik,ik->k", modes, modes)
    with np.errstate(invalid="ignore"):
        frequencies = np.sqrt(np.where(np.abs(along) <= zero, 0.0, squares)) / (2.0 * np.pi)
    if np.abs(stiffness - stiffness.T).max(initial=0.0) <= 1e-6 * max(float(np.abs(values).max(initial=0.0)), least):
        free = vectors[:, np.abs(values) <= zero]
    else:
        free = scipy.linalg.null_space(stiffness, rcond=ZERO) if n else vectors
    size = np.sqrt(max(float(np.abs(values).max(initial=0.0)), least) * np.abs(mass).max(initial=0.0))
    drives = float(np.linalg.eigvalsh(damping + damping.T).min(initial=0.0)) < -1e-9 * size
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
    """Return the finite eigenvalues of the quadratic problem, sorted as those of a linear model.

    Directions in which nothing acts, such as the spin of a rod without inertia about its axis, have none.
    """
    parts = [one / size for one in (mass, damping, stiffness) if (size := np.abs(one).max(initial=0.0)) > 0.0]
    if not parts:
        return np.zeros(0, dtype=np.complex128)
    _, values, right = np.linalg.svd(np.vstack([*parts, *(part.T for part in parts)]))
    basis = right[: int(np.sum(values > MASSLESS * values[0]))].T
    m, d, k = (basis.T @ one @ basis for one in (mass, damping, stiffness))
    one, none = np.eye(len(m)), np.zeros_like(m)
    left, factor = np.block([[none, one], [-k, -d]]), np.block([[one, none], [none, m]])
    if np.linalg.cond(m) < 1.0 / MASSLESS:
        found = np.linalg.eigvals(np.linalg.solve(factor, left)).astype(np.complex128)
    else:
        pencil = scipy.linalg.eigvals(left, factor)
        found = pencil[np.isfinite(pencil)].astype(np.complex128)
    return found[np.lexsort((found.imag, found.real, np.abs(found)))]


def _modes(mass: FloatArray, stiffness: FloatArray, zero: float) -> tuple[FloatArray, FloatArray]:
    """Return squares of angular frequencies, ascending, and modes (dof, n); what has no mass follows by stiffness."""
    masses, axes = np.linalg.eigh(mass)
    heavy = masses > MASSLESS * masses.max(initial=0.0)
    moved, light = axes[:, heavy], axes[:, ~heavy]
    values, vectors = np.linalg.eigh(light.T @ stiffness @ light)
    light = light @ vectors[:, np.abs(values) > zero]
    shapes = moved - light @ np.linalg.solve(light.T @ stiffness @ light, light.T @ stiffness @ moved)
    squares, modes = scipy.linalg.eigh(shapes.T @ stiffness @ shapes, moved.T @ mass @ moved)
    return squares, shapes @ modes
