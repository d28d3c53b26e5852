"""The picture of a mechanism at a state, as SVG: bodies between their joints, joints by type, the ground hatched.

The plane is that in which the mechanism moves, else the one over which its points spread most. Names stand next to the
named things and not on one another.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.picture import Picture
from linkwork.draw.joint_symbols import INK, joint_mark, support
from linkwork.draw.scene import Drawn, DrawnBody, DrawnJoint, drawn, drawn_open
from linkwork.errors import MechanismError
from linkwork.mechanism import GROUND, Mechanism
from linkwork.mechanism.frames import unit
from linkwork.model.compile import compile

if TYPE_CHECKING:
    from linkwork.model.base import ModelBase
    from linkwork.model.state import State

MOST_BODIES, MOST_NAMES = 500, 24
WIDTH, LEAST, HIGHEST, MARGIN, STRIP = 680.0, 260.0, 560.0, 64.0, 34.0  # the strip below holds scale and axes
ICON, ICON_BODIES, ICON_MARGIN = 200.0, 150, 24.0
SMALLEST = 1.0  # radius of a hinge that is worth drawing
COLOURS = ("#2f6da8", "#c8553d", "#3f8f5b", "#8a5aa8", "#b98a1d", "#2b8f96", "#a84a78", "#6b7280")


def draw_mechanism(mech: Mechanism, path: str | os.PathLike[str] | None = None, state: State | None = None) -> Picture:
    """Draw a mechanism at a state of its model; see `Mechanism.draw`."""
    if state is None:
        return draw(compile(mech), path)
    if state.model.mechanism != mech:
        raise MechanismError(f"this state is of another mechanism than {mech.name!r}: draw it by its own model")
    return draw(state.model, path, state)


def draw(system: ModelBase, path: str | os.PathLike[str] | None = None, state: State | None = None) -> Picture:
    """Draw a model at a state, and save the picture if a path is given; see `Model.draw`."""
    picture = _picture_of(system, state)
    if path is not None:
        picture.save(path)
    return picture


def _picture_of(system: ModelBase, state: State | None) -> Picture:
    """Return the picture at a state.

    By default at the assembled start; where this cannot be assembled, at the start values as they are.
    """
    name = system.mechanism.name
    if state is not None:
        system.arguments.states(state, None)  # which refuses one of another mechanism
        title = f"{name} at {state.time:g} s"
    else:
        title = f"{name} at its start"
    scene = drawn(system, MOST_BODIES, state)
    if scene is None:
        scene, title = drawn_open(system, MOST_BODIES), f"{name} at its start values, not assembled"
    return Picture(_drawing(scene, title))


def picture(system: ModelBase, most: int = MOST_BODIES) -> str | None:
    """Return an `svg` element with names, axes and a scale; None where the start cannot be assembled."""
    scene = drawn(system, most)
    return None if scene is None else _drawing(scene, f"{system.mechanism.name} at its start")


def _drawing(scene: Drawn, title: str) -> str:
    canvas = Canvas(scene, WIDTH, (LEAST, HIGHEST), MARGIN, WIDTH / 110, STRIP)
    parts = canvas.mechanism()
    if len(scene.bodies) + len(scene.joints) + len(scene.marks) <= MOST_NAMES:
        parts += canvas.names()
    parts += [canvas.scale_bar(), canvas.triad()]
    return canvas.svg(parts, title)


def icon(system: ModelBase) -> str | None:
    """Return the same in a square, without words."""
    scene = drawn(system, ICON_BODIES)
    if scene is None:
        return None
    canvas = Canvas(scene, ICON, (ICON, ICON), ICON_MARGIN, ICON / 45)
    return canvas.svg(canvas.mechanism(), system.mechanism.name)


class Canvas:
    """A scene in the picture's plane: y downwards, in the picture's units.

    Parameters
    ----------
    scene
        The mechanism at a state.
    width, heights
        Of the picture, and least and largest height.
    margin, strip
        Space around, and below for scale and axes.
    largest
        Radius of a hinge.
    points
        All points that the picture must show, (n, 3), m; by default those of the scene.
    """

    def __init__(
        self,
        scene: Drawn,
        width: float,
        heights: tuple[float, float],
        margin: float,
        largest: float,
        strip: float = 0,
        points: FloatArray | None = None,
    ) -> None:
        self.scene = scene
        axes = [joint.axis for joint in scene.joints if joint.kind.looks_along and joint.axis is not None]
        points = scene.points if points is None else points
        self.view: View = view_of(points, axes, scene.gravity)
        flat = self.view(points)
        low, high = flat.min(axis=0), flat.max(axis=0)
        extent = np.maximum(high - low, 1e-9)
        room = np.array([width, heights[1] - strip]) - 2 * margin
        self.pixels = float((room / extent).min()) if extent.max() > 1e-6 else 100.0  # in a metre
        self.width = width
        self.height = float(np.clip(extent[1] * self.pixels + 2 * margin + strip, *heights))
        middle = np.array([width, self.height - strip]) / 2
        self.shift = middle - self.pixels * np.array([1.0, -1.0]) * (low + high) / 2
        self.size = self._mark_size(largest)
        self.labels = Labels(width, self.height - strip)

    def __call__(self, point: FloatArray) -> FloatArray:
        """Return where a point of the world, (3,), m, is in the picture, (2,)."""
        x, y = self.view(point)
        return np.array([self.shift[0] + self.pixels * x, self.shift[1] - self.pixels * y])

    def _mark_size(self, largest: float) -> float:
        """Radius of a hinge: that of a hand-drawn sketch, less where bodies are many and short."""
        bodies = self.scene.bodies.values()
        lengths = [np.linalg.norm(self.view(p - body.com)) for body in bodies for p in body.points]
        typical = self.pixels * float(np.median(lengths)) if lengths else np.inf
        each = float(np.sqrt(self.width * self.height / len(bodies)))  # edge of the square that a body has
        return float(np.clip(max(0.2 * typical, 0.025 * each), 0.8, largest))

    def svg(self, parts: list[str], title: str) -> str:
        """The whole element."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:.0f} {self.height:.0f}" '
            f'width="{self.width:.0f}" height="{self.height:.0f}" role="img" font-family="sans-serif" font-size="12">\n'
            f"<title>{escape(title)}</title>\n" + "\n".join(parts) + "\n</svg>"
        )

    def mechanism(self) -> list[str]:
        """Bodies, then what joins them."""
        parts = [self._line(pair, "stroke-dasharray='5 3'") for pair in self.scene.rods]
        parts += [self._body(body, COLOURS[k % len(COLOURS)]) for k, body in enumerate(self.scene.bodies.values())]
        parts += [self._spring(pair) for pair in self.scene.springs]
        if self.size < SMALLEST:
            return [part for part in parts if part]
        grounded = [joint for joint in self.scene.joints if GROUND in (joint.parent, joint.child)]
        parts += [self._support(joint) for joint in grounded if joint.type_name != "free"]
        parts += [self._joint(joint) for joint in self.scene.joints]
        parts += [self._mark(*mark) for mark in self.scene.marks.values()]
        return [part for part in parts if part]

    def _body(self, body: DrawnBody, colour: str) -> str:
        """A bar, a plate or a ball, and the centre of mass."""
        com = self(body.com)
        ends = _distinct([self(point) for point in body.points], self.size)
        if not ends or (len(ends) == 1 and np.linalg.norm(ends[0] - com) < 2 * self.size):
            ball = f'<circle cx="{com[0]:.1f}" cy="{com[1]:.1f}" r="{2.6 * self.size:.1f}" fill="{colour}" '
            return ball + 'fill-opacity="0.75"/>'
        for point in ends:
            self.labels.occupy_line(com, point, self.size)
        if len(ends) == 1 or _off_line(com, ends) > 2 * self.size:
            ends = [*ends, com]
        corners = _hull(ends)
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in corners) + ("Z" if len(corners) > 2 else "")
        bar = f'<path d="{path}" fill="{colour}" fill-opacity="0.22" stroke="{colour}" stroke-opacity="0.8" '
        bar += f'stroke-width="{1.1 * self.size:.1f}" stroke-linejoin="round" stroke-linecap="round"/>'
        if self.size < 1.5:
            return bar
        return bar + f'<circle cx="{com[0]:.1f}" cy="{com[1]:.1f}" r="{0.55 * self.size:.1f}" fill="{colour}"/>'

    def _line(self, pair: tuple[FloatArray, FloatArray], more: str) -> str:
        (x1, y1), (x2, y2) = map(self, pair)
        line = f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{INK}" '
        return line + f'stroke-width="{0.3 * self.size:.1f}" {more}/>'

    def _spring(self, pair: tuple[FloatArray, FloatArray]) -> str:
        start, end = map(self, pair)
        along = end - start
        length = float(np.linalg.norm(along))
        if length < 1.0:
            return ""
        across = np.array([-along[1], along[0]]) / length * min(1.2 * self.size, length / 6)
        steps = [start, start + 0.15 * along]
        steps += [start + (0.15 + 0.7 * (k + 0.5) / 8) * along + (-1) ** k * across for k in range(8)]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (*steps, end - 0.15 * along, end))
        return f'<polyline points="{points}" fill="none" stroke="#888" stroke-width="{0.3 * self.size:.1f}"/>'

    def _joint(self, joint: DrawnJoint) -> str:
        parent, child = self(joint.places[0]), self(joint.places[1])
        axis = None if joint.axis is None else self.view(joint.axis) * np.array([1.0, -1.0])
        self.labels.occupy(child, 2 * self.size, 2 * self.size)
        return joint_mark(joint.kind.drawn_as, parent, child, axis, self.size)

    def _mark(self, place: FloatArray, axis: FloatArray | None, body: str) -> str:
        """A point of interest: a cross in the colour of its body, and its direction as an arrow."""
        (x, y), arm, colour = self(place), 0.9 * self.size, self._colour(body)
        d = f"M{x - arm:.1f} {y - arm:.1f}l{2 * arm:.1f} {2 * arm:.1f}"
        d += f"M{x - arm:.1f} {y + arm:.1f}l{2 * arm:.1f} {-2 * arm:.1f}"
        self.labels.occupy(np.array([x, y]), 2 * arm, 2 * arm)
        if axis is not None:
            d += self._arrow(np.array([x, y]), self.view(axis) * np.array([1.0, -1.0]))
        return f'<path d="{d}" fill="none" stroke="{colour}" stroke-width="{0.35 * self.size:.1f}"/>'

    def _arrow(self, start: FloatArray, direction: FloatArray) -> str:
        along = 5.0 * self.size * direction
        if np.linalg.norm(along) < self.size:  # it points at the viewer
            return ""
        tip, back = start + along, unit(along) * self.size
        aside = 0.5 * np.array([-back[1], back[0]])
        self.labels.occupy_line(start, tip, self.size)
        ends = [tip - back + aside, tip, tip - back - aside]
        corners = "L".join(f"{x:.1f} {y:.1f}" for x, y in ends)
        return f"M{start[0]:.1f} {start[1]:.1f}L{tip[0]:.1f} {tip[1]:.1f}M{corners}"

    def _colour(self, body: str) -> str:
        known = list(self.scene.bodies)
        return COLOURS[known.index(body) % len(COLOURS)] if body in known else INK

    def _support(self, joint: DrawnJoint) -> str:
        place = self(joint.places[0 if joint.parent == GROUND else 1])
        axis = None if joint.axis is None else self.view(joint.axis) * np.array([1.0, -1.0])
        slides = joint.kind.slides_along
        self.labels.occupy(place + np.array([0.0, 2.5 * self.size]), 5 * self.size, 4 * self.size)
        return support(place, axis if slides else None, self.size)

    def names(self) -> list[str]:
        """Of joints and bodies, where there is space."""
        parts = []
        for joint in self.scene.joints:
            if joint.type_name != "free":
                parts.append(self.labels.place(joint.name, self(joint.places[1]), 1.6 * self.size, INK, "italic"))
        for name, (place, _, body_name) in self.scene.marks.items():
            parts.append(self.labels.place(name, self(place), 1.2 * self.size, self._colour(body_name), "italic"))
        for k, body in enumerate(self.scene.bodies.values()):
            anchor = self(body.com)
            parts.append(self.labels.place(body.name, anchor, 1.2 * self.size, COLOURS[k % len(COLOURS)], "normal"))
        return parts

    def scale_bar(self) -> str:
        """A bar of 1, 2 or 5 times a power of ten, in m."""
        wanted = 0.22 * self.width / self.pixels
        power = float(10.0 ** np.floor(np.log10(wanted)))
        length = power * max(step for step in (1.0, 2.0, 5.0) if step * power <= wanted)
        x, y, pixels = 16.0, self.height - 14.0, length * self.pixels
        bar = f'<path d="M{x:.1f} {y - 5:.1f}v10m0 -5h{pixels:.1f}m0 -5v10" fill="none" stroke="{INK}"/>'
        text = f'<text x="{x + pixels / 2:.1f}" y="{y - 6:.1f}" text-anchor="middle" fill="{INK}">{length:g} m</text>'
        return bar + text

    def triad(self) -> str:
        """The world's axes, in the lower right corner."""
        tips = self.view(np.eye(3)) * np.array([1.0, -1.0])
        centre, parts = np.array([self.width - 44.0, self.height - 14.0 - 29.0 * max(0.25, tips[:, 1].max())]), []
        for name, tip in zip("xyz", tips, strict=True):
            if np.linalg.norm(tip) < 0.08:
                continue
            x, y = 20.0 * tip
            parts.append(f'<path d="M{centre[0]:.1f} {centre[1]:.1f}l{x:.1f} {y:.1f}" stroke="{INK}"/>')
            tx, ty = centre + 29.0 * tip + np.array([0.0, 4.0])
            parts.append(f'<text x="{tx:.1f}" y="{ty:.1f}" text-anchor="middle" fill="{INK}">{name}</text>')
        return "".join(parts)


