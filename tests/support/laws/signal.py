"""The law of `signal` in Python, the reference of that in C."""

from __future__ import annotations

from bisect import bisect_right

from linkwork.controllers.builtin import signal as native
from linkwork.controllers.controller import Controller


class Signal(native.Signal):
    unsaved = ("times", "pieces", "periodic")

    def outputs(self, t: float) -> None:
        """Values at a time; before and after the table those at its ends."""
        first, last = self.times[0], self.times[-1]
        clock = t - self.delay
        if self.periodic:
            clock = first + (clock - first) % (last - first)
        within = first <= clock <= last
        clock = min(max(clock, first), last)
        k = min(bisect_right(self.times, clock), len(self.times) - 1) - 1
        s = clock - self.times[k]
        for name, pieces in self.pieces.items():
            value = rate = 0.0
            for factor in reversed(pieces[k]):  # Horner's scheme, with its derivative
                rate = rate * s + value
                value = value * s + factor
            self[name] = self.scale * value
            self[f"{name}.rate"] = self.scale * rate if within else 0.0

    update = Controller.update
    check = Controller.check
