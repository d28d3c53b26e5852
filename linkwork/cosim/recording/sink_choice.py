"""Sinks for the results of a run: files by their suffix, several at once; CSV itself."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from linkwork.cosim.recording.sink import Sink, cannot_write, check_place, check_suffix
from linkwork.errors import CosimError
from linkwork.results.files import csv_header, csv_rows


def open_sink(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> Sink:
    """Open files for results: ``.csv`` or ``.parquet``, one or several."""
    wanted = [Path(paths)] if isinstance(paths, str | os.PathLike) else [Path(one) for one in paths]
    for path in wanted:
        check_suffix(path)
        if sum(other.resolve() == path.resolve() for other in wanted) > 1:
            raise CosimError(f"results cannot go to {path} twice; give each file a name of its own")
    for path in wanted:
        check_place(path)
    sinks = [_open(path) for path in wanted]
    return sinks[0] if len(sinks) == 1 else Several(sinks)


def _open(path: Path) -> Sink:
    if path.suffix.lower() == ".csv":
        return CsvSink(path)
    from linkwork.cosim.recording.parquet_sink import ParquetSink

    return ParquetSink(path)


class Several:
    """Sinks that all get the same."""

    def __init__(self, sinks: Sequence[Sink]) -> None:
        self.sinks = tuple(sinks)

    def begin(self, names: Sequence[str], units: Mapping[str, str], types: Sequence[type]) -> None:
        """Call all of them."""
        for one in self.sinks:
            one.begin(names, units, types)

    def rows(self, t: Any, columns: Sequence[Any]) -> None:
        """Hand rows to all of them."""
        self._all("rows", t, columns)

    def end(self, about: Mapping[str, Any]) -> None:
        """Complete all files."""
        self._all("end", about)

    def _all(self, method: str, *values: Any) -> None:
        """One that fails does not keep the others from their rows."""
        failed = None
        for one in self.sinks:
            try:
                getattr(one, method)(*values)
            except CosimError as problem:
                failed = failed or problem
        if failed:
            raise failed


class CsvSink:
    """A CSV file; rows are in the file as soon as they have been handed over."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._types: Sequence[type] = ()
        self._file: TextIO | None = None  # an older file stays until a run begins

    def begin(self, names: Sequence[str], units: Mapping[str, str], types: Sequence[type]) -> None:
        """Write the header: ``time`` and the names, in quotes where they have a comma."""
        try:
            self._file = self.path.open("w", encoding="utf-8", newline="")
        except OSError as problem:
            raise cannot_write(self.path, problem) from problem
        self._types = types
        self._write(csv_header(names))

    def rows(self, t: Any, columns: Sequence[Any]) -> None:
        """Write rows."""
        self._write(csv_rows(t, columns, self._types))

    def end(self, about: Mapping[str, Any]) -> None:
        """Close the file."""
        try:
            if self._file:
                self._file.close()
        except OSError as problem:
            raise cannot_write(self.path, problem) from problem

    def _write(self, text: str) -> None:
        assert self._file is not None
        try:
            self._file.write(text)
            self._file.flush()
        except OSError as problem:
            raise cannot_write(self.path, problem) from problem
