"""Brings instances from their files to the first communication point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linkwork.cosim.fmu.instance import Instance
from linkwork.cosim.fmu.ports import Ports
from linkwork.cosim.network import events
from linkwork.cosim.network.network import Network
from linkwork.cosim.system import Value
from linkwork.errors import CosimError
from linkwork.fmu.description import REAL, TEXT, Variable

TRUE, FALSE = ("true", "1"), ("false", "0")


def start(
    network: Network,
    parameters: Mapping[str, Mapping[str, Value]],
    t_start: float,
    t_end: float,
    tolerance: float | None,
) -> bool:
    """Instantiate and initialise all; return whether an FMU already wants the simulation to end.

    `parameters` are values by component and variable.
    """
    for instance in network.each():
        instance.instantiate()
        apply(instance, parameters.get(instance.name, {}))
    for instance in network.each():
        instance.enter_initialization(t_start, t_end, tolerance)
    network.exchange(t_start)
    for instance in network.each():
        if instance.discrete_inputs.variables:
            instance.write(instance.discrete_inputs)
            instance.discrete_inputs.mark()
    for instance in network.each():
        instance.exit_initialization()
    network.exchange(t_start)
    return events.handle(network, t_start)


def apply(instance: Instance, values: Mapping[str, Value]) -> None:
    """Set parameters and start values before initialisation; connected inputs begin at their start values."""
    model = instance.model
    structural = model.structural(values)
    if structural:
        ports = instance.ports(structural)
        for one in ports.variables:
            _put(instance, ports, one, values[one.name])
        instance.configure(ports)
    for ports in (instance.inputs, instance.discrete_inputs):
        for one in ports.variables:
            if one.start is not None:
                _put(instance, ports, one, one.start)
    given = [model.variable(name) for name in values if model.variable(name) not in structural]
    ports = instance.ports([one for one in given if one.value_type])
    for one in ports.variables:
        _put(instance, ports, one, values[one.name])
    instance.write(ports)
    for mine in (instance.inputs, instance.discrete_inputs):
        for one in given:
            if one.name in mine.places:
                put(mine, one, values[one.name])


def _put(instance: Instance, ports: Ports, variable: Variable, value: Any) -> None:
    try:
        put(ports, variable, value)
    except (TypeError, ValueError, OverflowError) as problem:
        raise CosimError(
            f"FMU {instance.model.path.name} (instance {instance.name!r}): {variable.name!r} is of type {variable.type}"
            f"{f' with {variable.size} elements' if variable.size > 1 else ''}; it cannot be {value!r}"
        ) from problem


def put(ports: Ports, variable: Variable, value: Any) -> None:
    """Put a value, perhaps as text, in its place.

    Raises
    ------
    ValueError, TypeError, OverflowError
        If it does not fit.
    """
    value_type, place = ports.places[variable.name]
    if value_type == TEXT:
        texts = list(value) if isinstance(value, tuple | list) else [str(value)] * variable.size
        if len(texts) != variable.size:
            raise ValueError(value)
        ports.text[place] = texts
        return
    if isinstance(value, str) and variable.size > 1:
        value = value.split()
    parts = value if isinstance(value, tuple | list) else [value]
    if value_type == REAL:
        ports.real[place] = [float(one) for one in parts]
    else:
        ports.whole[place] = [_whole(one, variable) for one in parts]


def _whole(value: Any, variable: Variable) -> int:
    if isinstance(value, str):
        if value.lower() in TRUE + FALSE and variable.type == "Boolean":
            return int(value.lower() in TRUE)
        value = float(value) if "." in value or "e" in value.lower() else int(value)  # a double has 53 bits
    if value != int(value) or (variable.type == "Boolean" and value not in (0, 1)):
        raise ValueError(value)
    # The bits of an unsigned number of 64 bits are kept as those of a signed one.
    return int(value) - 2**64 if variable.type == "UInt64" and value >= 2**63 else int(value)
