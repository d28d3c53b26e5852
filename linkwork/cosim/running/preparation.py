"""What a run needs of its system: the FMUs, values by component, and where recorded values are found and checked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from linkwork.cosim.fmu.model import FmuModel, read_model
from linkwork.cosim.fmu.ports import Ports
from linkwork.cosim.network.network import Network
from linkwork.cosim.recording.recorder import Recorded
from linkwork.cosim.recording.selection import chosen
from linkwork.cosim.system import System, Value
from linkwork.cosim.system.references import Reference
from linkwork.errors import CosimError
from linkwork.fmu.description import REAL, TEXT, Variable


def models_of(system: System, models: dict[Path, FmuModel] | None) -> dict[str, FmuModel]:
    """Return the FMU of each component; each file is read once."""
    if not system.components:
        raise CosimError(f"the system {system.name!r} has no components; add FMUs to it")
    there = {} if models is None else models
    for one in system.components.values():
        if one.fmu not in there or there[one.fmu].lost:
            there[one.fmu] = read_model(one.fmu)
    return {name: there[one.fmu] for name, one in system.components.items()}


def scenes_of(models: Mapping[str, FmuModel]) -> dict[str, bytes]:
    """Return the scene files of the components whose FMUs carry one."""
    found = {name: model.scene for name, model in models.items()}
    return {name: scene for name, scene in found.items() if scene is not None}


def recorded_variables(
    system: System, models: Mapping[str, FmuModel], columns: str | Iterable[str] | None, externals: Iterable[Reference]
) -> list[Reference]:
    """Return the variables that are recorded."""
    if columns is not None:
        every = [
            Reference(name, one.name)
            for name, model in models.items()
            for one in model.variables.values()
            if one.value_type
        ]
        return chosen(columns, every, where=f"the system {system.name!r}")
    outputs = [Reference(name, one.name) for name, model in models.items() for one in model.of_causality("output")]
    given = [one.source for one in system.external_outputs]
    connected = [one.target for one in system.connections]
    return list(dict.fromkeys(map(system.reference, [*outputs, *given, *connected, *externals])))


def by_component(
    system: System, models: Mapping[str, FmuModel], values: Mapping[str, Value]
) -> dict[str, dict[str, Value]]:
    """Return values of variables by component and name."""
    table: dict[str, dict[str, Value]] = {}
    for reference, value in values.items():
        place = system.reference(reference)
        models[place.component].variable(place.variable)
        table.setdefault(place.component, {})[place.variable] = value
    return table


def places(network: Network, recorded: Iterable[Reference]) -> list[Recorded]:
    """Where the recorder finds each variable; arrays give a column for each element."""
    found = []
    for reference in recorded:
        instance, name = network.instances[reference.component], reference.variable
        every = (instance.inputs, instance.discrete_inputs, instance.outputs, instance.recorded_only)
        ports = next(one for one in every if name in one.places)
        variable, place = instance.model.variable(name), ports.places[name][1]
        source = ports.values_of(name)
        for k in range(variable.size):
            label = reference + (f"[{k + 1}]" if variable.size > 1 else "")
            found.append(Recorded(label, variable.unit or "", _type(variable), source, place.start + k))
    return found


def _type(variable: Variable) -> type:
    if variable.type in ("Boolean", "UInt64"):
        return bool if variable.type == "Boolean" else np.uint64
    return {REAL: float, TEXT: str}.get(str(variable.value_type), int)


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
