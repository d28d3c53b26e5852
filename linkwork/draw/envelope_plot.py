"""Load over speed of motors, in the style of the other plots; matplotlib is loaded when it is asked for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from linkwork._util.checks import number
from linkwork._util.files import atomic_path
from linkwork._util.names import verbatim
from linkwork._util.optional import optional_import
from linkwork._util.units import axis_label
from linkwork.draw.plotting import COLORS, DOTS_PER_INCH, GREY, INK, PALE, PANEL_HEIGHT, WIDTH
from linkwork.errors import MechanismError, MechanismNameError

with optional_import("plots", "matplotlib", "viz"):
    from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from linkwork.analysis.motor_loads import MotorLoads

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
        panel.set_xlabel(axis_label(f"{units[k]}/s"), color=INK)
        panel.set_ylabel(axis_label(load_units[k]), color=INK)
        panel.set_title(verbatim(name), color=INK, loc="left", fontweight="bold", fontsize="medium")
        panel.grid(color=PALE)
        panel.spines[["top", "right"]].set_visible(False)
        panel.spines[["left", "bottom"]].set_color(GREY)
        panel.tick_params(colors=INK, labelsize="small")
        panel.legend(frameon=False, fontsize="small", labelcolor=INK)
    if path is not None:
        with atomic_path(path) as part:
            figure.savefig(part, dpi=DOTS_PER_INCH)
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
