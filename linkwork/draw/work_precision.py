"""The work-precision plot: error over CPU time, a line for each run; matplotlib is loaded when one is asked for."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

from linkwork._util.names import verbatim
from linkwork._util.optional import optional_import
from linkwork.comparison.runs import in_short
from linkwork.comparison.table import ComparisonTable
from linkwork.draw.plotting import COLORS, PALE, dress, save
from linkwork.errors import LinkworkError

with optional_import("plots", "matplotlib", "viz"):
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogFormatter

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
DASHES = ("-", "--", ":")
MILLISECONDS = 1e3


def plot_work_precision(comparison: ComparisonTable, path: str | os.PathLike[str] | None = None) -> Figure:
    """Plot error over CPU time, and save the picture if a path is given.

    Errors that the reference does not resolve are drawn hollow, on the edge of its resolution band.
    """
    if all(row.failed for row in comparison.rows):
        raise LinkworkError("no run came to its end, so there is nothing to plot: the rows state why")
    figure = Figure(figsize=(9.0, 5.5), layout="constrained", facecolor="white")
    axes = figure.subplots()
    axes.set_xscale("log")
    axes.set_yscale("log")
    for k, run in enumerate(dict.fromkeys(row.run for row in comparison.rows)):
        _line(axes, comparison, run, k)
    _band(axes, comparison.floor)
    _label(axes, comparison)
    save(figure, path)
    return figure


def _line(axes: Axes, comparison: ComparisonTable, run: str, k: int) -> None:
    rows = [row for row in comparison.of(run) if row.error is not None and math.isfinite(row.error)]
    if not rows:
        axes.plot([], [], linestyle="none", label=f"{run} (failed)")
        return
    times = [MILLISECONDS * (row.cpu_time or 0.0) for row in rows]
    errors = [max(row.error or 0.0, comparison.floor) for row in rows]
    color, marker = COLORS[k % len(COLORS)], MARKERS[k % len(MARKERS)]
    dashes = DASHES[k // len(COLORS) % len(DASHES)]
    (line,) = axes.plot(times, errors, color=color, marker=marker, linestyle=dashes, linewidth=1.5, label=run)
    hidden = [i for i, row in enumerate(rows) if (row.error or 0.0) <= comparison.floor]
    if hidden:
        picked = ([times[i] for i in hidden], [errors[i] for i in hidden])
        axes.plot(*picked, linestyle="none", marker=marker, color=line.get_color(), markerfacecolor="white", zorder=3)


def _band(axes: Axes, floor: float) -> None:
    """Draw the band that the reference does not resolve, if the axes come near it."""
    lowest, highest = axes.get_ylim()
    if floor > 0.1 * lowest:
        axes.axhspan(min(lowest, 0.3 * floor), floor, color=PALE, label="error of the reference", zorder=0)
    axes.set_ylim(min(lowest, 0.3 * floor) if floor > 0.1 * lowest else lowest, highest)


def _label(axes: Axes, comparison: ComparisonTable) -> None:
    what = "states" if comparison.columns is None else _shortened(", ".join(comparison.columns))
    axes.xaxis.set_major_formatter(LogFormatter())  # plain numbers
    axes.xaxis.set_minor_formatter(LogFormatter(minor_thresholds=(1, 0.4)))  # where there is less than a decade
    tolerances = sorted({row.rtol for row in comparison.rows}, reverse=True)
    span = f"rtol {in_short(tolerances[0])}" + (f" to {in_short(tolerances[-1])}" if len(tolerances) > 1 else "")
    title = f"{verbatim(comparison.name)}: {comparison.t_end:g} s at {span}; left and low is better"
    error = f"largest error of {verbatim(what)} [{_unit(comparison)}; relative above 1]"
    dress(axes, "CPU time of a run [ms]", error, title)


def _unit(comparison: ComparisonTable) -> str:
    """Return the unit of the compared variables, if they share one."""
    if comparison.reference is None:
        return "SI units"
    system = comparison.reference.result.model
    units = {system.column(name).unit for name in comparison.columns or (*system.q_names, *system.u_names)}
    return units.pop() if len(units) == 1 else "SI units"


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."
