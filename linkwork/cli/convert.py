"""Write a mechanism in another format.

It prints the parts that the other format does not have.
"""

from __future__ import annotations

import argparse
import json

from linkwork.cli.mechanism_files import add_mechanism, mechanism_of
from linkwork.cli.result_files import add_json, check_files
from linkwork.cli.values import file_argument
from linkwork.formats.files import WRITTEN, save


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to a parser."""
    add_mechanism(parser)
    output_help = f"output file: {', '.join(WRITTEN)} (.xml: MJCF)"
    parser.add_argument("-o", "--output", type=file_argument(WRITTEN), metavar="FILE", required=True, help=output_help)
    add_json(parser, "print the reports as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Convert a file and print what could not be taken or written."""
    check_files([arguments.output])
    mech = mechanism_of(arguments)
    written = save(mech, arguments.output, strict=arguments.strict)
    if arguments.json:
        read = None if mech.report is None else mech.report.to_dict()
        print(json.dumps({"read": read, "written": written.to_dict()}, indent=2))
        return 0
    reports = [report for report in (mech.report, written) if report is not None]
    print("\n".join(str(report) for report in reports))
    return 0
