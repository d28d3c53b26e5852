"""Plots of results; matplotlib is loaded when one is asked for."""

from __future__ import annotations

import os
from collections.abc import Mapping

from matplotlib.figure import Figure

from linkwork.description.checks import FloatArray

QUANTITIES = {
    "rad": "angle",
    "rad/s": "angular speed",
    "rad/s2": "angular acceleration",
    "m": "length",
    "m/s": "speed",
    "m/s2": "acceleration",
    "N": "force",
    "N.m": "torque",
    "J": "energy",
}


def plot_columns(
    t: FloatArray,
    columns: Mapping[str, FloatArray],
    units: Mapping[str, str],
    title: str,
    path: str | os.PathLike[str] | None,
) -> Figure:
    """Plot columns over time with one panel for each unit, and save the picture if a path is given."""
    panels: dict[str, list[str]] = {}
    for name in columns:
        panels.setdefault(units[name], []).append(name)
    figure = Figure(figsize=(8.0, 1.0 + 2.2 * len(panels)), layout="constrained")
    all_axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (unit, names) in zip(all_axes, panels.items(), strict=True):
        for name in names:
            axes.plot(t, columns[name], label=name, linewidth=1.2)
        axes.set_ylabel(f"{QUANTITIES.get(unit, 'value')} [{unit}]")
        axes.grid(alpha=0.3)
        axes.margins(x=0)
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize="small", ncols=1 + len(names) // 16)
    all_axes[-1].set_xlabel("time [s]")
    all_axes[0].set_title(title)
    if path is not None:
        figure.savefig(path, dpi=130)
    return figure
