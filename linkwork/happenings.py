"""What transitions do in the course of a run, and what is kept of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwork.description.checks import FloatArray
from linkwork.jumps import Event, impulses_of

if TYPE_CHECKING:
    from linkwork._native import Block
    from linkwork.system import System


class Happenings:
    """The events of a run.

    Attributes
    ----------
    events
        In the order in which they happened.
    modes
        What transitions had brought about at the start of the run, then after each event.
    """

    def __init__(self, system: System, block: Block, t_start: float) -> None:
        self._system = system
        self._block = block
        self._t_start = t_start
        self.events: list[Event] = []
        self.modes: list[FloatArray] = []

    def start(self, y: FloatArray) -> FloatArray:
        """Return the states after what is due at the start."""
        after = self._after(self._t_start, y, starting=True)
        self.modes = [self._block.modes]
        return y if after is None else after

    def handle(self, t: float, y: FloatArray) -> FloatArray | None:
        """Return the states after an event; None where nothing has happened but that something may happen again."""
        after = self._after(t, y, starting=False)
        if after is not None:
            self.modes.append(self._block.modes)
        return after

    def _after(self, t: float, y: FloatArray, *, starting: bool) -> FloatArray | None:
        block, nq = self._block, self._system.numbering.nq
        before, lost = block.last_events()[0], float(block["energy_lost"][0])
        if starting:
            block.start_events()
        else:
            block.handle_events()
        now, last = block.last_events()
        if now == before:
            return None
        names = self._system.mechanism.transitions
        fired = tuple(name for name, number in zip(names, last, strict=True) if number > before)
        after = np.concatenate([block["q"], block["u"]])
        impulses = impulses_of(self._system, block)
        lost = float(block["energy_lost"][0]) - lost
        self.events.append(Event(t, fired, y[nq:].copy(), after[nq:].copy(), impulses, lost))
        return after

    def modes_of_rows(self, times: FloatArray) -> list[FloatArray]:
        """Return the modes of each row of a run; of rows of the same time each is after one more event."""
        happened = [event.t for event in self.events if event.t > self._t_start]
        rows: list[FloatArray] = []
        for i, t in enumerate(times):
            before = int(np.searchsorted(happened, t, side="left"))
            upto = int(np.searchsorted(happened, t, side="right"))
            first = i
            while first > 0 and times[first - 1] == t:
                first -= 1
            rows.append(self.modes[min(before + i - first, upto)])
        return rows
