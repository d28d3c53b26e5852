"""Sweep one coordinate of a mechanism through its range.

It gives coordinates, speeds and accelerations of all joints, dead points, limits and change points.
"""

from __future__ import annotations

import argparse

import linkwork as lw
from linkwork.analysis.kinematics import kinematics
from linkwork.cli.mechanism_files import add_mechanism, mechanism_of
from linkwork.cli.result_files import PICTURES, add_output, check_files, give, keeping
from linkwork.cli.signatures import from_signature, given


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to a parser."""
    add_mechanism(parser)
    add = from_signature(parser, kinematics)
    add("coordinate")
    add("q_start", metavar="FROM", help="beginning of the range [rad or m]")
    add("q_end", metavar="TO", help="end of the range [rad or m]")
    add("rows")
    add("u", "--speed", metavar="U")
    for name in ("hold", "through", "columns"):
        add(name)
    add_output(parser, "write the columns or a plot of them", (".csv", *PICTURES))


def run(arguments: argparse.Namespace) -> int:
    """Sweep by the arguments; rows before a failure are written as well."""
    mechanism = mechanism_of(arguments)
    check_files(arguments.output)
    with keeping(arguments):
        result = lw.kinematics(mechanism, **given(arguments, "kinematics"))
    return give(result, arguments)
