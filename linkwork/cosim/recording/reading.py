"""Results read back from files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from linkwork.cosim.recording.parquet_sink import batches, stream_of
from linkwork.cosim.recording.sink import check_suffix
from linkwork.errors import CosimError
from linkwork.results.files import arrow

CELL = re.compile(r'(?:^|,)("(?:[^"]|"")*"|[^,]*)')


def read(path: Path) -> dict[str, Any]:
    """Return the arguments of a `Result`, its statistics as a dictionary; see `Result.read`."""
    check_suffix(path)
    whole = path.is_file()
    csv = path.suffix.lower() == ".csv"
    if not whole and (csv or not stream_of(path).is_file()):
        raise CosimError(f"there is no file {path}")
    try:
        return _of_csv(path) if csv else _of_parquet(path) if whole else _of_stream(path)
    except (OSError, ValueError) as problem:  # pandas' and PyArrow's errors are of these
        raise CosimError(f"{path} cannot be read as a result: {problem}") from problem


def _of_csv(path: Path) -> dict[str, Any]:
    table = read_csv(path)
    cut_off = not _ends_with_newline(path)  # a row, or a number in it, may be incomplete
    notices = ["the file's last row has no end and is left out"] * cut_off
    t, columns = _split(path, {str(name): table[name].to_numpy()[: -1 if cut_off else None] for name in table})
    return {"name": path.stem, "t": t, "columns": columns, "notices": notices, "aborted": cut_off}


def read_csv(path: Path) -> Any:
    """Return a table of pandas in which quoted cells are texts."""
    try:
        import pandas as pd
    except ImportError as missing:
        raise CosimError("CSV files are read by pandas: pip install 'linkwork[cosim]'") from missing
    with path.open(encoding="utf-8", newline="") as file:
        file.readline()
        cells = CELL.findall(file.readline().rstrip("\r\n"))
    texts = {place: str for place, cell in enumerate(cells) if cell.startswith('"')}
    newest = [int(part) for part in pd.__version__.split(".")[:2]] >= [3, 1]
    digits: Any = {} if newest else {"float_precision": "round_trip"}  # as pandas does by itself now
    return pd.read_csv(path, converters=texts, skipinitialspace=True, **digits)


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 1))
        return file.read() == b"\n"


def _of_parquet(path: Path) -> dict[str, Any]:
    arrow()  # raises an error with the name of the missing package
    import pyarrow.parquet as pq

    return _of_table(path, pq.read_table(path))


def _of_stream(path: Path) -> dict[str, Any]:
    with stream_of(path).open("rb") as file:
        reader = arrow().ipc.open_stream(file)
        result = _of_table(path, arrow().Table.from_batches(batches(reader), schema=reader.schema))
    return result | {"aborted": True}


def _of_table(path: Path, table: Any) -> dict[str, Any]:
    about = json.loads((table.schema.metadata or {}).get(b"linkwork", b"{}"))
    units = {one.name: (one.metadata or {}).get(b"unit", b"").decode() for one in table.schema}
    t, columns = _split(path, {name: table[name].to_numpy() for name in table.column_names})
    return {
        "name": about.get("name", path.stem),
        "t": t,
        "columns": columns,
        "units": units,
        "events": [(float(t), str(who)) for t, who in about.get("events", ())],
        "notices": about.get("notices", ()),
        "statistics": about.get("statistics"),
        "aborted": about.get("aborted", False),
    }


def _split(path: Path, columns: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    if "time" not in columns:
        raise CosimError(f"{path} has no column 'time'; it has: {', '.join(list(columns)[:8])}")
    return columns.pop("time"), columns
