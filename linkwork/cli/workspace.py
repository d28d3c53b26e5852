"""Map the poses that a mechanism reaches.

They are connected with its start. The conditioning of its motors shows singular poses.
"""

from __future__ import annotations

import argparse

import linkwork as lw
from linkwork.cli.inverse_kinematics import LIMITS
from linkwork.cli.mechanism_files import add_mechanism, mechanism_of
from linkwork.cli.result_files import PICTURES, add_output, check_files, give
from linkwork.cli.signatures import from_signature, given
from linkwork.cli.values import AppendNamed, axis, numbers


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to a parser."""
    add_mechanism(parser)
    add = from_signature(parser, lw.workspace)
    add("of", help="mapped quantities, as 'hand.r[1]' 'hand.r[3]'")
    add("by")
    over_help = "axis of the grid with its ends and number of nodes (default: the motors); may be repeated"
    add("over", type=axis, metavar="NAME=LOWER,UPPER[,N]", help=over_help)
    hold_help = "value that holds in all poses, as hand.Q=1,0,0,0; may be repeated"
    add("hold", type=numbers, action=AppendNamed, metavar="NAME=VALUES", help=hold_help)
    add("limits", "--limit", **LIMITS)
    add("points")
    add_output(parser, "table or picture to write", (".csv", *PICTURES))


def run(arguments: argparse.Namespace) -> int:
    """Print the extent of the workspace and write the files."""
    check_files(arguments.output)
    return give(lw.workspace(mechanism_of(arguments), progress=None, **given(arguments, "workspace")), arguments)
