"""What the pictures of the examples share: colours, plain axes, a caption below, and where they are saved."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

import linkwork as lw

OUT = Path(__file__).resolve().parent.parent / "out"
INK, GREY, PALE = "#22303c", "#8a96a3", "#dfe4ea"
RED, AMBER, BLUE, GREEN, VIOLET, SKY, BROWN = COLORS = (
    "#d1495b", "#e09f3e", "#2e6f95", "#3d8b6e", "#7b5ea7", "#5fa8d3", "#9c6644",
)  # fmt: skip


def sheet(width: float, height: float) -> Figure:
    """An empty picture, inches."""
    return Figure(figsize=(width, height), layout="constrained", facecolor="white")


def dress(axes: Axes, title: str, x: str, y: str, **options: Any) -> Axes:
    """Name the axes, units included, and take away what only makes noise."""
    axes.set(xlabel=x, ylabel=y, **options)
    axes.set_title(title, fontsize=10.5, color=INK, loc="left")
    axes.grid(color=PALE, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(colors=INK, labelsize=9)
    axes.xaxis.label.set_color(INK)
    axes.yaxis.label.set_color(INK)
    return axes


def legend(axes: Axes, where: str = "best", **options: Any) -> None:
    style: Any = {"loc": where, "fontsize": 8.5, "frameon": False, "labelcolor": INK}
    axes.legend(**style | options)


def mark(axes: Axes, t: float, label: str = "", height: float = 0.97) -> None:
    """An event: a dashed line at its time, named at a height from 0 to 1."""
    axes.axvline(t, color=GREY, linestyle=(0, (4, 3)), linewidth=1.0, zorder=1)
    where = axes.get_xaxis_transform()
    axes.annotate(label, (t, height), (3, 0), where, textcoords="offset points", color=INK, fontsize=8.5, va="top")


def seen(points: ArrayLike, aside: float = 28.0, above: float = 20.0) -> np.ndarray:
    """Points in space (n, 3) as seen along y from far off, that many degrees aside and above: (2, n)."""
    turn, rise = np.radians(aside), np.radians(above)
    right = (np.cos(turn), np.sin(turn), 0)
    up = (-np.sin(rise) * np.sin(turn), np.sin(rise) * np.cos(turn), np.cos(rise))
    found: np.ndarray = np.array([right, up]) @ np.asarray(points).T
    return found


def save(figure: Figure, path: Path, caption: str) -> None:
    """Put the caption below and write the file, its folder as well."""
    figure.supxlabel(caption, fontsize=8.5, color=INK, x=0.01, ha="left")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=130)
    print(f"saved {path.parent.name}/{path.name}")


def poses(mech: lw.Mechanism) -> list[str]:
    """Outputs of an FMU that a page needs: the poses of all bodies."""
    return [f"{body}.{part}" for body in mech.bodies for part in "rQ"]


def save_page(shown: Any, path: Path, **options: Any) -> None:
    """Write a page, as `lw.page` does, its folder as well."""
    path.parent.mkdir(exist_ok=True)
    lw.page(shown, path, **options)
    print(f"saved {path.parent.name}/{path.name}")
