"""The picture of the demo: the linkage in motion, its joint angles, and how far the runs agree."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from four_bar import BASE
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

Columns = Mapping[str, np.ndarray]

INK, GREY, PALE = "#22303c", "#8a96a3", "#dfe4ea"
CRANK, PLATE, ROCKER, CURVE = "#d1495b", "#2e6f95", "#3d8b6e", "#e09f3e"
JOINTS = {"A": CRANK, "B": CURVE, "C": PLATE, "D": ROCKER}
ALIGNED = {"A": "center", "B": "center", "C": "bottom", "D": "top"}  # C and D end next to each other
POINT = (0.5, 0.42)  # the coupler point: along B-C and across it, in lengths of the coupler
POSES = 9
LABEL: dict[str, Any] = {"textcoords": "offset points", "fontweight": "bold"}


def points(columns: Columns) -> dict[str, np.ndarray]:
    """Joints and coupler point over time in the plane, each (nt, 2), m."""
    b = np.column_stack([columns["coupler.r[1]"], columns["coupler.r[3]"]])
    c = np.column_stack([columns["rocker.r[1]"], columns["rocker.r[3]"]])
    along = c - b
    across = np.column_stack([-along[:, 1], along[:, 0]])
    a, d = np.zeros_like(b), np.tile((BASE, 0.0), (len(b), 1))
    return {"A": a, "B": b, "C": c, "D": d, "P": b + POINT[0] * along + POINT[1] * across}


def draw(path: Path, t: np.ndarray, columns: Columns, differences: Mapping[str, np.ndarray], dpi: int = 150) -> None:
    """Draw one run, and of all runs the difference to it by name, rad; save the picture."""
    figure = Figure(figsize=(11.0, 5.6), layout="constrained", facecolor="white")
    grid = figure.add_gridspec(2, 2, width_ratios=(1.0, 1.18), height_ratios=(1.5, 1.0), wspace=0.06, hspace=0.08)
    motion, angles, errors = (figure.add_subplot(cell) for cell in (grid[:, 0], grid[0, 1], grid[1, 1]))
    draw_motion(motion, points(columns))
    draw_angles(angles, t, columns)
    draw_differences(errors, t, differences)
    errors.sharex(angles)
    angles.tick_params(labelbottom=False)
    for axes in (motion, angles, errors):
        axes.title.set(fontsize=11, color=INK)
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(GREY)
        axes.tick_params(colors=INK, labelsize=9)
        axes.xaxis.label.set_color(INK)
        axes.yaxis.label.set_color(INK)
    figure.savefig(path, dpi=dpi)


def draw_motion(axes: Axes, at: Columns) -> None:
    quarter = len(at["P"]) // 4  # about one swing to and fro; there the poses, at equal distances along B's path
    path = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(at["B"][:quarter], axis=0), axis=1))])
    for i in np.searchsorted(path, np.linspace(0.0, path[-1] / 2, POSES)[1:]):
        draw_pose(axes, {name: xy[i] for name, xy in at.items()}, faint=True)
    axes.plot(*at["P"].T, color=CURVE, linewidth=2.4, zorder=3)
    for name, color in (("B", CRANK), ("C", ROCKER)):
        axes.plot(*at[name].T, color=color, linewidth=1.0, alpha=0.6, zorder=1)
    start = {name: xy[0] for name, xy in at.items()}
    draw_pose(axes, start, faint=False)
    for name, offset in (("A", (-15, 6)), ("B", (9, -12)), ("C", (9, 4)), ("D", (9, 6))):
        axes.plot(*start[name], "o", markersize=8, mfc="white", mec=INK, mew=1.6, zorder=6)
        axes.annotate(name, start[name], offset, **LABEL, color=INK, fontsize=11, zorder=7)
    axes.plot(*start["P"], "o", markersize=6.5, color=CURVE, mec=INK, zorder=6)
    draw_ground(axes, start["A"])
    draw_ground(axes, start["D"])
    axes.set(aspect="equal", xlabel="x [m]", ylabel="z [m]", title="The linkage at the start and its coupler curve")
    axes.margins(0.06)


def draw_pose(axes: Axes, at: Columns, faint: bool) -> None:
    alpha, width, order = (0.4, 1.0, 2) if faint else (1.0, 4.5, 4)
    corners = [at["B"], at["C"], at["P"]]
    axes.add_patch(Polygon(corners, facecolor=PLATE, alpha=0.05 if faint else 0.3, linewidth=0, zorder=order))
    for ends, color in ((corners[2:] + corners, PLATE), ((at["A"], at["B"]), CRANK), ((at["D"], at["C"]), ROCKER)):
        line = np.array(ends).T
        axes.plot(*line, color=color, linewidth=width, alpha=alpha, solid_capstyle="round", zorder=order)


def draw_ground(axes: Axes, at: np.ndarray) -> None:
    x, z = at
    foot = [(x, z), (x - 0.055, z - 0.09), (x + 0.055, z - 0.09)]
    axes.add_patch(Polygon(foot, facecolor=PALE, edgecolor=INK, zorder=3))
    for k in np.linspace(-0.075, 0.06, 6):
        axes.plot([x + k + 0.015, x + k - 0.01], [z - 0.09, z - 0.12], color=INK, linewidth=0.9, zorder=3)
    axes.plot([x - 0.085, x + 0.085], [z - 0.09, z - 0.09], color=INK, linewidth=1.4, zorder=3)


def draw_angles(axes: Axes, t: np.ndarray, columns: Columns) -> None:
    for name, color in JOINTS.items():
        axes.plot(t, columns[f"{name}.q"], color=color, linewidth=1.8)
        end = (t[-1], columns[f"{name}.q"][-1])
        axes.annotate(name, end, (6, 0), **LABEL, va=ALIGNED[name], color=color)
    axes.set(ylabel="angle [rad]", title="Angles of the joints, moving under gravity")
    axes.grid(color=PALE)
    axes.margins(x=0)


def draw_differences(axes: Axes, t: np.ndarray, differences: Mapping[str, np.ndarray]) -> None:
    colors = dict(zip(differences, (CRANK, CURVE, PLATE, "#9cc4dc", ROCKER, "#a9d3c1"), strict=True))
    for name, difference in differences.items():
        style = "--" if name.startswith("FMU 3") else "-"
        axes.semilogy(t, np.maximum(difference, 1e-15), style, color=colors[name], linewidth=1.2, label=name)
    axes.set(xlabel="time [s]", ylabel="difference [rad]")
    axes.set_title("Largest difference of an angle to Python, DOP853 at 1e-13")
    axes.grid(color=PALE)
    axes.legend(fontsize=7.5, ncols=3, frameon=False, loc="lower right")
