"""A part of a sweep's results: a Parquet file of point, time and variables, which is there as a whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork._util.files import atomic_path
from linkwork.cosim.recording.result import Result, stored_columns
from linkwork.errors import CosimError

POINT, TIME = "point", "time"
ROWS_IN_GROUP = 1 << 16  # a trajectory is found without reading the others


def arrow() -> tuple[Any, Any]:
    """Return PyArrow and its part for Parquet."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as missing:
        raise CosimError("sweeps keep their results as Parquet: pip install 'linkwork[sweep]'") from missing
    return pa, pq


def write_part(path: Path, answers: Sequence[tuple[int, Result]]) -> None:
    """Write what points gave; all have the same columns."""
    pa, pq = arrow()
    points = np.repeat([point for point, _ in answers], [len(one.t) for _, one in answers])
    columns = {POINT: points.astype(np.int64), TIME: np.concatenate([one.t for _, one in answers])}
    stored = [stored_columns(one) for _, one in answers]
    columns |= {name: np.concatenate([one[name] for one in stored]) for name in answers[0][1].names}
    whole = pa.table(columns)
    with atomic_path(path) as part:
        pq.write_table(whole, part, row_group_size=ROWS_IN_GROUP, use_dictionary=[POINT])


def points_of(path: Path) -> NDArray[np.int64] | None:
    """The points in a part; None if the file is broken."""
    pa, pq = arrow()
    try:
        with pq.ParquetFile(path) as file:  # `read_table` and `to_numpy` would load pandas
            points = file.read(columns=[POINT]).column(0).unique().to_pylist()
    except (OSError, pa.ArrowException):
        return None
    return np.unique(np.array(points, dtype=np.int64))


def read_part(path: Path, point: int | None = None) -> Any:
    """A part as a table of Arrow, or the rows of one point."""
    _, pq = arrow()
    return pq.read_table(path, filters=None if point is None else [(POINT, "==", point)])


def read_points(path: Path) -> Any:
    """The parameters of points as a table of Arrow."""
    _, pq = arrow()
    return pq.read_table(path)


def write_points(path: Path, columns: dict[str, Any], count: int) -> None:
    """Write the parameters of points."""
    pa, pq = arrow()
    whole = pa.table({POINT: np.arange(count), **{name: pa.array(values.tolist()) for name, values in columns.items()}})
    with atomic_path(path) as part:
        pq.write_table(whole, part)
