"""What instances get for a step: what is known at its begin (Jacobi), or at its end from others (Gauss-Seidel)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from linkwork.cosim.fmu.instance import FloatArray, Instance, Outcome
from linkwork.cosim.masters.extrapolation import Extrapolation
from linkwork.cosim.network import Network
from linkwork.cosim.network.transfers import Transfer
from linkwork.cosim.system.references import known
from linkwork.errors import CosimError

ORDERS = (0, 1, 2)


class Jacobi:
    """All instances step with what is known at the begin of the step.

    Attributes
    ----------
    order
        In what order instances are stepped.
    inputs
        How their inputs move within a step.
    ends
        Inputs found at a time ahead by an earlier try, by instance; they are interpolated then. None: there was none.
    """

    def __init__(self, network: Network, extrapolation: int, *, tries: bool = False) -> None:
        self.network = network
        self.order = self.ordered()
        self.inputs = Extrapolation(extrapolation, network, tries=tries)
        self.ends: tuple[float, Mapping[str, FloatArray]] | None = None

    def ordered(self) -> list[Instance]:
        """In what order instances are stepped."""
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
        """Nothing is looked at before all have stepped."""


class GaussSeidel(Jacobi):
    """Instances step one after the other, and take what those before them have at the end of the step.

    It is interpolated where inputs are extrapolated, else held.
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
        #: Inputs at the end of the step under way, by instance, where outputs depend on them directly.
        self._at_end: dict[str, tuple[float, FloatArray]] = {}
        self._masks: dict[tuple[str, tuple[int, ...]], NDArray[np.bool_] | None] = {}

    def ordered(self) -> list[Instance]:
        """Those named first."""
        there = self.network.instances
        first = [known(name, there, "component", "the order of Gauss-Seidel") for name in self._first]
        return [*first, *(one for one in self.network.each() if one not in first)]

    def prepare(self, instance: Instance, time: float, goal: float) -> None:
        """Bring what those before it have at the end of the step."""
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
        fed = self._fed(instance, transfers)
        self.inputs.prepare_towards(instance, goal - time, goal, ahead, fed, points=self.inputs.order)

    def _fed(self, instance: Instance, transfers: Sequence[Transfer]) -> NDArray[np.bool_] | None:
        """Which real inputs some routes feed; None: all."""
        key = instance.name, tuple(map(id, transfers))
        if key not in self._masks:
            mask = np.zeros(instance.inputs.real.size, dtype=bool)
            for transfer in transfers:
                mask[transfer.targets] = True
            self._masks[key] = None if mask.all() else mask
        return self._masks[key]

    def stepped(self, instance: Instance) -> None:
        """Read what others take, which belongs to the inputs at the end of the step."""
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


def make_inner(
    network: Network, inner: str, extrapolation: int, order: Sequence[str], *, tries: bool = False
) -> Jacobi:
    """Make one by name; `tries`: steps are tried, and `ends` known by that."""
    if inner == "gauss-seidel":
        return GaussSeidel(network, extrapolation, order, tries=tries)
    return Jacobi(network, extrapolation, tries=tries)


def check_extrapolation(order: int) -> int:
    """Return the order.

    Raises
    ------
    CosimError
        If it is not 0, 1 or 2.
    """
    if order not in ORDERS:
        raise CosimError(f"the order of extrapolation must be 0, 1 or 2, not {order!r}")
    return order
