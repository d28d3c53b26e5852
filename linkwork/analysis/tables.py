"""Columns by name as data frames and files."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from linkwork._util.files import atomic_path
from linkwork._util.optional import optional_import

if TYPE_CHECKING:
    import pandas as pd

Columns = Mapping[str, NDArray[Any]]


def data_frame(columns: Columns) -> pd.DataFrame:
    """Return columns (n,) by name as a pandas `DataFrame`."""
    with optional_import("tables", "pandas", "viz"):
        import pandas as pd
    return pd.DataFrame(dict(columns))


def write_csv(path: str | os.PathLike[str], columns: Columns) -> None:
    """Write columns (n,) by name as CSV; numbers are read back to the bit."""
    with atomic_path(path) as part, open(part, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
