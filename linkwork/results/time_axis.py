"""Places on the time axis of a result, which may run backward and has several rows at the time of an event."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork._util.checks import FloatArray

ROUNDING = 1e-12  # of the largest time: by so much an instant may be outside

IntArray = NDArray[np.intp]


class Places(NamedTuple):
    """Instants between rows."""

    rows: IntArray  # the row at the instant, the last one if there are several, or else the one before it, (n,)
    weights: FloatArray  # part of the way to the next row, (n,): 0 at the row itself
    times: FloatArray  # the instants, (n,), s


def locate(axis: FloatArray, times: FloatArray) -> Places:
    """Return the places of instants (n,) on an axis of times (nt,).

    >>> locate(np.array([0.0, 1.0, 1.0, 3.0]), np.array([1.0, 1.5]))
    Places(rows=array([2, 2]), weights=array([0.  , 0.25]), times=array([1. , 1.5]))
    """
    if not axis.size:
        raise ValueError("there are no rows")
    sign = direction(axis)
    tolerance = ROUNDING * np.abs(axis[[0, -1]]).max()
    outside = ~((sign * times >= sign * axis[0] - tolerance) & (sign * times <= sign * axis[-1] + tolerance))
    if outside.any():
        raise ValueError(f"t = {times[outside][0]:.9g} s is outside the rows, {span(axis)}")
    times = np.clip(times, min(axis[0], axis[-1]), max(axis[0], axis[-1]))
    rows = np.searchsorted(sign * axis, sign * times, side="right") - 1
    here, there = axis[rows], axis[np.minimum(rows + 1, axis.size - 1)]
    exact = times == here
    weights = np.where(exact, 0.0, (times - here) / np.where(exact, 1.0, there - here))
    return Places(rows, weights, times)


def slice_of(axis: FloatArray, rows: IntArray, start: float | None, stop: float | None) -> Places:
    """Return the places of the rows from `start` to `stop`, both interpolated where no row is there.

    `rows` are the places of the rows on the axis. At the start of the slice, the row after an event is taken.
    """
    first, last = (
        locate(axis, np.array([axis[rows[0]] if start is None else start])),
        locate(axis, np.array([axis[rows[-1]] if stop is None else stop])),
    )
    sign = direction(axis)
    if sign * first.times[0] > sign * last.times[0]:
        order = "later" if sign > 0 else "earlier, as the run goes backward"
        raise ValueError(f"the end of a slice must be {order} than its start: {start!r} to {stop!r}")
    if start is None:
        first = Places(rows[:1], np.zeros(1), axis[rows[:1]])
    within = rows[(rows > first.rows[0]) & (rows <= last.rows[0])]
    parts = [first, Places(within, np.zeros(len(within)), axis[within])]
    if last.times[0] != (axis[within[-1]] if within.size else first.times[0]):
        parts.append(last)
    return Places(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def refined(axis: FloatArray, count: int) -> Places:
    """Return all rows of an axis, and places between them so that no step exceeds the span by `count`.

    >>> refined(np.array([0.0, 1.0, 1.0, 4.0]), 4).times
    array([0., 1., 1., 2., 3., 4.])
    """
    steps = np.abs(np.diff(axis))
    parts = np.maximum(1, np.ceil(count * steps / max(steps.sum(), np.finfo(float).tiny) - ROUNDING)).astype(np.intp)
    rows = np.append(np.repeat(np.arange(len(parts)), parts), len(parts))
    first = np.append(0, np.cumsum(parts))
    weights = (np.arange(len(rows)) - first[rows]) / np.append(parts, 1)[rows]
    return Places(rows, weights, axis[rows] + weights * np.append(np.diff(axis), 0.0)[rows])


def direction(axis: FloatArray) -> float:
    """Return -1 if time runs backward, else 1."""
    return -1.0 if axis.size and axis[-1] < axis[0] else 1.0


def span(axis: FloatArray) -> str:
    """Return the times between which the rows are, in words."""
    return f"{axis[0]:.6g} to {axis[-1]:.6g} s" if axis.size else "empty"
