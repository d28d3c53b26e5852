"""The law of `trajectory` in Python, the reference of that in C."""

from __future__ import annotations

from bisect import bisect_right

from linkwork.controllers.builtin import trajectory as native
from linkwork.controllers.controller import Controller


class Trajectory(native.Trajectory):
    unsaved = ("names", "points", "begins", "moves", "cycle")

    def check(self) -> None:
        """Advance the motion."""
        if not self.speed > 0.0:
            raise ValueError(f"speed must be positive, not {self.speed:g}")

    def outputs(self, t: float) -> None:
        """Where the motion is."""
        clock = max(0.0, (t - self.start) * self.speed)
        if self.cycle:
            clock %= self.begins[-1]
        k = bisect_right(self.begins, clock) - 1
        if k < 0 or k >= len(self.moves):
            rest = self.points[0] if k < 0 else self.points[-1]
            self._put(rest, [0.0] * len(rest), 0.0, 0.0, 0.0)
            return
        rate = self.speed / self.moves[k]
        s = min(1.0, (clock - self.begins[k]) / self.moves[k])
        begin, way = self.points[k], [b - a for a, b in zip(self.points[k], self.points[k + 1], strict=True)]
        if s >= 1.0:
            begin, way = self.points[k + 1], [0.0] * len(way)
        share = s * s * s * (10.0 + s * (6.0 * s - 15.0))
        its_rate = 30.0 * s * s * (1.0 - s) * (1.0 - s) * rate
        its_change = 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) * rate * rate
        self._put(begin, way, share, its_rate, its_change)

    def _put(self, begin: list[float], way: list[float], share: float, rate: float, change: float) -> None:
        for name, start, distance in zip(self.names, begin, way, strict=True):
            self[f"{name}.q_d"] = start + share * distance
            self[f"{name}.u_d"] = rate * distance
            self[f"{name}.a_d"] = change * distance

    update = Controller.update
