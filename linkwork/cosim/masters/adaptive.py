"""A master whose communication step is controlled by the error of the exchanged signals.

Doubling: all instances make one step of h with extrapolated inputs and are rolled back; then they make two of h/2 with
inputs interpolated through those that the first found at its end. The difference of the signals at the end is the error
of the first; the two are better, by an order. Signals are often positions: an error of speeds, which stays, is seen in
them over one step only as h times it. So the error per unit step is controlled, diff / 4 < tol * h / T with
T the length of the run: the errors of all steps together stay below the tolerance, unless the system makes them grow.

Inputs: one step only; the error is the difference between the inputs predicted by extrapolation and those found at the
end of the step. It is of the order of the global error already, and compared with the tolerance as it is.

The next step is h * safety * e^(-0.7/q) * e_before^(0.4/q), a PI controller (Gustafsson 1991), with e the error as a
multiple of the tolerance.

The error is measured on real values that are exchanged. An instance at the end of a chain, whose outputs nobody takes,
has its continuous outputs measured as far as they are recorded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple

import numpy as np

from linkwork._util.keywords import checks_keywords
from linkwork.cosim.fmu.instance import FloatArray, Instance
from linkwork.cosim.masters.base import Master, MasterRun
from linkwork.cosim.masters.fixed_step import FixedStep, GaussSeidel, Jacobi
from linkwork.cosim.masters.step_inputs import Parallel, Sequential, check_extrapolation
from linkwork.cosim.masters.synchronous_step import ULP, Together, again
from linkwork.cosim.network import Network
from linkwork.cosim.network.transfers import PortLink
from linkwork.errors import CosimError
from linkwork.fmu.description import REAL

SHARE = 4.0  # how much larger the error of one step is than that of two halves, at least
SAFETY = 0.9
NOW, BEFORE = 0.7, 0.4  # exponents of the controller, over the order
LEAST, MOST = 0.1, 2.0  # change of the step
LEAST_SHARE = 1e-4  # of the tolerance that a step may use: where steps are so short, FMUs' own errors would be measured
INNER, ESTIMATES = ("jacobi", "gauss-seidel"), ("doubling", "inputs")


class Trial(NamedTuple):
    """A trial step: the time reached, the instances that request Event Mode, the error, and the signal with that error.

    `cut`: an event happened during the step at `reached`, and the next trial ends there.
    """

    reached: float
    asked: set[str]
    error: float
    worst: int
    cut: bool = False


@checks_keywords
@dataclass(frozen=True)
class Adaptive(Master):
    """Steps as long as the error of exchanged signals allows; those with too large a one are rolled back.

    FMUs that cannot save their states or vary their steps make it a master of the fixed step `first_step` (else
    `max_step`, else a thousandth of the run), which a notice reports.

    Parameters
    ----------
    rtol
        Tolerance of a signal's error, relative to its nominal value plus its size.
    min_step, max_step, first_step
        Steps [s]; also after an event, `first_step` begins. None: 1e-10, a tenth and a thousandth of the run.
    inner
        How instances step: ``"jacobi"`` or ``"gauss-seidel"``.
    extrapolation
        Order of the polynomials by which continuous inputs change within a step.
    estimate
        ``"doubling"``, by three steps for two, or ``"inputs"``, without further steps: cheaper, but it does not see how
        FMUs respond to inputs, and is not for signals that jump between events.
    order
        Of Gauss-Seidel, as there.
    """

    rtol: float
    _: KW_ONLY
    min_step: float | None = None
    max_step: float | None = None
    first_step: float | None = None
    inner: str = "jacobi"
    extrapolation: int = 1
    estimate: str = "doubling"
    order: Sequence[str] | None = None

    def __post_init__(self) -> None:
        for name in ("rtol", "min_step", "max_step", "first_step"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise CosimError(f"{name!r} of an adaptive master must be a positive number, not {value!r}")
        for name, names in (("inner", INNER), ("estimate", ESTIMATES)):
            value = getattr(self, name)
            if value not in names:
                raise CosimError(f"{name!r} must be {' or '.join(map(repr, names))}, not {value!r}")
        check_extrapolation(self.extrapolation)
        if self.order and self.inner != "gauss-seidel":
            raise CosimError(
                f"'order' must be left out with inner={self.inner!r}: only inner='gauss-seidel' has an order"
            )
        object.__setattr__(self, "order", tuple(self.order or ()))

    def begin(self, network: Network, t_start: float, t_end: float, record_row: Callable[[float], None]) -> MasterRun:
        """Return the state of a run, which has a fixed step where an FMU cannot save its state or vary its step."""
        cannot = {
            "save states": [one.name for one in network.each() if not one.model.abilities.save_state],
            "vary its step": [one.name for one in network.each() if not one.model.abilities.variable_step],
        }
        if not any(cannot.values()):
            return AdaptiveRun(self, network, t_start, t_end, record_row)
        fixed = self._fixed_step(t_end - t_start)
        run = fixed.begin(network, t_start, t_end, record_row)
        whose = "; ".join(
            f"{', '.join(map(network.who, names))} cannot {ability}" for ability, names in cannot.items() if names
        )
        run.notice(f"the step does not adapt but is fixed at {fixed.step:.9g} s: {whose}")
        return run

    def _fixed_step(self, length: float) -> FixedStep:
        step = self.first_step or self.max_step or length / 1000
        if self.inner == "gauss-seidel":
            return GaussSeidel(step, self.extrapolation, self.order)
        return Jacobi(step, self.extrapolation)

    def make_inner(self, network: Network) -> Parallel:
        """Return the order in which the instances step."""
        if self.inner == "gauss-seidel":
            return Sequential(network, self.extrapolation, self.order or (), tries=True)
        return Parallel(network, self.extrapolation, tries=True)


class AdaptiveRun(MasterRun):
    """A run with steps of adaptive length."""

    def __init__(
        self, settings: Adaptive, network: Network, t_start: float, t_end: float, record_row: Callable[[float], None]
    ) -> None:
        super().__init__(network, t_start, t_end, record_row)
        self._rtol, self._extrapolation = settings.rtol, settings.extrapolation
        self._doubling = settings.estimate == "doubling"
        self._inner = settings.make_inner(network)
        self._inputs = self._inner.inputs
        self._inputs.note(t_start)
        self._together = Together(self, self._inner, always=True)
        interpolated = set() if self._doubling or settings.inner != "gauss-seidel" else self._interpolated()
        self._signals = Signals(network, interpolated, last=self._doubling)
        self._max_step = settings.max_step or (t_end - t_start) / 10
        rounding = 1000 * ULP * max(abs(t_start), abs(t_end))
        self._min_step = max(settings.min_step or min(1e-10 * (t_end - t_start), self._max_step), rounding)
        self._first_step = min(max(settings.first_step or (t_end - t_start) / 1000, self._min_step), self._max_step)
        self._step, self._before, self._was_rejected = self._first_step, 1.0, False
        self._order = settings.extrapolation + (2 if self._doubling else 1)

    def _interpolated(self) -> set[tuple[str, str]]:
        """Pairs (source, target) of instances whose values are those at the end of the step, not predicted."""
        names = [one.name for one in self._inner.order]
        return {(source, target) for i, target in enumerate(names) for source in names[:i]}

    def advance(self, time: float, limit: float) -> float:
        """Do one step whose error is small enough; the time it reaches."""
        bound = self.before_events(time, limit)
        goal = self._goal(time, bound)
        points = self._inputs.copy()
        while True:
            trial = self._double(time, goal) if self._doubling else self._once(time, goal)
            if not trial.cut and trial.error <= 1.0:
                break
            self._inputs.paste(points)
            self._roll_back()
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
        self._roll_back()
        self._inner.ends = reached, found
        try:
            return self._halves(time, again(time, goal, reached, asked), reached, begin, whole)
        finally:
            self._inner.ends = None

    def _halves(self, time: float, goal: float, met: float, begin: FloatArray, whole: FloatArray) -> Trial:
        """Two steps, and their end compared with that of the whole step at the time `met`."""
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
        share = max(SHARE * (goal - time) / (self.t_end - self.t_start), LEAST_SHARE)
        return Trial(reached, asked, *self._signals.error(whole, halves, self._rtol * share))

    def _once(self, time: float, goal: float) -> Trial:
        """One step, and inputs compared with the predicted ones."""
        held = self._signals.now()
        reached, asked = self._together.step(time, goal, "whole")
        if reached <= time:
            return Trial(time, asked, 0.0, -1)
        predicted = held
        if self._extrapolation:
            predicted = self._signals.of({name: self._inputs.at(name, reached) for name in self._signals.takers()})
        self.network.exchange(reached)
        return Trial(reached, asked, *self._signals.error(predicted, self._signals.now(), self._rtol))

    def _roll_back(self) -> None:
        """Restore the begin of the step."""
        self.network.snapshots.restore(self.network.instances, "whole")
        self.ended = False

    def _shorter(self, time: float, goal: float, trial: Trial) -> float:
        """Count a rejected step and return the end of a shorter one."""
        self.statistics.rejected += 1
        self._was_rejected = True
        length = min(goal, trial.reached) - time
        if length <= 1.01 * self._min_step:  # a difference of times is rounded
            raise CosimError(
                f"the error of {self._signals.names[trial.worst]!r} over the smallest step, {length:.3g} s at t = "
                f"{time:.9g} s, is {trial.error:.3g} times rtol = {self._rtol:g}; allow smaller steps "
                "(min_step) or more error (rtol), or check whether this signal jumps or the tolerance "
                "of its FMU is too loose"
            )
        factor = SAFETY * trial.error ** (-1 / self._order) if np.isfinite(trial.error) else LEAST
        self._step = max(length * max(factor, LEAST), self._min_step)
        return time + self._step

    def _accept(self, time: float, trial: Trial) -> float:
        """Handle events at the end of a step and choose the length of the next."""
        reached = trial.reached
        self.statistics.steps += 2 if self._doubling and reached > time else 1
        if reached > time:
            self._adapt(reached - time, max(trial.error, 1e-10))
        if self.handle_events(reached, trial.asked):
            self._inputs.forget()
            self._step, self._before = min(self._step, self._first_step), 1.0
        self._inputs.note(reached)
        return reached

    def _adapt(self, length: float, error: float) -> None:
        factor = SAFETY * error ** (-NOW / self._order) * self._before ** (BEFORE / self._order)
        factor = min(max(factor, LEAST), 1.0 if self._was_rejected else MOST)
        proposed = length * factor
        if length < self._step and factor >= 1.0:  # the step was cut by a bound, not by its error
            proposed = max(proposed, self._step)
        self._step = min(max(proposed, self._min_step), self._max_step)
        self._before, self._was_rejected = error, False


class Signals:
    """Values that come over connections, in the units of the inputs.

    Parameters
    ----------
    network
        Whose they are.
    without
        Pairs (source, target) of instances left out.
    last
        Whether recorded outputs of the last in a chain are among them.
    """

    def __init__(self, network: Network, without: Collection[tuple[str, str]] = (), *, last: bool = False) -> None:
        self.names: list[str] = []  # of each: the output that it comes from
        self._last: list[tuple[Instance, FloatArray, list[int]]] = []
        self._parts: list[tuple[str, FloatArray, list[int]]] = []
        nominal: list[float] = []
        for instance in network.each():
            places: list[int] = []
            for port_link in network.port_links:
                if port_link.target is not instance.inputs or (port_link.owner, port_link.taker) in without:
                    continue
                value_type, place = port_link.target.places[port_link.input]
                if value_type == REAL:
                    size = place.stop - place.start
                    places += range(place.start, place.stop)
                    nominal += [_nominal(network, port_link)] * size
                    self.names += [f"{port_link.owner}.{port_link.output}"] * size
            if places:
                self._parts.append((instance.name, instance.inputs.real, places))
        owners = {port_link.owner for port_link in network.port_links}
        for instance in network.each() if last else ():
            if instance.name not in owners:
                nominal += self._add_last(instance)
        self.nominal = np.array(nominal)  # its usual size

    def _add_last(self, instance: Instance) -> list[float]:
        places: list[int] = []
        nominal: list[float] = []
        ports = instance.recorded_only
        for one in ports.variables:
            value_type, place = ports.places[one.name]
            if value_type == REAL and one.causality == "output" and one.variability == "continuous":
                places += range(place.start, place.stop)
                nominal += [one.nominal] * one.size
                self.names += [f"{instance.name}.{one.name}"] * one.size
        if places:
            self._last.append((instance, ports.real, places))
        return nominal

    def now(self) -> FloatArray:
        """The values as they are."""
        values = [real[places] for _, real, places in self._parts]
        for instance, real, places in self._last:
            instance.read(instance.recorded_only)
            values.append(real[places])
        return np.concatenate(values) if values else np.empty(0)

    def of(self, inputs: Mapping[str, FloatArray]) -> FloatArray:
        """The values among real inputs by instance."""
        values = [inputs[name][places] for name, _, places in self._parts]
        return np.concatenate(values) if values else np.empty(0)

    def takers(self) -> list[str]:
        """The instances that take them."""
        return [name for name, _, _ in self._parts]

    def error(self, one: FloatArray, other: FloatArray, tolerance: float) -> tuple[float, int]:
        """The largest difference, as a multiple of ``tolerance * (nominal + |value|)``, and whose it is."""
        if not one.size:
            return 0.0, -1
        ratios = np.abs(one - other) / (tolerance * (self.nominal + np.abs(other)))
        worst = int(np.argmax(ratios))
        return float(ratios[worst]) if np.isfinite(ratios[worst]) else np.inf, worst


def _nominal(network: Network, port_link: PortLink) -> float:
    return network.instances[port_link.owner].model.variable(port_link.output).nominal * abs(port_link.factor)
