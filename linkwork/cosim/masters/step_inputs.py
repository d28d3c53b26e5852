"""The inputs of instances for a step: from the begin of the step (Jacobi), or from its end (Gauss-Seidel)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from linkwork.cosim.fmu.instance import FloatArray, Instance
from linkwork.cosim.masters.extrapolation import Extrapolation
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
