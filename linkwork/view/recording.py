"""Runs as pages hold them: columns of numbers, thinned to so many rows, with events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork._util.checks import FloatArray
from linkwork.results.time_axis import direction
from linkwork.view import payload
from linkwork.view.packing import pack_columns

MOST_NUMBERS = 400_000  # of a run, which take about 0.5 MB of a page
MOST_ROWS, FEWEST_ROWS = 5000, 300  # by default
NUMBERS = "fiub"  # kinds of NumPy types that a page can store

RowArray = NDArray[np.intp]


def recorded_run(
    label: str,
    t: FloatArray,
    columns: Mapping[str, NDArray[Any]],
    events: Sequence[payload.RunEvent],
    message: str,
    *,
    rows_of_result: int,
    max_rows: int | None = None,
) -> payload.RecordedRun:
    """Return a run with at most `max_rows` rows of its columns (n,); by default as many as keep a page small.

    The rows at events, the first and the last one are kept; the others are left out evenly.
    """
    most = default_rows(len(columns)) if max_rows is None else max_rows
    rows = thinned(t, [event["t"] for event in events], most)
    if direction(t) < 0:  # a page runs forward
        rows = rows[::-1]
    numbers = {name: values for name, values in columns.items() if values.dtype.kind in NUMBERS}
    numbers.pop("time", None)
    return {
        "label": label,
        "scene": 0,
        "rows": len(rows),
        "rowsOfResult": rows_of_result,
        "columns": ["time", *numbers],
        "events": sorted(events, key=lambda event: event["t"]),
        "message": message,
        "values": pack_columns([t[rows], *(values[rows] for values in numbers.values())]),
    }


def default_rows(columns: int) -> int:
    """Return how many rows of so many columns a page has by default.

    >>> default_rows(50), default_rows(400), default_rows(100_000)
    (5000, 1000, 300)
    """
    return int(np.clip(MOST_NUMBERS // max(columns, 1), FEWEST_ROWS, MOST_ROWS))


def thinned(t: FloatArray, events: Iterable[float], most: int) -> RowArray:
    """Return the rows that stay where only `most` may: those at events and the ends first, then evenly.

    >>> thinned(np.array([0.0, 1.0, 2.0, 3.0, 3.0, 4.0, 5.0]), [3.0], 5)
    array([0, 2, 3, 4, 6])
    """
    n = len(t)
    if n <= most:
        return np.arange(n)
    at_events = np.isin(t, np.fromiter(events, dtype=np.float64))
    at_events[[0, -1]] = True
    kept, others = np.flatnonzero(at_events), np.flatnonzero(~at_events)
    if len(kept) >= most:  # so many events that the page shows every few of them
        return kept[_evenly(len(kept), max(most, 2))]
    return np.sort(np.concatenate([kept, others[_evenly(len(others), most - len(kept), ends=False)]]))


def _evenly(n: int, count: int, *, ends: bool = True) -> RowArray:
    """Return `count` of the numbers 0 to n - 1, with both ends or at the middles of equal parts."""
    places = np.linspace(0, n - 1, count) if ends else (np.arange(count) + 0.5) * n / count - 0.5
    return np.unique(np.round(places).astype(np.intp))
