"""Outputs that are not finite: an error where they feed an input, a notice where they are only recorded."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from linkwork.cosim.fmu.model import REAL
from linkwork.cosim.fmu.ports import Ports
from linkwork.cosim.network.network import Network
from linkwork.errors import CosimError


class NotFinite(CosimError):
    """An output that feeds an input is not a finite number."""


class Finiteness:
    """Looks at the outputs of a network; `notices` tells of those that are not finite and feed nothing."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.notices: list[str] = []
        self._outputs = [(one, one.outputs) for one in network.each() if one.outputs.real.size]
        self._extras = [(one, one.recorded_only) for one in network.each() if one.recorded_only.real.size]

    def check(self, time: float) -> None:
        """Look at all of them.

        Raises
        ------
        NotFinite
            If one that feeds an input is not finite.
        """
        for _, ports in self._outputs:
            if not _finite(ports):
                text = self.source()
                raise NotFinite(
                    f"{text} at t = {time:.9g} s; look at its inputs and parameters, or take a smaller step"
                )
        for instance, ports in self._extras:
            if not _finite(ports):
                self._extras = [one for one in self._extras if one[0] is not instance]  # told once
                texts = ", ".join(f"{instance.name}.{name} is {value}" for name, value in _bad(ports))
                self.notices.append(f"from t = {time:.9g} s, {texts} ({instance.model.path.name})")

    def source(self) -> str:
        """Say which output is not finite and what it feeds; "" if there is none."""
        for instance, ports in self._outputs:
            for name, value in _bad(ports):
                port_links = [
                    one for one in self.network.port_links if (one.owner, one.output) == (instance.name, name)
                ]
                fed = [f"{one.taker}.{one.input}" for one in port_links]
                where = f"{instance.name}.{name} (FMU {instance.model.path.name})"
                return f"{where} is {value}, and feeds {', '.join(fed)}"
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
