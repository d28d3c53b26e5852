"""Values of an instance that are exchanged: prepared once, so that a call copies numbers and nothing else."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from linkwork.fmu.description import REAL, TEXT, WHOLE, Variable, references


class Group:
    """Variables of one FMI type: their references and a buffer, as the FMU's functions take them."""

    def __init__(self, kind: str, c_type: Any, variables: Sequence[Variable]) -> None:
        self.type = kind
        self.variables = tuple(variables)
        self.n_references = len(variables)
        self.n_values = sum(one.size for one in variables)
        self.references = (ctypes.c_uint32 * self.n_references)(*references(variables))
        self.buffer = (c_type * self.n_values)()
        #: The buffer's numbers, shared; None for strings.
        self.numbers: Any = None if kind == "String" else np.frombuffer(self.buffer, dtype=np.dtype(c_type))


class Ports:
    """Variables that are read, or written, together."""

    def __init__(self, variables: Sequence[Variable], type_of: Callable[[str], tuple[str, Any]]) -> None:
        groups: dict[tuple[str, str], list[Variable]] = {}
        c_types = {}
        for one in variables:
            kind, c_type = type_of(one.type)
            groups.setdefault((str(one.value_type), kind), []).append(one)
            c_types[kind] = c_type
        self.groups: dict[str, list[Group]] = {value_type: [] for value_type in (REAL, WHOLE, TEXT)}
        for (value_type, kind), members in groups.items():
            self.groups[value_type].append(Group(kind, c_types[kind], members))
        self.all = tuple(group for value_type in self.groups.values() for group in value_type)
        # By value type, and within one in the order given.
        self.variables = tuple(one for group in self.all for one in group.variables)
        self.places = self._places()
        only = self.groups[REAL]
        shared = len(only) == 1 and only[0].numbers.dtype == np.float64
        # real, whole: their values, as arrays of doubles and of 64-bit integers; arrays of FMI 3.0 take several places.
        # An unsigned number of 64 bits is there by its bits; see `values_of`
        self.real = only[0].numbers if shared else np.zeros(sum(one.n_values for one in only))
        self.whole = np.zeros(sum(one.n_values for one in self.groups[WHOLE]), dtype=np.int64)
        self._unsigned = self.whole.view(np.uint64)
        self._of_unsigned = {one.name for one in self.variables if one.type == "UInt64"}
        self.text = [""] * sum(one.n_values for one in self.groups[TEXT])  # those of strings
        self._copied = [] if shared else _slices(self.real, only)
        whole = _slices(self.whole, self.groups[WHOLE])
        self._copied += whole
        #: Whole numbers that may not fit into the FMU's type.
        self._narrow = [
            (values, group)
            for (values, _), group in zip(whole, self.groups[WHOLE], strict=True)
            if group.numbers.dtype not in (np.int64, np.uint64)
        ]
        #: Arguments of the calls that read or write all: type, references, their number, buffer, number of values.
        self.calls = [(one.type, one.references, one.n_references, one.buffer, one.n_values) for one in self.all]
        #: Whether the buffers are separate from the values, so that `from_buffers` and `to_buffers` copy values.
        self.copied = bool(self._copied or self.text)
        self._derivatives: dict[int, tuple[Any, int, Any, Any, Any]] = {}
        self._used = [values for values in (self.real, self.whole, self.text) if len(values)]
        self._marked: Values | None = None

    def _places(self) -> dict[str, tuple[str, slice]]:
        """The place of each variable: its value type and its part of the values of that type."""
        places = {}
        for value_type, groups in self.groups.items():
            begin = 0
            for one in (one for group in groups for one in group.variables):
                places[one.name] = (value_type, slice(begin, begin + one.size))
                begin += one.size
        return places

    def values_of(self, name: str) -> Any:
        """The values among which those of a variable are, unsigned ones as such."""
        if name in self._of_unsigned:
            return self._unsigned
        return {REAL: self.real, WHOLE: self.whole, TEXT: self.text}[self.places[name][0]]

    def derivatives(self, order: int) -> tuple[Any, int, Any, Any, Any]:
        """Arguments for derivatives of the real variables by time (FMI 2.0, where there is one type of real).

        These are references, their number, orders, values, and an array that shares the values.
        """
        if order not in self._derivatives:
            references = self.groups[REAL][0].references
            n = len(references)
            values: Any = (ctypes.c_double * n)()
            orders = (ctypes.c_int * n)(*[order] * n)
            self._derivatives[order] = (references, n, orders, values, np.frombuffer(values))
        return self._derivatives[order]

    def copy(self) -> tuple[Values, Values | None]:
        """The values as they are now and were when marked, to `paste` later."""
        return self._values(), self._marked

    def _values(self) -> Values:
        return [values.copy() for values in self._used]

    def paste(self, copy: tuple[Values, Values | None]) -> None:
        """Restore values."""
        values, self._marked = copy
        for mine, before in zip(self._used, values, strict=True):
            mine[:] = before

    def mark(self) -> None:
        """Remember the values as they are now."""
        self._marked = self._values()

    def changed(self) -> bool:
        """Whether values differ from those marked."""
        if self._marked is None:
            return bool(self.variables)
        pairs = zip(self._used, self._marked, strict=True)
        return not all(np.array_equal(mine, before) for mine, before in pairs)

    def from_buffers(self) -> None:
        """Copy the values that an FMU has written from the buffers to `real`, `whole` and `text`."""
        for values, numbers in self._copied:
            values[:] = numbers
        for group in self.groups[TEXT]:
            self.text[:] = [(one or b"").decode("utf-8", "replace") for one in group.buffer]

    def to_buffers(self) -> None:
        """Copy `real`, `whole` and `text` to the buffers, for an FMU to read."""
        for values, numbers in self._copied:
            np.copyto(numbers, values, casting="unsafe")
        for values, group in self._narrow:
            if not np.array_equal(values, group.numbers):
                raise OverflowError(f"{values[values != group.numbers][0]} does not fit into {_named(group, values)}")
        for group in self.groups[TEXT]:
            for i, one in enumerate(self.text):
                group.buffer[i] = one.encode()


Values = list[Any]  # of each value type that occurs


def _named(group: Group, values: Any) -> str:
    """Name and type of the first variable whose value differs from that in the buffer."""
    variables = [one for one in group.variables for _ in range(one.size)]
    one = variables[int(np.argmax(values != group.numbers))]
    return f"{one.name!r}, which is of type {one.type}"


def _slices(values: Any, groups: Sequence[Group]) -> list[tuple[Any, Any]]:
    ends = np.cumsum([0, *(group.n_values for group in groups)])
    return [(values[a:b], group.numbers) for a, b, group in zip(ends[:-1], ends[1:], groups, strict=True)]
