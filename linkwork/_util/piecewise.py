"""Piecewise polynomials through the rows of a table, in powers of the time since the begin of each piece."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

Interpolation: TypeAlias = Literal["linear", "hold", "monotone", "cubic"]
INTERPOLATIONS: tuple[str, ...] = get_args(Interpolation)


def coefficients(t: FloatArray, y: FloatArray, interpolation: str, *, periodic: bool = False) -> FloatArray:
    """Return the polynomials between n rows: (n - 1, powers, ...), the lowest power first.

    Parameters
    ----------
    t
        (n,), increasing, at least two.
    y
        (n, ...).
    interpolation
        "linear"; "hold", the last row; "monotone", cubics with continuous rate that exceed no row, after Fritsch and
        Carlson; "cubic", those with continuous acceleration and not-a-knot ends, or periodic ones.
    """
    if interpolation == "hold":
        return y[:-1, np.newaxis]
    if interpolation == "linear":
        slopes = np.diff(y, axis=0) / np.diff(t).reshape(-1, *[1] * (y.ndim - 1))
        return np.stack([y[:-1], slopes], axis=1)
    from scipy.interpolate import CubicSpline, PchipInterpolator

    if interpolation == "monotone":
        with np.errstate(over="ignore"):  # of rows with very small changes
            highest_first = PchipInterpolator(t, y).c
    else:
        highest_first = CubicSpline(t, y, bc_type="periodic" if periodic else "not-a-knot").c
    found: FloatArray = np.moveaxis(highest_first[::-1], 0, 1)
    return found


def shifted(polynomials: FloatArray, by: FloatArray) -> FloatArray:
    """Return the same polynomials (n, powers, ...) in powers of the time since an instant that is `by` (n,) later."""
    moved = polynomials.copy()
    step = by.reshape(-1, *[1] * (polynomials.ndim - 2))
    powers = polynomials.shape[1]
    for first in range(powers - 1):  # Horner's scheme, once for each power
        for k in range(powers - 2, first - 1, -1):
            moved[:, k] += step * moved[:, k + 1]
    return moved
