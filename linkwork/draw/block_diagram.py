"""The picture of a system: its components as boxes with the ports that are connected, in the order of the signals."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from linkwork._util.files import atomic_path
from linkwork._util.names import verbatim
from linkwork._util.optional import optional_import
from linkwork.cosim.fmu.model import FmuModel, read_model
from linkwork.cosim.system.definition import Connection, SystemDefinition
from linkwork.cosim.system.units import conversion
from linkwork.draw.block_layout import HEAD, ROW, Box, Layout, Points, Port
from linkwork.draw.plotting import COLORS, GREY, INK, PALE
from linkwork.errors import CosimError

with optional_import("pictures", "matplotlib", "cosim"):
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
    from matplotlib.path import Path as Way
    from matplotlib.textpath import TextPath

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLE, NAME, SMALL, PORT, LABEL = 12.0, 10.0, 7.0, 8.0, 7.0  # sizes of type in points
INSET, ROUND, EDGE = 7.0, 5.0, 14.0
MOST = 34  # letters of a name; longer ones are shortened in the middle
DPI, LEAST_DPI, MOST_PIXELS = 160.0, 40.0, 65000.0  # at least so that names can be read; at most the picture's size
OUTSIDE = "\n"  # begins the box of a name outside, which no component is called like


def draw_system(
    system: SystemDefinition, path: str | os.PathLike[str] | None = None, models: Mapping[str, FmuModel] | None = None
) -> Figure:
    """Draw a system, and save the picture if a path is given.

    Arrows are marked with conversions of units, factors and offsets. Feedback goes around below.

    Parameters
    ----------
    system
        The system.
    path
        A picture file (PNG, SVG, PDF) to write.
    models
        FMUs by component, for their units; those left out are read from the FMUs' files where they are there.
    """
    if not system.components:
        raise CosimError(f"the system {system.name!r} has no components to draw; add FMUs to it")
    known = _models(system, models)
    edges = list(_edges(system))
    labels = {target: text for _, target, one in edges if (text := _label(one, system, known))}
    boxes = _boxes(system, edges)
    widths = {target: _width(text, LABEL) + 6.0 for target, text in labels.items()}
    layout = Layout(boxes.values(), [(source, target) for source, target, _ in edges], widths)
    figure, axes = _canvas(layout, system.name)
    color = {net.source: COLORS[number % len(COLORS)] for number, net in enumerate(layout.nets)}
    for source, target, points in layout.ways():
        _draw_arrow(axes, points, color[source], labels.get(target, ""))
    for box in layout.boxes.values():
        _draw_box(axes, box, system)
    if path is not None:
        _save(figure, Path(path))
    return figure


def _save(figure: Figure, path: Path) -> None:
    """Pictures of pixels are coarser where they are large."""
    largest = max(figure.get_size_inches())
    dpi = min(DPI, MOST_PIXELS / largest)
    if dpi < LEAST_DPI and path.suffix.lower() == ".png":
        raise CosimError(f"the picture of {largest:.0f} inches is too large for {path.name}; save it as .svg")
    with atomic_path(path, CosimError) as part:
        figure.savefig(part, dpi=dpi)


def _models(system: SystemDefinition, given: Mapping[str, FmuModel] | None) -> dict[str, FmuModel]:
    models = dict(given or {})
    for name, component in system.components.items():
        if name not in models:
            with suppress(CosimError):  # a picture needs no FMU
                models[name] = read_model(component.fmu)
    return models


def _edges(system: SystemDefinition) -> Iterator[tuple[Port, Port, Connection]]:
    for one in system.connections:
        source, target = system.ends(one)
        yield source.parts, target.parts, one
    for one in system.external_inputs:
        yield (f"{OUTSIDE}in {one.source}", one.source), system.reference(one.target).parts, one
    for one in system.external_outputs:
        yield system.reference(one.source).parts, (f"{OUTSIDE}out {one.target}", one.target), one


def _boxes(system: SystemDefinition, edges: list[tuple[Port, Port, Connection]]) -> dict[str, Box]:
    boxes = {name: Box(name, 0.0) for name in system.components}
    for source, target, _ in edges:
        for (name, port), output in ((source, True), (target, False)):
            box = boxes.setdefault(name, Box(name, 0.0, bare=True))
            ports = box.outputs if output else box.inputs
            if port not in ports:
                ports.append(port)
    for box in boxes.values():
        left, right = (
            max((_width(_short(port), PORT) for port in ports), default=0.0) for ports in (box.inputs, box.outputs)
        )
        box.width = left + right + 2 * INSET + (0.0 if box.bare else 16.0)
        if not box.bare:
            head = [(_short(box.name), NAME * 1.1), (_short(system.components[box.name].fmu.name), SMALL)]
            box.width = max(box.width, *(_width(text, size) + 2 * INSET for text, size in head), 80.0)
    return boxes


def _label(one: Connection, system: SystemDefinition, models: Mapping[str, FmuModel]) -> str:
    """The conversion of a value by a connection."""
    parts = []
    if one.convert_units and (text := _units(one, system, models)):
        parts.append(text)
    if (one.factor, one.offset) != (1.0, 0.0):
        factor = f"× {one.factor:.4g}" if one.factor != 1.0 else ""
        offset = f"{'+' if one.offset > 0 else '−'} {abs(one.offset):.4g}" if one.offset else ""
        parts.append(f"{factor} {offset}".strip().replace("-", "−"))
    return ", ".join(parts)


def _units(one: Connection, system: SystemDefinition, models: Mapping[str, FmuModel]) -> str:
    try:
        units = [models[end.component].unit(end.variable) for end in system.ends(one)]
    except (CosimError, KeyError):  # names outside, FMUs that are not there
        return ""
    try:
        same = conversion(units[0], units[1]) == (1.0, 0.0)
    except CosimError:
        return f"{units[0].name} ≠ {units[1].name}"
    return "" if same else f"{units[0].name} → {units[1].name}"


def _short(text: str) -> str:
    return text if len(text) <= MOST else f"{text[: MOST // 2]}…{text[-MOST // 2 + 1 :]}"


def _width(text: str, size: float) -> float:
    return float(TextPath((0, 0), verbatim(text), size=size).get_extents().width) if text.strip() else 0.0


def _canvas(layout: Layout, title: str) -> tuple[Figure, Axes]:
    low, high = layout.bottom - EDGE, layout.top + EDGE + 2 * TITLE
    width = max(layout.width, _width(title, TITLE * 1.1)) + 2 * EDGE
    figure = Figure(figsize=(width / 72, (high - low) / 72), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1), xlim=(-EDGE, width - EDGE), ylim=(low, high))
    axes.set_axis_off()
    axes.text(0, high - TITLE, verbatim(title), size=TITLE, weight="bold", color=INK, va="center")
    return figure, axes


def _draw_box(axes: Axes, box: Box, system: SystemDefinition) -> None:
    bottom, right = box.top - box.height, box.x + box.width
    if not box.bare:
        style = f"round,pad=0,rounding_size={ROUND}"
        frame = FancyBboxPatch((box.x, bottom), box.width, box.height, style, fc="white", ec=INK, lw=1.2, zorder=3)
        axes.add_patch(frame)
        middle, fmu = box.x + box.width / 2, system.components[box.name].fmu.name
        _text(axes, middle, box.top - 12, _short(box.name), NAME, INK, "center", "bold")
        _text(axes, middle, box.top - 24, _short(fmu), SMALL, GREY, "center")
        axes.plot([box.x, right], [box.top - HEAD + 3] * 2, color=PALE, linewidth=1, zorder=4)
    for port in box.inputs:
        _text(axes, box.x + INSET, box.port(port, False), _short(port), PORT, INK, "left")
    for port in box.outputs:
        _text(axes, right - INSET, box.port(port, True), _short(port), PORT, INK, "right")


def _text(
    axes: Axes, x: float, y: float, text: str, size: float, color: str, side: str, weight: str = "normal"
) -> None:
    axes.text(x, y, verbatim(text), size=size, color=color, ha=side, va="center", weight=weight, zorder=4)


def _draw_arrow(axes: Axes, points: Points, color: str, label: str) -> None:
    way = _rounded(points)
    style = "-|>,head_length=5,head_width=2.4"
    arrow = FancyArrowPatch(path=way, arrowstyle=style, lw=1.3, color=color, joinstyle="miter", zorder=2)
    axes.add_patch(arrow)
    if label:
        x, y = points[-1]
        axes.text(x - 8, y + 1.5, label, size=LABEL, color=color, ha="right", va="bottom", zorder=5)


def _rounded(points: Points) -> Way:
    """A way along the points with its corners rounded."""
    corners = [points[0]]
    for point in points[1:]:
        if point != corners[-1]:
            corners.append(point)
    vertices, codes = [corners[0]], [Way.MOVETO]
    for before, corner, after in zip(corners, corners[1:], corners[2:], strict=False):
        vertices += [_towards(corner, before), corner, _towards(corner, after)]
        codes += [Way.LINETO, Way.CURVE3, Way.CURVE3]
    return Way([*vertices, corners[-1]], [*codes, Way.LINETO])


def _towards(corner: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    x, y = other[0] - corner[0], other[1] - corner[1]
    part = min(0.5, ROW / 5 / max(abs(x) + abs(y), 1e-9))
    return corner[0] + part * x, corner[1] + part * y
