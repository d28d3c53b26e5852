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
COMPLEX = 1e-9  # of the largest square of an angular frequency: an imaginary part that is none
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
    frequencies, modes = _modes(mass, stiffness if not _has_potential(stiffness, zero) else symmetric, zero)
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
    """Return frequencies without damping, Hz, ascending, and modes (dof, n); what has no mass follows by stiffness.

    Where K is not symmetric, squares of angular frequencies may be complex: such motions grow while they oscillate, and
    have no frequency; their modes are the real and the imaginary part.
    """
    masses, axes = np.linalg.eigh(mass)
    heavy = masses > MASSLESS * masses.max(initial=0.0)
    moved, light = axes[:, heavy], axes[:, ~heavy]
    left, values, right = np.linalg.svd(light.T @ stiffness @ light)
    stiff = values > zero
    follow = right[stiff].T @ ((left[:, stiff].T @ light.T @ stiffness @ moved) / values[stiff, None])
    shapes = moved - light @ follow
    inertia, spring = moved.T @ mass @ moved, moved.T @ stiffness @ shapes
    if (stiffness == stiffness.T).all():
        squares, vectors = scipy.linalg.eigh(0.5 * (spring + spring.T), inertia)
    else:
        squares, vectors = _pencil(spring, inertia)
    modes = shapes @ vectors
    along = np.linalg.norm(stiffness @ modes, axis=0) <= zero * np.linalg.norm(modes, axis=0)
    with np.errstate(invalid="ignore"):
        return np.sqrt(np.where(along, 0.0, squares)) / (2.0 * np.pi), modes


def _pencil(stiffness: FloatArray, mass: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the real eigenvalues of K x = s M x, ascending, complex ones as not a number at their place, and x."""
    factor = scipy.linalg.cholesky(mass, lower=True)
    half = scipy.linalg.solve_triangular(factor, stiffness, lower=True)
    squares, vectors = np.linalg.eig(scipy.linalg.solve_triangular(factor, half.T, lower=True).T)
    order = np.lexsort((squares.imag, squares.real))
    squares, vectors = squares[order], scipy.linalg.solve_triangular(factor.T, vectors[:, order])
    vectors = np.where(squares.imag < 0.0, -vectors.imag, vectors.real)
    is_real = np.abs(squares.imag) <= COMPLEX * np.abs(squares).max(initial=0.0)
    return np.where(is_real, squares.real, np.nan), vectors.astype(np.float64)
