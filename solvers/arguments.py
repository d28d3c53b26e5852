"""Checks of the numbers that a run is given; the messages show them as they were given."""

from __future__ import annotations

import math
from numbers import Real

import numpy as np
import numpy.typing as npt

from linkwork.errors import SolverTypeError, SolverValueError

FloatArray = npt.NDArray[np.float64]

ROUNDING = 1e-12  # of the largest time: times of rows that are as near to an end of the run are there


def real(value: object, what: str) -> float:
    """Return a number as a float, NaN and infinity included."""
    if type(value) is float:  # which asks no abstract class
        return value
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


def checked_span(t_start: float, t_end: float) -> tuple[float, float]:
    """Return the times between which a run is, s; SolverValueError if they are not finite."""
    t_start, t_end = real(t_start, "t0"), real(t_end, "t_end")
    if not (math.isfinite(t_start) and math.isfinite(t_end)):
        raise SolverValueError(f"the run from t0 = {t_start} to t_end = {t_end} must be between finite times")
    return t_start, t_end


def checked_times(t_eval: npt.ArrayLike, t0: float, t_end: float) -> FloatArray:
    """Return the times of rows (nt,); SolverValueError if they are no sequence within the run."""
    times = vector(t_eval, "t_eval")
    low, high = min(t0, t_end), max(t0, t_end)
    is_within = not times.size or (low <= times.min() and times.max() <= high)
    for end in () if is_within else (t0, t_end):  # sums of steps miss it by rounding
        beyond = (times < low) if end == low else (times > high)
        times[beyond & (np.abs(times - end) <= ROUNDING * max(abs(t0), abs(t_end)))] = end
    direction = -1.0 if t_end < t0 else 1.0
    if times.size > 1 and (np.diff(times) * direction <= 0.0).any():
        raise SolverValueError(
            "t_eval must be strictly " + ("increasing" if direction > 0.0 else "decreasing, as time is")
        )
    outside = times[:0] if is_within else times[(times < low) | (times > high)]
    if outside.size:
        raise SolverValueError(f"t_eval contains {outside[0]:.17g}, outside the run from {t0:.17g} to {t_end:.17g}")
    return times
