"""Find the pose of a mechanism with given positions.

Targets are values of points, orientations and coordinates; loops close, and limits of joints hold.
"""

from __future__ import annotations

import argparse
from typing import Any

import linkwork as lw
from linkwork.cli.mechanism_files import add_mechanism, mechanism_of
from linkwork.cli.result_files import add_output, check_files, give
from linkwork.cli.signatures import from_signature, given
from linkwork.cli.values import AppendNamed, bounds, numbers


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to a parser."""
    add_mechanism(parser)
    add = from_signature(parser, lw.inverse_kinematics)
    at_help = "target, as hand.r=0.1,0.2,0.3 [m], hand.Q=1,0,0,0 or A=0.5 [rad]; may be repeated"
    values: dict[str, Any] = {"type": numbers, "action": AppendNamed, "metavar": "NAME=VALUES"}
    add("targets", "--at", **values, help=at_help)
    start_help = "coordinate of the start [rad or m] (default: that of the mechanism); may be repeated"
    parser.add_argument("--from", dest="q", **{**values, "metavar": "JOINT=VALUES"}, help=start_help)
    add("prefer", **values, help="preferred value among the poses that reach the targets; may be repeated")
    add("limits", "--limit", **LIMITS)
    add("starts")
    add_output(parser, "table with the pose as a row to write", (".csv",))


LIMITS: dict[str, Any] = {
    "type": bounds,
    "metavar": "NAME=LOWER,UPPER",
    "help": "bounds of a coordinate [rad or m], as A=-1,1 or A=,1 (default: those of stops); may be repeated",
}


def run(arguments: argparse.Namespace) -> int:
    """Print the pose; return 0 if it reaches the targets, else 1."""
    check_files(arguments.output)
    model = lw.compile(mechanism_of(arguments))
    start = model.assemble(q=arguments.q) if arguments.q else None
    result = lw.inverse_kinematics(model, state=start, **given(arguments, "inverse_kinematics"))
    give(result, arguments)
    return 0 if result.found else 1
