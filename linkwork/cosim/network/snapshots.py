"""Snapshots of instances, with the values in their ports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from linkwork.cosim.fmu.instance import Instance
from linkwork.cosim.fmu.ports import Ports
from linkwork.errors import FmuError


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
