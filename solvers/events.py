"""Event location on the dense output of a step, for backends that have none; rules as in csrc/ode/event_location.c."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from linkwork.solvers.problem import FloatArray, IntArray

Indicators = Callable[[float], FloatArray]

# Fractions of a stretch at which indicators are looked at. The tiny one is for what rests at zero after a start.
LOOKS = (0.25, 0.5, 0.75, 1.0)
TINY_LOOK = 2.0**-20

_EPS = float(np.finfo(np.float64).eps)
_TINY = float(np.finfo(np.float64).tiny)


def _side(z: FloatArray) -> IntArray:
    return np.where(z > 0.0, 1, -1).astype(np.int32)


class EventLocator:
    """Stores the sign of each indicator and finds the first zero crossing in a time interval."""

    def __init__(self) -> None:
        self._side: IntArray = np.empty(0, dtype=np.int32)
        self._looks: tuple[float, ...] = LOOKS

    def start(self, z: FloatArray) -> None:
        """Begin at indicators z; exactly zero has no sign yet."""
        self._side = np.where(z == 0.0, 0, _side(z)).astype(np.int32)
        self._looks = (TINY_LOOK, *LOOKS)

    def find(self, t_from: float, t_to: float, indicators: Indicators) -> tuple[float, IntArray] | None:
        """Return the time just after the first change in the interval and the zero crossings there, or None."""
        left = t_from
        looks, self._looks = self._looks, LOOKS
        for look in looks:
            right = t_to if look == 1.0 else t_from + look * (t_to - t_from)
            z = indicators(right)
            if self._changed(z).any():
                return self._close_in(left, right, z, indicators)
            settled = (self._side == 0) & ((z != 0.0) | (look >= LOOKS[0]))
            self._side = np.where(settled, _side(z), self._side).astype(np.int32)
            left = right
        return None

    def _changed(self, z: FloatArray) -> npt.NDArray[np.bool_]:
        changed: npt.NDArray[np.bool_] = (self._side != 0) & (self._side != _side(z))
        return changed

    def _close_in(self, left: float, right: float, z: FloatArray, indicators: Indicators) -> tuple[float, IntArray]:
        limit = right
        for index in np.flatnonzero(self._changed(z)):
            if not self._changed(z)[index]:
                continue  # another indicator has moved `right` to before this one's change
            right, z = self._after_root(index, left, right, z, indicators)
        right, z = self._past(right, z, limit, indicators)
        crossings = np.where(self._changed(z), _side(z), 0).astype(np.int32)
        self._side = _side(z)
        return right, crossings

    def _past(self, t: float, z: FloatArray, limit: float, indicators: Indicators) -> tuple[float, FloatArray]:
        # indicators that change at the same time but for rounding belong to the same event
        past = t + math.copysign(16 * _EPS * max(abs(t), abs(limit)), limit - t)
        if abs(limit - t) <= abs(past - t):
            return t, z
        z_past = indicators(past)
        return (past, z_past) if self._changed(z_past).any() else (t, z)

    def _after_root(
        self, index: np.intp, left: float, right: float, z_right: FloatArray, indicators: Indicators
    ) -> tuple[float, FloatArray]:
        def value(t: float) -> float:
            return float(indicators(t)[index]) or -_TINY  # zero counts as negative

        scale = _EPS * max(abs(left), abs(right)) or _TINY
        began_changed = _side(np.array(value(left))) != self._side[index]
        t = left if began_changed else float(brentq(value, left, right, xtol=4 * scale, rtol=4 * _EPS))
        # brentq ends on either side of the root
        nudge = scale if right > left else -scale
        while (right - t) * nudge > 0.0:
            z = indicators(t)
            if self._changed(z)[index]:
                return t, z
            t, nudge = t + nudge, 2.0 * nudge
        return right, z_right
