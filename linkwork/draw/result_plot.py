"""The plot of a result: columns over time."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from linkwork.draw.plotting import plot_columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linkwork.results.base import Columns
    from linkwork.results.in_time import TimeResult


def plot_result(result: TimeResult, columns: Columns = None, path: str | os.PathLike[str] | None = None) -> Figure:
    """Plot columns over time; see `TimeResult.plot`."""
    chosen = result._selected(result._plotted if columns is None else columns)
    drawn = result._drawn()
    found = {name: values for name, values in drawn._scalars(chosen).items() if values.dtype.kind != "U"}
    units = {name: result._unit(name) for name in found}
    return plot_columns(drawn.t, found, units, result.name, path, result._event_times, result._positions)
