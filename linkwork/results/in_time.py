"""Results in time: what those of mechanics and of co-simulation share."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, overload

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray
from linkwork._util.files import atomic_path
from linkwork._util.html import html_table
from linkwork._util.named import NamedColumns, read_only
from linkwork._util.names import suggest
from linkwork._util.optional import optional_import
from linkwork._util.registered import registered
from linkwork.errors import LinkworkError
from linkwork.results.base import Columns, ResultBase
from linkwork.results.files import WRITERS, Column, FileContent
from linkwork.results.selection import groups_of, selected
from linkwork.results.time_axis import IntArray, Places, locate, slice_of, span

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


class Units(dict[str, str]):
    """Units by name; also of names that a result knows and does not list, such as quantities of several columns."""

    def __init__(self, names: Iterable[str], unit_of: Callable[[str], str]) -> None:
        super().__init__((name, unit_of(name)) for name in names)
        self._unit_of = unit_of

    def __missing__(self, name: str) -> str:
        return self._unit_of(name)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


class TimeResult(ResultBase, NamedColumns):
    """Rows of a run in time, with columns by name.

    A row holds the values at one time. Where an event happened there are several rows of the same time. `result[name]`
    is a column, read-only, `result[1.0:2.0]` the result between two times, `len(result)` the number of rows; a loop
    over a result gives the names of its columns, and `dict(result)` has all of them by name.
    """

    name: str  # of the mechanism or system
    t: FloatArray  # times, (nt,), s
    _name_error: ClassVar[type[LinkworkError]]  # of a name that is not there

    # ---- of each kind of result ----

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """Names of all scalar columns; the time is `t`."""

    @property
    @abstractmethod
    def _known(self) -> Collection[str]:
        """All names that `result[name]` takes."""

    @abstractmethod
    def _elements(self, name: str) -> list[str]:
        """Return the names of the scalar columns of a known name."""

    @abstractmethod
    def _column(self, name: str) -> Column:
        """Return the values of a known name, not to be changed: (nt,), or (nt, k) of a quantity of several numbers."""

    def _columns_of(self, names: Sequence[str]) -> list[Column]:
        """Return the values of several known names."""
        return [self._column(name) for name in names]

    @abstractmethod
    def _unit(self, name: str) -> str:
        """Return the unit of a known name."""

    @abstractmethod
    def _take(self, places: Places) -> Self:
        """Return the result at places on the axis."""

    @abstractmethod
    def _followed(self, other: Self) -> Self:
        """Return the rows of both, those of another result of the same run last."""

    @abstractmethod
    def _page_part(self, request: Any) -> Any:
        """Return the scene and the run for a page."""

    @abstractmethod
    def about(self) -> dict[str, Any]:
        """Return everything but the columns as plain data."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the columns as plain data, for JSON."""
        return self.about()

    @property
    def _axis(self) -> FloatArray:
        """Times between which values are interpolated; they include those of the rows."""
        return self.t

    @property
    def _rows_on_axis(self) -> IntArray:
        """Where the rows are on the axis."""
        return np.arange(len(self.t))

    @property
    @abstractmethod
    def _event_times(self) -> list[float]: ...

    @property
    def _plotted(self) -> list[str]:
        """The columns that are plotted and shown by default."""
        return self.names

    @property
    def _remarks(self) -> str:
        """Further facts, for `repr`."""
        return ""

    # ---- columns ----

    @overload
    def __getitem__(self, name: str) -> Column: ...
    @overload
    def __getitem__(self, name: slice) -> Self: ...
    def __getitem__(self, name: str | slice) -> Column | Self:
        if isinstance(name, slice):
            return self._between(name)
        if not isinstance(name, str):
            raise self._error(
                f"a column has a name, such as {next(iter(self.names), 'A.q')!r}, not {name!r}; "
                "values at a time are found by at(t), rows between times by result[1.0:2.0]"
            )
        if name not in self._known:
            raise self._unknown(name)
        return read_only(self._column(name))

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.t)

    @cached_property
    def units(self) -> Mapping[str, str]:
        """Unit of each column by name; "" where there is none."""
        return Units(self.names, self._checked_unit)

    def _checked_unit(self, name: str) -> str:
        if name not in self._known:
            raise self._unknown(name)
        return self._unit(name)

    def _unknown(self, name: str) -> LinkworkError:
        names = dict.fromkeys([*self._plotted, *self.names, *self._known])
        return self._name_error(f"there is no variable {name!r} in the result of {self.name!r}: {suggest(name, names)}")

    def _selected(self, columns: Columns) -> list[str]:
        """Return the known names that are chosen, each once; quantities of several columns as they are given."""
        return selected(columns, self.names, self._known, self._unknown)

    def _scalars(self, columns: Columns) -> dict[str, Column]:
        """Return scalar columns by name; a quantity of several numbers gives its elements."""
        found: dict[str, Column] = {}
        names = self._selected(columns)
        for name, values in zip(names, self._columns_of(names), strict=True):
            found |= {name: values} if values.ndim == 1 else dict(zip(self._elements(name), values.T, strict=True))
        return found

    # ---- times ----

    def at(self, t: ArrayLike, columns: Columns = None) -> dict[str, Any]:
        """Return values at one time or at several, interpolated where no row is there.

        At an event the values are those after it.

        Parameters
        ----------
        t
            s; a number, or an array (n,) of times within the rows.
        columns
            Names or patterns such as ``*.q``; by default all columns.

        Returns
        -------
        dict
            By name: a value, or an array (n,); of quantities of several numbers (k,) or (n, k).

        Raises
        ------
        LinkworkError
            If a time is outside the rows or there is no such column.
        """
        times, chosen = self._times(t), self._selected(columns)
        taken = self._at_times(times.ravel())
        values = {name: np.array(one) for name, one in zip(chosen, taken._columns_of(chosen), strict=True)}
        if times.ndim:
            return values
        return {name: column[0].item() if column.ndim == 1 else column[0] for name, column in values.items()}

    def resample(self, t: ArrayLike) -> Self:
        """Return the result at other times (n,), s; see `at`."""
        return self._at_times(np.atleast_1d(self._times(t)))

    def _times(self, t: ArrayLike) -> FloatArray:
        try:
            times = np.asarray(t, dtype=np.float64)
        except (TypeError, ValueError):
            times = np.full((1, 1), np.nan)
        if times.ndim > 1 or not np.isfinite(times).all():
            raise self._error(f"t must be a finite time or a vector of times, s, not {t!r}")
        return times

    def _at_times(self, times: FloatArray) -> Self:
        try:
            return self._take(locate(self._axis, times))
        except ValueError as outside:
            raise self._error(f"the result of {self.name!r}: {outside}") from None

    def _between(self, times: slice) -> Self:
        """Return the rows of a slice by time; its ends are interpolated."""
        if times.step is not None:
            raise self._error("a slice of a result has no step; resample(t) gives rows at chosen times")
        ends = [None if one is None else float(self._times(one)) for one in (times.start, times.stop)]
        if not len(self):
            raise self._error(f"the result of {self.name!r} has no rows to slice")
        try:
            return self._take(slice_of(self._axis, self._rows_on_axis, *ends))
        except ValueError as wrong:
            raise self._error(f"the result of {self.name!r}: {wrong}") from None

    def join(self, other: Self) -> Self:
        """Return one result of a run and its continuation.

        Parameters
        ----------
        other
            The continuation; its first time is the last one of this result. Where its first row is the last one of
            this result, it is kept once.

        Raises
        ------
        LinkworkError
            If it is a result of another mechanism or of other columns, or does not begin where this one ends.
        """
        if type(other) is not type(self):
            raise self._error(f"join takes another result of {self.name!r}, not {other!r}")
        if len(self) and len(other) and abs(other.t[0] - self.t[-1]) > 1e-12 * abs(self.t[-1]):
            raise self._error(
                f"the result to join begins at t = {other.t[0]:.9g} s and this one ends at t = {self.t[-1]:.9g} s: "
                "continue the run from its final state, or cut the results by time, result[:1.0]"
            )
        return self._followed(other)

    def compare(self, other: TimeResult, columns: Columns = None, t: ArrayLike | None = None) -> pd.DataFrame:
        """Return the largest difference of each column that two results share.

        Parameters
        ----------
        other
            Any result with columns of the same names.
        columns
            Names or patterns; by default all columns that both have.
        t
            Times at which they are compared, (n,), s; by default those of the rows of both, as far as both reach.

        Returns
        -------
        pandas.DataFrame
            A row for each column: its `unit`, the largest `difference`, the same `relative` to the largest value, and
            the `time` at which it occurs. Needs pandas (extra `viz`).

        Raises
        ------
        LinkworkError
            If they share no column or no time, or a column is not in both.
        """
        shared = set(other.names)
        chosen = [name for name in self.names if name in shared] if columns is None else self._selected(columns)
        if not chosen:
            raise self._error(f"the results of {self.name!r} and {other.name!r} have no column in common")
        times = common_times(self.t, other.t) if t is None else np.atleast_1d(self._times(t))
        if not times.size:
            raise self._error(
                f"the results have no time in common: {self.name!r} has {span(self.t)}, {other.name!r} {span(other.t)}"
            )
        one, another = self._at_times(times)._scalars(chosen), other._at_times(times)._scalars(chosen)
        return differences(times, one, another, {name: self._unit(name) for name in one})

    def _kept_events(self, places: Places) -> list[int]:
        """Return the events within the span of places; one at its start counts only if the run begins with it."""
        if not places.times.size:
            return []
        start, (first, last) = places.times[0], (places.times.min(), places.times.max())
        includes_start = start == self._axis[0]
        times = enumerate(self._event_times)
        return [i for i, t in times if first <= t <= last and (t != start or includes_start)]

    # ---- files, tables and plots ----

    def to_dataframe(self, columns: Columns = None) -> pd.DataFrame:
        """Return columns as a pandas table; needs pandas (extra `viz`).

        Parameters
        ----------
        columns
            Names or patterns such as ``*.q``; by default all columns.

        Returns
        -------
        pandas.DataFrame
            With the time as index, named "time"; `attrs["units"]` holds the unit of each column.
        """
        with optional_import("tables", "pandas", "viz"):
            import pandas as pd
        found = self._scalars(columns)
        found.pop("time", None)
        table = pd.DataFrame(found, index=pd.Index(self.t, name="time"))
        table.attrs["units"] = {name: self._unit(name) for name in found}
        return table

    def to_csv(self, path: str | os.PathLike[str], columns: Columns = None) -> None:
        """Write time and columns as CSV, all digits; arguments and errors as of `save`."""
        self._write(path, ".csv", columns)

    def to_parquet(self, path: str | os.PathLike[str], columns: Columns = None) -> None:
        """Write time and columns as Parquet, with units and events; arguments and errors as of `save`.

        Needs PyArrow (extra `viz`).
        """
        self._write(path, ".parquet", columns)

    def to_json(self, path: str | os.PathLike[str], columns: Columns = None) -> None:
        """Write time, columns, units and events as JSON; arguments and errors as of `save`.

        The keys are `time`, `columns` and `units` by name. A value that does not exist is null.
        """
        self._write(path, ".json", columns)

    def to_mat(self, path: str | os.PathLike[str], columns: Columns = None) -> None:
        """Write a MATLAB file with `time`, `values`, `names` and `units`; arguments and errors as of `save`."""
        self._write(path, ".mat", columns)

    def _write(self, path: str | os.PathLike[str], suffix: str, columns: Columns) -> None:
        found = self._scalars(columns)
        found.pop("time", None)
        content = FileContent(self.t, found, {name: self._unit(name) for name in found}, self.about())
        with atomic_path(path, self._write_error) as part:
            WRITERS[suffix](part, content)

    @registered
    def plot(self, columns: Columns = None, path: str | os.PathLike[str] | None = None) -> Figure:
        """Plot columns over time, a panel for each unit and magnitude; events are thin lines.

        A column has the same colour in all plots of results with the same columns. Curves of a mechanism are
        interpolated between rows that are far from each other. Texts are left out. Needs matplotlib (extra `viz`).

        Parameters
        ----------
        columns
            Names or patterns such as ``*.q``; by default the columns of most interest.
        path
            Where to save the picture, if anywhere: .png, .svg or .pdf.

        Returns
        -------
        matplotlib.figure.Figure
            With one axes object for each panel.
        """
        raise NotImplementedError

    @registered
    def page(self, path: str | os.PathLike[str], columns: Columns = None, **options: Any) -> Path:
        """Write an HTML page with the motion in 3-D and plots; it opens in any browser, without a network.

        Parameters
        ----------
        path
            The .html file to write.
        columns
            Names or patterns of the columns that can be plotted; by default those of most interest.
        **options
            As of `linkwork.page`, such as `title` and `max_rows`.

        Returns
        -------
        Path
            The path of the file.

        Raises
        ------
        LinkworkError
            If there is no such column, there are no rows, or the viewer has not been built.
        OSError
            If the file cannot be written.
        """
        raise NotImplementedError

    @cached_property
    def _positions(self) -> dict[str, int]:
        """The position of each column among those of its unit, for its colour; derivatives count alone."""
        counts: dict[tuple[str, bool], int] = {}
        positions = {}
        for name, unit in self.units.items():
            kind = unit, "der(" in name
            positions[name] = counts[kind] = counts.get(kind, -1) + 1
        return positions

    def _drawn(self) -> Self:
        """Return the result with as many rows as a smooth curve needs."""
        return self

    # ---- for people ----

    def __repr__(self) -> str:
        rows, columns = len(self), len(self.names)
        counts = f"{rows} row{'s' * (rows != 1)}, {columns} column{'s' * (columns != 1)}, {span(self.t)}"
        return f"{type(self).__name__}({self.name!r}: {counts}{self._remarks})"

    @registered
    def _repr_html_(self) -> str:
        raise NotImplementedError

    def _table(self) -> str:
        shown = self._scalars(self._plotted)
        ends = [0, -1] if len(self) else []
        rows = [[name, self._unit(name), *(values[end].item() for end in ends)] for name, values in shown.items()]
        times = [f"t = {self.t[end]:.6g} s" for end in ends]
        return html_table(repr(self), ["column", "unit", *times], rows, "more; names lists all columns")


