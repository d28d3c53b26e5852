"""How far something turns in a step, for solvers whose backend knows none of it; rules as in csrc/ode/rotation.c."""

from __future__ import annotations

import math
from collections.abc import Callable

from linkwork.solvers.compiled import COUNTED_SAMPLES, SAMPLE_ANGLE
from linkwork.solvers.problem import FloatArray, Problem

__all__ = ["COUNTED_SAMPLES", "SAMPLE_ANGLE", "Rotation"]


SMALL = 0.5  # part of the sampling angle
ORDINARY = 1.25  # ratio of the speeds in the middle of a step and at its ends


class Rotation:
    """Measures steps of a problem, from the first one after a start on."""

    def __init__(self, problem: Problem) -> None:
        self._angular_speed = problem.angular_speed
        self._turn_of_step = problem.turn_of_step
        self.start()

    def start(self) -> None:
        """Start again: the speed has jumped."""
        self._here: tuple[float, float] | None = None
        self._sample_time = math.inf

    def measure(
        self, t_from: float, y_from: FloatArray, t_to: float, y_to: FloatArray, state: Callable[[float], FloatArray]
    ) -> None:
        """Measure a step by the states (n,) at its ends, which are enough in most steps, and by those in it."""
        if self._angular_speed is None:
            return
        growth = self._growth(t_to - t_from, y_from, y_to)
        if growth == 0.0:
            self.start()
            return
        enough = SAMPLE_ANGLE / abs(t_to - t_from)
        to = self._angular_speed(t_to, y_to, enough)
        begin = self._here or self._angular_speed(t_from, y_from, enough)
        speed, bound = max(begin[0], to[0]), max(begin[1], to[1])
        if growth == math.inf:
            half = 0.5 * (t_from + t_to)
            middle = self._angular_speed(half, state(half), math.inf)[1]
            speed, growth = (speed, middle / bound) if bound > 0.0 else (middle, 1.0)
        speed *= max(growth, 1.0)
        self._here = to
        self._sample_time = SAMPLE_ANGLE / speed if speed > 0.0 else math.inf

    def _growth(self, step: float, y_from: FloatArray, y_to: FloatArray) -> float:
        """Return the ratio of the speeds in the middle and at the ends of a step as far as the ends show it.

        0: nothing turns far. Infinity: the middle has to show it, as in a move from rest to rest.
        """
        if self._turn_of_step is None:
            return math.inf
        ends, middle = self._turn_of_step(step, y_from, y_to)
        if max(ends, middle) <= SMALL * SAMPLE_ANGLE:
            return 0.0
        return max(middle / ends, 1.0) if middle <= ORDINARY * ends else math.inf

    def next_stop(self, t: float, t_to: float, samples: int) -> float:
        """Return where a part of the step from t to its end ends, of as many samples at most."""
        parts = math.ceil(abs(t_to - t) / (samples * self._sample_time))
        return t_to if parts <= 1 else t + (t_to - t) / parts
