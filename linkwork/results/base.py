"""What all results share: a summary for people, plain data for programs, and files by their suffix."""

from __future__ import annotations

import csv
import json
import os
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from linkwork._util.files import atomic_path
from linkwork._util.optional import optional_import
from linkwork.errors import LinkworkError, MechanismError

if TYPE_CHECKING:
    import pandas as pd

Columns = str | Iterable[str] | None
"""Columns of a result: a name, a pattern such as ``*.q``, several of them, or None for all."""

PICTURES = (".png", ".svg", ".pdf")
PAGES = (".html",)
MODELS = (".glb",)
FILMS = (".gif", ".webp", ".mp4")


class ResultBase:
    """What an analysis, a run or a check has found.

    Commands print its `summary`, or `to_dict` as JSON, and `save` writes the files that they are asked for.
    """

    _error: ClassVar[type[LinkworkError]] = MechanismError  # of wrong arguments
    _write_error: ClassVar[type[LinkworkError] | None] = None  # of files; None: OSError
    # The method that writes files of these suffixes, if the result has it.
    _ways: ClassVar[Mapping[str, Sequence[str]]] = {
        "to_csv": (".csv",),
        "to_parquet": (".parquet",),
        "to_json": (".json",),
        "to_mat": (".mat",),
        "page": PAGES,
        "glb": MODELS,
        "film": FILMS,
        "plot": PICTURES,
    }

    def summary(self) -> str:
        """Return the findings as a text of several lines."""
        return repr(self)

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the findings as plain data, for JSON."""

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write `to_dict` as JSON."""
        with atomic_path(path, self._write_error) as part:
            part.write_text(json.dumps(self.to_dict(), indent=2) + "\n", encoding="utf-8")

    def save(self, path: str | os.PathLike[str], columns: Columns = None) -> None:
        """Write a file: numbers, a plot, or what else the suffix stands for.

        The file appears whole or not at all.

        Parameters
        ----------
        path
            Its suffix chooses the format.
        columns
            Names or patterns such as ``*.q`` of the columns that are written or plotted, where the result has columns
            in time; by default all, in a plot those of most interest.

        Raises
        ------
        LinkworkError
            If there is no such column or the suffix is another one.
        ImportError
            If a package for this format is missing; the text names the extra that installs it.
        """
        suffix, known = Path(path).suffix.lower(), []
        for method, suffixes in self._ways.items():
            if not hasattr(self, method):
                continue
            if suffix in suffixes:
                taken = {} if columns is None or suffix in (*MODELS, *FILMS) else {"columns": columns}
                getattr(self, method)(path=path, **taken)
                return
            known += [f"*{one}" for one in suffixes]
        raise self._error(f"results cannot be written to {path}: name it {', '.join(known[:-1])} or {known[-1]}")


class TableResult(ResultBase):
    """A result with a table, by `_table`: its columns by name, rows (n,) each."""

    _index: ClassVar[str | None] = None  # the column that labels the rows

    @abstractmethod
    def _table(self) -> Mapping[str, Sequence[Any] | Any]: ...

    def to_dict(self) -> dict[str, Any]:
        """Return the columns of the table by name, as plain data."""
        return {name: _listed(values) for name, values in self._table().items()}

    def to_dataframe(self) -> pd.DataFrame:
        """Return the table as a pandas `DataFrame`; needs pandas (extra `viz`)."""
        return data_frame(self._table(), self._index)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the table as CSV, all digits; the file appears whole or not at all."""
        write_table(path, self._table(), self._write_error)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the table as Parquet; needs pandas and PyArrow (extra `viz`)."""
        with atomic_path(path, self._write_error) as part:
            self.to_dataframe().to_parquet(part)


def data_frame(columns: Mapping[str, Any], index: str | None = None) -> pd.DataFrame:
    """Return columns (n,) by name as a pandas `DataFrame`; the column `index` labels the rows."""
    with optional_import("tables", "pandas", "viz"):
        import pandas as pd
    frame = pd.DataFrame(dict(columns))
    return frame if index is None else frame.set_index(index)


def write_table(
    path: str | os.PathLike[str], columns: Mapping[str, Any], error: type[LinkworkError] | None = None
) -> None:
    """Write columns (n,) by name as CSV; numbers are read back to the bit, None is an empty cell."""
    with atomic_path(path, error) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*map(_listed, columns.values()), strict=True))


def _listed(values: Any) -> list[Any]:
    return values.tolist() if hasattr(values, "tolist") else list(values)
