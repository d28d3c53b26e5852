"""The rows of a run, filled by the solver as it steps."""

from __future__ import annotations

import numpy as np

from linkwork.solvers.problem import FloatArray
from linkwork.solvers.thresholds import MOST_FOLLOWING

FIRST_CAPACITY = 256


class Output:
    """Times and states in the order of the run."""

    def __init__(self, n: int, times: FloatArray | None, backwards: bool, latest: FloatArray) -> None:
        # The times are given, and their states are to be computed; otherwise every step makes a row, and so do a jump
        # and what turns far within a step.
        self.times_given = times is not None
        # t, y: times (nt,) and states (nt, n). Arrays of given times have their final size; the others grow
        self.t: FloatArray = np.empty(FIRST_CAPACITY) if times is None else times
        self.y: FloatArray = np.empty((self.t.size, n))
        # Step values (nt, n_step_values) of the last step that ended before the row.
        self.step_values: FloatArray = np.empty((self.t.size, latest.size))
        self.latest = latest  # those of the last step, (n_step_values,)
        self.count = 0  # number of rows filled
        self.following = True  # rows may be requested within steps
        self._sign = -1.0 if backwards else 1.0
        self._ascending = self._sign * (np.empty(0) if times is None else times)

    @property
    def follows(self) -> bool:
        """Whether rows are requested within steps in which something turns far."""
        return self.following and not self.times_given and self.count < MOST_FOLLOWING

    @property
    def complete(self) -> bool:
        """Whether all given times have their states."""
        return self.times_given and self.count == self.t.size

    def due(self, t: float) -> FloatArray:
        """Return the given times up to t that have no states yet, shape (nt,)."""
        if self.complete or self._sign * t < self._ascending[self.count]:  # the usual case after a step
            return self.t[:0]
        return self.t[self.count : int(np.searchsorted(self._ascending, self._sign * t, side="right"))]

    def fill(self, states: FloatArray) -> None:
        """Store the states, shape (nt, n), of the next given times."""
        self.y[self.count : self.count + len(states)] = states
        self.step_values[self.count : self.count + len(states)] = self.latest
        self.count += len(states)

    def append(self, t: float, y: FloatArray) -> None:
        """Add a row with a time and its states, shape (n,)."""
        self.reserve()
        self.t[self.count] = t
        self.y[self.count] = y
        self.step_values[self.count] = self.latest
        self.count += 1

    def reserve(self, rows: int = 1) -> None:
        """Provide capacity for so many more rows at least, FIRST_CAPACITY or less, where the times are not given."""
        if not self.times_given and self.count + rows > self.t.size:
            self.t = np.concatenate([self.t, np.empty_like(self.t)])
            self.y = np.concatenate([self.y, np.empty_like(self.y)])
            self.step_values = np.concatenate([self.step_values, np.empty_like(self.step_values)])

    def rows(self) -> tuple[FloatArray, FloatArray]:
        """Return the times and states filled so far."""
        return self.t[: self.count].copy(), self.y[: self.count].copy()
