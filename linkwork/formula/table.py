"""Tables of one argument or two, checked; formulas call them by name, as ``gas(crank.q)`` or ``torque(u, voltage)``.

The core has plain arrays. Between two rows of one argument it has, with t from 0 to 1 and h the distance of the rows,

    linear      (1 - t) f0 + t f1
    cubic       (1 + 2 t)(1 - t)^2 f0 + t^2 (3 - 2 t) f1 + h t (1 - t)^2 s0 - h t^2 (1 - t) s1

with the slopes s after Fritsch and Carlson, so that the curve is C1 and exceeds no row. Of two arguments it is the same
in the second argument of that in the first one; the slopes of a cubic are those along both, and the mixed one.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray, length, shortened
from linkwork._util.keywords import checks_keywords
from linkwork._util.names import number_of, suggest
from linkwork._util.piecewise import coefficients
from linkwork.errors import MechanismError, MechanismNameError
from linkwork.formula.units import read_unit

TableInterpolation: TypeAlias = Literal["linear", "cubic"]
TableOutside: TypeAlias = Literal["hold", "extend", "refuse"]
INTERPOLATIONS: tuple[str, ...] = get_args(TableInterpolation)
OUTSIDES: tuple[str, ...] = get_args(TableOutside)
FEWEST = 2  # abscissae of each argument


@checks_keywords
class LookupTable:
    """A function of one argument or two, given by rows.

    Parameters
    ----------
    x
        Abscissae, (n,), increasing; or the path of a CSV file, which has two columns for one argument. For two
        arguments its first column has x, its first line y, and the cell of both is not read.
    values
        (n,), or (n, m) for two arguments.
    y
        Abscissae of a second argument, (m,), increasing.
    interpolation
        Between rows: "linear"; "cubic" has a continuous slope and exceeds no row.
    outside
        Outside of the abscissae: "hold" keeps the end values; "extend" continues with the end slopes; "refuse" stops
        with an error.
    periodic
        Whether the table repeats: the last row is the first one of the next period. For two arguments also a pair.
    unit
        Of the values; None: the one that follows from formulas.
    argument_units
        Of each argument; None: those that follow.
    name
        What errors call it.

    Attributes
    ----------
    x, y, values
        As given; y is None for one argument.
    slopes
        (k, n) or (k, n, m), for the core: of cubic tables k is 1 for one argument; 3 for two, along x, along y and the
        mixed one. Of linear ones k is 0.
    periodic
        For each argument.

    Raises
    ------
    MechanismError
        On numbers that are not finite, on abscissae that do not increase, and on wrong sizes, naming the row.

    Examples
    --------
    >>> gas = LookupTable([0.0, 0.1, 0.4], [5e5, 2e5, 1e5], interpolation="cubic", outside="refuse", unit="Pa")
    >>> gas
    LookupTable(3 rows from 0 to 0.4, cubic, outside refuse)
    >>> LookupTable([0.0, 100.0], [[0.0, 12.0], [0.0, 8.0]], y=[0.0, 24.0])
    LookupTable(2 x 2 rows from 0 to 100 and 0 to 24, linear, outside hold)
    >>> LookupTable([0.0, 1.0, 1.0], [1.0, 2.0, 3.0])
    Traceback (most recent call last):
        ...
    linkwork.errors.MechanismError: the table: the abscissae must increase: row 3 has 1 after 1
    """

    def __init__(
        self,
        x: ArrayLike | str | os.PathLike[str],
        values: ArrayLike | None = None,
        *,
        y: ArrayLike | None = None,
        interpolation: TableInterpolation = "linear",
        outside: TableOutside = "hold",
        periodic: bool | tuple[bool, bool] = False,
        unit: str | None = None,
        argument_units: Sequence[str | None] | None = None,
        name: str = "the table",
    ) -> None:
        self.name = name
        _check_choice(interpolation, INTERPOLATIONS, "interpolation", name)
        _check_choice(outside, OUTSIDES, "outside", name)
        self.interpolation, self.outside, self.unit = interpolation, outside, unit
        if isinstance(x, str | os.PathLike):
            if values is not None or y is not None:
                raise MechanismError(f"{name}: a file has all numbers: leave out values and y")
            x, values, y = _file(Path(x), name)
        self.x = _abscissae(x, "rows" if y is None else "rows of x", name)
        self.y = None if y is None else _abscissae(y, "rows of y", name)
        self.values = _array(values, "values", name)
        self._check_values()
        self.periodic = self._periods(periodic)
        self.argument_units = self._units(argument_units)
        self.slopes = self._slopes()
        for array in (self.x, self.y, self.values, self.slopes):
            if array is not None:
                array.setflags(write=False)

    @property
    def arguments(self) -> int:
        """How many arguments it takes, 1 or 2."""
        return self.values.ndim

    def _check_values(self) -> None:
        sizes = tuple(len(one) for one in (self.x, self.y) if one is not None)
        if self.values.shape != sizes:
            wanted, given = (" x ".join(map(str, shape)) or "1" for shape in (sizes, self.values.shape))
            raise MechanismError(f"{self.name}: {wanted} values are needed, one for each row, and there are {given}")
        if not (good := np.isfinite(self.values)).all():
            place = tuple(int(k) for k in np.argwhere(~good)[0])
            axes = ("",) if self.y is None else (" of x", " of y")
            where = " and ".join(f"row {k + 1}{axis}" for k, axis in zip(place, axes, strict=True))
            raise MechanismError(f"{self.name}: the value in {where} is {self.values[place]}: give a number")

    def _periods(self, periodic: object) -> tuple[bool, ...]:
        given = periodic if isinstance(periodic, tuple | list) else (periodic,) * self.arguments
        if len(given) != self.arguments or not all(isinstance(one, bool | np.bool_) for one in given):
            raise MechanismError(f"{self.name}: periodic must be True or False, or a pair of these, not {periodic!r}")
        for axis, one in enumerate(given):
            ends = self.values.take(0, axis), self.values.take(-1, axis)
            if one and not np.array_equal(*ends):
                wrong = np.atleast_1d(ends[0] != ends[1]).argmax()
                first, last = (np.atleast_1d(end)[wrong] for end in ends)
                raise MechanismError(
                    f"{self.name}: the values of a periodic table end as they begin, and row 1 has {first:.9g}, "
                    f"row {self.values.shape[axis]} {last:.9g}"
                )
        return tuple(map(bool, given))

    def _units(self, given: Sequence[str | None] | None) -> tuple[str | None, ...]:
        units = (None,) * self.arguments if given is None else (given,) if isinstance(given, str) else tuple(given)
        if len(units) != self.arguments:
            raise MechanismError(
                f"{self.name} has {number_of(self.arguments, 'argument')}, and argument_units has {len(units)}"
            )
        for unit in (self.unit, *units):
            if unit is not None:
                read_unit(unit, self.name)
        return units

    def _slopes(self) -> FloatArray:
        """Return slopes along x and y, and the mixed one: the mean of both orders, so that x and y are alike."""
        values, x, y = self.values, self.x, self.y
        if self.interpolation == "linear":
            return np.zeros((0, *values.shape))
        along_x = monotone_slopes(x, values, periodic=self.periodic[0])
        if y is None:
            return along_x[np.newaxis]
        along_y = monotone_slopes(y, values.T, periodic=self.periodic[1]).T
        mixed = monotone_slopes(x, along_y, periodic=self.periodic[0])
        mixed = 0.5 * (mixed + monotone_slopes(y, along_x.T, periodic=self.periodic[1]).T)
        return np.stack([along_x, along_y, mixed])

    def __repr__(self) -> str:
        size = " x ".join(map(str, self.values.shape))
        spans = " and ".join(f"{one[0]:.6g} to {one[-1]:.6g}" for one in (self.x, self.y) if one is not None)
        outside = "periodic" if all(self.periodic) else f"outside {self.outside}"
        return f"LookupTable({size} rows from {spans}, {self.interpolation}, {outside})"


def monotone_slopes(x: FloatArray, values: FloatArray, *, periodic: bool = False) -> FloatArray:
    """Return the slopes along the first axis at all rows, after Fritsch and Carlson.

    >>> monotone_slopes(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 1.0])).tolist()
    [1.5, 0.0, 0.0]
    """
    if periodic:  # a slope depends on the two neighbours
        period = x[-1] - x[0]
        x = np.concatenate([[x[-2] - period], x, [x[1] + period]])
        values = np.concatenate([values[-2:-1], values, values[1:2]])
    last = -coefficients(-x[:-4:-1], values[:-4:-1], "monotone")[:1, 1] + 0.0  # it depends on the last three rows
    slopes = np.concatenate([coefficients(x, values, "monotone")[:, 1], last])
    return slopes[1:-1] if periodic else slopes


def _check_choice(value: object, choices: Sequence[str], what: str, name: str) -> None:
    if value not in choices:
        raise MechanismNameError(f"{name}: there is no {what} {value!r}: {suggest(str(value), choices)}")


def _array(given: Any, what: str, name: str) -> FloatArray:
    try:
        array = np.asarray(given)
    except ValueError:  # ragged
        array = np.asarray(None)
    if array.dtype.kind not in "fiu" or array.ndim not in (1, 2):
        ragged = f"{number_of(length(given), 'row')} of different lengths" if array.ndim == 0 and length(given) else ""
        raise MechanismError(f"{name}: the {what} must be numbers, not {ragged or shortened(given)}")
    return np.array(array, dtype=np.float64)


def _abscissae(given: Any, what: str, name: str) -> FloatArray:
    found = _array(given, "abscissae", name)
    if found.ndim != 1 or len(found) < FEWEST:
        raise MechanismError(f"{name}: at least {FEWEST} {what} are needed, and the shape is {found.shape}")
    if not (good := np.isfinite(found)).all():
        row = int(np.argmin(good))
        raise MechanismError(f"{name}: the abscissa in row {row + 1} is {found[row]}: give a number")
    if not (increases := np.diff(found) > 0.0).all():
        row = int(np.argmin(increases)) + 1
        raise MechanismError(
            f"{name}: the abscissae must increase: row {row + 1} has {found[row]:.9g} after {found[row - 1]:.9g}"
        )
    return found


def _file(path: Path, name: str) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Return x, values and y of a CSV file: two columns, whose names may stand first, or the table of two arguments."""
    beginning = _rows(path, name, most=2)
    if len(beginning) < 2:
        raise MechanismError(f"{name}: {path} has no rows: give x and values, separated by commas")
    line, head = beginning[0]
    if len(head) < 2:
        raise MechanismError(f"{name}: {path} has one column: give x and values, separated by commas")
    if len(head) == 2:
        has_names = all(_number(cell) is None for cell in head)
        columns = _numbers(path, name, line if has_names else 0, 2)
        return columns[:, 0], columns[:, 1], None
    columns = _numbers(path, name, line, len(head))
    return columns[:, 0], columns[:, 1:], _checked_numbers([(line, head[1:])], path, name, len(head) - 1)[0]


