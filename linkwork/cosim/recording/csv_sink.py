"""Results as CSV: a header of names, then rows with all digits; texts in quotes, truth as True and False."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from linkwork.cosim.recording.sink import cannot_write
from linkwork.results.files import csv_header, csv_rows


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
