"""What the commands have in common: aligned lines, arguments of the command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwork.errors import LinkworkError
from linkwork.solvers import solver_names

if TYPE_CHECKING:
    from linkwork.model.model import Model
    from linkwork.model.state import State

INTERRUPTED = 130  # as shells expect of a program that was interrupted


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return indented lines whose cells stand in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ([cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows)
    return ["  " + "  ".join(cells).rstrip() for cells in padded]


def add_gap(parser: argparse.ArgumentParser) -> None:
    """Add the gap that assembly accepts."""
    text = "largest gap of a loop that assembly accepts, where numbers were rounded [m] (default: 1e-8)"
    parser.add_argument("--tolerance", type=float, metavar="M", help=text)


def start_of(system: Model, arguments: argparse.Namespace, time: float = 0.0) -> State | None:
    """Return the start assembled with the gap that was given; None: none was, and the default serves."""
    return None if arguments.tolerance is None else system.assemble(tolerance=arguments.tolerance, time=time)


def add_tolerances(parser: argparse.ArgumentParser) -> None:
    """Add the tolerances of a solver."""
    rtol_help = "relative tolerance of the states (default: %(default)g)"
    parser.add_argument("--rtol", type=float, default=1e-8, metavar="TOL", help=rtol_help)
    atol_help = "absolute tolerance of the states (default: --rtol, by the sizes of the mechanism)"
    parser.add_argument("--atol", type=float, metavar="TOL", help=atol_help)


def add_solver(parser: argparse._ActionsContainer) -> None:
    """Add the solver."""
    text = f"{', '.join(solver_names())} (default: %(default)s)"
    parser.add_argument("--solver", default="auto", help=text)


def load(text: str) -> tuple[str, float]:
    """Take an argument as a load in a joint."""
    joint, _, value = text.partition("=")
    try:
        return joint, float(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not JOINT=LOAD, such as A=0.5") from None


class AppendNamed(argparse.Action):
    """Appends pairs of name and value, of an option that may be repeated; one name twice would lose a value."""

    def __call__(self, parser: object, namespace: argparse.Namespace, values: Any, option: object = None) -> None:
        """Append, or refuse."""
        pairs = list(getattr(namespace, self.dest) or [])
        for pair in values if self.nargs else [values]:
            if any(name == pair[0] for name, _ in pairs):
                raise argparse.ArgumentError(self, f"{pair[0]!r} is given twice: give it once")
            pairs.append(pair)
        setattr(namespace, self.dest, pairs)


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
    if isinstance(value, list | tuple):
        return [path for one in value for path in _paths(one)]
    return [value] if isinstance(value, Path) else []
