"""The command line of comparisons: a mechanism's file in; a table, CSV, JSON and a work-precision plot out."""

from __future__ import annotations

import argparse
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from linkwork._util.files import atomic_path
from linkwork.cli.inputs import add_loads, inputs_of
from linkwork.cli.mechanism_files import add_mechanism, mechanism_of
from linkwork.cli.result_files import PICTURES, add_output, check_files, is_picture
from linkwork.cli.shared import INTERRUPTED
from linkwork.comparison.compare import POINTS, TOLERANCES, compare
from linkwork.comparison.runs import DAE_FORMULATIONS, in_short
from linkwork.errors import MechanismError
from linkwork.model.methods import METHODS
from linkwork.solvers import solver_names

if TYPE_CHECKING:
    from linkwork.comparison.comparison import Comparison


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a comparison to a parser."""
    add = parser.add_argument
    add_mechanism(parser)
    add(
        "--t-end",
        type=float,
        default=10.0,
        metavar="T",
        help="end of the runs [s] (default: %(default)g)",
    )
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
    add("--json", action="store_true", help="print the table as JSON")
    add_loads(parser)
    add_output(parser, "write the table, or plot error over CPU time", (".csv", ".json", *PICTURES))


def run(arguments: argparse.Namespace) -> int:
    """Compare by the arguments and print; return 0 if no row failed, 1 if some did, 130 after an interruption."""
    check_files(arguments.output)
    if arguments.points < 2:
        raise MechanismError(f"--points must be at least 2, not {arguments.points}")
    if any(map(is_picture, arguments.output)):
        import_module("linkwork.draw.work_precision")  # a missing package is reported before the runs
    mech = mechanism_of(arguments)
    try:
        comparison = compare(
            mech,
            arguments.t_end,
            runs=arguments.runs,
            rtol=arguments.rtol,
            reference=arguments.reference,
            columns=arguments.columns,
            t_eval=np.linspace(0.0, arguments.t_end, arguments.points),
            inputs=inputs_of(arguments),
            repeat=arguments.repeat,
        )
    except KeyboardInterrupt as interrupt:
        if (so_far := getattr(interrupt, "comparison", None)) is not None:
            _give(so_far, arguments)
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    _give(comparison, arguments)
    failed = sum(row.failed for row in comparison.rows)
    if failed:
        print(f"error: {failed} of {len(comparison.rows)} rows failed: the table gives the reasons", file=sys.stderr)
    return int(failed > 0)


def _give(comparison: Comparison, arguments: argparse.Namespace) -> None:
    """Write and print it; there is no plot of failed rows alone."""
    good = any(not row.failed for row in comparison.rows)
    written = [path for path in arguments.output if good or not is_picture(path)]
    for path in written:
        _save(comparison, path)
    lines = [str(comparison), *(f"wrote {path}" for path in written)]
    print(json.dumps(comparison.to_dict(), indent=2) if arguments.json else "\n".join(lines))


def _save(comparison: Comparison, path: Path) -> None:
    if is_picture(path):
        comparison.plot(path)
    elif path.suffix.lower() == ".csv":
        comparison.to_csv(path)
    else:
        with atomic_path(path) as part:
            part.write_text(json.dumps(comparison.to_dict(), indent=2) + "\n", encoding="utf-8")
