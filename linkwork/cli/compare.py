"""Compare formulations and solvers on a mechanism.

It prints error, loop residuals, energy drift, steps, evaluations and CPU time at each tolerance.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from linkwork.cli.inputs import add_loads, inputs_of
from linkwork.cli.mechanism_files import add_mechanism, mechanism_of
from linkwork.cli.result_files import PICTURES, add_output, check_files, give, is_picture
from linkwork.cli.signatures import from_signature, given
from linkwork.comparison.compare import POINTS, TOLERANCES, compare
from linkwork.comparison.runs import DAE_FORMULATIONS, in_short
from linkwork.errors import MechanismError
from linkwork.model.methods import METHODS
from linkwork.solvers import solver_names

if TYPE_CHECKING:
    from linkwork.comparison.comparison import Comparison

RUNS_HELP = (
    f"what to compare: FORMULATION/SOLVER or SOLVER. Formulations: auto, {', '.join(METHODS)}; with solver ida "
    f"{', '.join(DAE_FORMULATIONS)}. Solvers: {', '.join(solver_names())} (default: what suits the mechanism)"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a comparison to a parser."""
    add_mechanism(parser)
    add = from_signature(parser, compare)
    add("t_end", "--t-end", default=10.0, help="end of the runs [s] (default: %(default)g)")
    add("runs", nargs="+", metavar="RUN", help=RUNS_HELP)
    usual = " ".join(map(in_short, TOLERANCES))
    add("rtol", nargs="+", type=float, metavar="TOL", help=f"tolerances (default: {usual})")
    reference_help = "the run that counts as right, at a much tighter tolerance (default: auto/DOP853)"
    add("reference", metavar="RUN", help=reference_help)
    add("columns")
    points_help = "times at which it is compared (default: %(default)d)"
    parser.add_argument("--points", type=int, default=POINTS, metavar="N", help=points_help)
    add("repeat")
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
    times, inputs = np.linspace(0.0, arguments.t_end, arguments.points), inputs_of(arguments)
    try:
        comparison = compare(mech, t_eval=times, inputs=inputs, **given(arguments, "compare"))
    except KeyboardInterrupt as interrupt:
        if (so_far := getattr(interrupt, "comparison", None)) is not None:
            _give(so_far, arguments)
        print("interrupted", file=sys.stderr)
        raise
    _give(comparison, arguments)
    failed = sum(row.failed for row in comparison.rows)
    if failed:
        print(f"error: {failed} of {len(comparison.rows)} rows failed: the table gives the reasons", file=sys.stderr)
    return int(failed > 0)


def _give(comparison: Comparison, arguments: argparse.Namespace) -> None:
    """Write and print it; there is no plot of failed rows alone."""
    if all(row.failed for row in comparison.rows):
        arguments.output = [path for path in arguments.output if not is_picture(path)]
    give(comparison, arguments)
