"""Routes: values carried from the outputs of one instance to the inputs of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.cosim.fmu.model import REAL, TEXT, WHOLE
from linkwork.cosim.fmu.ports import Ports


@dataclass(frozen=True)
class Wire:
    """A connection between live variables: whose they are, names within their ports, and the linear map."""

    owner: str
    source: Ports
    output: str
    taker: str
    target: Ports
    input: str
    factor: float = 1.0
    offset: float = 0.0


class Route:
    """The wires from one bank of ports to one bank of other ports, carried by one indexed assignment."""

    def __init__(
        self, owner: str, source: Any, target: Any, wires: Sequence[tuple[slice, slice, float, float]]
    ) -> None:
        self.owner, self.source, self.target = owner, source, target
        self.sources = np.concatenate([np.arange(s.start, s.stop) for s, *_ in wires])
        self.targets = np.concatenate([np.arange(t.start, t.stop) for _, t, *_ in wires])
        sizes = [s.stop - s.start for s, *_ in wires]
        self.factor = np.repeat([factor for *_, factor, _ in wires], sizes)
        self.offset = np.repeat([offset for *_, offset in wires], sizes)
        self.plain = bool((self.factor == 1.0).all() and (self.offset == 0.0).all())

    def carry(self) -> None:
        """Bring the values over."""
        self.bring(self.target)

    def bring(self, target: Any) -> None:
        """Put the values in what is laid out as the target."""
        if isinstance(self.source, list):
            for s, t in zip(self.sources, self.targets, strict=True):
                target[t] = self.source[s]
        elif self.plain:
            target[self.targets] = self.source[self.sources]
        else:
            target[self.targets] = self.source[self.sources] * self.factor + self.offset


def make_routes(wires: Sequence[Wire]) -> list[Route]:
    """Gather wires between the same banks of the same ports."""
    gathered: dict[tuple[int, str, int, str], list[Wire]] = {}
    for wire in wires:
        key = (id(wire.source), wire.source.places[wire.output][0], id(wire.target), wire.target.places[wire.input][0])
        gathered.setdefault(key, []).append(wire)
    return [
        Route(
            members[0].owner,
            _bank(members[0].source, source_bank),
            _bank(members[0].target, target_bank),
            [(w.source.places[w.output][1], w.target.places[w.input][1], w.factor, w.offset) for w in members],
        )
        for (_, source_bank, _, target_bank), members in gathered.items()
    ]


def _bank(ports: Ports, bank: str) -> Any:
    return {REAL: ports.real, WHOLE: ports.whole, TEXT: ports.text}[bank]
