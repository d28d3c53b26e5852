"""Maps: points over one, two or three quantities, coloured by another one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import verbatim
from linkwork._util.optional import optional_import
from linkwork.draw.plotting import GREY, INK, PALE, save
from linkwork.errors import MechanismError

with optional_import("plots", "matplotlib", "viz"):
    from matplotlib.figure import Figure

if TYPE_CHECKING:
    from linkwork.analysis.workspace import Workspace


def plot_workspace(found: Workspace, path: str | os.PathLike[str] | None = None) -> Figure:
    """Plot the reached poses over the mapped functions; see `Workspace.plot`."""
    if len(found.of) > 3:
        raise MechanismError(f"a map has up to three axes, and {len(found.of)} functions were mapped: choose in of=")
    points = {name: found.columns[name][found.reached] for name in found.of}
    shown = found.columns["conditioning"][found.reached]
    missed = {name: found.columns[name][~found.reached] for name in found.of if name in found.over}
    missed = missed if len(missed) == len(found.of) else {}
    return plot_map(points, shown, "conditioning", found.units, f"workspace of {found.name}", path, missed)


def plot_map(
    points: Mapping[str, FloatArray],
    colours: FloatArray,
    colour_name: str,
    units: Mapping[str, str],
    title: str,
    path: str | os.PathLike[str] | None,
    missed: Mapping[str, FloatArray],
) -> Figure:
    """Plot points (n,) by name of the axis, coloured, and save the picture if a path is given.

    Parameters
    ----------
    points
        By name of the axis, one to three; over a single one the colour's quantity is the other axis.
    colours
        (n,) of 0 to 1.
    colour_name
        Their quantity.
    units
        Of the axes by name.
    title
        Of the figure.
    path
        Where to save the picture; None: nowhere.
    missed
        Points that were not reached, by name of the axis; may be empty.
    """
    figure = Figure(figsize=(7.5, 6.0), layout="constrained", facecolor="white")
    is_solid = len(points) == 3
    axes: Any = figure.add_subplot(projection="3d" if is_solid else None)
    places = [*points.values(), colours] if len(points) == 1 else list(points.values())
    size = float(np.clip(2e5 / max(len(colours), 1) ** 1.0, 4.0, 60.0))
    if missed:
        axes.scatter(*missed.values(), s=3.0, color=PALE, label="not reached")
    drawn = axes.scatter(*places, c=colours, s=size, cmap="viridis", vmin=0.0, vmax=max(float(colours.max()), 1e-12))
    figure.colorbar(drawn, ax=axes, label=colour_name)
    labels = [verbatim(f"{name} [{units[name]}]" if units.get(name) else name) for name in points]
    labels += [colour_name] * (len(points) == 1)
    for axis, label in zip("xyz", labels, strict=False):
        getattr(axes, f"set_{axis}label")(label, color=INK)
    if len(points) == 2 and len({units.get(name) for name in points}) == 1:
        axes.set_aspect("equal", adjustable="datalim")
    if not is_solid:
        axes.grid(color=PALE, linewidth=0.6)
        axes.set_axisbelow(True)
        axes.tick_params(colors=GREY)
    if missed:
        axes.legend(loc="upper right", fontsize=8)
    axes.set_title(verbatim(title), color=INK)
    save(figure, path)
    return figure
