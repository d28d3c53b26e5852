"""How far something turns in a step, for solvers whose backend knows none of it; rules as in csrc/ode/rotation.c."""

from __future__ import annotations

import math
from collections.abc import Callable

from linkwork.solvers.compiled import COUNTED_SAMPLES, SAMPLE_ANGLE
from linkwork.solvers.problem import FloatArray, Problem

__all__ = ["COUNTED_SAMPLES", "SAMPLE_ANGLE", "Rotation"]


class Rotation:
    """Measures steps of a problem, from the first one after a start on."""

    def __init__(self, problem: Problem) -> None:
        self._angular_speed = problem.angular_speed
        self.start()

    def start(self) -> None:
        """Start again: the speed has jumped."""
        self._here: tuple[float, float] | None = None
        self._sample_time = math.inf

    def measure(self, t_from: float, t_to: float, state: Callable[[float], FloatArray]) -> None:
        """Measure the step between two times by the states (n,) in it."""
        if self._angular_speed is None:
            return
        enough, half = SAMPLE_ANGLE / abs(t_to - t_from), 0.5 * (t_from + t_to)
        to = self._angular_speed(t_to, state(t_to), enough)
        begin = self._here or self._angular_speed(t_from, state(t_from), enough)
        speed, bound = max(begin[0], to[0]), max(begin[1], to[1])
        middle = self._angular_speed(half, state(half), math.inf)[1]
        if middle > bound:  # as in a move from rest to rest
            speed = speed * (middle / bound) if bound > 0.0 else middle
        self._here = to
        self._sample_time = SAMPLE_ANGLE / speed if speed > 0.0 else math.inf

    def next_stop(self, t: float, t_to: float, samples: int) -> float:
        """Return where a part of the step from t to its end ends, of as many samples at most."""
        parts = math.ceil(abs(t_to - t) / (samples * self._sample_time))
        return t_to if parts <= 1 else t + (t_to - t) / parts
