"""The plot of a kinematic analysis: columns over the swept coordinate, with its special poses."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from linkwork._util.files import atomic_path
from linkwork._util.names import verbatim
from linkwork.draw.plotting import DOTS_PER_INCH, GREY, INK, plot_columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linkwork.analysis.kinematic_result import KinematicResult
    from linkwork.results.base import Columns


def plot_kinematics(
    result: KinematicResult, columns: Columns = None, path: str | os.PathLike[str] | None = None
) -> Figure:
    """Plot columns over the swept coordinate; see `KinematicResult.plot`."""
    chosen = result._selected(columns) if columns is not None else result._plotted()
    special = result.special_poses
    places = [pose.rows for pose in special]
    there = dict(zip(result._coordinate_names, result._coordinates(pose.state for pose in special), strict=True))
    swept = np.insert(result.values, places, [pose.value for pose in special])
    values = {name: np.insert(result[name], places, there.get(name, np.nan)) for name in chosen}
    figure = plot_columns(swept, values, result.units, result.name, None, [pose.value for pose in special])
    coordinate = result.coordinate
    figure.axes[-1].set_xlabel(f"{verbatim(coordinate)} [{result.units[coordinate]}]", color=INK)
    for pose in special:
        place = (pose.value, 1.0)
        axes = figure.axes[0]
        axes.annotate(
            pose.kind, place, xycoords=("data", "axes fraction"), rotation=90, ha="right", va="top",
            fontsize="x-small", color=GREY,
        )  # fmt: skip
    if path is not None:
        with atomic_path(path) as part:
            figure.savefig(part, dpi=DOTS_PER_INCH)
    return figure
