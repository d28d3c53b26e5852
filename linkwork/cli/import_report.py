"""Show what becomes of each element of a robot's file.

The file is URDF, SDF, MJCF or USD; elements are taken, approximated or left out.
"""

from __future__ import annotations

import argparse

from linkwork.cli.mechanism_files import add_mechanism, mechanism_of
from linkwork.cli.result_files import add_json, give
from linkwork.errors import LinkworkError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to a parser."""
    add_mechanism(parser)
    add_json(parser, "print the report as JSON, with all that is taken")
    parser.add_argument("--all", action="store_true", help="list the elements that are taken as well")
    parser.set_defaults(output=[])


def run(arguments: argparse.Namespace) -> int:
    """Print the fidelity report of a file."""
    report = mechanism_of(arguments).report
    if report is None:
        raise LinkworkError(f"{arguments.mechanism}: all of it is taken, as it is a file of Linkwork")
    give(report, arguments)
    if arguments.all and not arguments.json:
        print("\n".join(["  taken", *(f"    {one.element}: {one.text or 'as it is'}" for one in report.of("taken"))]))
    return 0
