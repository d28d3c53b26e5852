"""Files of results: CSV, Parquet, JSON and MATLAB. Each appears whole or not at all."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork._util.optional import optional_import

Column = NDArray[Any]

ROWS_AT_ONCE = 4096  # of files of text, which limits the memory that they take


class FileContent:
    """The content of a result file."""

    def __init__(
        self, t: Column, columns: Mapping[str, Column], units: Mapping[str, str], about: Mapping[str, Any]
    ) -> None:
        # t: times (n,), s
        # columns: scalar columns (n,) by name
        # units: unit of each column
        # about: everything else, as plain data
        self.t, self.columns, self.units, self.about = t, dict(columns), dict(units), dict(about)


def value_type(values: Column) -> type:
    """Return the type of a column: float, int, np.uint64, bool or str."""
    return {"f": float, "b": bool, "u": np.uint64, "U": str}.get(values.dtype.kind, int)


# ---- CSV ----


def write_csv(path: Path, content: FileContent) -> None:
    """Write a header of names, then rows with all digits; texts in quotes, truth as True and False."""
    types = [value_type(values) for values in content.columns.values()]
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(csv_header(content.columns))
        for first in range(0, len(content.t), ROWS_AT_ONCE):
            rows = slice(first, first + ROWS_AT_ONCE)
            file.write(csv_rows(content.t[rows], [values[rows] for values in content.columns.values()], types))


def csv_header(names: Sequence[str] | Mapping[str, Any]) -> str:
    """Return the first line: ``time`` and the names, in quotes where they have a comma."""
    return ",".join(["time", *map(_quoted_if_needed, names)]) + "\n"


def csv_rows(t: Column, columns: Sequence[Column], types: Sequence[type]) -> str:
    r"""Return rows as text.

    >>> csv_rows(np.array([0.0, 0.1]), [np.array([True, False]), np.array(["on", "off"])], [bool, str])
    '0.0,True,"on"\n0.1,False,"off"\n'
    """
    printed: list[Callable[[Any], str]] = [_quoted if one is str else repr for one in types]
    cells: list[Iterator[str]] = [map(repr, t.tolist())]
    cells += [map(text, values.tolist()) for text, values in zip(printed, columns, strict=True)]
    return "".join(",".join(row) + "\n" for row in zip(*cells, strict=True))


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _quoted_if_needed(name: str) -> str:
    return _quoted(name) if any(letter in name for letter in ',"\n\r') else name


# ---- Parquet ----


def arrow() -> Any:
    """Return PyArrow; an ImportError names the extra that installs it."""
    with optional_import("Parquet files", "PyArrow", "viz"):
        import pyarrow
    return pyarrow


def parquet_schema(names: Sequence[str], units: Mapping[str, str], types: Sequence[type]) -> Any:
    """Return the schema of a Parquet file: ``time`` and the columns, each with its unit."""
    pa = arrow()
    whole = {int: pa.int64(), np.uint64: pa.uint64(), bool: pa.bool_()}
    kinds: dict[type, Any] = {float: pa.float64(), str: pa.string(), **whole}
    fields = [pa.field("time", pa.float64(), metadata={"unit": "s"})]
    fields += [pa.field(n, kinds[t], metadata={"unit": units[n]}) for n, t in zip(names, types, strict=True)]
    return pa.schema(fields)


def parquet_metadata(about: Mapping[str, Any]) -> dict[str, str]:
    """Return the metadata of a Parquet file: everything but the columns."""
    return {"linkwork": json.dumps(about)}


def write_parquet(path: Path, content: FileContent) -> None:
    """Write columns with their types and units, and everything else as metadata."""
    pa = arrow()
    import pyarrow.parquet as pq

    types = [value_type(values) for values in content.columns.values()]
    schema = parquet_schema(list(content.columns), content.units, types)
    values = [content.t, *content.columns.values()]
    arrays = [pa.array(one, type=field.type) for one, field in zip(values, schema, strict=True)]
    pq.write_table(pa.table(arrays, schema=schema.with_metadata(parquet_metadata(content.about))), path)


# ---- JSON ----


def write_json(path: Path, content: FileContent) -> None:
    """Write one object with ``time``, ``columns`` and ``units`` by name; a number that does not exist is null."""
    head = {**content.about, "units": {"time": "s", **content.units}}
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps(head, allow_nan=False).removesuffix("}") + ', "time": ')
        file.writelines(_json_list(content.t))
        file.write(', "columns": {')
        for number, (name, values) in enumerate(content.columns.items()):
            file.write(f"{', ' * (number > 0)}{json.dumps(name)}: ")
            file.writelines(_json_list(values))
        file.write("}}\n")


def _json_list(values: Column) -> Iterator[str]:
    """Return the parts of a list as text.

    >>> "".join(_json_list(np.array([0.5, np.nan])))
    '[0.5, null]'
    """
    yield "["
    for first in range(0, len(values), ROWS_AT_ONCE):
        text = json.dumps(_json_numbers(values[first : first + ROWS_AT_ONCE]), allow_nan=False)
        yield (", " * (first > 0)) + text[1:-1]
    yield "]"


def _json_numbers(values: Column) -> list[Any]:
    listed = values.tolist()
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        return [value if math.isfinite(value) else None for value in listed]
    return list(listed)


# ---- MATLAB ----


def write_mat(path: Path, content: FileContent) -> None:
    """Write ``time`` (n, 1), ``values`` (n, k), and their ``names`` and ``units`` as cells (1, k).

    Columns of texts are in ``texts`` (n, m), a cell array, with their ``text_names``. In MATLAB,
    ``array2table(values, VariableNames=names)`` makes a table of them.
    """
    from scipy.io import savemat

    texts = {name: values for name, values in content.columns.items() if values.dtype.kind == "U"}
    numbers = {name: values for name, values in content.columns.items() if name not in texts}
    table = {
        "name": str(content.about["name"]),
        "time": content.t[:, np.newaxis],
        "values": _side_by_side([values.astype(np.float64, copy=False) for values in numbers.values()], len(content.t)),
        "names": _cells(list(numbers)),
        "units": _cells([content.units[name] for name in numbers]),
    }
    if texts:
        columns = [values.astype(object) for values in texts.values()]
        table |= {"texts": _side_by_side(columns, len(content.t)), "text_names": _cells(list(texts))}
    savemat(str(path), table, do_compression=True, appendmat=False)


def _side_by_side(columns: Sequence[Column], rows: int) -> Column:
    return np.stack(columns, axis=1) if columns else np.empty((rows, 0))


def _cells(texts: Sequence[str]) -> Column:
    cells = np.empty((1, len(texts)), dtype=object)
    cells[0, :] = texts
    return cells


WRITERS: dict[str, Callable[[Path, FileContent], None]] = {
    ".csv": write_csv,
    ".parquet": write_parquet,
    ".json": write_json,
    ".mat": write_mat,
}
"""Functions that write a result, by the suffix of the file."""
