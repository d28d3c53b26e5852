"""Differences between the columns of two results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.optional import optional_import
from linkwork.results.files import Column

if TYPE_CHECKING:
    import pandas as pd


def differences(
    t: FloatArray, one: Mapping[str, Column], other: Mapping[str, Column], units: Mapping[str, str]
) -> pd.DataFrame:
    """Return the largest difference of each column: as a number, as a part of its largest value, and its time.

    Texts and truth values differ by 1.
    """
    with optional_import("tables", "pandas", "viz"):
        import pandas as pd
    rows = {name: _largest(t, one[name], other[name]) for name in one}
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["difference", "relative", "time"])
    table.insert(0, "unit", [units[name] for name in rows])
    return table.rename_axis("column")


def _largest(t: FloatArray, a: Column, b: Column) -> tuple[float, float, float]:
    """Return the largest difference, the same by the largest value, and its time; NaN where only one is a number."""
    if not t.size:
        return np.nan, np.nan, np.nan
    if {a.dtype.kind, b.dtype.kind} & {"U", "b"}:
        distance, scale = (a != b).astype(np.float64), 1.0
    else:
        a, b = a.astype(np.float64), b.astype(np.float64)
        equal = (a == b) | (np.isnan(a) & np.isnan(b))
        distance = np.abs(np.subtract(a, b, out=np.zeros(t.size), where=~equal))
        scale = float(np.nanmax(np.abs([a, b]), initial=0.0))
    worst = int(np.argmax(np.where(np.isnan(distance), np.inf, distance)))
    largest = float(distance[worst])
    return largest, largest / scale if scale else largest, float(t[worst])


def common_times(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the times of two axes, each once and ascending, as far as both axes reach.

    >>> common_times(np.array([0.0, 1.0, 2.0]), np.array([0.5, 1.5, 1.5, 3.0]))
    array([0.5, 1. , 1.5, 2. ])
    """
    if not one.size or not other.size:
        return np.empty(0)
    both = np.union1d(one, other)
    first, last = max(one.min(), other.min()), min(one.max(), other.max())
    within: FloatArray = both[(both >= first) & (both <= last)]
    return within