def differences(
    t: FloatArray, one: Mapping[str, Column], other: Mapping[str, Column], units: Mapping[str, str]
) -> pd.DataFrame:
    """Return the largest difference of each column: as a number, as a part of its largest value, and its time.

    Texts and truth values differ by 1.
    """
    with optional_import("tables", "pandas", "viz"):
        import pandas as pd
    rows = {name: _largest(t, one[name], other[name]) for name in one}
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["difference", "relative", "time"])
    table.insert(0, "unit", [units[name] for name in rows])
    return table.rename_axis("column")


def _largest(t: FloatArray, a: Column, b: Column) -> tuple[float, float, float]:
    """Return the largest difference, the same by the largest value, and its time; NaN where only one is a number."""
    if not t.size:
        return np.nan, np.nan, np.nan
    if {a.dtype.kind, b.dtype.kind} & {"U", "b"}:
        distance, scale = (a != b).astype(np.float64), 1.0
    else:
        a, b = a.astype(np.float64), b.astype(np.float64)
        equal = (a == b) | (np.isnan(a) & np.isnan(b))
        distance = np.abs(np.subtract(a, b, out=np.zeros(t.size), where=~equal))
        scale = float(np.nanmax(np.abs([a, b]), initial=0.0))
    worst = int(np.argmax(np.where(np.isnan(distance), np.inf, distance)))
    largest = float(distance[worst])
    return largest, largest / scale if scale else largest, float(t[worst])


def common_times(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the times of two axes, each once and ascending, as far as both axes reach.

    >>> common_times(np.array([0.0, 1.0, 2.0]), np.array([0.5, 1.5, 1.5, 3.0]))
    array([0.5, 1. , 1.5, 2. ])
    """
    if not one.size or not other.size:
        return np.empty(0)
    both = np.union1d(one, other)
    first, last = max(one.min(), other.min()), min(one.max(), other.max())
    within: FloatArray = both[(both >= first) & (both <= last)]
    return within


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
