"""Films of results: the picture of the mechanism at evenly spaced times, with one view and one scale for all."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork._util.checks import FloatArray, number, positive
from linkwork._util.names import suggest
from linkwork._util.optional import optional_import
from linkwork._util.progress import Progress, ProgressOption
from linkwork._util.rotations import matrix_of
from linkwork.draw.mechanism_picture import COLOURS, MARGIN, MOST_BODIES, STRIP, WIDTH, Canvas
from linkwork.draw.scene import drawn_with
from linkwork.errors import AssemblyError, LinkworkError, MechanismError, MechanismNameError
from linkwork.mechanism import GROUND
from linkwork.view.film_files import WRITERS, Frame, writer_of

if TYPE_CHECKING:
    from linkwork.results.base import Columns
    from linkwork.simulation.result import Result

MOST_FRAMES, MOST_PIXELS = 20_000, 4096
LEAST_FPS = 0.1  # formats of animated pictures have no frames that last minutes
SHARE = 0.56  # of the width, which the mechanism has next to plots
INK = "#333"


class Film(NamedTuple):
    """What a film shows: times of its frames, s; frames per second; pixels; columns and points to plot and trace."""

    t: FloatArray
    fps: float
    size: tuple[int, int]
    columns: list[str]
    traces: list[str]


def write_film(
    result: Result,
    path: str | os.PathLike[str],
    *,
    fps: float,
    speed: float,
    size: Sequence[int],
    t_start: float | None,
    t_end: float | None,
    columns: Columns,
    traces: Iterable[str],
    progress: ProgressOption,
) -> Path:
    """Write a run as a film; see `Result.film`."""
    target = Path(path)
    write = writer_of(target)
    film = _planned(result, target, fps, speed, size, t_start, t_end, columns, traces)
    with Progress(progress) as shown:
        write(target, _frames(result, film, shown), film.fps, len(film.t))
    return target


# ---- arguments --------------------------------------------------------------------------------------


def _planned(
    result: Result,
    path: Path,
    fps: float,
    speed: float,
    size: Sequence[int],
    t_start: float | None,
    t_end: float | None,
    columns: Columns,
    traces: Iterable[str],
) -> Film:
    if not len(result):
        raise MechanismError(f"the result of {result.name!r} has no rows: there is nothing to show")
    rate, pace = (positive(value, name) for value, name in ((fps, "fps"), (speed, "speed")))
    if rate < LEAST_FPS:
        raise MechanismError(f"films have at least {LEAST_FPS:g} frames per second, not {rate:g}: raise fps")
    most = WRITERS[path.suffix.lower()].most_fps
    if rate > most:
        raise MechanismError(f"{path.suffix} films have at most {most:g} frames per second, not {rate:g}: lower fps")
    first, last = sorted((float(result.t[0]), float(result.t[-1])))
    start = first if t_start is None else number(t_start, "t_start")
    end = last if t_end is None else number(t_end, "t_end")
    if not first <= start <= end <= last:
        raise MechanismError(f"t_start {start:g} s and t_end {end:g} s must lie in the result, {first:g} to {last:g} s")
    steps = (end - start) * rate / pace
    if steps > MOST_FRAMES:
        raise MechanismError(
            f"{end - start:g} s at speed {pace:g} and fps {rate:g} are more than {MOST_FRAMES} frames: raise speed"
        )
    t = np.minimum(start + np.arange(1 + math.ceil(steps - 1e-9)) * pace / rate, end)
    chosen = [] if columns is None else result._selected(columns)
    return Film(t, rate, _size(size), chosen, _traced(result, traces))


def _size(size: Sequence[int]) -> tuple[int, int]:
    """Return width and height, pixels, even, as films need them."""
    try:
        width, height = map(index, size)
    except (TypeError, ValueError):
        width = height = 0
    if not all(64 <= one <= MOST_PIXELS for one in (width, height)):
        raise MechanismError(f"size must be two whole numbers of pixels from 64 to {MOST_PIXELS}, not {size!r}")
    return width + width % 2, height + height % 2


def _traced(result: Result, traces: Iterable[str]) -> list[str]:
    mech = result.model.mechanism
    found = [traces] if isinstance(traces, str) else list(traces)
    known = [*mech.points, *mech.bodies]
    for name in found:
        if name not in known:
            raise MechanismNameError(
                f"traces: there is no point of interest or body {name!r}: {suggest(name, known)}; add_point adds points"
            )
    return found


# ---- frames ----------------------------------------------------------------------------------------


def _frames(result: Result, film: Film, progress: Progress) -> Iterator[Frame]:
    """Yield the frames, (height, width, 3)."""
    with optional_import("films", "matplotlib", "film"):
        from linkwork.draw.raster import Pixels
    width, height = film.size
    own = (round(width * SHARE), height) if film.columns else film.size
    shots = _Shots(result, film, own)
    pixels = Pixels(own, shots.scale)
    plots = _Plots(result, film.columns, (width - own[0], height)) if film.columns else None
    for k, t in enumerate(film.t):
        frame = pixels.drawn(shots.parts(k), shots.text)
        yield frame if plots is None else np.concatenate([frame, plots.at(float(t))], axis=1)
        if progress.due:
            progress.count(k + 1, len(film.t), f"{k + 1} of {len(film.t)} frames")


class _Shots:
    """The mechanism at the times of a film, in one canvas that shows all of its motion."""

    def __init__(self, result: Result, film: Film, size: tuple[int, int]) -> None:
        self.film, mech = film, result.model.mechanism
        count = len(mech.bodies)
        chosen = [list(mech.bodies)[int(k)] for k in np.linspace(0, count - 1, min(MOST_BODIES, count))]
        at = _at(result, film.t, [f"{body}.{what}" for body in chosen for what in "rQ"])
        self.scenes = [drawn_with(mech, _poses(at, chosen, k)) for k in range(len(film.t))]
        self.traces = [_trace(result, film.t, name) for name in film.traces]
        points = np.concatenate([scene.points for scene in self.scenes] + self.traces)
        # The picture has as many units as usual across its longer edge, so that marks and texts have their usual size.
        self.scale = max(size) / WIDTH * (1.25 if film.columns else 1.0)
        across, down = size[0] / self.scale, size[1] / self.scale
        margin = min(MARGIN, 0.12 * min(across, down))
        self.text = 12.0
        self.canvas = Canvas(self.scenes[0], across, (down, down), margin, WIDTH / 110, STRIP, points)
        self.colours = {name: COLOURS[k % len(COLOURS)] for k, name in enumerate(chosen)}
        self.colours |= {name: self.colours.get(point.body, INK) for name, point in mech.points.items()}
        self.fixed = [self.canvas.scale_bar(), self.canvas.triad()]
        step = film.t[1] - film.t[0] if len(film.t) > 1 else 0.01
        self.digits = min(6, max(0, math.ceil(-math.log10(step) - 1e-9)))  # the text changes with each frame

    def parts(self, k: int) -> list[str]:
        """Return the elements of a frame."""
        self.canvas.scene = self.scenes[k]
        lines = [self._line(trace[: k + 1], name) for trace, name in zip(self.traces, self.film.traces, strict=True)]
        return [*lines, *self.canvas.mechanism(), *self.fixed, self._clock(float(self.film.t[k]))]

    def _line(self, points: FloatArray, name: str) -> str:
        places = np.array([self.canvas(point) for point in points])
        d = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        return f'<path d="{d}" fill="none" stroke="{self.colours[name]}" stroke-width="1.2" stroke-opacity="0.7"/>'

    def _clock(self, t: float) -> str:
        return f'<text x="{self.canvas.width / 2:.1f}" y="{self.canvas.height - 9:.1f}" fill="{INK}">' + (
            f"t = {t:.{self.digits}f} s</text>"
        )


def _at(result: Result, t: FloatArray, columns: list[str]) -> dict[str, FloatArray]:
    """Return columns at times; where loops cannot be closed between far rows, those of the rows before."""
    with suppress(AssemblyError):
        return {name: np.asarray(values) for name, values in result.at(t, columns).items()}
    order = np.argsort(result.t, kind="stable")
    rows = order[np.clip(np.searchsorted(result.t[order], t, side="right") - 1, 0, len(order) - 1)]
    return {name: np.asarray(result[name])[rows] for name in columns}


def _poses(at: dict[str, FloatArray], bodies: Sequence[str], k: int) -> dict[str, tuple[FloatArray, FloatArray]]:
    poses = {GROUND: (np.zeros(3), np.eye(3))}
    for body in bodies:
        r, Q = at[f"{body}.r"][k], at[f"{body}.Q"][k]
        if not (np.isfinite(r).all() and np.isfinite(Q).all()):
            raise LinkworkError(f"body {body!r} has no pose at all times: end the film before with t_end")
        poses[body] = r, matrix_of(Q / np.linalg.norm(Q))
    return poses


def _trace(result: Result, t: FloatArray, name: str) -> FloatArray:
    """Return the path of a point of interest, or of the centre of mass of a body, (n, 3)."""
    mech = result.model.mechanism
    if name in mech.points:
        return _at(result, t, [f"{name}.r"])[f"{name}.r"]
    at = _at(result, t, [f"{name}.r", f"{name}.Q"])
    poses = (_poses(at, [name], k)[name] for k in range(len(t)))
    return np.array([r + turn @ mech.bodies[name].com for r, turn in poses])


class _Plots:
    """Plots of columns next to the mechanism, drawn once; a line marks the time."""

    def __init__(self, result: Result, columns: Sequence[str], size: tuple[int, int]) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        figure = result.plot(columns)
        figure.set_dpi(100.0)
        figure.set_size_inches(size[0] / 100.0, size[1] / 100.0)
        canvas: Any = FigureCanvasAgg(figure)
        canvas.draw()
        self.image: Frame = np.array(np.asarray(canvas.buffer_rgba())[..., :3])
        self.axes = [(axes.transData, axes.bbox) for axes in figure.axes]

    def at(self, t: float) -> Frame:
        """Return the plots with the line at a time."""
        image, (height, width, _) = self.image.copy(), self.image.shape
        for place, bbox in self.axes:
            x = round(float(place.transform((t, 0.0))[0]))
            if 0 < x < width - 1:
                image[height - round(bbox.y1) : height - round(bbox.y0), x : x + 2] = (200, 60, 40)
        return image