def _rows(path: Path, name: str, most: int | None = None) -> list[tuple[int, list[str]]]:
    """Return the rows of a file with their lines."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, skipinitialspace=True)
            return list(islice(((reader.line_num, row) for row in reader if row), most))
    except OSError as error:
        raise MechanismError(f"{name}: {path} cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise MechanismError(f"{name}: {path} is no table of text ({error}): give a .csv file") from error


def _numbers(path: Path, name: str, skipped: int, width: int) -> FloatArray:
    """Return the numbers behind some lines, read by NumPy where that can, as long tables are."""
    try:
        found = np.loadtxt(path, delimiter=",", comments=None, encoding="utf-8-sig", skiprows=skipped, ndmin=2)
    except ValueError:
        found = None
    if found is not None and found.shape[1] == width:
        return found
    return _checked_numbers([row for row in _rows(path, name) if row[0] > skipped], path, name, width)


def _checked_numbers(rows: list[tuple[int, list[str]]], path: Path, name: str, width: int) -> FloatArray:
    for line, row in rows:
        if len(row) != width:
            raise MechanismError(f"{name}: {path}, line {line} has {number_of(len(row), 'cell')}, not {width}")
        if wrong := [cell for cell in row if _number(cell) is None]:
            raise MechanismError(f"{name}: {path}, line {line} has {shortened(wrong[0])}, which is no number")
    return np.array([[float(cell) for cell in row] for _, row in rows])


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
