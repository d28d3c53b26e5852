"""Event location on the dense output of a step, for backends that have none; rules as in csrc/ode/event_location.c.

SciPy's events miss changes that are undone within a step, and the location in C needs a step of the integrator in C.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from linkwork.solvers.problem import FloatArray, IntArray
from linkwork.solvers.thresholds import (
    FIRST_SAMPLE,
    MAX_TANGENTS,
    SAFETY,
    SEARCHED_PARTS,
    STEEPENING,
    TANGENT_SPACING,
)

Indicators = Callable[[float], FloatArray]

SAMPLES = (0.25, 0.5, 0.75, 1.0)  # as fractions of a step; after a start there is one before

_EPS = float(np.finfo(np.float64).eps)
_TINY = float(np.finfo(np.float64).tiny)


class Sample(NamedTuple):
    """Indicators z, (n,), at time t."""

    t: float
    z: FloatArray


class Tangent(NamedTuple):
    """Size s = sign z of one indicator at x = (t - left) / (right - left), and ds/dx."""

    x: float
    size: float
    slope: float


def _lies_above(left: Tangent, right: Tangent) -> bool:
    """Return whether the falling tangent stays clear of zero; convex functions lie above it."""
    return left.size + STEEPENING * left.slope * (right.x - left.x) > SAFETY * min(left.size, right.size)


def _next_position(left: Tangent, right: Tangent, turn: int, spacing: float) -> float:
    """Return where the slope would be zero if it were linear, where the tangents intersect, or the middle."""
    width, bend = right.x - left.x, left.slope - right.slope
    intersection = ((right.size - left.size) / width - right.slope) / bend
    fraction = (left.slope / bend, intersection, 0.5)[turn % 3]
    margin = max(0.01 * width, 1.5 * spacing)
    return min(max(left.x + width * fraction, left.x + margin), right.x - 0.5 * margin)


def _minima(left: Tangent, tangent: Callable[[float], Tangent | Sample], spacing: float) -> Sample | None:
    """Search the interval from the left tangent to x = 1, part by part; return a sample beyond zero, or None."""
    end = tangent(1.0)
    if isinstance(end, Sample) or end.slope <= 0.0:
        return end if isinstance(end, Sample) else None
    for part in range(1, SEARCHED_PARTS + 1):
        right = tangent(part / SEARCHED_PARTS) if part < SEARCHED_PARTS else end
        if isinstance(right, Sample):
            return right
        found = _minimum(left, right, tangent, spacing) if left.slope < 0.0 < right.slope else None
        if found is not None:
            return found
        left = right
    return None


def _minimum(
    left: Tangent, right: Tangent, tangent: Callable[[float], Tangent | Sample], spacing: float
) -> Sample | None:
    """Narrow the minimum between two tangents; return a sample beyond zero, or None."""
    for turn in range(MAX_TANGENTS):
        if right.x - left.x <= 4.0 * spacing or _lies_above(left, right):
            break
        here = tangent(_next_position(left, right, turn, spacing))
        if isinstance(here, Sample):
            return here
        if here.slope == 0.0:
            break
        left, right = (here, right) if here.slope < 0.0 else (left, here)
    return None


def _sign_of(z: FloatArray) -> IntArray:
    return np.where(z > 0.0, 1, -1).astype(np.int32)


class EventLocator:
    """Stores the sign of each indicator and finds the first zero crossing in a time interval."""

    def __init__(self) -> None:
        self._set_signs(np.empty(0, dtype=np.int32))
        self._left: Sample | None = None
        self._before: Sample | None = None

    def start(self, z: FloatArray) -> None:
        """Begin at indicators z; exactly zero has no sign yet."""
        self._set_signs(np.where(z == 0.0, 0, _sign_of(z)).astype(np.int32))
        self._left = self._before = None

    def find(self, t_from: float, t_to: float, indicators: Indicators) -> tuple[float, IntArray] | None:
        """Return the time just after the first change in the interval and the zero crossings there, or None."""
        if self._left is None or self._left.t != t_from:
            self._left, self._before = Sample(t_from, indicators(t_from)), None
        for fraction in SAMPLES if self._before is not None else (FIRST_SAMPLE * SAMPLES[0], *SAMPLES):
            right = t_to if fraction == 1.0 else t_from + fraction * (t_to - t_from)
            if right == self._left.t:
                continue
            sample = Sample(right, indicators(right))
            if self._before is not None:
                sample = self._find_excursions(self._before, self._left, sample, indicators)
            if self._changed(sample.z).any():
                left, self._left = self._left, None
                return self._bracket(left.t, sample.t, sample.z, indicators)
            if not self._all_signed:
                settled = (self._sign == 0) & ((sample.z != 0.0) | (fraction >= SAMPLES[0]))
                self._set_signs(np.where(settled, _sign_of(sample.z), self._sign).astype(np.int32))
            self._before, self._left = self._left, sample
        return None

    # ---- sign changes that are undone between two samples ----

    def _find_excursions(self, before: Sample, left: Sample, right: Sample, indicators: Indicators) -> Sample:
        """Return the right sample, or one at which an indicator has a changed sign that it loses before the right."""
        slopes = (left.z - before.z) * ((right.t - left.t) / (left.t - before.t))
        falls = self._sign * (left.z + STEEPENING * slopes - SAFETY * right.z) < 0.0
        if falls.any():
            for index in np.flatnonzero(falls & (self._sign * slopes < 0.0)):
                if not self._changed(right.z)[index]:
                    right = self._find_excursion(
                        index, float(self._sign[index] * slopes[index]), left, right, indicators
                    )
        return right

    def _find_excursion(
        self, index: np.intp, slope: float, left: Sample, right: Sample, indicators: Indicators
    ) -> Sample:
        span = right.t - left.t
        spacing = max(TANGENT_SPACING, 16 * _EPS * max(abs(left.t), abs(right.t)) / abs(span))
        sign = self._sign[index]

        def tangent(x: float) -> Tangent | Sample:
            values = []
            for at in (x - spacing, x):
                sample = Sample(left.t + at * span, indicators(left.t + at * span))
                if self._changed(sample.z)[index]:
                    return sample
                values.append(float(sign * sample.z[index]))
            return Tangent(x, values[1], (values[1] - values[0]) / spacing)

        start = Tangent(0.0, float(sign * left.z[index]), slope)
        end = Tangent(1.0, float(sign * right.z[index]), 0.0)
        if _lies_above(start, end) or spacing >= 0.1:
            return right
        return _minima(start, tangent, spacing) or right

    # ---- one sign change ----

    def _set_signs(self, sign: IntArray) -> None:
        self._sign = sign
        self._positive = sign > 0
        self._all_signed = bool(sign.all())

    def _changed(self, z: FloatArray) -> npt.NDArray[np.bool_]:
        changed: npt.NDArray[np.bool_] = (z > 0.0) != self._positive
        return changed if self._all_signed else changed & (self._sign != 0)

    def _bracket(self, left: float, right: float, z: FloatArray, indicators: Indicators) -> tuple[float, IntArray]:
        limit = right
        for index in np.flatnonzero(self._changed(z)):
            if not self._changed(z)[index]:
                continue  # another indicator has moved `right` to before this one's change
            right, z = self._first_after_root(index, left, right, z, indicators)
        right, z = self._include_simultaneous(right, z, limit, indicators)
        crossings = np.where(self._changed(z), _sign_of(z), 0).astype(np.int32)
        self._set_signs(_sign_of(z))
        self._left, self._before = Sample(right, z), None
        return right, crossings

    def _include_simultaneous(
        self, t: float, z: FloatArray, limit: float, indicators: Indicators
    ) -> tuple[float, FloatArray]:
        # indicators that change at the same time but for rounding belong to the same event
        past = t + math.copysign(16 * _EPS * max(abs(t), abs(limit)), limit - t)
        if abs(limit - t) <= abs(past - t):
            return t, z
        z_past = indicators(past)
        return (past, z_past) if self._changed(z_past).any() else (t, z)

    def _first_after_root(
        self, index: np.intp, left: float, right: float, z_right: FloatArray, indicators: Indicators
    ) -> tuple[float, FloatArray]:
        def value(t: float) -> float:
            return float(indicators(t)[index]) or -_TINY  # zero counts as negative

        scale = _EPS * max(abs(left), abs(right)) or _TINY
        began_changed = _sign_of(np.array(value(left))) != self._sign[index]
        t = left if began_changed else float(brentq(value, left, right, xtol=4 * scale, rtol=4 * _EPS))
        # brentq ends on either side of the root
        nudge = scale if right > left else -scale
        while (right - t) * nudge > 0.0:
            z = indicators(t)
            if self._changed(z)[index]:
                return t, z
            t, nudge = t + nudge, 2.0 * nudge
        return right, z_right
