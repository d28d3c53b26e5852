"""Plots of analyses: loads of motors, kinematic sweeps, designs, identifications."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from linkwork._util.checks import number
from linkwork._util.names import verbatim
from linkwork._util.optional import optional_import
from linkwork._util.units import axis_label
from linkwork.analysis.identify import UNACTUATED
from linkwork.draw.plotting import COLORS, GREY, INK, PANEL_HEIGHT, WIDTH, dress, plot_columns, save
from linkwork.errors import MechanismError, MechanismNameError

with optional_import("plots", "matplotlib", "viz"):
    from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from linkwork.analysis.design import Design
    from linkwork.analysis.identify import Identification
    from linkwork.analysis.kinematic_result import KinematicResult
    from linkwork.analysis.motor_loads import MotorLoads
    from linkwork.results.base import Columns

PANELS = 3  # in a line


def plot_envelopes(
    loads: MotorLoads, path: str | os.PathLike[str] | None = None, *, limits: Mapping[str, float] | None = None
) -> Figure:
    """Plot load over speed, a panel for each motor; see `MotorLoads.plot_envelope`."""
    drawn, units, load_units = _drawn_limits(loads, limits), loads._of.units, loads._of.load_units
    count = max(1, len(loads.motors))
    columns = min(PANELS, count)
    lines = -(-count // columns)
    figure = Figure(figsize=(WIDTH, 0.6 + 1.3 * PANEL_HEIGHT * lines), facecolor="white", layout="constrained")
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    for panel in panels[len(loads.motors) :]:
        panel.remove()
    for k, name in enumerate(loads.motors):
        panel, load, speed = panels[k], loads.loads[:, k], loads.speeds[:, k]
        panel.plot(speed, load, color=COLORS[k % len(COLORS)], linewidth=1.5, label=verbatim(name))
        for row in {int(np.argmax(np.abs(load))), int(np.argmax(np.abs(speed)))} if len(load) else ():
            panel.plot(speed[row], load[row], "x", color=INK)
        _mark(panel, loads.rms[name], "--", "rms")
        if name in drawn:
            _mark(panel, drawn[name], "-", "limit")
        dress(panel, axis_label(f"{units[k]}/s"), axis_label(load_units[k]), verbatim(name), outside=False)
    save(figure, path)
    return figure


def _drawn_limits(loads: MotorLoads, limits: Mapping[str, float] | None) -> dict[str, float]:
    if not isinstance(limits, Mapping | None):
        raise MechanismError(f"limits must be a dictionary by motor such as {{'A': 10.0}}, not {limits!r:.60}")
    drawn: dict[str, float] = {}
    for name, limit in (limits or {}).items():
        if name not in loads.motors:
            raise MechanismNameError(f"limits: {name!r} is no motor here: {', '.join(loads.motors)} are")
        drawn[name] = number(limit, f"limits of {name!r}")
        if not drawn[name] > 0.0:
            raise MechanismError(f"limits of {name!r} must be positive, and hold for both signs, not {limit!r}")
    return drawn


def _mark(panel: Axes, load: float, dashes: str, label: str) -> None:
    """Draw a load, of both signs, as lines across a panel."""
    for sign in (1.0, -1.0):
        line = panel.axhline(sign * load, color=GREY, linestyle=dashes, linewidth=1.0)
        if sign > 0:
            line.set_label(label)


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
    save(figure, path)
    return figure


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
    dress(upper, y="cost [1]", title="Design")
    dress(lower, "evaluation", "distance from\nvalue found [1]")
    save(figure, path)
    return figure


def plot_residuals(found: Identification, path: str | os.PathLike[str] | None = None) -> Figure:
    """Plot the residuals; see `Identification.plot`."""
    names = [*found.motors, *(f"{UNACTUATED} {k + 1}" for k in range(found.residuals.shape[1] - len(found.motors)))]
    columns = {f"residual of {name}": found.residuals[:, k] for k, name in enumerate(names)}
    units = {f"residual of {name}": found.units.get(name, "1") for name in names}
    return plot_columns(found.t, columns, units, f"Residuals of {found.name}", path)
