"""Plots of results; matplotlib is loaded when one is asked for."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwork._util.checks import FloatArray
from linkwork._util.files import atomic_path
from linkwork._util.names import suggest, verbatim
from linkwork._util.optional import optional_import
from linkwork._util.units import axis_label
from linkwork.errors import LinkworkError

with optional_import("plots", "matplotlib", "viz"):
    from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, GREY, PALE = "#22303c", "#8a96a3", "#dfe4ea"
# The palette of Okabe and Ito, distinct for colour-blind readers, with brown for its yellow, which is pale on white.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", INK, "#661100")
DASHES = ("-", "--", ":", "-.")  # these distinguish columns of one colour

MOST_CURVES = 8  # in a panel
LARGEST_RATIO = 100.0  # of the magnitudes of columns in a panel
MOST_MEASURED = 24  # panels
MOST_EVENT_LINES = 300  # lines of events that are nearer to each other would be an area
MOST_PIXELS = 30000  # of a picture's height; matplotlib makes at most 65536
DOTS_PER_INCH = 130
PANEL_HEIGHT, WIDTH = 2.2, 9.0  # inches
LETTERS = 14  # of a legend that fits into this width; longer names widen the figure
LABEL_LETTERS = 24  # of a label in one line
LETTER_WIDTH = 0.08  # inches


def plot_columns(
    t: FloatArray,
    columns: Mapping[str, NDArray[Any]],
    units: Mapping[str, str],
    title: str,
    path: str | os.PathLike[str] | None,
    events: Iterable[float] = (),
    positions: Mapping[str, int] | None = None,
) -> Figure:
    """Plot columns over time, one panel for each unit and magnitude, and save the picture if a path is given.

    Columns of one unit share a panel, at most `MOST_CURVES` and none larger than another by more than `LARGEST_RATIO`.
    Whole numbers and truth values are drawn as steps, times of events as thin lines.

    Parameters
    ----------
    t
        Times (n,), s.
    columns
        Values (n,) by name.
    units
        Of each column.
    title
        Of the figure.
    path
        Where to save the picture; None: nowhere.
    events
        Times of events, s.
    positions
        The position of each column, which gives its colour and its dashes; by default in the order of the columns.
    """
    panels = panels_of(columns, units)
    longest = max((len(name) for name in columns), default=0)
    width = WIDTH + LETTER_WIDTH * max(0, longest - LETTERS)
    size = (width, 1.0 + PANEL_HEIGHT * max(1, len(panels)))
    figure = Figure(figsize=size, facecolor="white")
    _lay_out(figure, longest, len(panels))
    all_axes = figure.subplots(max(1, len(panels)), 1, sharex=True, squeeze=False)[:, 0]
    times = _distinct(events, abs(t[-1] - t[0]) / MOST_EVENT_LINES if len(t) else 0.0)
    for axes, panel in zip(all_axes, panels, strict=False):
        for name, (color, dashes) in styles(panel, positions or {name: k for k, name in enumerate(columns)}).items():
            step = "default" if columns[name].dtype.kind == "f" else "steps-post"
            line = {"color": color, "linestyle": dashes, "linewidth": 1.5, "drawstyle": step}
            axes.plot(t, columns[name], label=verbatim(name), **line)
        for time in times:
            axes.axvline(time, color=GREY, linewidth=0.6, alpha=0.6, zorder=1)
        axes.margins(x=0)
        dress(axes, y=_wrapped(axis_label(units[panel[0]])))
    all_axes[-1].set_xlabel("time [s]", color=INK)
    all_axes[0].set_title(verbatim(title), color=INK, loc="left", fontweight="bold", fontsize="medium")
    figure.align_ylabels()
    save(figure, path)
    return figure


def save(figure: Figure, path: str | os.PathLike[str] | None) -> None:
    """Write a figure as a file whose suffix names the format; None: write none."""
    if path is None:
        return
    suffix, known = Path(path).suffix, [f".{form}" for form in figure.canvas.get_supported_filetypes()]
    if suffix and suffix.lower() not in known:
        raise LinkworkError(
            f"a plot cannot be saved as {Path(path).name!r}: {suggest(suffix, known)} (several columns are a list)"
        )
    with atomic_path(path) as part:
        figure.savefig(part, dpi=min(DOTS_PER_INCH, MOST_PIXELS / figure.get_figheight()))


def _lay_out(figure: Figure, longest: int, panels: int) -> None:
    """Reserve space for labels and legends: measured, or for many panels, where that takes minutes, estimated."""
    if panels <= MOST_MEASURED:
        figure.set_layout_engine("constrained")
        return
    width, height = figure.get_size_inches()
    legend = 0.7 + LETTER_WIDTH * longest
    figure.subplots_adjust(
        left=0.9 / width, right=1 - legend / width, bottom=0.6 / height, top=1 - 0.4 / height, hspace=0.15
    )


def _wrapped(label: str) -> str:
    """Return a label that fits into the height of a panel."""
    return label if len(label) <= LABEL_LETTERS else label.replace(" [", "\n[")


def _distinct(times: Iterable[float], gap: float) -> list[float]:
    """Return times that differ by more than a gap."""
    found: list[float] = []
    for time in sorted(times):
        if not found or time - found[-1] > gap:
            found.append(time)
    return found


def panels_of(columns: Mapping[str, NDArray[Any]], units: Mapping[str, str]) -> list[list[str]]:
    """Return the names of each panel: by unit, then by magnitude, the largest first, in the order of the columns.

    >>> t = np.array([0.0, 1.0])
    >>> panels_of({"a": t, "b": 5e3 * t, "c": 2 * t, "d": t}, {"a": "m", "b": "m", "c": "m", "d": "N"})
    [['b'], ['a', 'c'], ['d']]
    """
    by_unit: dict[str, list[str]] = {}
    for name in columns:
        by_unit.setdefault(units[name], []).append(name)
    panels = []
    for names in by_unit.values():
        for group in _by_magnitude({name: _magnitude(columns[name]) for name in names}):
            count = -(-len(group) // MOST_CURVES)
            size = -(-len(group) // count)  # panels of nearly equal numbers of curves
            panels += [group[first : first + size] for first in range(0, len(group), size)]
    return panels


def _by_magnitude(magnitudes: Mapping[str, float]) -> list[list[str]]:
    """Return groups whose magnitudes differ by at most `LARGEST_RATIO`; columns of zeros join the largest."""
    groups: list[tuple[float, set[str]]] = []
    for name, size in sorted(magnitudes.items(), key=lambda item: -item[1]):
        if not groups or 0.0 < size < groups[-1][0] / LARGEST_RATIO:
            groups.append((size, set()))
        groups[-1 if size > 0.0 else 0][1].add(name)
    return [[name for name in magnitudes if name in group] for _, group in groups]


def _magnitude(values: NDArray[Any]) -> float:
    numbers = np.abs(values.astype(np.float64))
    return float(np.max(numbers, initial=0.0, where=np.isfinite(numbers)))


def styles(panel: Sequence[str], positions: Mapping[str, int]) -> dict[str, tuple[str, str]]:
    """Return colour and dashes of each column of a panel, from its position.

    A column keeps them in all panels. Only where two columns of a panel would look the same, the later one takes the
    next free ones.
    """
    found: dict[str, tuple[str, str]] = {}
    taken: set[int] = set()
    count = len(COLORS) * len(DASHES)
    for name in panel:
        k = positions.get(name, zlib.crc32(name.encode())) % count
        while k in taken and len(taken) < count:
            k = (k + 1) % count
        taken.add(k)
        found[name] = COLORS[k % len(COLORS)], DASHES[k // len(COLORS)]
    return found


def dress(axes: Axes, x: str = "", y: str = "", title: str = "", *, outside: bool = True) -> None:
    """Give axes their grid, colours, labels and title, and a legend outside or within."""
    axes.grid(color=PALE)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(which="both", colors=INK, labelsize="small")
    for label, write in ((x, axes.set_xlabel), (y, axes.set_ylabel)):
        if label:
            write(label, color=INK)
    if title:
        axes.set_title(title, color=INK, loc="left", fontweight="bold", fontsize="medium")
    if axes.get_legend_handles_labels()[0]:
        place: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)} if outside else {}
        axes.legend(frameon=False, fontsize="small", labelcolor=INK, **place)
