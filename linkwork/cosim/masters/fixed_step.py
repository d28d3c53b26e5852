"""Masters of a fixed step.

After a start or an event there are no previous values, and inputs held for one step make an error of second order.
Where parabolas give the third order, that step is made, rolled back, and repeated with inputs on straight lines to the
values that it found at its end.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from linkwork._util.keywords import checks_keywords
from linkwork.cosim.masters.base import Master, MasterRun
from linkwork.cosim.masters.step_inputs import Parallel, Sequential, check_extrapolation
from linkwork.cosim.masters.synchronous_step import Together, again
from linkwork.cosim.network import Network
from linkwork.errors import CosimError

ROUNDING = 1e-9  # of a step: a communication point so near is the one meant


@dataclass(frozen=True)
class FixedStep(Master):
    """Steps on a grid of times, shorter ones at events."""

    step: float  # from one communication point to the next [s]
    extrapolation: int = 0  # order of the polynomials by which continuous inputs change within a step; 0 holds them

    def __post_init__(self) -> None:
        if not (math.isfinite(self.step) and self.step > 0):
            raise CosimError(f"the communication step must be a positive time, not {self.step!r} s")
        check_extrapolation(self.extrapolation)

    def begin(self, network: Network, t_start: float, t_end: float, record_row: Callable[[float], None]) -> MasterRun:
        """Return the state of a run."""
        return FixedStepRun(self, self.inner(network), network, t_start, t_end, record_row)

    @abstractmethod
    def inner(self, network: Network) -> Parallel:
        """Return the order in which the instances step."""


class FixedStepRun(MasterRun):
    """A run on a grid of times."""

    def __init__(
        self,
        settings: FixedStep,
        inner: Parallel,
        network: Network,
        t_start: float,
        t_end: float,
        record_row: Callable[[float], None],
    ) -> None:
        super().__init__(network, t_start, t_end, record_row)
        self._length, self._inner = settings.step, inner
        self._inner.inputs.note(t_start)
        self._together = Together(self, self._inner)
        self._can_correct = all(one.model.abilities.save_state for one in network.each())

    def advance(self, time: float, limit: float) -> float:
        """Go to the next time of the grid, or to an event before it."""
        goal = self.before_events(time, min(self._next_point(time), limit))
        twice = self._can_correct and self._inner.inputs.too_short()
        reached, asked = self._twice(time, goal) if twice else self._once(time, goal)
        if self.handle_events(reached, asked):
            self._inner.inputs.forget()
        self._inner.inputs.note(reached)
        self.statistics.steps += 1
        return reached

    def _once(self, time: float, goal: float, *, keep: bool = True) -> tuple[float, set[str]]:
        """Step all and exchange values; the time reached, and who wants to go to Event Mode."""
        reached, asked = self._together.step(time, goal, keep=keep)
        self.network.exchange(reached)
        return reached, asked

    def _twice(self, time: float, goal: float) -> tuple[float, set[str]]:
        """The same, repeated with inputs interpolated to those found at the end."""
        everyone, inner = self.network.instances, self._inner
        self.network.snapshots.save(everyone, "step")
        reached, asked = self._once(time, goal, keep=False)
        found = {name: one.inputs.real.copy() for name, one in everyone.items()}
        if self.ended or reached <= time or not all(np.isfinite(values).all() for values in found.values()):
            return reached, asked
        self.network.snapshots.restore(everyone, "step")
        inner.ends = reached, found
        try:
            return self._once(time, again(time, goal, reached, asked), keep=False)
        finally:
            inner.ends = None

    def _next_point(self, time: float) -> float:
        near = ROUNDING * self._length
        count = math.floor((time - self.t_start) / self._length)
        while self.t_start + count * self._length <= time + near:  # the quotient is rounded
            count += 1
        point = self.t_start + count * self._length
        return self.t_end if abs(self.t_end - point) <= near else point


@checks_keywords
@dataclass(frozen=True)
class Jacobi(FixedStep):
    """All instances step with the inputs at the begin of the step: order 1 with held inputs."""

    def inner(self, network: Network) -> Parallel:
        """Return the order in which the instances step."""
        return Parallel(network, self.extrapolation)


@checks_keywords
@dataclass(frozen=True)
class GaussSeidel(FixedStep):
    """Instances step one after the other, and take what those before them have at the end of the step.

    Parameters
    ----------
    step, extrapolation
        As of `FixedStep`. Values known at the end of a step are interpolated where `extrapolation` is not 0, and held
        otherwise.
    order
        Names of components; those left out follow in the order of the system. None: the order of the system.
    """

    order: Sequence[str] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "order", tuple(self.order or ()))

    def inner(self, network: Network) -> Parallel:
        """Return the order in which the instances step."""
        return Sequential(network, self.extrapolation, self.order or ())
