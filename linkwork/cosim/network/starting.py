"""Brings instances from their files to the first communication point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linkwork.cosim.description import Value
from linkwork.cosim.fmu.instance import Instance
from linkwork.cosim.fmu.model import REAL, TEXT, Variable
from linkwork.cosim.fmu.ports import Ports
from linkwork.cosim.network import events
from linkwork.cosim.network.network import Network
from linkwork.errors import CosimError

TRUE, FALSE = ("true", "1"), ("false", "0")


def start(
    network: Network,
    parameters: Mapping[str, Mapping[str, Value]],
    begin: float,
    stop: float,
    tolerance: float | None,
) -> bool:
    """Instantiate and initialise all; return whether an FMU already wants the simulation to end.

    `parameters` are values by component and variable.

    Raises
    ------
    CosimError
        If a value does not fit its variable.
    FmuError
        If an FMU fails.
    """
    for instance in network.each():
        instance.instantiate()
        apply(instance, parameters.get(instance.name, {}))
    for instance in network.each():
        instance.enter_initialization(begin, stop, tolerance)
    network.exchange(begin)
    for instance in network.each():
        if instance.discrete_inputs.variables:
            instance.write(instance.discrete_inputs)
            instance.discrete_inputs.mark()
    for instance in network.each():
        instance.exit_initialization()
    network.exchange(begin)
    return events.settle(network, begin)


def apply(instance: Instance, values: Mapping[str, Value]) -> None:
    """Set parameters and start values before initialisation; connected inputs begin at their start values.

    Raises
    ------
    CosimError
        If a value does not fit its variable.
    """
    model = instance.model
    for ports in (instance.inputs, instance.discrete_inputs):
        for one in ports.variables:
            if one.start is not None:
                put(ports, one, one.start)
    given = [model.variable(name) for name in values]
    for one in given:
        if one.causality == "structuralParameter":
            raise CosimError(
                f"FMU {model.path.name} (instance {instance.name!r}): {one.name!r} is a structural parameter, which "
                "changes the size of the model; export the FMU for the size that is wanted"
            )
    ports = instance.ports([one for one in given if one.bank])
    for one in ports.variables:
        try:
            put(ports, one, values[one.name])
        except (TypeError, ValueError) as problem:
            raise CosimError(
                f"FMU {model.path.name} (instance {instance.name!r}): {one.name!r} is of type {one.type}"
                f"{f' with {one.size} elements' if one.size > 1 else ''}; it cannot be {values[one.name]!r}"
            ) from problem
    instance.write(ports)
    for mine in (instance.inputs, instance.discrete_inputs):
        for one in given:
            if one.name in mine.places:
                put(mine, one, values[one.name])


def put(ports: Ports, variable: Variable, value: Any) -> None:
    """Put a value, perhaps as text, in its place.

    Raises
    ------
    ValueError, TypeError
        If it does not fit.
    """
    bank, place = ports.places[variable.name]
    if bank == TEXT:
        ports.text[place] = [str(value)] * variable.size
    elif bank == REAL:
        if isinstance(value, str):
            value = [float(one) for one in value.split()] if variable.size > 1 else float(value)
        ports.real[place] = value
    else:
        ports.whole[place] = _whole(value, variable)


def _whole(value: Any, variable: Variable) -> Any:
    if isinstance(value, str):
        if variable.size > 1:
            return [_whole(one, variable) for one in value.split()]
        if value.lower() in TRUE + FALSE and variable.type == "Boolean":
            return int(value.lower() in TRUE)
        value = float(value)
    if isinstance(value, tuple | list):
        return [_whole(one, variable) for one in value]
    if value != int(value) or (variable.type == "Boolean" and value not in (0, 1)):
        raise ValueError(value)
    return int(value)
