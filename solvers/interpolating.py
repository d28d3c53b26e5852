"""What solvers share whose backend takes steps and interpolates: events are located here, on the interpolant."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from linkwork.solvers.base import Failure, Options, Solver
from linkwork.solvers.event_location import EventLocator
from linkwork.solvers.problem import FloatArray, IntArray, Problem


class InterpolatingSolver(Solver):
    """A solver that is at its backend's tip, or at an event before it.

    After an event without a restart the rest of the same step is used, so events that change nothing cost no accuracy.
    """

    def __init__(self, name: str, problem: Problem, t_end: float, options: Options) -> None:
        super().__init__(name, problem, t_end, options)
        self._locator = EventLocator()

    @property
    @abstractmethod
    def _reached(self) -> float:
        """The time to which the backend has come."""

    @abstractmethod
    def _advance(self) -> None:
        """Let the backend take a step."""

    @abstractmethod
    def _state(self, t: float) -> FloatArray:
        """Return the state (n,) at a time within the backend's last step."""

    def step(self) -> IntArray | None:
        """Take a step, or what an event has left of the last one."""
        if self.t == self._reached:
            self._advance()
        t, crossings = self._reached, None
        if self.problem.n_events:
            found = self._locator.find(self.t, t, lambda at: self._indicators_at(at, self._state(at)))
            t, crossings = found if found is not None else (t, None)
        self.y = self._state(t)
        self.t = t
        return crossings

    def dense(self, t: FloatArray) -> FloatArray:
        """Evaluate the backend's interpolant; the end of the step is the state itself."""
        return np.array([self._state(float(time)) for time in t]).reshape(t.size, self.problem.n)

    def _watch_from(self, t: float, y: FloatArray) -> None:
        """Begin to look for events."""
        if self.problem.n_events:
            self._locator.start(self._indicators_at(t, y))

    def _indicators_at(self, t: float, y: FloatArray) -> FloatArray:
        z = self.indicators(t, y.copy())
        if not np.isfinite(z).all():
            raise self.fail(Failure.NOT_FINITE)
        return z
