"""Plots of results; matplotlib is loaded when one is asked for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from linkwork._util.checks import FloatArray
from linkwork._util.files import atomic_path
from linkwork._util.units import axis_label

try:
    from matplotlib.figure import Figure
except ImportError as missing:
    raise ImportError("plots need matplotlib: pip install 'linkwork[viz]'") from missing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, GREY, PALE = "#22303c", "#8a96a3", "#dfe4ea"
COLORS = ("#d1495b", "#e09f3e", "#2e6f95", "#3d8b6e", "#7b5ea7", "#5fa8d3", "#9c6644", "#5c677d", "#b5838d", "#8ab17d")
MOST_IN_LEGEND = 16  # rows; more names make more columns


def plot_columns(
    t: FloatArray,
    columns: Mapping[str, NDArray[Any]],
    units: Mapping[str, str],
    title: str,
    path: str | os.PathLike[str] | None,
    events: Iterable[float] = (),
) -> Figure:
    """Plot columns over time, one panel for each unit, and save the picture if a path is given.

    A joint or body has the same colour in all panels as long as no panel shows two columns of it. Whole numbers and
    Booleans are drawn as steps, times of events as thin lines.
    """
    panels: dict[str, list[str]] = {}
    for name in columns:
        panels.setdefault(units[name], []).append(name)
    colors = _colors(panels.values())
    figure = Figure(figsize=(9.0, 1.0 + 2.2 * max(1, len(panels))), layout="constrained", facecolor="white")
    all_axes = figure.subplots(max(1, len(panels)), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (unit, names) in zip(all_axes, panels.items(), strict=False):
        for name in names:
            style = "default" if columns[name].dtype.kind == "f" else "steps-post"
            axes.plot(t, columns[name], label=name, color=colors[name], linewidth=1.5, drawstyle=style)
        for time in events:
            axes.axvline(time, color=GREY, linewidth=0.6, zorder=1)
        axes.set_ylabel(axis_label(unit))
        _dress(axes, len(names))
    all_axes[-1].set_xlabel("time [s]", color=INK)
    all_axes[0].set_title(title, color=INK, loc="left", fontweight="bold", fontsize="medium")
    figure.align_ylabels()
    if path is not None:
        with atomic_path(path) as part:
            figure.savefig(part, dpi=130)
    return figure


def _colors(panels: Iterable[list[str]]) -> dict[str, str]:
    """Return a colour for each column: its entity's where that distinguishes the columns of a panel."""
    colors: dict[str, str] = {}
    position: dict[str, int] = {}
    for panel in panels:
        owners = [name.rpartition(".")[0] for name in panel]
        apart = len(set(owners)) == len(panel)
        for k, (name, owner) in enumerate(zip(panel, owners, strict=True)):
            colors[name] = COLORS[(position.setdefault(owner, len(position)) if apart else k) % len(COLORS)]
    return colors


def _dress(axes: Axes, count: int) -> None:
    axes.grid(color=PALE)
    axes.margins(x=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(colors=INK, labelsize="small")
    axes.yaxis.label.set_color(INK)
    columns = 1 + (count - 1) // MOST_IN_LEGEND
    legend = axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), ncols=columns, frameon=False, fontsize="small")
    for text in legend.get_texts():
        text.set_color(INK)
