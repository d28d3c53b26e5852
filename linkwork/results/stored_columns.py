"""Results whose columns are stored as arrays by name."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

import numpy as np

from linkwork.results.files import Column
from linkwork.results.in_time import TimeResult
from linkwork.results.selection import groups_of


class StoredColumns(TimeResult):
    """A result with `_columns` (rows,) and `_units` by name, elements of a quantity by themselves."""

    _columns: dict[str, Column]
    _units: dict[str, str]

    @property
    def names(self) -> list[str]:
        """Names of all columns but the time."""
        return list(self._columns)

    @cached_property
    def _groups(self) -> dict[str, list[str]]:
        return groups_of(self._columns)

    @cached_property
    def _known(self) -> Collection[str]:
        return dict.fromkeys([*self._columns, *self._groups, "time"])

    def _elements(self, name: str) -> list[str]:
        return self._groups.get(name, [name])

    def _column(self, name: str) -> Column:
        if name in self._columns:
            return self._columns[name]
        if name in self._groups:
            return np.stack([self._columns[one] for one in self._groups[name]], axis=1)
        return self.t

    def _unit(self, name: str) -> str:
        return self._units.get(self._elements(name)[0], "s")
