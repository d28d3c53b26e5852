"""The command line of workspaces: a mechanism in, a table and a picture of the poses that it reaches out."""

from __future__ import annotations

import argparse
import json

import numpy as np

import linkwork as lw
from linkwork.analysis.workspace import POINTS, Workspace
from linkwork.cli.inverse_kinematics import add_limits, values
from linkwork.cli.mechanism_files import add_mechanism, mechanism_of
from linkwork.cli.result_files import PICTURES, add_output, check_files, is_picture, wrote
from linkwork.cli.shared import AppendNamed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to a parser."""
    add_mechanism(parser)
    add = parser.add_argument
    add("--of", nargs="+", required=True, metavar="NAME", help="mapped quantities, as 'hand.r[1]' 'hand.r[3]'")
    by_help = "motors: joints or actuators (default: all actuators, or as many joints as degrees of freedom)"
    add("--by", nargs="+", metavar="NAME", help=by_help)
    over_help = "axis of the grid with its ends and number of nodes (default: the motors); may be repeated"
    add("--over", type=_axis, action=AppendNamed, metavar="NAME=LOWER,UPPER[,N]", help=over_help)
    hold_help = "value that holds in all poses, as hand.Q=1,0,0,0; may be repeated"
    add("--hold", type=values, action=AppendNamed, default=[], metavar="NAME=VALUES", help=hold_help)
    add_limits(parser)
    add("--points", type=int, default=POINTS, metavar="N", help="nodes along an axis (default: %(default)s)")
    add_output(parser, "table or picture to write", (".csv", *PICTURES))
    add("--json", action="store_true", help="print the extent as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the extent of the workspace and write the files."""
    check_files(arguments.output)
    found = lw.workspace(
        mechanism_of(arguments),
        of=arguments.of,
        over=None if arguments.over is None else dict(arguments.over),
        by=arguments.by,
        hold=dict(arguments.hold),
        limits=dict(arguments.limit),
        points=arguments.points,
        progress=None,
    )
    for path in arguments.output:
        if is_picture(path):
            found.plot(path)
        else:
            found.to_csv(path)
    lines = [str(found), *wrote(arguments.output)]
    print(json.dumps(_facts(found), indent=2) if arguments.json else "\n".join(lines))
    return 0


def _facts(found: Workspace) -> dict[str, object]:
    extent = {
        name: {"least": float(np.nanmin(found[name])), "greatest": float(np.nanmax(found[name])), "unit": unit}
        for name in (*found.of, "conditioning", "motor_conditioning")
        for unit in [found.units[name]]
    }
    shape = dict(zip(found.over, found.shape, strict=True))
    return {"nodes": shape, "reached": int(found.reached.sum()), "motors": list(found.by), "extent": extent}


def _axis(text: str) -> tuple[str, tuple[float, ...]]:
    """Take an argument as an axis of the grid."""
    name, _, numbers = text.partition("=")
    try:
        lower, upper, *count = numbers.split(",")
        return name, (float(lower), float(upper), *map(int, count))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=LOWER,UPPER,N, such as A=-1,1,31") from None
