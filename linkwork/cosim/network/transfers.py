"""Transfers of values from the outputs of one instance to the inputs of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from linkwork.cosim.fmu.ports import Ports
from linkwork.errors import CosimError


@dataclass(frozen=True)
class PortLink:
    """A connection between live variables: whose they are, names within their ports, and the linear map."""

    owner: str
    source: Ports
    output: str
    taker: str
    target: Ports
    input: str
    factor: float = 1.0
    offset: float = 0.0


class Transfer:
    """The connections between values of one type of two ports, carried by one indexed assignment."""

    def __init__(
        self, owner: str, source: Any, target: Any, port_links: Sequence[tuple[slice, slice, float, float]]
    ) -> None:
        self.owner, self.source, self.target = owner, source, target
        self.sources = _places([s for s, *_ in port_links], isinstance(source, list))
        self.targets = _places([t for _, t, *_ in port_links], isinstance(source, list))
        sizes = [s.stop - s.start for s, *_ in port_links]
        self.factor = np.repeat([factor for *_, factor, _ in port_links], sizes)
        self.offset = np.repeat([offset for *_, offset in port_links], sizes)
        self._mixed = {getattr(one, "dtype", None) for one in (source, target)} == {np.dtype("i8"), np.dtype("u8")}
        self.plain = bool((self.factor == 1.0).all() and (self.offset == 0.0).all())

    def carry(self) -> None:
        """Bring the values over."""
        self.bring(self.target)

    def bring(self, target: Any) -> None:
        """Put the values in an array with the layout of the target."""
        if isinstance(self.source, list):
            for s, t in zip(self.sources, self.targets, strict=True):
                target[t] = self.source[s]
        elif self.plain:
            target[self.targets] = self.source[self.sources]
        else:
            target[self.targets] = self.source[self.sources] * self.factor + self.offset
        if self._mixed:
            self._check(target)

    def _check(self, target: Any) -> None:
        """Raise an error where a signed and an unsigned number of 64 bits cannot be the same."""
        if any((values.astype(np.int64) < 0).any() for values in (self.source[self.sources], target[self.targets])):
            raise CosimError(
                f"a whole number that {self.owner!r} gives is negative or above 2^63 - 1, and goes from a UInt64 to a "
                "signed type or the other way round; keep it within 63 bits"
            )


def _places(parts: Sequence[slice], listed: bool) -> Any:
    """Where values lie: indices, or one slice, which numpy follows in a third of the time, where they lie in a row."""
    if not listed and all(one.stop == other.start for one, other in pairwise(parts)):
        return slice(parts[0].start, parts[-1].stop)
    return np.concatenate([np.arange(one.start, one.stop) for one in parts])


def make_transfers(port_links: Sequence[PortLink]) -> list[Transfer]:
    """Gather the connections between values of one type of the same ports."""
    gathered: dict[tuple[int, int], list[PortLink]] = {}
    for port_link in port_links:
        key = (
            id(port_link.source.values_of(port_link.output)),
            id(port_link.target.values_of(port_link.input)),
        )
        gathered.setdefault(key, []).append(port_link)
    return [
        Transfer(
            members[0].owner,
            members[0].source.values_of(members[0].output),
            members[0].target.values_of(members[0].input),
            [(w.source.places[w.output][1], w.target.places[w.input][1], w.factor, w.offset) for w in members],
        )
        for members in gathered.values()
    ]
