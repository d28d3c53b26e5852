"""Columns by name from CSV files."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import quoted
from linkwork.errors import MechanismError

TIMES = ("time", "t")  # names of the column with the times


def read_csv(path: str | os.PathLike[str]) -> dict[str, FloatArray]:
    """Return the columns (n,) of numbers of a CSV file by the names in its first line.

    Columns of texts alone are left out, unless their name has a dot, as variables of a mechanism have.
    """
    path = Path(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, skipinitialspace=True)
            rows = [(reader.line_num, row) for row in reader if row]
    except OSError as error:
        raise MechanismError(f"{path} cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise MechanismError(f"{path} is no table of text ({error}): give a .csv file") from error
    if len(rows) < 2:
        raise MechanismError(f"{path} has no rows: give a header of names, then numbers")
    names = [name.strip() for name in rows[0][1]]
    if repeated := [name for k, name in enumerate(names) if name in names[:k]]:
        raise MechanismError(f"{path}: the header names {repeated[0]!r} twice: give each column a name of its own")
    for line, row in rows[1:]:
        if len(row) != len(names):
            raise MechanismError(f"{path}, line {line}: {len(row)} values, and the header has {len(names)} names")
    columns: dict[str, FloatArray] = {}
    for k, name in enumerate(names):
        numbers = [_number(row[k]) for _, row in rows[1:]]
        if None not in numbers:
            columns[name] = np.array(numbers, dtype=float)
        elif "." in name or any(number is not None for number in numbers):
            line, row = rows[1 + numbers.index(None)]
            raise MechanismError(
                f"{path}, line {line}: {name!r} is {row[k]!r}, and no number: correct it, or leave out the line"
            )
    return columns


def read_over_time(path: str | os.PathLike[str]) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Return the times (n,), s, and the other columns (n,) of a CSV file; errors as of `read_csv`."""
    columns = read_csv(path)
    time = next((name for name in TIMES if name in columns), None)
    if time is None:
        raise MechanismError(f"{path} has no column 'time' of numbers, s; its columns are {quoted(columns)}")
    return columns.pop(time), columns


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
