"""Checks of the numbers that a run is given; the messages show them as they were given."""

from __future__ import annotations

from numbers import Real

import numpy as np
import numpy.typing as npt

from linkwork.errors import SolverTypeError, SolverValueError

FloatArray = npt.NDArray[np.float64]


def real(value: object, what: str) -> float:
    """Return a number as a float, NaN and infinity included."""
    single = value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value
    if isinstance(single, bool | np.bool_) or not isinstance(single, Real):
        raise SolverTypeError(f"{what} must be a number, not {value!r}")
    return float(single)


def count(value: object, what: str) -> int:
    """Return a whole number of at least 1."""
    number = real(value, what)
    if not (number >= 1 and number.is_integer()):
        raise SolverValueError(f"{what} = {number:g}; give a whole number of at least 1, or None for no limit")
    return int(number)


def vector(value: npt.ArrayLike, what: str) -> FloatArray:
    """Return a vector of finite numbers, shape (nt,)."""
    try:
        given = np.asarray(value)
    except ValueError:  # ragged
        given = np.asarray(None)
    if given.dtype.kind not in "fiu":
        raise SolverTypeError(f"{what} must be times such as [0.0, 0.5, 1.0], not {value!r:.120}")
    if given.ndim != 1:
        raise SolverValueError(f"{what} has shape {given.shape}; give a vector of times")
    found = given.astype(np.float64)
    if not np.isfinite(found).all():
        raise SolverValueError(f"{what} must be a vector of finite times; it contains {found[~np.isfinite(found)][0]}")
    return found
