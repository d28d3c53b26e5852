"""Plots of results over time: columns of a run, residuals of an identification."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from linkwork.analysis.identify import UNACTUATED
from linkwork.draw.plotting import plot_columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linkwork.analysis.identify import Identification
    from linkwork.results.base import Columns, ResultBase


def plot_result(result: ResultBase, columns: Columns = None, path: str | os.PathLike[str] | None = None) -> Figure:
    """Plot columns over time; see `ResultBase.plot`."""
    chosen = result._selected(result._plotted if columns is None else columns)
    drawn = result._drawn()
    found = {name: values for name, values in drawn._scalars(chosen).items() if values.dtype.kind != "U"}
    units = {name: result._unit(name) for name in found}
    return plot_columns(drawn.t, found, units, result.name, path, result._event_times, result._positions)


def plot_residuals(found: Identification, path: str | os.PathLike[str] | None = None) -> Figure:
    """Plot the residuals of the loads over time; see `Identification.plot`."""
    names = [*found.motors, *(f"{UNACTUATED} {k + 1}" for k in range(found.residuals.shape[1] - len(found.motors)))]
    columns = {f"residual of {name}": found.residuals[:, k] for k, name in enumerate(names)}
    units = {f"residual of {name}": found.units.get(name, "1") for name in names}
    return plot_columns(found.t, columns, units, f"Residuals of {found.name}", path)
