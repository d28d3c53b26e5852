"""Rows during a run: passed on to files, inspected, and in part kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from linkwork.cosim.recording.result import Result
from linkwork.cosim.recording.sink import Sink


class Tee:
    """A sink that keeps the last row and some columns, and passes everything on to files."""

    def __init__(
        self,
        keep: Sequence[str] = (),  # names of the columns that are kept
        files: Sink | None = None,  # what takes all rows, if anything
        watch: Callable[[float], None] | None = None,  # called with the time reached when rows come
    ) -> None:
        self.keep, self.files, self.watch = tuple(keep), files, watch
        self.reached: float | None = None  # time of the last row [s]; None before the first
        self.saved: float | None = None  # time of the last row that all files have taken
        self.last: dict[str, Any] = {}  # its values by name
        self.units: dict[str, str] = {}
        self.started: float | None = None  # when the run began, by `time.perf_counter`; None if it did not
        self._names: tuple[str, ...] = ()
        self._t: list[Any] = []
        self._kept: dict[str, list[Any]] = {name: [] for name in self.keep}

    def begin(self, names: Sequence[str], units: Mapping[str, str], types: Sequence[type]) -> None:
        """Learn what the columns are."""
        if self.files:
            self.files.begin(names, units, types)
        self._names, self.units = tuple(names), dict(units)
        self.started = time.perf_counter()

    def rows(self, t: Any, columns: Sequence[Any]) -> None:
        """Take rows; they are known here even if a file cannot take them."""
        by_name = dict(zip(self._names, columns, strict=True))
        self.reached = float(t[-1])
        self.last = {name: values[-1].item() for name, values in by_name.items()}
        if self.keep:
            self._t.append(t.copy())
            for name, parts in self._kept.items():
                parts.append(by_name[name].copy())
        if self.files:
            self.files.rows(t, columns)
        self.saved = self.reached
        if self.watch:
            self.watch(self.reached)

    def end(self, about: Mapping[str, Any]) -> None:
        """Complete the files."""
        if self.files and self.started is not None:
            self.files.end(about)

    def kept(self, run: Result) -> Result:
        """Return the kept rows, with the facts of the run."""
        return Result(
            run.name,
            np.concatenate([np.empty(0), *self._t]),
            {name: np.concatenate(parts) if parts else [] for name, parts in self._kept.items()},
            self.units,
            events=run.events,
            notices=run.notices,
            statistics=run.statistics,
            aborted=run.aborted,
        )