def _distinct(points: list[FloatArray], apart: float) -> list[FloatArray]:
    found: list[FloatArray] = []
    for point in points:
        if all(np.abs(point - other).max() > 0.5 * apart for other in found):
            found.append(point)
    return found


def _off_line(point: FloatArray, ends: list[FloatArray]) -> float:
    """Distance of a point from the segment between two ends; 0 where there are more."""
    if len(ends) != 2:
        return 0.0
    along = ends[1] - ends[0]
    share = np.clip((point - ends[0]) @ along / max(float(along @ along), 1e-12), 0.0, 1.0)
    return float(np.linalg.norm(point - ends[0] - share * along))


def _hull(points: list[FloatArray]) -> list[tuple[float, float]]:
    """The convex hull, by Andrew's monotone chain."""
    ordered = sorted((float(x), float(y)) for x, y in points)
    if len(ordered) < 3:
        return ordered

    def half(way: list[tuple[float, float]]) -> list[tuple[float, float]]:
        chain: list[tuple[float, float]] = []
        for x, y in way:
            while len(chain) > 1:
                (ax, ay), (bx, by) = chain[-2:]
                if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0:
                    break
                chain.pop()
            chain.append((x, y))
        return chain[:-1]

    return half(ordered) + half(ordered[::-1])


