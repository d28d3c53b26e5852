"""What a run of a system gives back: columns by name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork._util.registered import registered
from linkwork.errors import CosimError, CosimNameError
from linkwork.results.files import Column, value_type
from linkwork.results.in_time import StoredColumns
from linkwork.results.time_axis import Places


@dataclass
class Statistics:
    """What a run took: communication steps, those rejected, rollbacks of instances, iterations of loops."""

    steps: int = 0
    rejected: int = 0
    rollbacks: int = 0
    iterations: int = 0


class Result(StoredColumns):
    """Values of variables at the communication points of a run.

    A variable is found as ``component.variable``, and elements ``component.r[1]``, ``component.r[2]`` together as
    ``component.r``. Where an event happened there are two rows of the same time, before and after it. Between rows,
    numbers are interpolated linearly; whole numbers, truth values and texts keep the value of the row before.

    >>> result = Result("fall", [0.0, 0.5], {"ball.v": [0.0, -4.9]}, {"ball.v": "m/s"})
    >>> result["ball.v"]
    array([ 0. , -4.9])
    >>> "ball.h" in result, len(result), result.units
    (False, 2, {'ball.v': 'm/s'})
    >>> result.at(0.25)
    {'ball.v': -2.45}

    Attributes
    ----------
    name
        Of the system.
    t
        Times, (n,), s.
    events
        (time, component) of each event, in order.
    notices
        What a user should know of the run, as sentences.
    statistics
        Steps, rejected steps, rollbacks and iterations; None if not known.
    aborted
        Whether the run ended before its time.
    scenes
        Scene files of the FMUs that carry one, by component: what `page` draws.
    """

    _error = _write_error = CosimError
    _name_error = CosimNameError

    def __init__(
        self,
        name: str,
        t: Sequence[float] | NDArray[np.float64],
        columns: Mapping[str, Any],
        units: Mapping[str, str] | None = None,
        *,
        events: Iterable[tuple[float, str]] = (),
        notices: Iterable[str] = (),
        statistics: Statistics | None = None,
        aborted: bool = False,
        scenes: Mapping[str, bytes] | None = None,
    ) -> None:
        self.name = name
        self.t = np.asarray(t, dtype=np.float64)
        self._columns: dict[str, Column] = {key: _array(values) for key, values in columns.items()}
        self._units = {key: (units or {}).get(key, "") for key in self._columns}
        self.events = list(events)
        self.notices = list(notices)
        self.statistics = statistics
        self.aborted = aborted
        self.scenes = dict(scenes or {})

    @property
    def types(self) -> list[type]:
        """For each column whether it holds float, int, np.uint64, bool or str."""
        return [value_type(values) for values in self._columns.values()]

    @property
    def _event_times(self) -> list[float]:
        return [t for t, _ in self.events]

    @property
    def _remarks(self) -> str:
        return ", aborted" * self.aborted

    def state(self, t: float) -> dict[str, Any]:
        """Return the values of all variables at a time, s, by name; see `at`.

        FMUs keep their states to themselves: these are the recorded values.
        """
        if np.ndim(t):
            raise CosimError(f"state takes one time, s, not {t!r}; at(t) and resample(t) take several")
        return self.at(t)

    @registered
    def _page_part(self, request: Any) -> Any:
        raise NotImplementedError

    def _take(self, places: Places) -> Self:
        columns = {name: _between(values, places) for name, values in self._columns.items()}
        return self._of(places.times, columns, [self.events[i] for i in self._kept_events(places)])

    def _of(self, t: NDArray[np.float64], columns: Mapping[str, Column], events: Iterable[tuple[float, str]]) -> Self:
        """Return a result with other rows."""
        more: dict[str, Any] = {"statistics": self.statistics, "aborted": self.aborted, "scenes": self.scenes}
        return type(self)(self.name, t, columns, self._units, events=events, notices=self.notices, **more)

    def _followed(self, other: Self) -> Self:
        if set(other.names) != set(self.names):
            only = sorted(set(other.names) ^ set(self.names))
            raise CosimError(f"join takes results of the same columns; {only[0]!r} is in one of them only")
        repeated = len(self) and len(other) and all(self[name][-1] == other[name][0] for name in self.names)
        rows = slice(int(repeated), None)
        columns = {name: np.concatenate([self[name], other[name][rows]]) for name in self.names}
        joined = self._of(np.concatenate([self.t, other.t[rows]]), columns, [*self.events, *other.events])
        joined.notices = list(dict.fromkeys([*self.notices, *other.notices]))
        joined.statistics, joined.aborted = _total(self.statistics, other.statistics), other.aborted
        return joined

    def about(self) -> dict[str, Any]:
        """Return all but the columns as plain data."""
        return {
            "name": self.name,
            "events": [list(event) for event in self.events],
            "notices": self.notices,
            "statistics": asdict(self.statistics) if self.statistics else None,
            "aborted": self.aborted,
        }

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Result:
        """Read a ``.csv`` or ``.parquet`` file, also of a run that was cut off; needs the extra `cosim`.

        CSV has neither units nor events.
        """
        from linkwork.cosim.recording.reading import read

        found = read(Path(path))
        counts = found.pop("statistics", None)
        return cls(**found, statistics=Statistics(**counts) if counts else None)


def stored_columns(result: Result) -> Mapping[str, Column]:
    """Return the arrays (rows,) of a result by name, as they are and not to be changed: no name is looked up."""
    return result._columns


def _array(values: ArrayLike) -> Column:
    array = np.asarray(values)
    return array.astype(np.str_) if array.dtype.kind == "O" else array


def _between(values: Column, places: Places) -> Column:
    """Return a column between rows: on a line for numbers, else as in the row before."""
    here = values[places.rows]
    if values.dtype.kind != "f":
        return here
    following = values[np.minimum(places.rows + 1, len(values) - 1)]
    step: Column = np.where(places.weights > 0.0, places.weights * (following - here), 0.0)
    return here + step


def _total(one: Statistics | None, other: Statistics | None) -> Statistics | None:
    if one is None or other is None:
        return None
    return Statistics(**{f.name: getattr(one, f.name) + getattr(other, f.name) for f in fields(Statistics)})
