"""Builds the network of a system: instances made, what they exchange prepared, connections laid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from linkwork.cosim.fmu.instance import Instance
from linkwork.cosim.fmu.model import FmuModel, Variable
from linkwork.cosim.fmu.ports import Ports
from linkwork.cosim.network.externals import Externals, Feed
from linkwork.cosim.network.levels import Level, Node, make_levels
from linkwork.cosim.network.network import Network
from linkwork.cosim.network.transfers import PortLink
from linkwork.cosim.system import System
from linkwork.cosim.system.checks import converted
from linkwork.cosim.system.references import split

Models = Mapping[str, FmuModel]


@dataclass
class Exchanged:
    """The variables of an instance that are exchanged, and those that are recorded besides."""

    inputs: dict[str, Variable] = field(default_factory=dict)
    outputs: dict[str, Variable] = field(default_factory=dict)
    recorded_only: dict[str, Variable] = field(default_factory=dict)


def build(system: System, models: Models, externals: Externals, recorded: Sequence[Node]) -> Network:
    """Build a network; its instances are made but not yet instantiated in their libraries.

    Raises
    ------
    CosimError
        If a variable is not there or an external input does not fit.
    """
    exchanged = _exchanged(system, models, externals, recorded)
    instances = {}
    for number, (name, one) in enumerate(exchanged.items()):
        instances[name] = Instance(name, models[name], number)
        inputs, outputs, recorded_only = ([*kind.values()] for kind in (one.inputs, one.outputs, one.recorded_only))
        instances[name].bind(inputs, outputs, recorded_only)
    port_links = _wires(system, models, instances)
    feeds = _feeds(system, instances, externals)
    return Network(instances, port_links, feeds, _levels(models, port_links, externals, system, instances))


def _exchanged(system: System, models: Models, externals: Externals, recorded: Sequence[Node]) -> dict[str, Exchanged]:
    exchanged = {name: Exchanged() for name in system.components}
    for connection in system.connections:
        for reference, kind in ((connection.source, "outputs"), (connection.target, "inputs")):
            _include(exchanged, models, split(reference, system.components), kind)
    for reference in externals:
        _include(exchanged, models, split(reference, system.components), "inputs")
    for node in recorded:
        one = exchanged[node[0]]
        if node[1] not in one.inputs and node[1] not in one.outputs:
            _include(exchanged, models, node, "recorded_only")
    return exchanged


def _include(exchanged: Mapping[str, Exchanged], models: Models, node: Node, kind: str) -> None:
    name, variable = node
    there: dict[str, Variable] = getattr(exchanged[name], kind)
    there.setdefault(variable, models[name].variable(variable))


def _wires(system: System, models: Models, instances: Mapping[str, Instance]) -> list[PortLink]:
    port_links = []
    for connection in system.connections:
        owner, output = split(connection.source, system.components)
        taker, target = split(connection.target, system.components)
        factor, offset = converted(connection, models[owner].unit(output), models[taker].unit(target))
        ports = _input_ports(instances[taker], target)
        port_links.append(PortLink(owner, instances[owner].outputs, output, taker, ports, target, factor, offset))
    return port_links


def _input_ports(instance: Instance, name: str) -> Ports:
    return instance.discrete_inputs if name in instance.discrete_inputs.places else instance.inputs


def _feeds(system: System, instances: Mapping[str, Instance], externals: Externals) -> dict[str, list[Feed]]:
    feeds: dict[str, list[Feed]] = {}
    for reference, given in externals.items():
        name, variable = split(reference, system.components)
        ports = _input_ports(instances[name], variable)
        what = f"{reference!r} (FMU {instances[name].model.path.name})"
        feed = Feed(what, given, ports, variable, discrete=ports is instances[name].discrete_inputs)
        feeds.setdefault(name, []).append(feed)
    return feeds


def _levels(
    models: Models,
    port_links: Sequence[PortLink],
    externals: Externals,
    system: System,
    instances: Mapping[str, Instance],
) -> list[Level]:
    """Discrete inputs of FMI 3.0 are set in Event Mode only, and so have no part in it."""
    external = [split(reference, system.components) for reference in externals]
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