LETTER, LINE = 6.8, 13.0  # of text at 12
_AROUND = [(np.cos(a), np.sin(a)) for a in np.radians([-45, -135, 45, 135, -90, 0, 180, 90])]


class Labels:
    """Occupied areas of a picture, as boxes: low and high corners."""

    def __init__(self, width: float, height: float) -> None:
        self._room = np.array([0.0, 0.0, width, height])
        self._taken: list[tuple[float, float, float, float]] = []

    def occupy(self, centre: FloatArray, wide: float, high: float) -> None:
        """Keep names off a box."""
        x, y = centre
        self._taken.append((x - wide / 2, y - high / 2, x + wide / 2, y + high / 2))

    def occupy_line(self, start: FloatArray, end: FloatArray, wide: float) -> None:
        """Keep names off a line."""
        steps = int(np.clip(np.linalg.norm(end - start) / 8, 1, 60))
        for share in np.linspace(0.0, 1.0, steps + 1):
            self.occupy(start + share * (end - start), wide, wide)

    def place(self, text: str, at: FloatArray, away: float, colour: str, style: str) -> str:
        """Return a name near a point, where it covers least."""
        wide, taken = LETTER * len(text), np.array([*self._taken, (0, 0, 0, 0)])
        boxes = []
        for further in (0.0, 7.0, 16.0, 28.0):
            for dx, dy in _AROUND:
                reach = np.array([(away + further + 3 + wide / 2) * dx, (away + further + LINE / 2) * dy])
                if abs(dx) > 0.5 and abs(dy) > 0.5:
                    reach = np.array([np.sign(dx) * (0.7 * away + 0.7 * further + wide / 2), reach[1]])
                x, y = at + reach
                box = (x - wide / 2, y - LINE / 2, x + wide / 2, y + LINE / 2)
                boxes.append((self._covered(box, taken) + 1.5 * further, box))
        _, best = min(boxes)
        self._taken.append(best)
        x, y = (best[0] + best[2]) / 2, best[3] - 3.0
        return (
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" font-style="{style}" fill="{colour}" stroke="#fff" '
            f'stroke-width="3" paint-order="stroke">{escape(text)}</text>'
        )

    def _covered(self, box: tuple[float, float, float, float], taken: FloatArray) -> float:
        """Area of what a box covers of those taken, (n, 4), and of what it leaves outside the picture."""
        sides = np.minimum(taken[:, 2:], box[2:]) - np.maximum(taken[:, :2], box[:2])
        within = np.minimum(self._room[2:], box[2:]) - np.maximum(self._room[:2], box[:2])
        outside = (box[2] - box[0]) * (box[3] - box[1]) - float(np.prod(np.maximum(within, 0.0)))
        return float(np.prod(np.maximum(sides, 0.0), axis=1).sum()) + 20.0 * outside


