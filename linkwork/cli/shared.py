"""What the commands have in common: aligned lines, arguments of the command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import linkwork as lw
from linkwork._util.names import quoted, suggest
from linkwork._util.piecewise import INTERPOLATIONS
from linkwork.analysis.tables import TIMES, read_csv
from linkwork.errors import LinkworkError, MechanismNameError
from linkwork.simulation.table import OUTSIDES
from linkwork.solvers import solver_names

if TYPE_CHECKING:
    from linkwork.simulation.inputs import InputValue

INTERRUPTED = 130  # as shells expect of a program that was interrupted


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return indented lines whose cells stand in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ([cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows)
    return ["  " + "  ".join(cells).rstrip() for cells in padded]


def add_tolerances(parser: argparse.ArgumentParser) -> None:
    """Add the tolerances of a solver."""
    rtol_help = "relative tolerance of the states (default: %(default)g)"
    parser.add_argument("--rtol", type=float, default=1e-8, metavar="TOL", help=rtol_help)
    atol_help = "absolute tolerance of the states (default: as --rtol)"
    parser.add_argument("--atol", type=float, metavar="TOL", help=atol_help)


def add_solver(parser: argparse._ActionsContainer) -> None:
    """Add the solver."""
    text = f"{', '.join(solver_names())} (default: %(default)s)"
    parser.add_argument("--solver", default="auto", help=text)


def add_loads(parser: argparse._ActionsContainer) -> None:
    """Add loads: constants and columns of CSV files."""
    text = (
        "load in a joint or on a body [N.m or N], or other input, as 'A', 'S[2]', 'push.F[1]', 'grip.input': a number, "
        "or a column of a CSV file with the times [s] in its column 'time' or 't' (COLUMN may be left out if it is the "
        "only other one); may be repeated"
    )
    add = parser.add_argument
    add("--input", type=input_value, action="append", default=[], metavar="NAME=LOAD|FILE.csv:COLUMN", help=text)
    between = "between the rows of CSV files (default: %(default)s; of commands: hold)"
    add("--interpolation", choices=INTERPOLATIONS, default="linear", help=between)
    beyond = "before and after the rows of CSV files: their end values, zero, or an error (default: %(default)s)"
    add("--outside", choices=OUTSIDES, default="hold", help=beyond)


class CsvColumn(NamedTuple):
    """A column of a CSV file over its column of times; None: the only one."""

    path: Path
    column: str | None

    def table(self, interpolation: Any, outside: Any) -> lw.Table:
        """Return the column as a table."""
        columns = read_csv(self.path)
        time = next((name for name in TIMES if name in columns), None)
        if time is None:
            raise lw.MechanismError(
                f"{self.path} has no column 'time' of numbers, s; its columns are {quoted(columns)}"
            )
        times, column = columns.pop(time), self.column
        if column is None and len(columns) == 1:
            column = next(iter(columns))
        if column is None:
            raise lw.MechanismError(
                f"{self.path} has several columns: name one as in {self.path}:{next(iter(columns), '')}"
            )
        if column not in columns:
            raise MechanismNameError(f"{self.path} has no column {column!r} of numbers: {suggest(column, columns)}")
        return lw.Table(times, columns[column], interpolation, outside)


def input_value(text: str) -> tuple[str, float | CsvColumn]:
    """Take an argument as an input: a constant, or a column of a CSV file."""
    name, _, value = text.partition("=")
    try:
        return load(text)
    except argparse.ArgumentTypeError:
        if not name or ".csv" not in value.lower():
            raise argparse.ArgumentTypeError(
                f"{text!r} is not NAME=LOAD, such as A=0.5, or NAME=FILE.csv:COLUMN, such as A=torque.csv:motor"
            ) from None
    path, colon, column = value.rpartition(":")
    if not colon or value.lower().endswith(".csv"):
        return name, CsvColumn(Path(value), None)
    return name, CsvColumn(Path(path), column.strip())


def inputs_of(arguments: argparse.Namespace) -> dict[str, InputValue]:
    """Return the inputs of the arguments by name; files are read."""
    inputs: dict[str, InputValue] = {}
    for name, value in arguments.input:
        if isinstance(value, CsvColumn):
            value = value.table(arguments.interpolation, arguments.outside)
        inputs[name] = value
    return inputs


def load(text: str) -> tuple[str, float]:
    """Take an argument as a load in a joint."""
    joint, _, value = text.partition("=")
    try:
        return joint, float(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not JOINT=LOAD, such as A=0.5") from None


def refuse_to_overwrite(arguments: argparse.Namespace) -> None:
    """Refuse an output file that is one of the files that the command reads.

    Raises
    ------
    LinkworkError
        The text names the file.
    """
    files = {name: _paths(value) for name, value in vars(arguments).items()}
    written = files.pop("output", [])
    for read in (path for paths in files.values() for path in paths):
        for path in written:
            if path.exists() and read.exists() and path.samefile(read):
                raise LinkworkError(f"-o {path}: the command reads this file and would overwrite it; name another file")


def _paths(value: Any) -> list[Path]:
    listed = value if isinstance(value, list | tuple) else [value]
    return [one for one in listed if isinstance(one, Path)]
