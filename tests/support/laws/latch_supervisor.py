"""The law of `latch_supervisor` in Python, the reference of that in C."""

from __future__ import annotations

from typing import Any

from linkwork.controllers.builtin import latch_supervisor as native
from linkwork.controllers.controller import Controller

SLACK = 1e-9  # s, by which a hold time may be missed


class LatchSupervisor(native.LatchSupervisor):
    unsaved = ("latches",)

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.closed = dict.fromkeys(self.latches, False)
        self.held = dict.fromkeys(self.latches, 0.0)

    def outputs(self, t: float) -> None:
        """Commands given, and those due now."""
        for latch in self.latches:
            self[f"{latch}.command"] = self.closed[latch] or self._due(latch)
        self.stage = sum(self[f"{latch}.command"] for latch in self.latches)

    def update(self, t: float, dt: float) -> None:
        """Remember commands, and count how long each latch has held still."""
        watched = [latch for latch in self.latches if self._watched(latch)]
        for latch in self.latches:
            still = latch in watched and self._still(latch)
            self.closed[latch] = self[f"{latch}.command"]
            self.held[latch] = self.held[latch] + dt if still else 0.0

    def _due(self, latch: str) -> bool:
        return self._watched(latch) and self._still(latch) and self.held[latch] >= self.hold_time - SLACK

    def _watched(self, latch: str) -> bool:
        """Whether it is its turn: all before it were closed earlier."""
        if not self.sequence:
            return True
        names = list(self.latches)
        return all(self.closed[one] for one in names[: names.index(latch)])

    def _still(self, latch: str) -> bool:
        facts = self.latches[latch]
        away = abs(self[facts["angle"]] - self[f"{latch}.target"])
        return bool(away <= self.window and abs(self[facts["speed"]]) <= self.max_speed)

    check = Controller.check