_FLAT = 0.12  # spread across a plane by that along it, below which a mechanism is seen face on
_ASIDE, _ABOVE = 0.5, 0.4  # a mechanism that is not flat is seen obliquely, by these tangents
_PREFERRED = np.array([0.2, -0.5, 0.3])  # of two opposite directions the one that shows the world's axes as usual


@dataclass(frozen=True)
class View:
    """Unit vectors in the world: to the right and up in the picture, and towards who looks at it."""

    right: FloatArray
    up: FloatArray
    toward: FloatArray

    def __call__(self, points: FloatArray) -> FloatArray:
        """Return points or directions (..., 3) in the picture (..., 2), the second coordinate upwards."""
        return points @ np.stack([self.right, self.up], axis=1)


def view_of(points: FloatArray, axes: Sequence[FloatArray], gravity: FloatArray) -> View:
    """Return how to look at points (n, 3) of a mechanism whose joints turn about some axes."""
    _, spread, directions = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    spread = np.concatenate([spread, np.zeros(3 - len(spread))])
    if len(directions) < 3:
        directions = np.eye(3)
    common = _common(axes)
    flat = spread[2] <= _FLAT * spread[1]
    if common is not None:
        along = np.linalg.norm((points - points.mean(axis=0)) @ common)
        if along <= max(_FLAT * spread[0], 1e-9) or spread[1] <= 1e-6 * spread[0]:
            return _facing(common, gravity)
    if spread[1] <= 1e-6 * spread[0]:  # all on one line
        return _facing(_across(directions[0]), gravity)
    view = _facing(directions[2], gravity)
    if flat:
        return view
    return _facing(unit(view.toward + _ASIDE * view.right + _ABOVE * view.up), gravity)


def _common(axes: Sequence[FloatArray]) -> FloatArray | None:
    """The axis that all have in common."""
    if not axes:
        return None
    first = np.asarray(axes[0])
    return first if np.abs(np.asarray(axes) @ first).min() > 1.0 - 1e-6 else None


def _across(line: FloatArray) -> FloatArray:
    """The world's axis y, x or z, whichever comes first far from a line, made perpendicular to it."""
    for axis in np.eye(3)[[1, 0, 2]]:
        if abs(axis @ line) < 0.8:
            break
    return unit(axis - (axis @ line) * line)


def _facing(normal: FloatArray, gravity: FloatArray) -> View:
    toward = np.asarray(normal if normal @ _PREFERRED > 0 else -normal)
    wanted = (-gravity, np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0]))
    for up in wanted:
        length = np.linalg.norm(up)
        if length > 0 and abs(up @ toward) < 0.9 * length:
            break
    up = unit(up - (up @ toward) * toward)
    return View(np.cross(up, toward), up, toward)
