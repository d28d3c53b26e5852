"""The command line of comparisons: a mechanism's file in; a table, CSV, JSON and a work-precision plot out."""

from __future__ import annotations

import argparse
import json
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from linkwork.cli.export import load_mechanism
from linkwork.cli.shared import FILE_HELP, load, picture
from linkwork.comparison.compare import POINTS, TOLERANCES, compare
from linkwork.comparison.runs import DAE_FORMULATIONS, in_short
from linkwork.compiler.methods import METHODS
from linkwork.errors import LinkworkError, MechanismError
from linkwork.solvers import solver_names

if TYPE_CHECKING:
    from linkwork.comparison.comparison import Comparison


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a comparison to a parser."""
    add = parser.add_argument
    add("mechanism", type=Path, help=FILE_HELP)
    add("--t-end", type=float, default=10.0, metavar="T", help="how long [s] (default: %(default)g)")
    runs_help = (
        "what to compare: FORMULATION/SOLVER or SOLVER. Formulations: auto, "
        f"{', '.join(METHODS)}; with solver ida {', '.join(DAE_FORMULATIONS)}. Solvers: {', '.join(solver_names())} "
        "(default: what suits the mechanism)"
    )
    add("--runs", nargs="+", metavar="RUN", help=runs_help)
    usual = " ".join(map(in_short, TOLERANCES))
    add("--rtol", nargs="+", type=float, default=TOLERANCES, metavar="TOL", help=f"tolerances (default: {usual})")
    reference_help = "the run that counts as right, at a much tighter tolerance (default: auto/DOP853)"
    add("--reference", metavar="RUN", help=reference_help)
    columns_help = "what to compare and plot, as A.q or coupler.r (default: all coordinates and speeds)"
    add("--columns", nargs="+", metavar="NAME", help=columns_help)
    add("--points", type=int, default=POINTS, metavar="N", help="times at which it is compared (default: %(default)d)")
    repeat_help = "how often each run is timed; slow ones are timed once (default: %(default)d)"
    add("--repeat", type=int, default=3, metavar="N", help=repeat_help)
    add("--csv", type=Path, metavar="FILE", help="write the table as CSV")
    add("--json", action="store_true", help="print the table as JSON")
    load_help = "constant load in a joint or on a body, as 'simulate' takes it"
    add("--input", type=load, action="append", default=[], metavar="JOINT=LOAD", help=load_help)
    add("--plot", type=picture, metavar="FILE", help="save error over CPU time: .png, .svg or .pdf")


def run(arguments: argparse.Namespace) -> int:
    """Compare by the arguments, and print; an interrupt leaves the rows so far.

    Raises
    ------
    LinkworkError
        If no run came to its end, after the table is printed.
    """
    for path in (arguments.csv, arguments.plot):
        if path and not path.absolute().parent.is_dir():
            raise LinkworkError(f"cannot write {path}: there is no folder {path.parent}")
    if arguments.points < 2:
        raise MechanismError(f"--points must be at least 2, not {arguments.points}")
    if arguments.plot:
        import_module("linkwork.comparison.plot")  # a missing package is reported before the runs
    mech = load_mechanism(arguments.mechanism)
    try:
        comparison = compare(
            mech,
            arguments.t_end,
            runs=arguments.runs,
            rtol=arguments.rtol,
            reference=arguments.reference,
            columns=arguments.columns,
            t_eval=np.linspace(0.0, arguments.t_end, arguments.points),
            inputs=dict(arguments.input),
            repeat=arguments.repeat,
        )
    except KeyboardInterrupt as interrupt:
        if (so_far := getattr(interrupt, "comparison", None)) is not None:
            _give(so_far, arguments)
        raise
    _give(comparison, arguments)
    if all(row.failed for row in comparison.rows):
        raise LinkworkError("no run came to its end: the table gives the reasons")
    return 0


def _give(comparison: Comparison, arguments: argparse.Namespace) -> None:
    """Write and print it."""
    good = any(not row.failed for row in comparison.rows)
    if arguments.csv:
        comparison.to_csv(arguments.csv)
    if arguments.plot and good:
        comparison.plot(arguments.plot)
    written = [arguments.csv, arguments.plot if good else None]
    lines = [str(comparison), *(f"wrote {path}" for path in written if path)]
    print(json.dumps(comparison.to_dict(), indent=2) if arguments.json else "\n".join(lines))
