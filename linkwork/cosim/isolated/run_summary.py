"""The reduction of a run, as a sink that passes rows on.

A summary has for each variable x that is a number

    min(x), max(x), final(x), rms(x) = sqrt(integral of x^2 dt / duration), by the trapezoidal rule.

Rows are summed up one after another, whatever blocks they come in, so that everyone gets the same bits.
"""

from __future__ import annotations

import math
import mmap
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.cosim.recording.chunk import Layout

Send = Callable[[str, Any], None]  # "begin" with (names, units, types), "rows" with (times, columns)
SOON = 0.05  # s after which rows are passed on, for what a crash leaves


class All:
    """Every row; see `Sink`."""

    longest_wait = SOON

    def __init__(self, send: Send) -> None:
        self.send = send

    def begin(self, names: Sequence[str], units: Mapping[str, str], types: Sequence[type]) -> None:
        """Take names and types of the columns."""
        self.send("begin", (list(names), dict(units), [one.__name__ for one in types]))

    def memory(self, layout: Layout) -> Any:
        """Give memory for rows that are yet to be taken, which the parent can read after a crash."""
        path = Path(tempfile.gettempdir()) / "rows"
        path.unlink(missing_ok=True)
        with path.open("w+b") as file:
            file.truncate(layout.n_bytes)
            memory = mmap.mmap(file.fileno(), layout.n_bytes)
        self.send("memory", (path, layout))
        return memory

    def rows(self, t: Any, columns: Sequence[Any]) -> None:
        """Take rows."""
        self.send("rows", (t, list(columns)))

    def end(self, about: Mapping[str, Any]) -> None:
        """Pass on the remaining rows, if any."""


class Final(All):
    """The last row."""

    longest_wait = math.inf  # rows before the end are not passed on
    memory = None  # type: ignore[assignment]  # what a crash leaves is not the last row

    def __init__(self, send: Send) -> None:
        super().__init__(send)
        self._last: tuple[Any, list[Any]] | None = None

    def rows(self, t: Any, columns: Sequence[Any]) -> None:
        """Take rows."""
        self._last = t[-1:].copy(), [one[-1:].copy() for one in columns]

    def end(self, about: Mapping[str, Any]) -> None:
        """Pass on the last."""
        if self._last:
            self.send("rows", self._last)
            self._last = None


class Summary(All):
    """Least, greatest, last value and root mean square of each variable, as one row."""

    longest_wait = math.inf
    memory = None  # type: ignore[assignment]
    KINDS = ("min", "max", "final", "rms")

    def __init__(self, send: Send) -> None:
        super().__init__(send)
        self._numbers: list[int] = []  # which columns
        self._squares = self._least = self._greatest = np.zeros(0)
        self._first: float | None = None
        self._t, self._last = np.zeros(0), np.zeros((0, 0))  # of the last row

    def begin(self, names: Sequence[str], units: Mapping[str, str], types: Sequence[type]) -> None:
        """Take names and types of the columns."""
        self._numbers = [k for k, one in enumerate(types) if one is not str]
        of = {f"{kind}({names[k]})": units.get(names[k], "") for k in self._numbers for kind in self.KINDS}
        self.send("begin", (list(of), of, ["float"] * len(of)))

    def rows(self, t: Any, columns: Sequence[Any]) -> None:
        """Take rows."""
        values = np.array([columns[k] for k in self._numbers], dtype=float).reshape(len(self._numbers), len(t)).T
        if self._first is None:
            self._first = float(t[0])
            self._squares = np.zeros(values.shape[1])
            self._least, self._greatest = values[0], values[0]
            self._t, self._last = t[:1].copy(), values[:1]
        times, rows = np.concatenate([self._t, t]), np.concatenate([self._last, values])
        squares = rows * rows
        terms = (0.5 * np.diff(times))[:, np.newaxis] * (squares[:-1] + squares[1:])
        self._squares = _added_in_order(self._squares, terms)
        self._least = np.minimum(self._least, values.min(axis=0))
        self._greatest = np.maximum(self._greatest, values.max(axis=0))
        self._t, self._last = t[-1:].copy(), values[-1:]

    def end(self, about: Mapping[str, Any]) -> None:
        """Pass the row on."""
        if self._first is None:
            return
        duration = float(self._t[0]) - self._first
        rms = np.sqrt(self._squares / duration) if duration > 0 else abs(self._last[0])
        row = np.stack([self._least, self._greatest, self._last[0], rms], axis=1).ravel()
        self.send("rows", (self._t, row[:, np.newaxis]))  # one array: a thousand columns take far longer to pickle
        self._first = None


def _added_in_order(start: NDArray[np.float64], terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """A sum by pairs would depend on the length of blocks."""
    whole: NDArray[np.float64] = np.cumsum(np.concatenate([start[np.newaxis], terms]), axis=0)[-1]
    return whole


SINKS: dict[str, type[All]] = {"all": All, "final": Final, "summary": Summary}
