"""The command line of inverse kinematics: a mechanism and targets in, coordinates out."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

import numpy as np

import linkwork as lw
from linkwork.cli.mechanism_files import add_mechanism, mechanism_of
from linkwork.cli.result_files import add_output, check_files, wrote
from linkwork.cli.shared import AppendNamed, aligned

if TYPE_CHECKING:
    from linkwork.analysis.inverse_kinematics import InverseKinematics
    from linkwork.model.model import Model


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to a parser."""
    add_mechanism(parser)
    add = parser.add_argument
    at_help = "target, as hand.r=0.1,0.2,0.3 [m], hand.Q=1,0,0,0 or A=0.5 [rad]; may be repeated"
    add("--at", type=values, action=AppendNamed, required=True, metavar="NAME=VALUES", help=at_help)
    start_help = "coordinate of the start [rad or m] (default: that of the mechanism); may be repeated"
    add("--from", dest="origin", type=values, action=AppendNamed, default=[], metavar="JOINT=VALUES", help=start_help)
    prefer_help = "preferred value among the poses that reach the targets; may be repeated"
    add("--prefer", type=values, action=AppendNamed, default=[], metavar="NAME=VALUES", help=prefer_help)
    add_limits(parser)
    add("--starts", type=int, default=8, metavar="N", help="further starts if the first fails (default: %(default)s)")
    add_output(parser, "table with the pose as a row to write", (".csv",))
    add("--json", action="store_true", help="print the result as JSON")


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Add limits of coordinates to a parser."""
    text = "bounds of a coordinate [rad or m], as A=-1,1 or A=,1 (default: those of stops); may be repeated"
    parser.add_argument("--limit", type=limit, action=AppendNamed, default=[], metavar="NAME=LOWER,UPPER", help=text)


def run(arguments: argparse.Namespace) -> int:
    """Print the pose; return 0 if it reaches the targets, else 1."""
    check_files(arguments.output)
    model = lw.compile(mechanism_of(arguments))
    result = lw.inverse_kinematics(
        model,
        dict(arguments.at),
        state=model.assemble(q=dict(arguments.origin)) if arguments.origin else None,
        limits=dict(arguments.limit),
        prefer=dict(arguments.prefer),
        starts=arguments.starts,
    )
    for path in arguments.output:
        result.to_csv(path)
    lines = [_as_text(result, model), *wrote(arguments.output)]
    print(json.dumps(_facts(result), indent=2) if arguments.json else "\n".join(lines))
    return 0 if result.found else 1


def _facts(result: InverseKinematics) -> dict[str, object]:
    return {
        "found": result.found,
        "distance": result.distance,
        "steps": result.steps,
        "length": result.length,
        "coordinates": {name: float(result[name]) for name in result},
    }


def _as_text(result: InverseKinematics, model: Model) -> str:
    missed = f"not found: the nearest pose misses by {result.distance:.3g} m (angles times {result.length:.3g} m)"
    rows = [(name, f"{round(result[name], 8) + 0.0: .6g}", model.column(name).unit) for name in result]
    return "\n".join(["found" if result.found else missed, *aligned(rows)])


def values(text: str) -> tuple[str, float | np.ndarray]:
    """Take an argument as a name and one value or several."""
    name, sign, numbers = text.partition("=")
    try:
        found = np.array([float(one) for one in numbers.split(",")])
    except ValueError:
        found = np.array([])
    if not name or not sign or not len(found):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUES, such as hand.r=0.1,0.2,0.3")
    return name, float(found[0]) if len(found) == 1 else found


def limit(text: str) -> tuple[str, tuple[float | None, float | None]]:
    """Take an argument as a name and its bounds."""
    name, sign, bounds = text.partition("=")
    lower, comma, upper = bounds.partition(",")
    try:
        found = (float(lower) if lower else None), (float(upper) if upper else None)
    except ValueError:
        comma = ""
    if not name or not sign or not comma:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=LOWER,UPPER, such as A=-1,1")
    return name, found
