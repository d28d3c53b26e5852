"""What is kept of a run, as a sink that passes rows on in blocks.

A summary has for each variable x

    min(x), max(x), final(x), rms(x) = sqrt(integral of x^2 dt / duration), by the trapezoidal rule.

Rows are summed up one after another, whatever blocks they come in, so that everyone gets the same bits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Send = Callable[[Floats, Floats], None]  # times (n,) and values (n, columns)
Begin = Callable[[tuple[str, ...], dict[str, str]], None]
EVERY = 0.05  # s: what a crash can lose
MOST = 1 << 16  # values in a block


class All:
    """Every row."""

    def __init__(self, begin: Begin, send: Send) -> None:
        self._begin, self._send = begin, send
        self._t: list[Floats] = []
        self._values: list[Floats] = []
        self._size, self._next = 0, 0.0

    def begin(self, names: Sequence[str], units: Mapping[str, str]) -> None:
        """Take the names of the columns."""
        self._begin(tuple(names), dict(units))
        self._next = time.monotonic() + EVERY

    def row(self, t: float, values: Any) -> None:
        """Take a row."""
        self.rows(np.array([t], dtype=float), np.array(values, dtype=float)[np.newaxis])

    def rows(self, t: Any, values: Any) -> None:
        """Take rows: t (n,), values (n, columns)."""
        self._t.append(np.array(t, dtype=float))
        self._values.append(np.array(values, dtype=float))
        self._size += self._values[-1].size
        if self._size > MOST or time.monotonic() > self._next:
            self._flush()

    def end(self) -> None:
        """Pass on what is left."""
        self._flush()

    def _flush(self) -> None:
        if self._t:
            self._send(np.concatenate(self._t), np.concatenate(self._values))
        self._t, self._values, self._size = [], [], 0
        self._next = time.monotonic() + EVERY


class Final:
    """The last row."""

    def __init__(self, begin: Begin, send: Send) -> None:
        self._begin, self._send = begin, send
        self._last: tuple[float, Floats] | None = None

    def begin(self, names: Sequence[str], units: Mapping[str, str]) -> None:
        """Take the names of the columns."""
        self._begin(tuple(names), dict(units))

    def row(self, t: float, values: Any) -> None:
        """Take a row."""
        self._last = float(t), np.array(values, dtype=float)

    def rows(self, t: Any, values: Any) -> None:
        """Take rows: t (n,), values (n, columns)."""
        if len(t):
            self.row(t[-1], values[-1])

    def end(self) -> None:
        """Pass it on."""
        if self._last:
            self._send(np.array([self._last[0]]), self._last[1][np.newaxis])


class Summary:
    """Least, greatest, last value and root mean square of each variable, as one row."""

    def __init__(self, begin: Begin, send: Send) -> None:
        self._begin, self._send = begin, send
        self._first = self._t = 0.0
        self._last: Floats | None = None
        self._least = self._greatest = self._squares = np.zeros(0)

    def begin(self, names: Sequence[str], units: Mapping[str, str]) -> None:
        """Take the names of the columns."""
        kinds = ("min", "max", "final", "rms")
        all_names = tuple(f"{kind}({name})" for name in names for kind in kinds)
        self._begin(all_names, {f"{kind}({name})": units.get(name, "") for name in names for kind in kinds})

    def row(self, t: float, values: Any) -> None:
        """Take a row."""
        values = np.array(values, dtype=float)
        if self._last is None:
            self._first = t
            self._least, self._greatest, self._squares = values.copy(), values.copy(), np.zeros(len(values))
        else:
            np.minimum(self._least, values, out=self._least)
            np.maximum(self._greatest, values, out=self._greatest)
            self._squares += (0.5 * (t - self._t)) * (self._last * self._last + values * values)
        self._t, self._last = float(t), values

    def rows(self, t: Any, values: Any) -> None:
        """Take rows: t (n,), values (n, columns)."""
        for one, row in zip(t, values, strict=True):
            self.row(float(one), row)

    def end(self) -> None:
        """Pass the row on."""
        if self._last is None:
            return
        duration = self._t - self._first
        rms = np.sqrt(self._squares / duration) if duration > 0 else abs(self._last)
        row = np.stack([self._least, self._greatest, self._last, rms], axis=1).reshape(1, -1)
        self._send(np.array([self._t]), row)


class Numbers:
    """Gives one of these sinks, which know numbers alone, the columns of a recorder; texts are not a number."""

    def __init__(self, sink: All | Final | Summary) -> None:
        self._sink = sink

    def begin(self, names: Sequence[str], units: Mapping[str, str], types: Sequence[type]) -> None:
        """Take the names of the columns."""
        self._sink.begin(names, units)

    def rows(self, t: Any, columns: Sequence[Any]) -> None:
        """Take rows: t (n,), and n values of each column."""
        numbers = [np.full(len(t), np.nan) if one.dtype.kind == "U" else one for one in columns]
        self._sink.rows(t, np.column_stack(numbers) if numbers else np.zeros((len(t), 0)))

    def end(self, about: Mapping[str, Any]) -> None:
        """Pass on what is left."""
        self._sink.end()


class Passing:
    """Passes all on as it comes, in its types."""

    def __init__(self, send: Callable[[tuple[Any, ...]], None]) -> None:
        self._send = send

    def begin(self, names: Sequence[str], units: Mapping[str, str], types: Sequence[type]) -> None:
        """Pass on what the columns are."""
        self._send(("begin", list(names), dict(units), list(types)))

    def rows(self, t: Any, columns: Sequence[Any]) -> None:
        """Pass rows on."""
        self._send(("rows", np.array(t), [np.array(one) for one in columns]))

    def end(self, about: Mapping[str, Any]) -> None:
        """What is known of the run goes with the answer."""


SINKS: dict[str, type[All] | type[Final] | type[Summary]] = {"all": All, "final": Final, "summary": Summary}
