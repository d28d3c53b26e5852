"""The inputs of instances for a step: from the begin of the step (Jacobi), or from its end (Gauss-Seidel).

Continuous inputs follow polynomials through values at communication points. The polynomial p through points (t0, u0),
(t1, u1), ... is, by Newton's divided differences d1, d2, d3,

    p(t) = u0 + d1 (t - t0) + d2 (t - t0)(t - t1) + d3 (t - t0)(t - t1)(t - t2),

and an FMU that takes derivatives of inputs (FMI 2.0) gets those at t0, where its step begins. Another one gets
constants. For a straight line it is the mean over the step, m = 1/h int p, which makes a step of second order as well.
Otherwise two constants, one for each half of the step, keep the mean and the moment n = 1/h^2 int (h - s) p ds:

    c1 + c2 = 2 m,  3 c1 + c2 = 8 n,

so that the first and second integral are exact, and a step is of third order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from linkwork.cosim.fmu.instance import FloatArray, Instance
from linkwork.cosim.network import Network
from linkwork.cosim.network.transfers import Transfer
from linkwork.cosim.system.references import known
from linkwork.errors import CosimError
from linkwork.fmu.caller.instance import Outcome

ORDERS = (0, 1, 2)


class Parallel:
    """The Jacobi scheme: all instances step with the values at the begin of the step."""

    def __init__(self, network: Network, extrapolation: int, *, tries: bool = False) -> None:
        self.network = network
        self.order = self.ordered()  # the order in which instances step
        self.inputs = Extrapolation(extrapolation, network, tries=tries)  # their inputs within a step
        # Time and inputs by instance that a trial of the step has found; inputs are interpolated to them. None: no
        # trial.
        self.ends: tuple[float, Mapping[str, FloatArray]] | None = None

    def ordered(self) -> list[Instance]:
        """The order in which instances step."""
        return self.network.each()

    def prepare(self, instance: Instance, time: float, goal: float) -> None:
        """Give an instance its inputs for a step; those whose time is `goal` have made it already."""
        if self.ends is not None:
            self._between(instance, goal - time)
        elif self.inputs.order:
            self.inputs.prepare(instance, goal - time)

    def _between(self, instance: Instance, length: float) -> None:
        assert self.ends is not None
        end, values = self.ends
        if instance.name in self.inputs.tracks:
            self.inputs.prepare_towards(instance, length, end, values[instance.name], points=self.inputs.order + 1)

    def step(self, instance: Instance, begin: float, length: float) -> Outcome:
        """Step an instance, in two halves where its inputs are given so."""
        later = self.inputs.later.pop(instance.name, None)
        if later is None:
            return instance.step(begin, length)
        middle = begin + length / 2
        outcome = instance.step(begin, length / 2)
        if outcome.reached < middle or outcome.event or outcome.terminate or outcome.discarded:
            return outcome
        instance.inputs.real[:] = later
        instance.write(instance.inputs)
        return instance.step(middle, begin + length - middle)

    def stepped(self, instance: Instance) -> None:
        """Called after a step of an instance; outputs are read once all have stepped."""


class Sequential(Parallel):
    """The Gauss-Seidel scheme: instances step one after the other, with the outputs of previous ones at the step's end.

    Inputs from these are interpolated where inputs are extrapolated, else held.
    """

    def __init__(self, network: Network, extrapolation: int, first: Sequence[str], *, tries: bool = False) -> None:
        self._first = first
        super().__init__(network, extrapolation, tries=tries)
        self._sources = {
            one.name: [(network.instances[transfer.owner], transfer) for transfer in network.transfers(one)]
            for one in self.order
        }
        self._read = {owner.name for sources in self._sources.values() for owner, _ in sources}
        self._direct = {
            port_link.owner
            for port_link in network.port_links
            if _passes(network.instances[port_link.owner], port_link.output)
        }
        #: Inputs at the end of the current step, by instance, where outputs depend on them directly.
        self._at_end: dict[str, tuple[float, FloatArray]] = {}
        self._masks: dict[tuple[str, tuple[int, ...]], NDArray[np.bool_] | None] = {}

    def ordered(self) -> list[Instance]:
        """The instances named by the user, then the others."""
        there = self.network.instances
        first = [known(name, there, "component", "the order of Gauss-Seidel") for name in self._first]
        return [*first, *(one for one in self.network.each() if one not in first)]

    def prepare(self, instance: Instance, time: float, goal: float) -> None:
        """Transfer the outputs of previous instances at the end of the step."""
        if self.ends is not None:
            self._between(instance, goal - time)
            return
        transfers = [transfer for owner, transfer in self._sources[instance.name] if owner.time >= goal]
        if not self.inputs.order:
            for transfer in transfers:
                transfer.carry()
            if transfers:
                instance.write(instance.inputs)
            return
        real = instance.inputs.real
        transfers = [transfer for transfer in transfers if transfer.target is real]
        if real.size and instance.name in self._direct:
            self._at_end[instance.name] = goal, self.inputs.at(instance.name, goal)
        if not transfers:
            self.inputs.prepare(instance, goal - time)
            return
        ahead = np.empty(real.size)
        for transfer in transfers:
            transfer.bring(ahead)
            if instance.name in self._at_end:
                transfer.bring(self._at_end[instance.name][1])
        known = self._targets(instance, transfers)
        self.inputs.prepare_towards(instance, goal - time, goal, ahead, known, points=self.inputs.order)

    def _targets(self, instance: Instance, transfers: Sequence[Transfer]) -> NDArray[np.bool_] | None:
        """Mask of the real inputs that some transfers set; None: all."""
        key = instance.name, tuple(map(id, transfers))
        if key not in self._masks:
            mask = np.zeros(instance.inputs.real.size, dtype=bool)
            for transfer in transfers:
                mask[transfer.targets] = True
            self._masks[key] = None if mask.all() else mask
        return self._masks[key]

    def stepped(self, instance: Instance) -> None:
        """Read the outputs that others use; they belong to the inputs at the end of the step."""
        end, inputs = self._at_end.pop(instance.name, (0.0, None))
        if instance.name in self._read:
            if inputs is not None and instance.time >= end:
                instance.inputs.real[:] = inputs
                instance.write(instance.inputs)
            instance.read(instance.outputs)


def _passes(instance: Instance, output: str) -> bool:
    """Whether an output may depend on exchanged inputs directly."""
    depends = instance.model.dependencies.get(output)
    return depends is None or any(one.name in depends for one in instance.inputs.variables)


def check_extrapolation(order: int) -> int:
    """Return the order."""
    if order not in ORDERS:
        raise CosimError(f"the order of extrapolation must be 0, 1 or 2, not {order!r}")
    return order


MOST_POINTS = 4


class Track:
    """Real inputs of an instance at its last communication points, the latest first."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.values: list[FloatArray] = []


