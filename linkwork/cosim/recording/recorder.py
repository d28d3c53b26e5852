"""Values copied row by row from where instances leave them."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from linkwork.cosim.recording.chunk import Layout
from linkwork.cosim.recording.result import Result, Statistics
from linkwork.cosim.recording.sink import Sink

FIRST_ROOM = 1024  # rows
# s until a sink gets rows; a tenth of the run so far if that is less. Infinite: until a chunk is full or the run ends
LONGEST_WAIT = 0.05


class Recorded(NamedTuple):
    """A variable that is recorded: where its value is found at each communication point.

    `source` is an array of doubles for a float, of 64-bit integers for an int or a bool, of unsigned ones for an
    np.uint64, a list for a str. It must stay the same object throughout, with the value at `place`.
    """

    name: str
    unit: str
    type: type
    source: Any
    place: int


class Recorder:
    """Keeps a row for each call of `row`, or hands rows to a sink some thousand at a time, once that has begun.

    >>> speeds = np.zeros(2)
    >>> recorder = Recorder("fall", [Recorded("ball.v", "m/s", float, speeds, 1)])
    >>> recorder.row(0.0)
    >>> speeds[1] = -4.9
    >>> recorder.row(0.5)
    >>> recorder.result()["ball.v"]
    array([ 0. , -4.9])
    """

    def __init__(self, name: str, variables: Sequence[Recorded], sink: Sink | None = None) -> None:
        self.name = name
        self.variables = tuple(variables)
        self.sink = sink
        self.scenes: dict[str, bytes] = {}  # of components, for pages of the result
        self.n = 0  # rows held
        self._texts = [(one.source, one.place, list[str]()) for one in self.variables if one.type is str]
        self._sources = _sources(self.variables)
        self._layout = Layout(
            tuple((one.values.dtype.str, one.columns) for one in self._sources),
            frozenset(k for k, one in enumerate(self.variables) if one.type is bool),
        )
        self._last: tuple[float, list[Any]] | None = None  # the last row that a sink has
        self._began = self._next = 0.0
        self._longest_wait = float(getattr(sink, "longest_wait", LONGEST_WAIT))  # a sink may want them sooner
        self._begun = False
        self._room = FIRST_ROOM
        self._counts, self._t = np.zeros(2, dtype=np.int64), np.empty(self._room)
        self._rows = [np.empty((self._room, len(one.columns)), one.values.dtype) for one in self._sources]
        self._point()

    def begin(self) -> None:
        """Have the sink begin; without one there is nothing to do. A failure before leaves older files unchanged."""
        if self.sink is None:
            return
        self.sink.begin(self.names, self.units, [one.type for one in self.variables])
        self._begun = True
        self._began = time.monotonic()
        self._next = self._began if math.isfinite(self._longest_wait) else math.inf
        self._room = self._layout.room
        offered = None if self._texts else getattr(self.sink, "memory", None)  # texts have no place in it
        memory = offered(self._layout) if offered else bytearray(self._layout.n_bytes)
        self._counts, self._t, self._rows = self._layout.arrays(memory)
        self._point()

    def _point(self) -> None:
        self._copies = [(rows, one.values, one.places) for rows, one in zip(self._rows, self._sources, strict=True)]

    @property
    def names(self) -> list[str]:
        """Names of the recorded variables."""
        return [one.name for one in self.variables]

    @property
    def units(self) -> dict[str, str]:
        """Their units."""
        return {one.name: one.unit for one in self.variables}

    def row(self, t: float) -> None:
        """Record what the sources hold, at time t [s]."""
        n = self.n
        if n == self._room:
            n = self._make_room()
        self._t[n] = t
        for rows, source, places in self._copies:
            rows[n] = source[places]
        for source, place, values in self._texts:
            values.append(source[place])
        self.n = n + 1
        if self.sink is not None:
            self._counts[0] = n + 1
            if time.monotonic() >= self._next:
                self.flush()

    def flush(self) -> None:
        """Hand all rows held to the sink, if there is one."""
        if self.sink is None or self.n == 0:
            return
        columns, n = self._columns(), self.n
        self._last = float(self._t[n - 1]), [values[-1:].copy() for values in columns]
        self._counts[:] = 0, self._counts[1] + n
        self.n = 0  # before the sink may fail: no row is handed over twice
        for _, _, values in self._texts:
            values.clear()
        self.sink.rows(self._t[:n], columns)
        now = time.monotonic()
        if math.isfinite(self._longest_wait):
            self._next = now + min(self._longest_wait, 0.1 * (now - self._began))

    def result(
        self,
        *,
        events: Iterable[tuple[float, str]] = (),
        notices: Iterable[str] = (),
        statistics: Statistics | None = None,
        aborted: bool = False,
    ) -> Result:
        """Return the rows recorded so far; the last row alone where a sink has the others."""
        if self.sink is None:
            t, columns = self._t[: self.n].copy(), [np.array(values) for values in self._columns()]
        elif self.n:
            t, columns = self._t[self.n - 1 : self.n].copy(), [values[-1:].copy() for values in self._columns()]
        elif self._last:
            t, columns = np.array([self._last[0]]), self._last[1]
        else:
            t, columns = np.empty(0), self._columns()
        return Result(
            self.name,
            t,
            dict(zip(self.names, columns, strict=True)),
            self.units,
            events=events,
            notices=notices,
            statistics=statistics,
            aborted=aborted,
            scenes=self.scenes,
        )

    def end(self, result: Result) -> None:
        """Pass the last rows and the facts of the run to the sink; to be called however the run ends."""
        if self.sink is None or not self._begun:
            return
        try:
            self.flush()
        finally:
            self.sink.end(result.about())

    def _make_room(self) -> int:
        """Return the number of the next row, for which there is memory then."""
        if self.sink is not None:
            self.flush()
            return 0
        self._room *= 2
        self._t = _longer(self._t, self._room)
        self._rows = [_longer(rows, self._room) for rows in self._rows]
        self._point()
        return self.n

    def _columns(self) -> list[Any]:
        """Return views of the rows in memory, in the order of the variables."""
        columns: list[Any] = [None] * len(self.variables)
        for place, values in self._layout.columns(self._rows, self.n).items():
            columns[place] = values
        texts = (values for _, _, values in self._texts)
        for place, one in enumerate(self.variables):
            if one.type is str:
                columns[place] = np.array(next(texts), dtype=np.str_)
        return columns


class _Source(NamedTuple):
    """All that comes from one array: one copy takes it."""

    values: Any
    places: Any  # a slice, or an array where they do not lie together
    columns: tuple[int, ...]


def _sources(variables: Sequence[Recorded]) -> list[_Source]:
    found: dict[int, tuple[Any, list[tuple[int, int]]]] = {}
    for column, one in enumerate(variables):
        if one.type is not str:
            found.setdefault(id(one.source), (one.source, []))[1].append((one.place, column))
    sources = []
    for values, members in found.values():
        places, columns = zip(*sorted(members), strict=True)
        together = list(places) == list(range(places[0], places[0] + len(places)))
        where = slice(places[0], places[-1] + 1) if together else np.array(places)
        sources.append(_Source(values, where, columns))
    return sources


def _longer(array: Any, room: int) -> Any:
    longer = np.empty((room, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer
