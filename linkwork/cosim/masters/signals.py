"""What the error of a communication step is measured on: real values that are exchanged.

An instance at the end of a chain, whose outputs nobody takes, has its continuous outputs measured as far as they are
recorded.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from linkwork.cosim.fmu.instance import FloatArray, Instance
from linkwork.cosim.network import Network
from linkwork.cosim.network.transfers import PortLink
from linkwork.fmu.description import REAL


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

    Attributes
    ----------
    names
        Of each: the output that it comes from.
    nominal
        Its usual size.
    """

    def __init__(self, network: Network, without: Collection[tuple[str, str]] = (), *, last: bool = False) -> None:
        self.names: list[str] = []
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
        self.nominal = np.array(nominal)

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
