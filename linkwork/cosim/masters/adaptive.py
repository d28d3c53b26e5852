"""A master whose communication step follows the error of what is exchanged.

Doubling: all instances make one step of h with extrapolated inputs and go back; then they make two of h/2 with inputs
interpolated through those that the first found at its end. The difference of the signals at the end is the error of
the first; the two are better, by an order. Signals are often positions: an error of speeds, which stays, is seen in
them over one step only as h times it. So the difference is held per unit step, diff / 4 < tol * h / T with
T the length of the run: the errors of all steps together stay below the tolerance, unless the system makes them grow.

Inputs: one step only; the error is that of the inputs, as predicted by extrapolation, beside those found at its end.
It is of the order of the global error already, and held at the tolerance as it is.

The next step is h * safety * e^(-0.7/q) * e_before^(0.4/q), a PI controller (Gustafsson 1991), with e the error as a
multiple of the tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from linkwork.cosim.fmu.instance import FloatArray
from linkwork.cosim.masters.base import Master
from linkwork.cosim.masters.fixed import FixedStep, GaussSeidel, Jacobi
from linkwork.cosim.masters.inner import check_extrapolation, make_inner
from linkwork.cosim.masters.signals import Signals
from linkwork.cosim.masters.together import ULP, Together, again
from linkwork.cosim.network import Network
from linkwork.errors import CosimError

SHARE = 4.0  # how much larger the error of one step is than that of two halves, at least
SAFETY = 0.9
NOW, BEFORE = 0.7, 0.4  # exponents of the controller, over the order
LEAST, MOST = 0.1, 2.0  # change of the step
LEAST_SHARE = 1e-4  # of the tolerance that a step may use: where steps are so short, FMUs' own errors would be measured
INNER, ESTIMATES = ("jacobi", "gauss-seidel"), ("doubling", "inputs")


class Trial(NamedTuple):
    """A step that was tried: where it ended, who wants to go to Event Mode there, its error, and whose it is.

    `cut`: something happened on the way at `reached`, and the step is to be tried to there only.
    """

    reached: float
    asked: set[str]
    error: float
    worst: int
    cut: bool = False


class Adaptive(Master):
    """Steps as long as the error of exchanged signals allows; those with too large a one are rolled back.

    FMUs that cannot save their states or vary their steps make it a master of the fixed step `first` (else `largest`,
    else a thousandth of the run), which a notice says.

    Parameters
    ----------
    tolerance
        Of a signal's error, relative to its nominal value plus its size.
    smallest, largest, first
        Steps [s]; also after an event, `first` begins. None: 1e-10, a tenth and a thousandth of the run.
    inner
        How instances step: ``"jacobi"`` or ``"gauss-seidel"``.
    extrapolation
        Order of the polynomials by which continuous inputs change within a step.
    estimate
        ``"doubling"``, by three steps for two, or ``"inputs"``, by none: cheaper, blind to how FMUs answer to inputs,
        and not for signals that jump between events.
    order
        Of Gauss-Seidel, as there.

    Raises
    ------
    CosimError
        If an option is not one of these.
    """

    def __init__(
        self,
        tolerance: float,
        *,
        smallest: float | None = None,
        largest: float | None = None,
        first: float | None = None,
        inner: str = "jacobi",
        extrapolation: int = 1,
        estimate: str = "doubling",
        order: Sequence[str] | None = None,
    ) -> None:
        super().__init__()
        steps = {"smallest": smallest, "largest": largest, "first": first}
        for what, value in {"tolerance": tolerance, **steps}.items():
            if value is not None and not (math.isfinite(value) and value > 0):
                raise CosimError(f"{what!r} of an adaptive master must be a positive number, not {value!r}")
        for what, name, names in (("inner", inner, INNER), ("estimate", estimate, ESTIMATES)):
            if name not in names:
                raise CosimError(f"{what!r} must be {' or '.join(map(repr, names))}, not {name!r}")
        self.tolerance = tolerance
        self.smallest, self.largest, self.first = smallest, largest, first
        self.inner, self.estimate = inner, estimate
        self.extrapolation = check_extrapolation(extrapolation)
        self.order = tuple(order or ())

    def begin(self, network: Network, start: float, stop: float, record: Callable[[float], None]) -> None:
        """Prepare for a run."""
        super().begin(network, start, stop, record)
        self._fixed = self._degraded(network, stop - start)
        if self._fixed is not None:
            self._fixed.begin(network, start, stop, record)
            self._fixed.statistics, self._fixed.events, self._fixed.notices = self.statistics, self.events, self.notices
            return
        self._inner = make_inner(network, self.inner, self.extrapolation, self.order, tries=True)
        self._inputs = self._inner.inputs
        self._inputs.note(start)
        self._together = Together(self, self._inner, always=True)
        doubling = self.estimate == "doubling"
        self._signals = Signals(network, () if doubling else self._interpolated(), last=doubling)
        self._largest = self.largest or (stop - start) / 10
        rounding = 1000 * ULP * max(abs(start), abs(stop))
        self._smallest = max(self.smallest or min(1e-10 * (stop - start), self._largest), rounding)
        self._first = min(max(self.first or (stop - start) / 1000, self._smallest), self._largest)
        self._step, self._before, self._was_rejected = self._first, 1.0, False
        self._order = self.extrapolation + (2 if doubling else 1)

    def _degraded(self, network: Network, length: float) -> FixedStep | None:
        """The master of a fixed step that serves where an FMU cannot do what is needed."""
        lacking = {
            "save states": [one.name for one in network.each() if not one.model.abilities.save_state],
            "vary its step": [one.name for one in network.each() if not one.model.abilities.variable_step],
        }
        if not any(lacking.values()):
            return None
        step = self.first or self.largest or length / 1000
        whose = "; ".join(
            f"{', '.join(map(network.who, names))} cannot {what}" for what, names in lacking.items() if names
        )
        self.notice(f"the step does not adapt but is fixed at {step:.9g} s: {whose}")
        if self.inner == "gauss-seidel":
            return GaussSeidel(step, self.extrapolation, self.order)
        return Jacobi(step, self.extrapolation)

    def _interpolated(self) -> set[tuple[str, str]]:
        """Who takes whose values at the end of a step, not predicted ones."""
        names = [one.name for one in self._inner.order]
        pairs = {(owner, taker) for i, taker in enumerate(names) for owner in names[:i]}
        return pairs if self.inner == "gauss-seidel" else set()

    def advance(self, time: float, limit: float) -> float:
        """Do one step whose error is small enough; the time it reaches."""
        if self._fixed is not None:
            self._fixed.ended = self.ended
            reached = self._fixed.advance(time, limit)
            self.ended = self._fixed.ended
            return reached
        bound = self.before_events(time, limit)
        goal = self._goal(time, bound)
        known = self._inputs.copy()
        while True:
            trial = self._double(time, goal) if self.estimate == "doubling" else self._once(time, goal)
            if not trial.cut and trial.error <= 1.0:
                break
            self._inputs.paste(known)
            self._back()
            goal = trial.reached if trial.cut else self._shorter(time, goal, trial)
        return self._accept(time, trial)

    def _goal(self, time: float, bound: float) -> float:
        """The end of the next step, so that none before a bound is tiny."""
        left = bound - time
        if left <= 1.01 * self._step:
            return bound
        return time + (left / 2 if left < 2 * self._step else self._step)

    def _double(self, time: float, goal: float) -> Trial:
        """One step and two of half its length."""
        begin = self._signals.now()
        reached, asked = self._together.step(time, goal, "whole")
        if reached <= time:
            return Trial(time, asked, 0.0, -1)
        self.network.exchange(reached)
        whole = self._signals.now()
        found = {one.name: one.inputs.real.copy() for one in self._inner.order}
        self._back()
        self._inner.ends = reached, found
        try:
            return self._halves(time, again(time, goal, reached, asked), reached, begin, whole)
        finally:
            self._inner.ends = None

    def _halves(self, time: float, goal: float, met: float, begin: FloatArray, whole: FloatArray) -> Trial:
        """Two steps, and their end beside that of the whole step at the time `met`."""
        middle = time + (goal - time) / 2
        reached, asked = self._together.step(time, middle, "whole", keep=False)
        self.network.exchange(reached)
        if reached <= time:
            return Trial(time, asked, 0.0, -1)
        if reached < middle or asked or self.network.with_changed_discrete_inputs():
            return Trial(reached, asked, 0.0, -1, cut=True)
        self._inputs.note(middle)
        reached, asked = self._together.step(middle, goal, "half")
        self.network.exchange(reached)
        halves = self._signals.now()
        if reached != met:  # an event came a little earlier or later than in the whole step
            halves += (halves - begin) * ((met - reached) / (reached - time))
        share = max(SHARE * (goal - time) / (self.stop - self.start), LEAST_SHARE)
        return Trial(reached, asked, *self._signals.error(whole, halves, self.tolerance * share))

    def _once(self, time: float, goal: float) -> Trial:
        """One step, and inputs beside those predicted."""
        held = self._signals.now()
        reached, asked = self._together.step(time, goal, "whole")
        if reached <= time:
            return Trial(time, asked, 0.0, -1)
        predicted = held
        if self.extrapolation:
            predicted = self._signals.of({name: self._inputs.at(name, reached) for name in self._signals.takers()})
        self.network.exchange(reached)
        return Trial(reached, asked, *self._signals.error(predicted, self._signals.now(), self.tolerance))

    def _back(self) -> None:
        """To where the step began."""
        self.network.snapshots.restore(self.network.instances, "whole")
        self.ended = False

    def _shorter(self, time: float, goal: float, trial: Trial) -> float:
        """Count a rejected step and return the end of a shorter one.

        Raises
        ------
        CosimError
            If the step is the smallest already.
        """
        self.statistics.rejected += 1
        self._was_rejected = True
        length = min(goal, trial.reached) - time
        if length <= 1.01 * self._smallest:  # a difference of times is rounded
            raise CosimError(
                f"the error of {self._signals.names[trial.worst]!r} over the smallest step, {length:.3g} s at t = "
                f"{time:.9g} s, is {trial.error:.3g} times the tolerance {self.tolerance:g}; allow smaller steps "
                "('smallest') or more error ('tolerance'), or look whether this signal jumps or its FMU's own "
                "tolerance is too loose"
            )
        factor = SAFETY * trial.error ** (-1 / self._order) if np.isfinite(trial.error) else LEAST
        self._step = max(length * max(factor, LEAST), self._smallest)
        return time + self._step

    def _accept(self, time: float, trial: Trial) -> float:
        """Handle events at the end of a step and choose the length of the next."""
        reached = trial.reached
        self.statistics.steps += 2 if self.estimate == "doubling" and reached > time else 1
        if reached > time:
            self._adapt(reached - time, max(trial.error, 1e-10))
        if self.settle(reached, trial.asked):
            self._inputs.forget()
            self._step, self._before = min(self._step, self._first), 1.0
        self._inputs.note(reached)
        return reached

    def _adapt(self, length: float, error: float) -> None:
        factor = SAFETY * error ** (-NOW / self._order) * self._before ** (BEFORE / self._order)
        factor = min(max(factor, LEAST), 1.0 if self._was_rejected else MOST)
        proposed = length * factor
        if length < self._step and factor >= 1.0:  # the step was cut by a bound, not by its error
            proposed = max(proposed, self._step)
        self._step = min(max(proposed, self._smallest), self._largest)
        self._before, self._was_rejected = error, False
