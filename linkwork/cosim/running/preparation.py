"""What a run needs of its system: the FMUs, values by component, and where recorded values are found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from linkwork.cosim.fmu.model import FmuModel, read_model
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
