"""Plot of the course of a design: cost and parameters over the evaluations."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from linkwork._util.files import atomic_path
from linkwork._util.names import verbatim
from linkwork._util.optional import optional_import
from linkwork.draw.plotting import COLORS, DOTS_PER_INCH, GREY, INK, PANEL_HEIGHT, WIDTH

with optional_import("plots", "matplotlib", "viz"):
    from matplotlib.figure import Figure

if TYPE_CHECKING:
    from linkwork.analysis.design import Design


def plot_design(design: Design, path: str | os.PathLike[str] | None = None) -> Figure:
    """Plot the cost and, relative to the values found, the parameters; refused trials are gaps."""
    figure = Figure(figsize=(WIDTH, 1.0 + 2 * PANEL_HEIGHT), facecolor="white", layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    reached = np.isfinite(design.costs)
    count = np.arange(1, len(reached) + 1)
    upper.plot(count[reached], design.costs[reached], "o-", color=INK, markersize=3, linewidth=1.2)
    if (design.costs[reached] > 0).all():
        upper.set_yscale("log")
    for k, name in enumerate(design.parameters):
        found = design.parameters[name]
        size = abs(found) or float(np.abs(design.history[:, k]).max()) or 1.0
        shown = (design.history[reached, k] - found) / size
        lower.plot(count[reached], shown, color=COLORS[k % len(COLORS)], linewidth=1.5, label=verbatim(name))
    lower.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize="small")
    upper.set_ylabel("cost [1]", color=INK)
    lower.set_ylabel("distance from\nvalue found [1]", color=INK)
    lower.set_xlabel("evaluation", color=INK)
    upper.set_title("Design", color=INK, loc="left", fontweight="bold", fontsize="medium")
    for axes in (upper, lower):
        axes.grid(color=GREY, alpha=0.3, linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(colors=INK, labelsize="small")
    if path is not None:
        with atomic_path(path) as part:
            figure.savefig(part, dpi=DOTS_PER_INCH)
    return figure
