"""Results as CSV: a header of names, then rows with all digits; texts in quotes, truth as True and False."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from linkwork.cosim.recording.sink import cannot_write


class CsvSink:
    """A CSV file; rows are in the file as soon as they have been handed over."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._printed: list[Callable[[Any], str]] = []
        self._file: TextIO | None = None  # an older file stays until a run begins

    def begin(self, names: Sequence[str], units: Mapping[str, str], types: Sequence[type]) -> None:
        """Write the header: ``time`` and the names, in quotes where they have a comma."""
        try:
            self._file = self.path.open("w", encoding="utf-8", newline="")
        except OSError as problem:
            raise cannot_write(self.path, problem) from problem
        self._printed = [_quoted if one is str else repr for one in types]
        self._write(",".join(["time", *map(_quoted_if_needed, names)]) + "\n")

    def rows(self, t: Any, columns: Sequence[Any]) -> None:
        """Write rows."""
        cells = [map(repr, t.tolist())]
        cells += [map(printed, one.tolist()) for printed, one in zip(self._printed, columns, strict=True)]
        self._write("".join(",".join(row) + "\n" for row in zip(*cells, strict=True)))

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


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _quoted_if_needed(name: str) -> str:
    return _quoted(name) if any(letter in name for letter in ',"\n\r') else name
