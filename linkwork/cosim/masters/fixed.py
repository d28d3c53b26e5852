"""Masters of a fixed step: Jacobi steps all instances with the inputs of before; Gauss-Seidel one after the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from linkwork.cosim.description.references import known
from linkwork.cosim.fmu.instance import FloatArray, Instance
from linkwork.cosim.masters.base import Master
from linkwork.cosim.masters.extrapolation import Extrapolation
from linkwork.cosim.masters.together import Together
from linkwork.cosim.network import Network
from linkwork.errors import CosimError

ROUNDING = 1e-9  # of a step: a communication point so near is the one meant


class FixedStep(Master):
    """Steps on a grid of times, shorter ones at events.

    Parameters
    ----------
    step
        From one communication point to the next [s].
    extrapolation
        Order of the polynomials by which continuous inputs change within a step; 0 holds them.

    Raises
    ------
    CosimError
        If the step is not positive, or the order is not 0, 1 or 2.
    """

    def __init__(self, step: float, extrapolation: int = 0) -> None:
        super().__init__()
        if not (math.isfinite(step) and step > 0):
            raise CosimError(f"the communication step must be a positive time, not {step!r} s")
        if extrapolation not in (0, 1, 2):
            raise CosimError(f"the order of extrapolation must be 0, 1 or 2, not {extrapolation!r}")
        self.step = step
        self.extrapolation = extrapolation

    def begin(self, network: Network, start: float, stop: float, record: Callable[[float], None]) -> None:
        """Prepare for a run."""
        super().begin(network, start, stop, record)
        self._inputs = Extrapolation(self.extrapolation, network)
        self._inputs.note(network, start)
        self._together = Together(self, self.ordered())

    def ordered(self) -> list[Instance]:
        """In what order instances are stepped."""
        return self.network.each()

    def prepare(self, instance: Instance, time: float, length: float, done: Sequence[Instance]) -> None:
        """Give an instance its inputs for a step; those in `done` have made it already."""
        self._inputs.prepare(instance, time, length)

    def stepped(self, instance: Instance) -> None:
        """Nothing is looked at before all have stepped."""

    def advance(self, time: float, limit: float) -> float:
        """Go to the next time of the grid, or to an event before it."""
        goal = min(self._next_point(time), limit, *self.network.next_events.values())
        if goal <= time:
            goal = min(self._next_point(time), limit)
        return self.go(time, goal)

    def _next_point(self, time: float) -> float:
        near = ROUNDING * self.step
        count = math.floor((time - self.start) / self.step)
        while self.start + count * self.step <= time + near:  # the quotient is rounded
            count += 1
        point = self.start + count * self.step
        return self.stop if abs(self.stop - point) <= near else point

    def go(self, time: float, goal: float) -> float:
        """Do one step towards a goal, which an event or a discarded step may cut short; return the time reached."""
        reached, asked = self._together.step(time, goal)
        self.network.exchange(reached)
        if self.settle(reached, asked):
            self._inputs.forget()
        self._inputs.note(self.network, reached)
        self.statistics.steps += 1
        return reached


class Jacobi(FixedStep):
    """All instances step with the inputs at the begin of the step: order 1 with held inputs."""


class GaussSeidel(FixedStep):
    """Instances step one after the other, and take what those before them have at the end of the step.

    Parameters
    ----------
    step, extrapolation
        As of `FixedStep`. What is known at the end of a step is interpolated where `extrapolation` is not 0, and held
        otherwise.
    order
        Names of components; those left out follow in the order of the system. None: the order of the system.
    """

    def __init__(self, step: float, extrapolation: int = 0, order: Sequence[str] | None = None) -> None:
        super().__init__(step, extrapolation)
        self.order = tuple(order or ())

    def ordered(self) -> list[Instance]:
        """Those named first."""
        first = [known(name, self.network.instances, "component", "the order of Gauss-Seidel") for name in self.order]
        return [*first, *(one for one in self.network.each() if one not in first)]

    def prepare(self, instance: Instance, time: float, length: float, done: Sequence[Instance]) -> None:
        """Bring what those before it have at the end of the step."""
        ahead: FloatArray | None = None
        if done:
            before = instance.inputs.copy()
            fed = self.network.feed_from(instance, done)
            if self.extrapolation:
                ahead = np.where(fed, instance.inputs.real, np.nan)
                instance.inputs.paste(before)
            elif fed.any():
                instance.write(instance.inputs)
        self._inputs.prepare(instance, time, length, ahead)

    def stepped(self, instance: Instance) -> None:
        """Read what those after it take."""
        instance.read(instance.outputs)
