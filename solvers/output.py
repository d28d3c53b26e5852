"""The rows a run gives out, filled while it goes on."""

from __future__ import annotations

import numpy as np

from linkwork.solvers.problem import FloatArray

FIRST_ROOM = 256


class Output:
    """Times and states in the order of the run.

    Attributes
    ----------
    wanted
        The times are given, and their states are to be found; otherwise every step makes a row, and so does a jump.
    t, y
        Times (nt,) and states (nt, n). Those wanted have their room from the beginning, the others get more as needed.
    count
        Number of rows filled.
    """

    def __init__(self, n: int, times: FloatArray | None, backwards: bool) -> None:
        self.wanted = times is not None
        self.t: FloatArray = np.empty(FIRST_ROOM) if times is None else times
        self.y: FloatArray = np.empty((self.t.size, n))
        self.count = 0
        self._sign = -1.0 if backwards else 1.0
        self._ascending = self._sign * (np.empty(0) if times is None else times)

    @property
    def complete(self) -> bool:
        """Whether all wanted times have their states."""
        return self.wanted and self.count == self.t.size

    def due(self, t: float) -> FloatArray:
        """Return the wanted times up to t that have no states yet, shape (nt,)."""
        if self.complete or self._sign * t < self._ascending[self.count]:  # so it is after most steps
            return self.t[:0]
        return self.t[self.count : int(np.searchsorted(self._ascending, self._sign * t, side="right"))]

    def fill(self, states: FloatArray) -> None:
        """Take the states, shape (nt, n), of the next wanted times."""
        self.y[self.count : self.count + len(states)] = states
        self.count += len(states)

    def append(self, t: float, y: FloatArray) -> None:
        """Make a row of a time and its states, shape (n,)."""
        self.make_room()
        self.t[self.count] = t
        self.y[self.count] = y
        self.count += 1

    def make_room(self) -> None:
        """Have room for another row at least, where the times are not given."""
        if not self.wanted and self.count == self.t.size:
            self.t = np.concatenate([self.t, np.empty_like(self.t)])
            self.y = np.concatenate([self.y, np.empty_like(self.y)])

    def rows(self) -> tuple[FloatArray, FloatArray]:
        """Return the times and states filled so far."""
        return self.t[: self.count].copy(), self.y[: self.count].copy()
