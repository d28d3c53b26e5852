"""Runs that would use up the limit of steps long before their end are given up early."""

from __future__ import annotations

import math

from linkwork.solvers.base import Failure, Solver

FIRST_LOOK = 100_000  # steps, and again each time that their number has doubled
HOPELESS = 10.0  # times the steps that are left


class StepProgress:
    """The progress of a run to `t_end`, over all of its parts."""

    def __init__(self, t_start: float, t_end: float) -> None:
        self._t_end = t_end
        self._past = 0  # steps of the parts that have ended
        self._part = 0
        self._limit: int | None = None
        self._next = FIRST_LOOK
        self._before = 0, t_start  # steps and time at the last look

    def begin(self, limit: int | None) -> None:
        """Begin a part of the run, which may take `limit` steps; None: any number."""
        self._past += self._part
        self._part = 0
        self._limit = limit

    def check(self, method: Solver) -> None:
        """Raise an error if the run cannot come to its end within the limit, at its speed since the last look."""
        self._part = method.statistics.steps + (method.statistics.rejected or 0)
        taken = self._past + self._part
        if taken < self._next or self._limit is None:
            return
        advance = abs(method.t - self._before[1]) / (taken - self._before[0])
        self._before, self._next = (taken, method.t), 2 * taken
        needed = abs(self._t_end - method.t) / advance if advance else math.inf
        if needed > HOPELESS * (self._limit - self._part):
            raise method.fail(
                Failure.TOO_SLOW,
                f"after {taken} steps, the last ones of about {advance:.2g} each, {needed:.2g} more would be needed to "
                f"the end at {self._t_end:.6g}",
            )
