"""Segments of a run: where its inputs change abruptly, and the largest steps that overlook none of their changes.

Tables state where they change. Functions are sampled before the run, at SAMPLES equal intervals, so that a change that
lasts as long as one of them is seen. Three kinds of change are found in the samples:

- A jump. The interval is halved until two neighbouring numbers are left. The run ends a segment there and starts the
  next one, and neither sees the values of the other.
- A kink, a jump of the slope, likewise.
- A short change that is smooth, such as a bell. With e_s = |f(t) - cubic through f(t -+ s), f(t -+ 3s)|, a function
  that steps of size s resolve has e_s = e_2s / 16 or less. Where e_s is as large as e_2s, something happens on the
  scale s, and a solver with longer steps may see nothing of it: s is the largest step there.

The states of the run are not known before it: functions of the state are sampled at the start of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork._util.checks import FloatArray

SAMPLES = 2000  # four for the shortest change that is promised to be found, a five-hundredth of the run

SURPRISE = 0.3  # of a difference that does not follow from its neighbours: there may be a jump or a kink
LEFT = 0.25  # of a jump that is left however short the interval is
SLOPE_LEFT = 0.5  # the same of a jump of the slope
SHORTEST_KINK = 1e-7  # of the run: the interval that is left around a kink
ROUNDING = 1e-10  # of the largest value
UNRESOLVED = 0.7  # ratio of errors from which on a scale is not resolved; a kink has 0.5
VISIBLE = 1e-3  # error on the coarsest scale, of the range of values, from which on this scale limits steps
COARSE = 32  # intervals: a change that is longer limits the steps of the whole run
BOUNDARY = 4.0  # steps that the end of a segment costs

Sampled: TypeAlias = Callable[[float], ArrayLike]  # a number or an array (m,) at a time
Jump: TypeAlias = tuple[float, float]  # the last instant before it and the first one after it; equal at a kink


@dataclass(frozen=True)
class Segment:
    """A part of a run in which inputs change smoothly."""

    # begin, end: s, in the order of the run
    begin: float
    end: float
    # low, high: times at which functions of time are asked at the earliest and at the latest, s: no later one belongs
    # to it
    low: float = -np.inf
    high: float = np.inf
    max_step: float = np.inf  # s; infinite: no limit

    @property
    def bounds(self) -> tuple[float, float]:
        """Both times."""
        return self.low, self.high


def segments_of(known: Iterable[Jump], functions: Sequence[Sampled], t_start: float, t_end: float) -> list[Segment]:
    """Return the segments of a run, from `t_start` to `t_end`, s, which may be earlier.

    Parameters
    ----------
    known
        Jumps and kinks that need not be looked for.
    functions
        Of time, in which they are.
    """
    span = abs(t_end - t_start)
    jumps, limit = set(known), np.full(SAMPLES, np.inf)
    if not (jumps or functions):
        return [Segment(t_start, t_end)]
    if span and np.isfinite(span):
        for function in functions:
            scan = _Scan(function, t_start, t_end)
            jumps.update(scan.jumps(), scan.kinks())
            np.minimum(limit, scan.largest_steps(), out=limit)
    return _divided(t_start, t_end, sorted(jumps), _windows(limit, t_start, t_end))


# ---- samples of a function ----


class _Scan:
    """Samples of a function of time at equal intervals of a run, as far as it has numbers there."""

    def __init__(self, function: Sampled, t_start: float, t_end: float) -> None:
        self._function = function
        self._h = abs(t_end - t_start) / SAMPLES
        self.t = np.linspace(t_start, t_end, SAMPLES + 1)
        values = _sampled(function, self.t[:-1].tolist())  # the end belongs to the run alone
        self.values = np.array(values, dtype=float).reshape(len(values), -1 if values else 1)
        if not (finite := np.isfinite(self.values).all(axis=1)).all():
            self.values = self.values[: np.argmin(finite)]
        self.varying = np.flatnonzero((self.values != self.values[:1]).any(axis=0))
        self.values = self.values[:, self.varying]
        self._continuous = self.values  # without the jumps that were found
        self._broken = np.zeros(SAMPLES, dtype=bool)  # intervals in which they are
        self._rounding = ROUNDING * np.abs(self.values).max(axis=0, initial=0.0)

    def jumps(self) -> list[Jump]:
        """Return neighbouring times, in their order, between which the function jumps."""
        differences = np.diff(self.values, axis=0)
        found = []
        for i, k in _surprises(differences, 1, self._rounding):
            jump = self._bracket(i, k)
            if jump is not None:
                found.append((jump[0], jump[1]))
                differences[i] -= jump[2]
                self._broken[i] = True
        if found:
            self._continuous = np.cumsum(np.concatenate([self.values[:1], differences]), axis=0)
        return found

    def _bracket(self, i: int, k: int) -> tuple[float, float, FloatArray] | None:
        """Halve an interval towards the jump of the k-th number; None: there is none."""
        (a, b), (at_a, at_b) = self.t[i : i + 2].tolist(), self.values[i : i + 2]
        least = LEFT * abs(at_b[k] - at_a[k])
        while (middle := a + (b - a) / 2) not in (a, b):
            value = self._value(middle)
            if value is None:
                return None
            if abs(value[k] - at_a[k]) >= abs(at_b[k] - value[k]):
                b, at_b = middle, value
            else:
                a, at_a = middle, value
            if abs(at_b[k] - at_a[k]) < least:
                return None
        return min(a, b), max(a, b), at_b - at_a

    def kinks(self) -> list[Jump]:
        """Return the times at which the slope jumps, and the function does not."""
        bends = np.diff(self._continuous, 2, axis=0)
        found = []
        for i, k in _surprises(bends, 2, 4.0 * self._rounding):  # the bend i is at the sample i + 1
            near = np.abs(bends[max(0, i - 1) : i + 2, k])
            if not self._broken[max(0, i - 1) : i + 3].any() and abs(bends[i, k]) >= near.max():
                at = self._kink(i + 1, k)
                if at is not None:
                    found.append((at, at))
        return found

    def _kink(self, i: int, k: int) -> float | None:
        """Halve the two intervals at a sample towards the kink of the k-th number; None: there is none.

        Of five points at equal distances the one with the largest second difference is the next one in the middle.
        """
        shortest = SHORTEST_KINK * SAMPLES * self._h
        t, quarter, first = float(self.t[i]), float(self.t[i + 1] - self.t[i]) / 2, 0.0
        f = [float(self.values[j, k]) for j in (i - 1, i, i + 1)]
        while True:
            between = [self._value(t - quarter), self._value(t + quarter)]
            if between[0] is None or between[1] is None:
                return None
            f = [f[0], between[0][k], f[1], between[1][k], f[2]]
            slopes = (f[1] - f[0]) / quarter, (f[4] - f[3]) / quarter
            change = abs(slopes[1] - slopes[0])
            first = first or change
            if change < SLOPE_LEFT * first or change == 0.0:
                return None
            if abs(quarter) < shortest:
                meeting = (f[3] - f[1] - quarter * (slopes[0] + slopes[1])) / (slopes[0] - slopes[1])
                return t + min(max(meeting, -abs(quarter)), abs(quarter))
            j = max((1, 2, 3), key=lambda j: abs(f[j - 1] - 2 * f[j] + f[j + 1]))
            t, f, quarter = t + (j - 2) * quarter, f[j - 1 : j + 2], quarter / 2

    def _value(self, t: float) -> FloatArray | None:
        try:
            value = np.array(self._function(t), dtype=float).reshape(-1)[self.varying]
        except Exception:
            return None
        return value if np.isfinite(value).all() else None

    def largest_steps(self) -> FloatArray:
        """Return the largest step in each interval, (SAMPLES,), that resolves the changes without jumps."""
        steps = np.full(SAMPLES, np.inf)
        f = self._continuous
        if not f.size:
            return steps
        errors, scale = _errors(f, 1, self._rounding), 1
        while len(f) > 12 * scale:
            finer, errors = errors, _errors(f, 2 * scale, self._rounding)
            if finer.any():
                unresolved = np.any(finer > UNRESOLVED * _largest_near(errors, 6 * scale), axis=1)
                near = _largest_near(unresolved, scale)
                part = steps[: len(f) - 1]
                part[(near[:-1] | near[1:]) & (part > scale * self._h)] = scale * self._h
            scale *= 2
        if (errors.max(axis=0) > VISIBLE * np.ptp(f, axis=0)).any():
            np.minimum(steps, scale * self._h, out=steps)
        return steps


def _sampled(function: Sampled, times: Sequence[float]) -> list[ArrayLike]:
    """Return what a function is at times until it fails; the run then fails there too, with a result."""
    values: list[ArrayLike] = []
    append, t = values.append, times[0]
    try:
        for t in times:
            append(function(t))
    except Exception:
        pass
    except BaseException as interrupt:  # of the function itself, or of the keyboard
        try:
            function(t)
        except type(interrupt):
            return values
        raise
    return values


def _surprises(differences: FloatArray, distance: int, rounding: FloatArray) -> list[tuple[int, int]]:
    """Return rows of differences (n, m) that do not follow from those at a distance, and the number that counts."""
    n = len(differences)
    if n <= distance:
        return []
    size = np.abs(differences)
    at = np.arange(n)
    before, after = np.maximum(at - distance, 0), np.minimum(at + distance, n - 1)
    surprise = np.abs(differences - (differences[before] + differences[after]) / 2)
    suspect = (surprise > SURPRISE * size) & (size > rounding)
    return [(int(i), int(np.argmax(np.where(suspect[i], size[i], -1.0)))) for i in np.flatnonzero(suspect.any(axis=1))]


def _errors(f: FloatArray, scale: int, rounding: FloatArray) -> FloatArray:
    """Return by how much samples (n, m) miss the cubic through four of them that are 1 and 3 scales away."""
    s, errors = scale, np.zeros_like(f)
    n = max(0, len(f) - 6 * s)
    near, far = f[2 * s : 2 * s + n] + f[4 * s : 4 * s + n], f[:n] + f[6 * s : 6 * s + n]
    inner = np.abs(f[3 * s : 3 * s + n] - (9.0 * near - far) / 16.0)
    errors[3 * s : 3 * s + n] = np.where(inner > rounding, inner, 0.0)
    return errors


def _largest_near(values: NDArray[Any], distance: int) -> NDArray[Any]:
    """Return the largest of the values (n, ...) within a distance, in samples."""
    padding = np.zeros((distance, *values.shape[1:]), dtype=values.dtype)
    largest, width = np.concatenate([padding, values, padding]), 1
    while (step := min(width, 2 * distance + 1 - width)) > 0:
        largest = np.maximum(largest[:-step], largest[step:])
        width += step
    return largest


# ---- from samples to segments ----


def _windows(limit: FloatArray, t_start: float, t_end: float) -> list[Segment]:
    """Return parts of a run with a largest step each, from one for each interval, (SAMPLES,)."""
    coarse = limit[limit >= COARSE * abs(t_end - t_start) / SAMPLES]
    whole = float(coarse.min(initial=np.inf))
    t = np.linspace(t_start, t_end, limit.size + 1)
    limit = np.minimum(limit, whole)
    changes = np.flatnonzero(limit[1:] != limit[:-1]) + 1
    bounds = [0, *changes.tolist(), limit.size]
    parts = [Segment(float(t[i]), float(t[j]), max_step=float(limit[i])) for i, j in pairwise(bounds)]
    return _merged(parts)


def _merged(parts: list[Segment]) -> list[Segment]:
    """Join neighbours where their common limit costs fewer steps than the end of a segment."""
    joined: list[Segment] = []
    for part in parts:
        joined.append(part)
        while (
            len(joined) > 1 and _steps_of(both := _joined(*joined[-2:])) <= sum(map(_steps_of, joined[-2:])) + BOUNDARY
        ):
            joined[-2:] = [both]
    return joined


def _joined(a: Segment, b: Segment) -> Segment:
    return replace(a, end=b.end, max_step=min(a.max_step, b.max_step))


def _steps_of(part: Segment) -> float:
    return abs(part.end - part.begin) / part.max_step


def _divided(t_start: float, t_end: float, jumps: Sequence[Jump], windows: Sequence[Segment]) -> list[Segment]:
    """Return the segments between jumps, with the limits of the windows."""
    backward = t_end < t_start
    low, high = sorted((t_start, t_end))
    # At a jump a segment ends at the first time behind it, and its functions are asked before it only.
    bounds = {window.begin: (window.begin, window.begin) for window in windows[1:]}
    for before, after in jumps:
        near, far = (after, before) if backward else (before, after)
        if low < far < high and low <= near <= high:
            bounds[far] = (near, far)
    parts: list[Segment] = []
    begin, remaining = t_start, list(windows)
    for near, end in [*(bounds[at] for at in sorted(bounds, reverse=backward)), (t_end, t_end)]:
        while len(remaining) > 1 and (remaining[0].end >= begin if backward else remaining[0].end <= begin):
            remaining.pop(0)
        edges = sorted((begin, near))
        parts.append(Segment(begin, end, edges[0], edges[1], remaining[0].max_step))
        begin = end
    return parts
