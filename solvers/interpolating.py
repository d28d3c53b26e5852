"""What solvers share whose backend takes steps and interpolates: events are located here, on the interpolant."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from linkwork.solvers.base import Failure, Options, Solver
from linkwork.solvers.event_location import SAMPLES, EventLocator
from linkwork.solvers.output import Output
from linkwork.solvers.problem import FloatArray, IntArray, Problem
from linkwork.solvers.rotation import COUNTED_SAMPLES, Rotation


class InterpolatingSolver(Solver):
    """A solver that is at its backend's tip, or at an event before it.

    After an event without a restart the rest of the same step is used, so events that change nothing cost no accuracy.
    A step in which something turns far is given in parts, if something watches it.
    """

    def __init__(self, name: str, problem: Problem, t_end: float, options: Options) -> None:
        super().__init__(name, problem, t_end, options)
        self._locator = EventLocator()
        self._rotation = Rotation(problem)
        self._rows_follow = False

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
        samples = self._samples_of_part()
        if self.t == self._reached:
            self._advance()
            if samples:
                self._rotation.measure(self.t, self.y, self._reached, self._state(self._reached), self._state)
        t, crossings = self._reached, None
        if samples:
            t = self._rotation.next_stop(self.t, t, samples)
        if self.problem.n_events:
            found = self._locator.find(self.t, t, lambda at: self._indicators_at(at, self._state(at)))
            t, crossings = found if found is not None else (t, None)
        self.y = self._state(t)
        self.t = t
        return crossings

    def run(self, output: Output, tries: int) -> IntArray | None:
        """Take a step, or a part of it where something turns far."""
        self._rows_follow = output.follows
        return super().run(output, tries)

    def _samples_of_part(self) -> int:
        """Return how many samples a part of a step may have; 0: nothing watches."""
        if self._rows_follow:
            return 1
        if self.problem.on_step is not None:
            return COUNTED_SAMPLES
        return len(SAMPLES) if self.problem.n_events else 0

    def dense(self, t: FloatArray) -> FloatArray:
        """Evaluate the backend's interpolant; the end of the step is the state itself."""
        return np.array([self._state(float(time)) for time in t]).reshape(t.size, self.problem.n)

    def _watch_from(self, t: float, y: FloatArray) -> None:
        """Begin to look for events and at what turns."""
        self._rotation.start()
        if self.problem.n_events:
            self._locator.start(self._indicators_at(t, y))

    def _indicators_at(self, t: float, y: FloatArray) -> FloatArray:
        z = self.indicators(t, y.copy())
        if not np.isfinite(z).all():
            raise self.fail(Failure.NOT_FINITE)
        return z
