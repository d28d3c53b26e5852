"""A chunk of rows for a sink, in one piece of memory.

    number of rows | number of rows before them | times | rows of the first source | rows of the second | ...

In memory that another process sees, they outlive a crash of this one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

MOST_ROWS, MOST_BYTES = 4096, 1 << 20
ITEM, HEAD = 8, 16  # bytes of every number; of both counts


@dataclass(frozen=True)
class Layout:
    """The layout."""

    # For each source the type of its numbers, as numpy names it, and the columns that its numbers are.
    blocks: tuple[tuple[str, tuple[int, ...]], ...]
    booleans: frozenset[int]  # which columns are Booleans, kept as 0 and 1

    @property
    def room(self) -> int:
        """The capacity, in rows."""
        return max(16, min(MOST_ROWS, MOST_BYTES // (ITEM * self._width)))

    @property
    def n_bytes(self) -> int:
        """How much memory it takes."""
        return HEAD + ITEM * self._width * self.room

    @property
    def _width(self) -> int:
        return 1 + sum(len(columns) for _, columns in self.blocks)

    def arrays(self, memory: Any) -> tuple[Any, Any, list[Any]]:
        """Return both counts (2,), times (capacity,) and rows (capacity, k) of each source, all of them shared."""
        counts = np.frombuffer(memory, dtype=np.int64, count=2)
        times = np.frombuffer(memory, dtype=np.float64, count=self.room, offset=HEAD)
        rows, begin = [], HEAD + ITEM * self.room
        for kind, columns in self.blocks:
            size = self.room * len(columns)
            rows.append(np.frombuffer(memory, kind, size, begin).reshape(self.room, len(columns)))
            begin += ITEM * size
        return counts, times, rows

    def held(self, memory: Any, before: int) -> tuple[Any, dict[int, Any]]:
        """Return times and columns of the rows that are there; none if they do not follow the `before` first ones."""
        counts, times, rows = self.arrays(memory)
        n = int(counts[0]) if counts[1] == before else 0
        return times[:n], self.columns(rows, n)

    def columns(self, rows: list[Any], n: int) -> dict[int, Any]:
        """Return views of the first n rows, column by column."""
        found: dict[int, Any] = {}
        for (_, columns), block in zip(self.blocks, rows, strict=True):
            for k, column in enumerate(columns):
                values = block[:n, k]
                found[column] = values.astype(bool) if column in self.booleans else values
        return found
