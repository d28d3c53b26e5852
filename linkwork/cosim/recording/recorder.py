"""Values copied row by row from where instances leave them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from linkwork.cosim.recording.result import Result, Statistics
from linkwork.cosim.recording.sinks import Sink

FIRST_ROOM = 1024  # rows
CHUNK = 4096  # rows handed to a sink at once ...
LONGEST_WAIT = 0.05  # s; or as many as came within that: what a crash can lose


class Recorded(NamedTuple):
    """A variable that is recorded: where its value is found at each communication point.

    `source` is an array of doubles for a float, of 64-bit integers for an int or a bool, a list for a str. It must stay
    the same object throughout, with the value at `place`.
    """

    name: str
    unit: str
    type: type
    source: Any
    place: int


class Recorder:
    """Keeps a row for each call of `row`, or hands rows to a sink some thousand at a time.

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
        self.n = 0  # rows held
        self._room = FIRST_ROOM if sink is None else CHUNK
        self._t = np.empty(self._room)
        self._blocks = _blocks(self.variables, self._room)
        self._texts = [(one.source, one.place, list[str]()) for one in self.variables if one.type is str]
        self._copies = [(block.rows, block.source, block.places) for block in self._blocks]
        self._last: tuple[float, list[Any]] | None = None  # the last row that a sink has
        self._next = 0.0
        self._longest_wait = float(getattr(sink, "longest_wait", LONGEST_WAIT))  # a sink may want them sooner
        if sink is not None:
            sink.begin(self.names, self.units, [one.type for one in self.variables])
            self._next = time.monotonic() + self._longest_wait

    @property
    def names(self) -> list[str]:
        """Names of what is recorded."""
        return [one.name for one in self.variables]

    @property
    def units(self) -> dict[str, str]:
        """Their units."""
        return {one.name: one.unit for one in self.variables}

    def row(self, t: float) -> None:
        """Record what the sources hold, at time t [s].

        Raises
        ------
        CosimError
            If the sink cannot write.
        """
        n = self.n
        if n == self._room:
            n = self._make_room()
        self._t[n] = t
        for rows, source, places in self._copies:
            rows[n] = source[places]
        for source, place, values in self._texts:
            values.append(source[place])
        self.n = n + 1
        if self.sink is not None and time.monotonic() >= self._next:
            self.flush()

    def flush(self) -> None:
        """Hand all rows held to the sink, if there is one."""
        if self.sink is None or self.n == 0:
            return
        columns, n = self._columns(), self.n
        self._last = float(self._t[n - 1]), [values[-1:].copy() for values in columns]
        self.n = 0  # before the sink may fail: no row is handed over twice
        for _, _, values in self._texts:
            values.clear()
        self.sink.rows(self._t[:n], columns)
        self._next = time.monotonic() + self._longest_wait

    def result(
        self,
        *,
        events: Iterable[tuple[float, str]] = (),
        notices: Iterable[str] = (),
        statistics: Statistics | None = None,
        aborted: bool = False,
    ) -> Result:
        """Return what has been recorded so far; the last row alone where a sink has got the others."""
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
        )

    def end(self, result: Result) -> None:
        """Hand the sink the last rows and what is known of the run besides; to be called however the run ends."""
        if self.sink is None:
            return
        try:
            self.flush()
        finally:
            self.sink.end(result.about())

    def _make_room(self) -> int:
        """Return the number of the next row, for which there is room then."""
        if self.sink is not None:
            self.flush()
            return 0
        self._room *= 2
        self._t = np.resize(self._t, self._room)
        for block in self._blocks:
            block.grow(self._room)
        self._copies = [(block.rows, block.source, block.places) for block in self._blocks]
        return self.n

    def _columns(self) -> list[Any]:
        """Return views of what is held, in the order of the variables."""
        columns: list[Any] = [None] * len(self.variables)
        for block in self._blocks:
            for k, place in enumerate(block.columns):
                values = block.rows[: self.n, k]
                columns[place] = values.astype(bool) if self.variables[place].type is bool else values
        texts = (values for _, _, values in self._texts)
        for place, one in enumerate(self.variables):
            if one.type is str:
                columns[place] = np.array(next(texts), dtype=np.str_)
        return columns


class _Block:
    """The rows of all that comes from one source: one copy takes them."""

    def __init__(self, source: Any, members: list[tuple[int, int]], room: int) -> None:
        members.sort()
        places = [place for place, _ in members]
        self.source = source
        self.columns = [column for _, column in members]
        together = places == list(range(places[0], places[0] + len(places)))
        self.places: Any = slice(places[0], places[-1] + 1) if together else np.array(places)
        self.rows = np.empty((room, len(members)), dtype=source.dtype)

    def grow(self, room: int) -> None:
        rows = np.empty((room, len(self.columns)), dtype=self.rows.dtype)
        rows[: len(self.rows)] = self.rows
        self.rows = rows


def _blocks(variables: Sequence[Recorded], room: int) -> list[_Block]:
    found: dict[int, tuple[Any, list[tuple[int, int]]]] = {}
    for column, one in enumerate(variables):
        if one.type is not str:
            found.setdefault(id(one.source), (one.source, []))[1].append((one.place, column))
    return [_Block(source, members, room) for source, members in found.values()]
