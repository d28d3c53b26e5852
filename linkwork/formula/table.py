"""Lookup tables of one argument or two, checked; formulas call them, as ``gas(crank.q)`` or ``torque(u, voltage)``.

The core interpolates (csrc/formula/lookup_table_kernel.h): its values are parameters, so that the slopes of a monotone
table follow there as well.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray, length, shortened
from linkwork._util.keywords import checks_keywords
from linkwork._util.names import number_of, quoted, suggest
from linkwork.errors import MechanismError, MechanismNameError
from linkwork.formula.units import read_unit

TableInterpolation: TypeAlias = Literal["linear", "monotone"]
TableOutside: TypeAlias = Literal["hold", "extend", "error"]
INTERPOLATIONS: tuple[str, ...] = get_args(TableInterpolation)
OUTSIDES: tuple[str, ...] = get_args(TableOutside)
FEWEST = 2  # abscissae of each argument
ARGUMENTS = ("x", "values", "y", "interpolation", "outside", "periodic", "unit", "argument_units")


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
        Between rows: "linear"; "monotone", cubics with a continuous slope that exceed no row.
    outside
        Outside of the abscissae: "hold" keeps the end values; "extend" continues with the end slopes; "error" stops a
        simulation there.
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
        Arrays that cannot be written; y is None for one argument.
    periodic
        For each argument.

    Raises
    ------
    MechanismError
        On numbers that are not finite, on abscissae that do not increase, and on wrong sizes, naming the row.

    Examples
    --------
    >>> gas = LookupTable([0.0, 0.1, 0.4], [5e5, 2e5, 1e5], interpolation="monotone", outside="error", unit="Pa")
    >>> gas
    LookupTable(3 rows from 0 to 0.4, monotone, outside error)
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
        for array in (self.x, self.y, self.values):
            if array is not None:
                array.setflags(write=False)

    @property
    def arguments(self) -> int:
        """How many arguments it takes, 1 or 2."""
        return self.values.ndim

    @property
    def rows(self) -> tuple[int, ...]:
        """How many of its values are its own along each argument: of a periodic one the last row is the first."""
        return tuple(size - wraps for size, wraps in zip(self.values.shape, self.periodic, strict=True))

    @property
    def given(self) -> dict[str, Any]:
        """Its arguments but for the name, those that are not the default, as files have them."""
        periodic: Any = self.periodic[0] if len(set(self.periodic)) == 1 else list(self.periodic)
        units = self.argument_units if any(self.argument_units) else None
        return {
            "x": self.x.tolist(),
            "values": self.values.tolist(),
            **({} if self.y is None else {"y": self.y.tolist()}),
            **({} if self.interpolation == "linear" else {"interpolation": self.interpolation}),
            **({} if self.outside == "hold" else {"outside": self.outside}),
            **({"periodic": periodic} if periodic else {}),
            **({} if self.unit is None else {"unit": self.unit}),
            **({} if units is None else {"argument_units": list(units)}),
        }

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

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LookupTable) and self.given == other.given

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        size = " x ".join(map(str, self.values.shape))
        spans = " and ".join(f"{one[0]:.6g} to {one[-1]:.6g}" for one in (self.x, self.y) if one is not None)
        outside = "periodic" if all(self.periodic) else f"outside {self.outside}"
        return f"LookupTable({size} rows from {spans}, {self.interpolation}, {outside})"


def read_table(given: object, name: str) -> LookupTable:
    """Return a table, or that of its arguments by name, as files have them; MechanismError calls it by `name`."""
    if isinstance(given, LookupTable):
        return given
    if not isinstance(given, Mapping):
        raise MechanismError(f"{name} must be a LookupTable, not {shortened(given)}")
    for key in given:
        if key not in ARGUMENTS:
            raise MechanismNameError(f"{name}: key {key!r} is not known here: {suggest(str(key), ARGUMENTS)}")
    if missing := [key for key in ("x", "values") if key not in given]:
        raise MechanismError(f"{name}: {quoted(missing)} must be given")
    return LookupTable(**given, name=name)


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