class Extrapolation:
    """Polynomials of an order for the inputs of each instance; order 0 holds them.

    `tries`: a step is compared with another one, so that inputs are kept track of at order 0 as well, and the moment of
    a straight line counts, too.
    """

    def __init__(self, order: int, network: Network, *, tries: bool = False) -> None:
        self.order = order
        #: Inputs for the second half of a step, by instance.
        self.later: dict[str, FloatArray] = {}
        self._idle = not (order or tries)
        self._straight = 1 if tries else 2  # from this order of polynomials on, the moment is kept
        self.tracks = {one.name: Track() for one in network.each() if one.inputs.real.size}
        self._noted = [(one.inputs.real, self.tracks[one.name]) for one in network.each(self.tracks)]

    def forget(self) -> None:
        """Discard all points: inputs may have jumped."""
        for track in self.tracks.values():
            track.times, track.values = [], []

    def too_short(self) -> bool:
        """Whether too little is known for the next step to keep the order.

        Its error is an order above that of its inputs, so one step of many may have polynomials of one order less.
        """
        return any(len(track.times) < self.order for track in self.tracks.values())

    def note(self, time: float) -> None:
        """Keep the inputs as they are at a communication point."""
        if self._idle:
            return
        n = self.order
        for real, track in self._noted:
            times, values = track.times, track.values
            if times and times[0] >= time:
                times, values = times[1:], values[1:]
            track.times, track.values = [time, *times[:n]], [real.copy(), *values[:n]]

    def copy(self) -> list[tuple[list[float], list[FloatArray]]]:
        """A copy of all points, to `paste` later."""
        return [(track.times, track.values) for _, track in self._noted]

    def paste(self, copy: Sequence[tuple[list[float], list[FloatArray]]]) -> None:
        """Restore a copy."""
        for (_, track), (times, values) in zip(self._noted, copy, strict=True):
            track.times, track.values = times, values

    def at(self, name: str, time: float) -> FloatArray:
        """The inputs of an instance at a time ahead, by the polynomial."""
        track = self.tracks[name]
        value, weight = track.values[0].copy(), 1.0
        for k, row in enumerate(derivatives(track.times, track.values), start=1):
            weight *= (time - track.times[0]) / k
            value += weight * row
        return value

    def prepare(self, instance: Instance, length: float) -> None:
        """Give an instance its inputs for a step."""
        track = self.tracks.get(instance.name)
        if track is not None and len(track.times) > 1:
            self._give(instance, track.values[0], derivatives(track.times, track.values), length)

    def prepare_towards(
        self,
        instance: Instance,
        length: float,
        end: float,
        ahead: FloatArray,
        known: NDArray[np.bool_] | None = None,
        *,
        points: int,
    ) -> None:
        """Give an instance its inputs for a step when they are known at a time `end` ahead.

        `known` is the mask of these (None: all); `points` is the number of other points, the latest included.
        """
        track = self.tracks[instance.name]
        times = [track.times[0], end, *track.times[1:points]]
        rows = derivatives(times, [track.values[0], ahead, *track.values[1:points]])
        if known is not None:
            without = derivatives(track.times, track.values)
            nothing = np.zeros(ahead.size)
            for k in range(max(len(rows), len(without))):
                one, other = (row[k] if k < len(row) else nothing for row in (rows, without))
                rows[k : k + 1] = [np.where(known, one, other)]
        self._give(instance, track.values[0], rows, length)

    def _give(self, instance: Instance, now: FloatArray, rows: list[FloatArray], length: float) -> None:
        """Set inputs and their derivatives, or constants; the inputs now have been set already."""
        if instance.model.abilities.interpolation:
            instance.write_derivatives(instance.inputs, rows)
            return
        mean, moment, weight = now, now / 2.0, 1.0
        for k, row in enumerate(rows, start=1):
            weight *= length / (k + 1)
            mean = mean + weight * row
            moment = moment + weight / (k + 2) * row
        if len(rows) >= self._straight and instance.model.abilities.variable_step:
            self.later[instance.name] = 3.0 * mean - 4.0 * moment
            mean = 4.0 * moment - mean
        instance.inputs.real[:] = mean
        instance.write(instance.inputs)


def derivatives(times: Sequence[float], values: Sequence[FloatArray]) -> list[FloatArray]:
    """Derivatives of orders 1, 2, ... at the first of at most four points, of the polynomial through all."""
    if len(times) < 2:
        return []
    t0, t1 = times[:2]
    d01 = (values[1] - values[0]) / (t1 - t0)
    if len(times) == 2:
        return [d01]
    t2 = times[2]
    d12 = (values[2] - values[1]) / (t2 - t1)
    d012 = (d12 - d01) / (t2 - t0)
    first, second = d01 + d012 * (t0 - t1), 2.0 * d012
    if len(times) == 3:
        return [first, second]
    t3 = times[3]
    d123 = ((values[3] - values[2]) / (t3 - t2) - d12) / (t3 - t1)
    d0123 = (d123 - d012) / (t3 - t0)
    return [first + d0123 * ((t0 - t1) * (t0 - t2)), second + d0123 * (2.0 * (2.0 * t0 - t1 - t2)), 6.0 * d0123]
