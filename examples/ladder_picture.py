"""The picture of the spatial ladder: the ladder in motion, its coordinates, and what an evaluation costs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from drawing import AMBER, BLUE, GREEN, INK, PALE, RED, SKY, dress, legend, save, seen, sheet
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

import linkwork as lw

Costs = Mapping[str, Mapping[int, float]]
TIMES, FADING = (0.0, 0.4, 0.8), (1.0, 0.45, 0.25)  # s
ONE_SWING = 1.9  # s
TITLE = "{} cells at {} s, from full colour to pale, and the ways of the tips"
LINES = ((BLUE, 6.0), (RED, 3.5), (AMBER, 1.5))  # the first widest, as they lie on one another
OFFSET: dict[str, Any] = {"textcoords": "offset points", "fontweight": "bold"}


def draw(path: Path, runs: Mapping[int, lw.Result], reference: np.ndarray, costs: Costs) -> None:
    """Draw simulations by number of cells, the pendulum's coordinates (nt, 2), and CPU times by method and cells, s."""
    figure = sheet(12.0, 8.2)
    grid = figure.add_gridspec(3, 2, width_ratios=(1.45, 1.0), height_ratios=(2.3, 1.5, 0.8))
    draw_ladder(figure.add_subplot(grid[0, :]), *list(runs.items())[-1])
    draw_motion(figure.add_subplot(grid[1, 0]), figure.add_subplot(grid[2, 0]), runs, reference)
    draw_costs(figure.add_subplot(grid[1:, 1]), costs)
    save(
        figure,
        path,
        "Spatial ladders, after figures 9 to 11 of Anderson and Critchley, Multibody System Dynamics 9, 2003.",
    )


def draw_ladder(axes: Axes, cells: int, result: lw.Result) -> None:
    """The ladder in space at some times, the first of them in full colour, and the ways of its tips."""
    feet = np.array([result[f"leg{k}.r"][0] for k in range(cells + 1)])
    way = result["rung0.r"] - feet[0]  # of a tip from its foot; all legs are parallel
    swing = way[: np.searchsorted(result.t, ONE_SWING)]
    for row, alpha in zip(np.searchsorted(result.t, TIMES)[::-1], FADING[::-1], strict=True):
        look: dict[str, Any] = {"alpha": alpha, "solid_capstyle": "round"}
        for foot in feet:
            axes.plot(*seen([foot, foot + way[row]]), color=BLUE, linewidth=3.5, **look)
        axes.plot(*seen(feet + way[row]), "o-", color=RED, linewidth=4, ms=7, mfc="white", mew=1.6, **look)
    for foot in feet:
        axes.plot(*seen(foot + swing), color=AMBER, linewidth=1.3, zorder=5)
    axes.plot(*seen(feet), color=PALE, linewidth=9, zorder=1, solid_capstyle="round")
    axes.plot(*seen(feet), "o", color=INK, ms=7, mfc="white", mew=1.6, zorder=6)
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.set_title(TITLE.format(cells, ", ".join(f"{t:g}" for t in TIMES)), fontsize=10.5, color=INK)


def draw_motion(angles: Axes, apart: Axes, runs: Mapping[int, lw.Result], reference: np.ndarray) -> None:
    """As figure 10: the coordinates of several ladders and of the pendulum lie on one another."""
    for k, (cells, result) in enumerate(runs.items()):
        (color, width), q = LINES[min(k, len(LINES) - 1)], result[f"H{cells}.q"]
        label = f"{cells} cell{'s' if cells > 1 else ''}"
        angles.plot(result.t, q, color=color, linewidth=width, label=[label, "_"])
        error = np.abs(q - reference).max(axis=1)
        apart.semilogy(result.t[1:], np.maximum(error[1:], 1e-16), color=color, linewidth=1.2)
    times = next(iter(runs.values())).t
    angles.plot(times[::10], reference[::10], "o", color=INK, ms=3.5, mfc="white", label=["pendulum", "_"])
    for name, q in zip(("q1", "q2"), reference[-1], strict=True):
        angles.annotate(name, (times[-1], q), (6, -3), **OFFSET, color=INK)
    dress(angles, "Generalized coordinates of all legs", "", "angle [rad]")
    dress(apart, "Largest difference to the pendulum", "time [s]", "[rad]")
    angles.set_ylim(-0.9, 1.15)
    legend(angles, "upper right", ncols=4)
    angles.sharex(apart)
    angles.tick_params(labelbottom=False)
    apart.yaxis.set_minor_locator(NullLocator())


def draw_costs(axes: Axes, costs: Costs) -> None:
    """As figure 11: linear against cubic, that is slopes of 1 and 3 in logarithmic scales."""
    for (name, times), color in zip(costs.items(), (GREEN, RED, SKY), strict=False):
        axes.loglog(list(times), 1e6 * np.array(list(times.values())), "o-", color=color, lw=1.8, ms=5, label=name)
    dress(axes, "CPU time of one evaluation", "cells", "CPU time [µs]")
    draw_slopes(axes, list(costs.values())[:2])
    legend(axes, "upper left")


def draw_slopes(axes: Axes, lines: Sequence[Mapping[int, float]]) -> None:
    """Dashed lines of slope 1 and 3 through the last points of two curves."""
    for times, slope in zip(lines, (1, 3), strict=False):
        cells, spent = list(times.items())[-1]
        span = cells / np.array([1.0, 4.0])
        axes.loglog(span, 1e6 * spent * (span / cells) ** slope, "--", color=INK, linewidth=1, zorder=5)
        axes.annotate(
            f"slope {slope}", (cells, 1e6 * spent), (6, -3), textcoords="offset points", color=INK, fontsize=9
        )
    axes.set_xlim(None, 2.6 * axes.get_xlim()[1])
