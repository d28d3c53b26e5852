"""What a run of a system gives back: columns by name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwork._util.files import atomic_path
from linkwork.cosim.recording.selection import chosen
from linkwork.cosim.system.references import known
from linkwork.errors import CosimError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Column = NDArray[Any]


@dataclass
class Statistics:
    """What a run took: communication steps, those rejected, rollbacks of instances, iterations of loops."""

    steps: int = 0
    rejected: int = 0
    rollbacks: int = 0
    iterations: int = 0


class Result:
    """Values of variables at the communication points of a run.

    A variable is found as ``component.variable``. Where an event happened there are two rows of the same time, before
    and after it.

    >>> result = Result("fall", [0.0, 0.5], {"ball.v": [0.0, -4.9]}, {"ball.v": "m/s"})
    >>> result["ball.v"]
    array([ 0. , -4.9])
    >>> "ball.h" in result, len(result), result.units
    (False, 2, {'ball.v': 'm/s'})

    Attributes
    ----------
    name
        Of the system.
    t
        Times, (n,), s.
    units
        Unit by name; "" where there is none.
    events
        (time, component) of each event, in order.
    notices
        What a user should know of the run, as sentences.
    statistics
        Steps, rejected steps, rollbacks and iterations; None if not known.
    aborted
        Whether the run ended before its time.
    """

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
    ) -> None:
        self.name = name
        self.t = np.asarray(t, dtype=np.float64)
        self._columns: dict[str, Column] = {key: _array(values) for key, values in columns.items()}
        self.units = {key: (units or {}).get(key, "") for key in self._columns}
        self.events = list(events)
        self.notices = list(notices)
        self.statistics = statistics
        self.aborted = aborted

    @property
    def names(self) -> list[str]:
        """Names of all columns but the time."""
        return list(self._columns)

    @property
    def types(self) -> list[type]:
        """For each column whether it holds float, int, np.uint64, bool or str."""
        return [_type(values) for values in self._columns.values()]

    def __getitem__(self, name: str) -> Column:
        return known(name, self._columns, "variable", f"the result of {self.name!r}")

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        span = f"{self.t[0]:.6g} to {self.t[-1]:.6g} s" if len(self.t) else "empty"
        aborted = ", aborted" * self.aborted
        return f"Result({self.name!r}: {len(self._columns)} columns, {len(self.t)} times, {span}{aborted})"

    def to_dataframe(self) -> pd.DataFrame:
        """Return all columns as a pandas table with the time as index; needs pandas (extra `cosim`)."""
        import pandas as pd

        return pd.DataFrame(self._columns, index=pd.Index(self.t, name="time"))

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write time and columns as CSV, all digits; the file appears whole or not at all.

        Raises
        ------
        CosimError
            If it cannot be written.
        """
        from linkwork.cosim.recording.csv_sink import CsvSink

        self._write(Path(path), CsvSink)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write time and columns as Parquet, with units, events and notices; needs PyArrow (extra `cosim`).

        Raises
        ------
        CosimError
            If it cannot be written.
        """
        from linkwork.cosim.recording.parquet_sink import ParquetSink

        self._write(Path(path), ParquetSink)

    def _write(self, path: Path, kind: Any) -> None:
        from linkwork.cosim.recording.sink import check_place

        check_place(path)
        with atomic_path(path, CosimError) as part:
            sink = kind(part)
            sink.begin(self.names, self.units, self.types)
            sink.rows(self.t, list(self._columns.values()))
            sink.end(self.about())

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

        Raises
        ------
        CosimError
            If there is no such file, or it has no column ``time``.
        """
        from linkwork.cosim.recording.reading import read

        found = read(Path(path))
        counts = found.pop("statistics", None)
        return cls(**found, statistics=Statistics(**counts) if counts else None)

    def plot(self, names: str | Iterable[str] | None = None, path: str | os.PathLike[str] | None = None) -> Figure:
        """Plot columns over time, one panel for each unit; events are thin lines. Needs matplotlib (extra `cosim`).

        Parameters
        ----------
        names
            Names or patterns such as ``plant.*``; by default all columns but texts.
        path
            Where to save the picture, if anywhere.

        Raises
        ------
        CosimError
            If nothing fits a name.
        """
        from linkwork.draw.plotting import plot_columns

        chosen_names = self.names if names is None else chosen(names, self.names, where=f"the result of {self.name!r}")
        columns = {one: self[one] for one in chosen_names if self[one].dtype.kind != "U"}
        return plot_columns(self.t, columns, self.units, self.name, path, [t for t, _ in self.events])


def _array(values: Any) -> Column:
    array = np.asarray(values)
    return array.astype(np.str_) if array.dtype.kind == "O" else array


def _type(values: Column) -> type:
    return {"f": float, "b": bool, "u": np.uint64, "U": str}.get(values.dtype.kind, int)
