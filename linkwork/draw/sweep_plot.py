"""Plots of sweeps; loaded when one is asked for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from linkwork._util.files import atomic_path
from linkwork._util.names import verbatim
from linkwork._util.optional import optional_import
from linkwork.cosim.system.references import known

with optional_import("plots", "matplotlib", "sweep"):
    from matplotlib.figure import Figure

if TYPE_CHECKING:
    from linkwork.cosim.sweep.result import SweepResult


def plot_points(result: SweepResult, x: str, y: str, path: str | os.PathLike[str] | None = None) -> Figure:
    """Plot a column over another, a dot for each point, and save the picture if a path is given."""
    frame, title = result.final(), str(result.header["system"]["name"])
    for name in (x, y):
        known(name, dict.fromkeys(frame.columns), "parameter or variable", "the sweep")
    figure = Figure(figsize=(7.0, 4.5), layout="constrained", facecolor="white")
    axes = figure.subplots()
    axes.plot(frame[x], frame[y], "o", markersize=4)
    axes.set_xlabel(verbatim(x))
    axes.set_ylabel(verbatim(y))
    axes.set_title(f"{verbatim(title)}: {len(frame)} points", loc="left", fontsize="medium")
    axes.grid(alpha=0.3)
    if path is not None:
        with atomic_path(path) as part:
            figure.savefig(part, dpi=130)
    return figure
