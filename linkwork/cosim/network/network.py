"""A network: the instances of a system, and how values go between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from linkwork.cosim.fmu.instance import Instance
from linkwork.cosim.fmu.ports import Ports
from linkwork.cosim.network.algebraic_loops import Loop
from linkwork.cosim.network.evaluation_order import Level
from linkwork.cosim.network.input_sources import Feed
from linkwork.cosim.network.transfers import PortLink, Transfer, make_transfers
from linkwork.errors import FmuError


class Network:
    """Live instances and what connects them."""

    def __init__(
        self,
        instances: Mapping[str, Instance],
        port_links: Sequence[PortLink],
        feeds: Mapping[str, Sequence[Feed]],
        levels: Sequence[Level],
    ) -> None:
        self.instances = dict(instances)  # by name, in the order of the system
        self.port_links = list(port_links)  # all connections, as they end in ports of instances
        self.snapshots = Snapshots(self.instances)  # saves and restores instances
        self.next_events: dict[str, float] = {}  # when instances expect their next event, by name [s]
        self.iterations = 0  # how often algebraic loops have been evaluated
        self._feeds = {name: [one for one in feeds.get(name, ()) if not one.discrete] for name in instances}
        self._transfers = {name: self._transfers_to(name, "inputs") for name in instances}
        self._discrete = [one for one in self.instances.values() if one.discrete_inputs.variables]
        self._discrete_transfers = [
            transfer for one in self._discrete for transfer in self._transfers_to(one.name, "discrete_inputs")
        ]
        self._discrete_feeds = [feed for one in self._discrete for feed in feeds.get(one.name, ()) if feed.discrete]
        self._levels = [
            (
                [self.instances[name] for name in level.reads],
                [Loop(loop, self.instances, self.port_links, self.transfer_inputs) for loop in level.loops],
                [self.instances[name] for name in level.writes],
            )
            for level in levels
        ]

    def _transfers_to(self, name: str, ports: str) -> list[Transfer]:
        target: Any = getattr(self.instances[name], ports)
        return make_transfers(
            [port_link for port_link in self.port_links if port_link.taker == name and port_link.target is target]
        )

    def transfer_inputs(self, instance: Instance, time: float) -> None:
        """Bring the values of connected outputs and external inputs at a time to an instance's continuous inputs."""
        for transfer in self._transfers[instance.name]:
            transfer.carry()
        for feed in self._feeds[instance.name]:
            feed.apply(time)

    def transfers(self, instance: Instance) -> list[Transfer]:
        """How connected outputs come to its continuous inputs."""
        return self._transfers[instance.name]

    def who(self, name: str) -> str:
        """Name an instance and its FMU in a message."""
        return f"{name!r} (FMU {self.instances[name].model.path.name})"

    def exchange(self, time: float) -> None:
        """Bring all inputs to what the outputs are now, direct feedthrough and algebraic loops included."""
        for reads, loops, writes in self._levels:
            for instance in reads:
                instance.read(instance.outputs)
            for loop in loops:
                self.iterations += loop.solve(time)
            for instance in writes:
                self.transfer_inputs(instance, time)
                instance.write(instance.inputs)
        for transfer in self._discrete_transfers:
            transfer.carry()
        for feed in self._discrete_feeds:
            feed.apply(time)

    def with_changed_discrete_inputs(self) -> set[str]:
        """The instances whose discrete inputs differ from those last written."""
        return {one.name for one in self._discrete if one.discrete_inputs.changed()}

    def read_extras(self) -> None:
        """Read the variables that are only recorded."""
        for instance in self.instances.values():
            if instance.recorded_only.all:
                instance.read(instance.recorded_only)

    def each(self, names: Iterable[str] | None = None) -> list[Instance]:
        """The instances named, in the order of the system; by default all."""
        if names is None:
            return list(self.instances.values())
        wanted = set(names)
        return [one for name, one in self.instances.items() if name in wanted]


class Snapshots:
    """One snapshot for each instance and label; those of an earlier time under the same label are overwritten."""

    def __init__(self, instances: Mapping[str, Instance]) -> None:
        self._instances = instances
        self._ports = {name: _used_ports(instance) for name, instance in instances.items()}
        self._kept: dict[tuple[str, str], tuple[Any, list[Any]]] = {}
        self.restored = 0

    def save(self, names: Iterable[str], label: str = "") -> None:
        """Keep the state of instances."""
        for name in names:
            instance = self._instances[name]
            before = self._kept.get((label, name))
            state = instance.save(before[0] if before else None)
            self._kept[label, name] = (state, [ports.copy() for ports in self._ports[name]])

    def restore(self, names: Iterable[str], label: str = "") -> None:
        """Restore the saved state, any number of times."""
        for name in names:
            instance = self._instances[name]
            state, values = self._kept[label, name]
            instance.restore(state)
            for ports, copy in zip(self._ports[name], values, strict=True):
                ports.paste(copy)
        self.restored += 1

    def drop(self) -> None:
        """Free all snapshots, as far as the FMUs let that be done."""
        for (_, name), (state, _) in self._kept.items():
            with suppress(FmuError):
                self._instances[name].drop(state)
        self._kept.clear()


def _used_ports(instance: Instance) -> list[Ports]:
    return [one for one in (instance.inputs, instance.discrete_inputs, instance.outputs) if one.variables]
