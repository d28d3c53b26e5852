"""Connected real inputs: on these the error of a communication step is measured."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from linkwork.cosim.fmu.instance import FloatArray
from linkwork.cosim.fmu.model import REAL
from linkwork.cosim.network import Network
from linkwork.cosim.network.routes import Wire


class Signals:
    """Values that come over connections, in the units of the inputs; those of some pairs (owner, taker) left out.

    Attributes
    ----------
    names
        Of each: the output that it comes from.
    nominal
        Its usual size.
    """

    def __init__(self, network: Network, without: Collection[tuple[str, str]] = ()) -> None:
        self.names: list[str] = []
        self._parts: list[tuple[str, FloatArray, list[int]]] = []
        nominal: list[float] = []
        for instance in network.each():
            places: list[int] = []
            for wire in network.wires:
                if wire.target is not instance.inputs or (wire.owner, wire.taker) in without:
                    continue
                bank, place = wire.target.places[wire.input]
                if bank == REAL:
                    size = place.stop - place.start
                    places += range(place.start, place.stop)
                    nominal += [_nominal(network, wire)] * size
                    self.names += [f"{wire.owner}.{wire.output}"] * size
            if places:
                self._parts.append((instance.name, instance.inputs.real, places))
        self.nominal = np.array(nominal)

    def now(self) -> FloatArray:
        """The values as they are."""
        return self._gathered({name: real for name, real, _ in self._parts})

    def of(self, inputs: Mapping[str, FloatArray]) -> FloatArray:
        """The values among real inputs by instance."""
        return self._gathered(inputs)

    def takers(self) -> list[str]:
        """The instances that take them."""
        return [name for name, _, _ in self._parts]

    def _gathered(self, inputs: Mapping[str, FloatArray]) -> FloatArray:
        if not self._parts:
            return np.empty(0)
        return np.concatenate([inputs[name][places] for name, _, places in self._parts])

    def error(self, one: FloatArray, other: FloatArray, tolerance: float) -> tuple[float, int]:
        """The largest difference, as a multiple of ``tolerance * (nominal + |value|)``, and whose it is."""
        if not one.size:
            return 0.0, -1
        ratios = np.abs(one - other) / (tolerance * (self.nominal + np.abs(other)))
        worst = int(np.argmax(ratios))
        return float(ratios[worst]) if np.isfinite(ratios[worst]) else np.inf, worst


def _nominal(network: Network, wire: Wire) -> float:
    return network.instances[wire.owner].model.variable(wire.output).nominal * abs(wire.factor)
