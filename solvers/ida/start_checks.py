"""Looking at start values before IDA gets them, and at a Newton matrix with which it came to an end.

Start values fit the equations if the Newton correction J dy = F, with J at a step h that changes the state by some
tolerances, is within the tolerances. Wrong algebraic states show in dy itself, a wrong y' as h times its error.
"""

from __future__ import annotations

import numpy as np

from linkwork.solvers.ida.equations import Equations
from linkwork.solvers.problem import FloatArray

# The step at which start values are looked at, in that of IDA's own choice for the first; what a correction may be, in
# tolerances.
PROBE_STEP = 100.0
HARMLESS = 10.0

# Singular values below this part of the largest, rows and columns being scaled, count as zero.
NEGLIGIBLE = 1e-13
NAMED = 4


class SingularError(Exception):
    """The Newton matrix has no inverse; the text states the reason."""


def first_step(weights: FloatArray, ydot: FloatArray, span: float, longest: float | None) -> float:
    """Return the first step of IDA's own choice: half a tolerance of change, (n,) weights being 1 / tolerance."""
    step = 1e-3 * span
    size = float(np.linalg.norm(ydot * weights)) / max(1.0, ydot.size**0.5)
    if size * step > 0.5:
        step = 0.5 / size
    return step if longest is None else min(step, longest)


def correction(
    equations: Equations, t: float, y: FloatArray, ydot: FloatArray, f: FloatArray, step: float
) -> FloatArray:
    """Return the Newton correction at F = f, (n,), NaN where the Newton matrix is not finite."""
    cj = np.sign(equations.scale) / (PROBE_STEP * step)
    if equations.operator is not None:
        try:
            equations.operator.factor(t, y.copy(), ydot.copy(), cj)
            return np.asarray(equations.operator.solve(f.copy()))
        except np.linalg.LinAlgError as error:
            raise SingularError(f"the operator reports: {error}") from error
    matrix = equations.matrix(t, y, ydot, cj, f)
    if not np.isfinite(matrix).all():
        return np.full_like(f, np.nan)
    try:
        solution = np.asarray(np.linalg.solve(matrix, f), dtype=np.float64)
    except np.linalg.LinAlgError as error:
        raise SingularError(deficiency(matrix) or str(error)) from error
    if f.any() and (found := deficiency(matrix)) is not None:
        raise SingularError(found)
    return solution


def largest(f: FloatArray) -> str:
    """Name the equation that has the largest residual."""
    index = int(np.abs(f).argmax())
    return f"equation {index} has the largest residual, {f[index]:.3g}"


def deficiency(matrix: FloatArray) -> str | None:
    """Name the equations that depend on one another and which states they leave open, or None where none do."""
    for axis in (1, 0, 1, 0):
        scale = np.abs(matrix).max(axis=axis, keepdims=True)
        matrix = matrix / np.where(scale > 0.0, scale, 1.0)
    values = np.linalg.svd(matrix, compute_uv=False)  # at every start: a fifth of the time that vectors take
    if values[-1] > NEGLIGIBLE * values[0]:
        return None
    rows, _, columns = np.linalg.svd(matrix)
    return f"equations {_parts(rows[:, -1])} depend on one another, states {_parts(columns[-1])} are left open"


def _parts(vector: FloatArray) -> str:
    found = np.flatnonzero(np.abs(vector) > 0.1 * np.abs(vector).max())
    listed = ", ".join(str(i) for i in found[:NAMED])
    return listed + (", .." if found.size > NAMED else "")
