"""Builds the network of a system: instances made, connections laid, all brought to the first communication point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from linkwork.cosim.fmu.instance import Instance
from linkwork.cosim.fmu.model import FmuModel
from linkwork.cosim.fmu.ports import Ports
from linkwork.cosim.network import events
from linkwork.cosim.network.evaluation_order import Level, make_levels
from linkwork.cosim.network.input_sources import External, Feed
from linkwork.cosim.network.network import Network
from linkwork.cosim.network.transfers import PortLink
from linkwork.cosim.system import System, Value
from linkwork.cosim.system.checks import converted
from linkwork.cosim.system.references import Reference
from linkwork.errors import CosimError
from linkwork.fmu.description import REAL, TEXT, Variable

Models = Mapping[str, FmuModel]
References = Mapping[Reference, External]


@dataclass
class Exchanged:
    """The variables of an instance that are exchanged, and those that are recorded besides."""

    inputs: dict[str, Variable] = field(default_factory=dict)
    outputs: dict[str, Variable] = field(default_factory=dict)
    recorded_only: dict[str, Variable] = field(default_factory=dict)


def build(system: System, models: Models, externals: References, recorded: Sequence[Reference]) -> Network:
    """Build a network; its instances are made but not yet instantiated in their libraries."""
    exchanged = _exchanged(system, models, externals, recorded)
    instances = {}
    for number, (name, one) in enumerate(exchanged.items()):
        instances[name] = Instance(name, models[name], number)
        inputs, outputs, recorded_only = ([*kind.values()] for kind in (one.inputs, one.outputs, one.recorded_only))
        instances[name].bind(inputs, outputs, recorded_only)
    port_links = _wires(system, models, instances)
    feeds = _feeds(instances, externals)
    return Network(instances, port_links, feeds, _levels(models, port_links, externals, instances))


def _exchanged(
    system: System, models: Models, externals: References, recorded: Sequence[Reference]
) -> dict[str, Exchanged]:
    exchanged = {name: Exchanged() for name in system.components}
    for connection in system.connections:
        for reference, kind in zip(system.ends(connection), ("outputs", "inputs"), strict=True):
            _include(exchanged, models, reference, kind)
    for reference in externals:
        _include(exchanged, models, reference, "inputs")
    for reference in recorded:
        one = exchanged[reference.component]
        if reference.variable not in one.inputs and reference.variable not in one.outputs:
            _include(exchanged, models, reference, "recorded_only")
    return exchanged


def _include(exchanged: Mapping[str, Exchanged], models: Models, reference: Reference, kind: str) -> None:
    there: dict[str, Variable] = getattr(exchanged[reference.component], kind)
    there.setdefault(reference.variable, models[reference.component].variable(reference.variable))


def _wires(system: System, models: Models, instances: Mapping[str, Instance]) -> list[PortLink]:
    port_links = []
    for connection in system.connections:
        (owner, output), (taker, target) = (end.parts for end in system.ends(connection))
        factor, offset = converted(connection, models[owner].unit(output), models[taker].unit(target))
        ports = _input_ports(instances[taker], target)
        port_links.append(PortLink(owner, instances[owner].outputs, output, taker, ports, target, factor, offset))
    return port_links


def _input_ports(instance: Instance, name: str) -> Ports:
    return instance.discrete_inputs if name in instance.discrete_inputs.places else instance.inputs


def _feeds(instances: Mapping[str, Instance], externals: References) -> dict[str, list[Feed]]:
    feeds: dict[str, list[Feed]] = {}
    for reference, given in externals.items():
        instance = instances[reference.component]
        ports = _input_ports(instance, reference.variable)
        what = f"{reference!r} (FMU {instance.model.path.name})"
        feed = Feed(what, given, ports, reference.variable, discrete=ports is instance.discrete_inputs)
        feeds.setdefault(reference.component, []).append(feed)
    return feeds


def _levels(
    models: Models,
    port_links: Sequence[PortLink],
    externals: References,
    instances: Mapping[str, Instance],
) -> list[Level]:
    """Discrete inputs of FMI 3.0 are set in Event Mode only, and so have no part in it."""
    external = [one.parts for one in externals]
    inputs = {name: [one.name for one in instance.inputs.variables] for name, instance in instances.items()}
    feedthrough = {}
    for port_link in port_links:
        depends = models[port_link.owner].dependencies.get(port_link.output)
        names = inputs[port_link.owner]
        feedthrough[port_link.owner, port_link.output] = [one for one in names if depends is None or one in depends]
    connections = [
        ((port_link.owner, port_link.output), (port_link.taker, port_link.input))
        for port_link in port_links
        if port_link.target is instances[port_link.taker].inputs
    ]
    return make_levels(connections, feedthrough, [node for node in external if node[1] in inputs[node[0]]])


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
