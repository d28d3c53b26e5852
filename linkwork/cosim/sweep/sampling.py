"""The points of a sweep: which values parameters take together."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork._util.keywords import checks_keywords
from linkwork.errors import CosimError

Value = float | int | bool | str
MOST = 10**8  # points


class Points:
    """Values of parameters, point by point; points are numbered from 0.

    >>> points = grid({"plant.k": [1.0, 2.0], "plant.mode": [1, 2, 3]})
    >>> len(points), points[4]
    (6, {'plant.k': 2.0, 'plant.mode': 2})
    >>> len(points * latin({"plant.mass": (0.5, 2.0)}, 10, seed=1))
    60
    """

    def __init__(self, columns: Mapping[str, Sequence[Any] | NDArray[Any]]) -> None:
        self.columns = {name: _column(name, values) for name, values in columns.items()}
        if not self.columns:
            raise CosimError("a sweep needs a parameter; write component.variable, such as 'plant.k'")
        lengths = {len(column) for column in self.columns.values()}
        if len(lengths) > 1 or lengths == {0}:
            counts = ", ".join(f"{name} {len(column)}" for name, column in self.columns.items())
            raise CosimError(f"each parameter needs a value for each point; there are: {counts}")

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, number: int) -> dict[str, Value]:
        return {name: column[number : number + 1].tolist()[0] for name, column in self.columns.items()}

    def __iter__(self) -> Iterator[dict[str, Value]]:
        return (self[i] for i in range(len(self)))

    def __mul__(self, other: Points) -> Points:
        """Every point of this with every point of the other, whose points change faster."""
        if both := set(self.columns) & set(other.columns):
            raise CosimError(f"{', '.join(sorted(both))} is swept twice; name each parameter once")
        _check_count(len(self) * len(other))
        slow: dict[str, NDArray[Any]] = {name: np.repeat(column, len(other)) for name, column in self.columns.items()}
        fast = {name: np.tile(column, len(self)) for name, column in other.columns.items()}
        return Points({**slow, **fast})

    @property
    def digest(self) -> str:
        """A hash of names and values, to the bit."""
        whole = hashlib.sha256()
        for name, column in self.columns.items():
            data = json.dumps(column.tolist()).encode() if column.dtype == object else column.tobytes()
            whole.update(f"{name}\n{column.dtype.str}\n{len(data)}\n".encode() + data)
        return whole.hexdigest()


@checks_keywords
def grid(values: Mapping[str, Sequence[Value]]) -> Points:
    """Every combination of values; those of the last parameter change fastest.

    Parameters
    ----------
    values
        For each parameter, as ``component.variable``, its values.

    Raises
    ------
    CosimError
        On more than 100 million points.

    Examples
    --------
    >>> [point["plant.k"] for point in grid({"plant.k": [1.0, 2.0], "plant.mode": [1, 2]})]
    [1.0, 1.0, 2.0, 2.0]
    """
    _check_count(math.prod(len(one) for one in values.values()))
    parts = [Points({name: list(one)}) for name, one in values.items()]
    if not parts:
        return Points({})
    whole = parts[0]
    for part in parts[1:]:
        whole = whole * part
    return whole


@checks_keywords
def latin(ranges: Mapping[str, Sequence[Any]], samples: int, *, seed: int = 0) -> Points:
    """Latin hypercube sampling: each of `samples` equal strata of each range is met once.

    Parameters
    ----------
    ranges
        For each parameter ``(lower, upper)``, or ``(lower, upper, "log")`` for strata of equal ratio.
    samples
        The number of points.
    seed
        The same seed gives the same points.

    Examples
    --------
    >>> points = latin({"plant.mass": (0.0, 4.0)}, 4, seed=1)
    >>> sorted(int(point["plant.mass"]) for point in points)  # one in each quarter of the range
    [0, 1, 2, 3]
    """
    from scipy.stats.qmc import LatinHypercube

    if samples < 1:
        raise CosimError(f"Latin hypercube sampling needs at least one point, not {samples}")
    _check_count(samples)
    limits = {name: _limits(name, *one) for name, one in ranges.items()}
    if not limits:
        return Points({})
    unit = LatinHypercube(len(limits), rng=np.random.default_rng(seed)).random(samples)
    columns = {}
    for column, (name, (lower, upper, logarithmic)) in zip(unit.T, limits.items(), strict=True):
        if logarithmic:
            a, b = math.log(lower), math.log(upper)
            columns[name] = np.clip(np.exp(a + (b - a) * column), lower, upper)
        else:
            columns[name] = lower + (upper - lower) * column
    return Points(columns)


@checks_keywords
def table(source: str | os.PathLike[str] | Any) -> Points:
    """Points as they are listed: a CSV file with a column for each parameter, a pandas table, or columns by name.

    Parameters
    ----------
    source
        The path of a CSV file, a pandas table, or a dictionary of columns.

    Examples
    --------
    >>> table({"plant.mass": [0.5, 2.0], "plant.mode": [1, 3]})[1]
    {'plant.mass': 2.0, 'plant.mode': 3}
    """
    if isinstance(source, str | os.PathLike):
        return _read_csv(Path(source))
    return Points({str(name): list(source[name]) for name in source})


def value_of(text: str) -> Value:
    """Read a value as it is written: an integer, a number, ``true`` or ``false``, else text."""
    text = text.strip()
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            pass
    return {"true": True, "false": False}.get(text.lower(), text)


def _read_csv(path: Path) -> Points:
    if not path.is_file():
        raise CosimError(f"there is no file {path}; the table of points is a CSV file headed by the parameters")
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise CosimError(f"the table of points {path} cannot be read: {problem}") from problem
    if len(rows) < 2:
        raise CosimError(f"the table of points {path} is empty; its first line names parameters, each other is a point")
    names = [name.strip() for name in rows[0]]
    for number, row in enumerate(rows[1:]):
        if len(row) != len(names) or not all(cell.strip() for cell in row):
            raise CosimError(
                f"point {number} of {path} has {len(row)} values for {len(names)} parameters, or empty ones"
            )
    if len(set(names)) < len(names):
        raise CosimError(f"the table of points {path} names a parameter twice")
    return Points({name: [value_of(row[i]) for row in rows[1:]] for i, name in enumerate(names)})


def _column(name: str, values: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """Values of one type: bool, int64, float64 or text."""
    plain = values.tolist() if isinstance(values, np.ndarray) else [getattr(v, "item", lambda v=v: v)() for v in values]
    kinds = {type(value) for value in plain}
    if kinds <= {int, float} and kinds:
        column = np.array(plain, dtype=np.float64 if float in kinds else np.int64)
        if not np.isfinite(column).all():
            raise CosimError(f"{name} has no value, or an infinite one, at point {np.isfinite(column).argmin()}")
        return column
    if kinds <= {bool} or kinds <= {str}:
        return np.array(plain, dtype=bool if bool in kinds else object)
    raise CosimError(f"values of {name} are of several types or none of a parameter: {plain[:4]}; give numbers or text")


def _limits(name: str, lower: float, upper: float, scale: str = "linear") -> tuple[float, float, bool]:
    if scale not in ("linear", "log"):
        raise CosimError(f"the range of {name} is 'linear' or 'log', not {scale!r}")
    if not (math.isfinite(lower) and math.isfinite(upper) and lower < upper):
        raise CosimError(f"the range of {name} goes from a number to a greater one, not {lower:g} to {upper:g}")
    if scale == "log" and lower <= 0:
        raise CosimError(f"a logarithmic range is above zero; that of {name} begins at {lower:g}")
    return float(lower), float(upper), scale == "log"


def _check_count(count: int) -> None:
    if count > MOST:
        raise CosimError(f"{count} points are too many for one sweep (at most {MOST}); take fewer values, or samples")
