"""What transitions do in the course of a run, and what is kept of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.model.impacts import Event, impulses_of

if TYPE_CHECKING:
    from linkwork.core.native import Block
    from linkwork.model.model import Model


class EventLog:
    """The events of a run.

    Attributes
    ----------
    events
        In the order in which they happened.
    modes
        What transitions had brought about at the start of the run, then after each event.
    """

    def __init__(self, system: Model, block: Block, t_start: float) -> None:
        self._system = system
        self._block = block
        self._t_start = t_start
        self.events: list[Event] = []
        self.modes: list[FloatArray] = []
        self._times: list[float] = []  # of the modes
        self._legs: list[_Leg] = []
        self._began = 0

    def start(self, y: FloatArray) -> FloatArray:
        """Return the states after what is due at the start."""
        after = self._after(self._t_start, y, starting=True)
        self.modes, self._times = [self._block.modes], [self._t_start]
        return y if after is None else after

    def handle(self, t: float, y: FloatArray) -> FloatArray | None:
        """Return the states after an event; None where nothing has happened but that something may happen again."""
        after = self._after(t, y, starting=False)
        if after is not None:
            self.modes.append(self._block.modes)
            self._times.append(t)
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

    def end_segment(self, rows: int) -> None:
        """A leg of the run, up to here, had so many rows."""
        self._legs.append(_Leg(rows, self._began, len(self.modes) - 1))

    def begin_segment(self) -> None:
        """The next rows are those after all that has happened so far."""
        self._began = len(self.modes) - 1

    def move_last_row(self) -> None:
        """The last row of the last leg is that after what happened at its end."""
        last = self._legs.pop()
        self._legs += [_Leg(last.rows - 1, last.first, last.last), _Leg(1, len(self.modes) - 1, len(self.modes) - 1)]

    def modes_of_rows(self, times: FloatArray) -> list[FloatArray]:
        """Return the modes of each row of a run; of rows of the same time in a leg each is after one more event."""
        rows: list[FloatArray] = []
        for leg in self._legs:
            own = times[len(rows) : len(rows) + leg.rows]
            rows += [self.modes[number] for number in leg.modes_of(own, self._times)]
        return rows


_SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")


@dataclass(frozen=True)
class _Leg:
    """Rows of a leg, and the numbers of the first and last modes in it."""

    rows: int
    first: int
    last: int

    def modes_of(self, times: FloatArray, happened: list[float]) -> list[int]:
        """Return the number of the modes of each row."""
        own = happened[self.first + 1 : self.last + 1]
        found = []
        repeated = 0
        for i, t in enumerate(times):
            repeated = repeated + 1 if i and times[i - 1] == t else 0
            before, upto = (int(np.searchsorted(own, t, side=side)) for side in _SIDES)
            found.append(self.first + min(before + repeated, upto))
        return found
