"""The pictures of mechanisms in pixels or as PDF: the part of SVG in which they are drawn, through matplotlib."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from xml.etree.ElementTree import Element, fromstring

import numpy as np
from numpy.typing import NDArray

try:
    import matplotlib
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties
    from matplotlib.patches import Circle, FancyBboxPatch, Patch, PathPatch, Rectangle
    from matplotlib.path import Path
    from matplotlib.patheffects import withStroke
    from matplotlib.transforms import Affine2D, Transform
except ImportError as missing:
    raise ImportError(".png and .pdf need matplotlib: pip install 'linkwork[viz]'; .svg does not") from missing

_DPI = 72.0  # at which a unit of the picture is a pixel
_TEXT = 12.0
_SETTINGS: Any = {
    "path.simplify": False,
    "font.family": "sans-serif",
    "text.usetex": False,
}  # whatever the user's own are
_UNDATED: dict[str, dict[str, Any]] = {"png": {"Software": None}, "pdf": {"CreationDate": None, "Producer": None}}
_RENDERER: Any = RendererAgg  # which has no types
_TOKEN = re.compile(r"[A-Za-z]|-?\d+(?:\.\d+)?(?:e-?\d+)?")


def rendered(svg: str, form: str, scale: float, background: str = "none") -> bytes:
    """Return a picture as the bytes of a file.

    Parameters
    ----------
    svg
        The picture, as `mechanism_picture` draws it.
    form
        "png" or "pdf"; the same picture gives the same bytes, with the same matplotlib.
    scale
        Pixels for each unit of the picture.
    background
        A colour; by default transparent.

    Examples
    --------
    >>> svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle cx="4" cy="4" r="2"/></svg>'
    >>> rendered(svg, "png", 2.0)[1:4]
    b'PNG'
    """
    root = fromstring(svg)
    width, height = (float(number) for number in root.attrib["viewBox"].split()[2:])
    with matplotlib.rc_context(_SETTINGS):
        figure = Figure(figsize=(width / _DPI, height / _DPI), dpi=_DPI * scale)
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
        axes.set_axis_off()
        for order, element in enumerate(root):
            _draw(axes, element, order)
        file = io.BytesIO()
        figure.savefig(file, format=form, metadata=_UNDATED[form], facecolor=background)
    return file.getvalue()


def squared(svg: str, width: int) -> bytes:
    """Return a square picture as PNG, so many pixels wide."""
    return rendered(svg, "png", width / float(fromstring(svg).attrib["viewBox"].split()[2]))


class Pixels:
    """Draws many pictures of one size, as films need them, in a tenth of the time of `rendered`.

    Parameters
    ----------
    size
        Width and height, pixels.
    scale
        Pixels for each unit of the pictures.

    Examples
    --------
    >>> pixels = Pixels((20, 10), 2.0).drawn(['<rect x="0" y="0" width="5" height="5" fill="#ff0000"/>'])
    >>> pixels.shape, pixels[5, 5].tolist(), pixels[5, 15].tolist()
    ((10, 20, 3), [255, 0, 0], [255, 255, 255])
    """

    def __init__(self, size: tuple[int, int], scale: float) -> None:
        self._size, self._dpi = size, _DPI * scale
        self._placing = Affine2D().scale(scale, -scale).translate(0.0, size[1])
        self._paper = Rectangle((-1, -1), size[0] + 2, size[1] + 2, facecolor="white", edgecolor="none")

    def drawn(self, parts: Iterable[str], text: float = _TEXT) -> NDArray[np.uint8]:
        """Return elements of SVG on white, (height, width, 3); texts are so many units high."""
        with matplotlib.rc_context(_SETTINGS):
            renderer = _RENDERER(*self._size, self._dpi)
            renderer.clear()
            self._paper.draw(renderer)
            for element in fromstring(f"<svg>{''.join(parts)}</svg>"):
                if element.tag == "text":
                    self._write(renderer, element, text)
                elif element.tag in _SHAPES:
                    _patch(element, self._placing).draw(renderer)
        return np.array(np.asarray(renderer.buffer_rgba())[..., :3])

    def _write(self, renderer: Any, element: Element, size: float) -> None:
        text, font = element.text or "", FontProperties(size=size)
        colour = renderer.new_gc()
        colour.set_foreground(element.get("fill", "#000"))
        width, _, _ = renderer.get_text_width_height_descent(text, font, False)
        x, y = self._placing.transform((_number(element, "x"), _number(element, "y")))
        share = {"start": 0.0, "end": 1.0}.get(element.get("text-anchor", "start"), 0.5)
        renderer.draw_text(colour, x - share * width, self._size[1] - y, text, font, 0.0)


def _draw(axes: Axes, element: Element, order: int) -> None:
    kind = element.tag.rpartition("}")[2]
    if kind == "text":
        _write(axes, element, order)
    elif kind in _SHAPES:
        patch = _patch(element, axes.transData)
        patch.set_zorder(order)
        axes.add_patch(patch)


def _patch(element: Element, placing: Transform) -> Patch:
    patch = _SHAPES[element.tag.rpartition("}")[2]](element)
    patch.set(**_style(element))
    patch.set_transform(_placed(element) + placing)
    return patch


def _number(element: Element, name: str, default: float = 0.0) -> float:
    return float(element.get(name, default))


def _style(element: Element) -> dict[str, Any]:
    fill, stroke = element.get("fill", "#000"), element.get("stroke", "none")
    style: dict[str, Any] = {
        "facecolor": (fill, _number(element, "fill-opacity", 1.0)) if fill != "none" else "none",
        "edgecolor": (stroke, _number(element, "stroke-opacity", 1.0)) if stroke != "none" else "none",
        "linewidth": _number(element, "stroke-width", 1.0) if stroke != "none" else 0.0,
        "capstyle": element.get("stroke-linecap", "butt"),
        "joinstyle": element.get("stroke-linejoin", "miter"),
    }
    if dashes := element.get("stroke-dasharray"):
        width = max(style["linewidth"], 1e-3)  # matplotlib counts dashes in it
        style["linestyle"] = (0, tuple(float(length) / width for length in dashes.split()))
    return style


def _placed(element: Element) -> Affine2D:
    """The place of a shape: "translate(x y) rotate(degrees)", or its own coordinates."""
    numbers = [float(token) for token in re.findall(r"-?\d+(?:\.\d+)?", element.get("transform", ""))]
    if not numbers:
        return Affine2D()
    x, y, angle = numbers
    return Affine2D().rotate_deg(angle).translate(x, y)


# ---- shapes ----


def _circle(element: Element) -> Patch:
    return Circle((_number(element, "cx"), _number(element, "cy")), _number(element, "r"))


def _rectangle(element: Element) -> Patch:
    corner = _number(element, "x"), _number(element, "y")
    rounding = _number(element, "rx")
    style = f"round,pad=0,rounding_size={rounding}" if rounding else "square,pad=0"
    return FancyBboxPatch(corner, _number(element, "width"), _number(element, "height"), boxstyle=style)


def _line(element: Element) -> Patch:
    ends = [[_number(element, f"x{end}"), _number(element, f"y{end}")] for end in (1, 2)]
    return PathPatch(Path(np.array(ends)))


def _polyline(element: Element) -> Patch:
    return PathPatch(Path(np.array([pair.split(",") for pair in element.attrib["points"].split()], dtype=float)))


def _path(element: Element) -> Patch:
    steps = list(_steps(element.attrib["d"]))
    return PathPatch(Path(np.array([point for point, _ in steps]), [code for _, code in steps]))


def _steps(text: str) -> Iterator[tuple[tuple[float, float], Any]]:
    """The points of a path of straight lines: M, L, H, V and Z, absolute and relative."""
    tokens = _TOKEN.findall(text)
    x = y = 0.0
    start, command, k = (0.0, 0.0), "M", 0
    while k < len(tokens):
        if tokens[k].isalpha():
            command, k = tokens[k], k + 1
        if command in "Zz":
            yield start, Path.CLOSEPOLY
            continue
        count = 1 if command in "HhVv" else 2
        numbers = [float(token) for token in tokens[k : k + count]]
        k += count
        dx = numbers[0] if command not in "Vv" else None
        dy = numbers[-1] if command not in "Hh" else None
        relative = command.islower()
        x = x if dx is None else x + dx if relative else dx
        y = y if dy is None else y + dy if relative else dy
        if command in "Mm":
            start = (x, y)
        yield (x, y), Path.MOVETO if command in "Mm" else Path.LINETO
        if command in "Mm":
            command = "l" if relative else "L"


_SHAPES: dict[str, Callable[[Element], Patch]] = {
    "circle": _circle,
    "rect": _rectangle,
    "line": _line,
    "polyline": _polyline,
    "path": _path,
}


def _write(axes: Axes, element: Element, order: int) -> None:
    text = axes.text(
        _number(element, "x"),
        _number(element, "y"),
        element.text or "",
        parse_math=False,
        size=_TEXT,
        color=element.get("fill", "#000"),
        style=element.get("font-style", "normal"),
        ha="center",
        va="baseline",
        zorder=order,
    )
    if element.get("paint-order") == "stroke":
        text.set_path_effects([withStroke(linewidth=_number(element, "stroke-width"), foreground="#fff")])
