"""Outputs that are not finite: an error where they are connected to an input, a notice where they are only recorded."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from linkwork.cosim.fmu.ports import Ports
from linkwork.cosim.network.network import Network
from linkwork.errors import CosimError
from linkwork.fmu.description import REAL


class NotFinite(CosimError):
    """A connected output is not a finite number."""


class Finiteness:
    """Checks the outputs of a network; `notices` names those that are not finite and not connected."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.notices: list[str] = []
        self._outputs = [(one, one.outputs) for one in network.each() if one.outputs.real.size]
        self._unconnected = [(one, one.recorded_only) for one in network.each() if one.recorded_only.real.size]

    def check(self, time: float) -> None:
        """Look at all of them.

        Raises
        ------
        NotFinite
            If a connected one is not finite.
        """
        for _, ports in self._outputs:
            if not _finite(ports):
                text = self.source()
                raise NotFinite(f"{text} at t = {time:.9g} s; check its inputs and parameters, or take a smaller step")
        for instance, ports in self._unconnected:
            if not _finite(ports):
                self._unconnected = [one for one in self._unconnected if one[0] is not instance]  # reported once
                texts = ", ".join(f"{instance.name}.{name} is {value}" for name, value in _bad(ports))
                self.notices.append(f"from t = {time:.9g} s, {texts} ({instance.model.path.name})")

    def source(self) -> str:
        """Name the output that is not finite and the inputs connected to it; "" if there is none."""
        for instance, ports in self._outputs:
            for name, value in _bad(ports):
                port_links = [
                    one for one in self.network.port_links if (one.owner, one.output) == (instance.name, name)
                ]
                targets = [f"{one.taker}.{one.input}" for one in port_links]
                where = f"{instance.name}.{name} (FMU {instance.model.path.name})"
                return f"{where} is {value}, and is connected to {', '.join(targets)}"
        return ""


def _finite(ports: Ports) -> bool:
    return bool(np.isfinite(ports.real).all())


def _bad(ports: Ports) -> Iterator[tuple[str, float]]:
    for name, (value_type, place) in ports.places.items():
        if value_type == REAL:
            for value in ports.real[place]:
                if not math.isfinite(value):
                    yield name, float(value)
                    break
