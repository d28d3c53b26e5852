"""Builds the network of a system: instances made, what they exchange prepared, connections laid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from linkwork.cosim.fmu.instance import Instance
from linkwork.cosim.fmu.model import FmuModel
from linkwork.cosim.fmu.ports import Ports
from linkwork.cosim.network.evaluation_order import Level, make_levels
from linkwork.cosim.network.input_sources import External, Feed
from linkwork.cosim.network.network import Network
from linkwork.cosim.network.transfers import PortLink
from linkwork.cosim.system import System
from linkwork.cosim.system.checks import converted
from linkwork.cosim.system.references import Reference
from linkwork.fmu.description import Variable

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
