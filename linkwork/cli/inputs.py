"""Inputs on the command line: constants, and columns of CSV files over time."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import linkwork as lw
from linkwork._util.names import suggest
from linkwork._util.piecewise import INTERPOLATIONS
from linkwork.analysis.tables import read_over_time
from linkwork.cli.values import AppendNamed, load
from linkwork.errors import MechanismNameError
from linkwork.simulation.input_table import OUTSIDES

if TYPE_CHECKING:
    from linkwork.simulation.inputs import InputValue


def add_loads(parser: argparse._ActionsContainer) -> None:
    """Add loads: constants and columns of CSV files."""
    text = (
        "load in a joint or on a body [N.m or N], or other input, as 'A', 'S[2]', 'push.F[1]', 'grip.input': a number, "
        "or a column of a CSV file with the times [s] in its column 'time' or 't' (COLUMN may be left out if it is the "
        "only other one); may be repeated"
    )
    add = parser.add_argument
    add("--input", type=input_value, action=AppendNamed, metavar="NAME=LOAD|FILE.csv:COLUMN", help=text)
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
        (times, columns), column = read_over_time(self.path), self.column
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
    colon = value.lower().find(".csv:") + len(".csv")
    if colon < len(".csv"):
        return name, CsvColumn(Path(value), None)
    return name, CsvColumn(Path(value[:colon]), value[colon + 1 :].strip() or None)


def inputs_of(arguments: argparse.Namespace) -> dict[str, InputValue]:
    """Return the inputs of the arguments by name; files are read."""
    inputs: dict[str, InputValue] = {}
    for name, value in (arguments.input or {}).items():
        if isinstance(value, CsvColumn):
            value = value.table(arguments.interpolation, arguments.outside)
        inputs[name] = value
    return inputs
