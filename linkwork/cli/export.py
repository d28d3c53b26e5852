"""Write a mechanism as an FMU.

It serves Model Exchange and Co-Simulation.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from linkwork.cli.mechanism_files import add_mechanism, mechanism_of
from linkwork.cli.result_files import add_json, give_file
from linkwork.cli.signatures import from_signature, given
from linkwork.cli.values import by_comma, file_argument
from linkwork.errors import LinkworkError
from linkwork.fmu.export.fmu import export_fmu
from linkwork.fmu.export.libraries import PLATFORMS
from linkwork.fmu.export.reference_files import without_reference


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the export to a parser."""
    add_mechanism(parser)
    output_help = "output FMU, .fmu (default: <mechanism>.fmu in the current directory)"
    parser.add_argument("-o", "--output", type=file_argument((".fmu",)), metavar="FMU", help=output_help)
    add = from_signature(parser, export_fmu)
    add("fmi", choices=("2.0", "3.0"))
    add("outputs")
    inputs_help = "names or beginnings of names, as A.tau or push; without a name: none (default: all)"
    add("inputs", nargs="*", help=inputs_help)
    add("states", choices=("full", "minimal"))
    for name in ("independents", "arrays", "stop_time", "step_size", "tolerance"):
        add(name)
    add("platforms", type=by_comma, metavar="NAME,...", help=f"where it shall run: {', '.join(PLATFORMS)}")
    for name in ("sources", "page", "dae", "reference_rtol"):
        add(name)
    add("native", action="store_true")
    reference_help = "results, and inputs if any, for the reference run of the FMU (default: a short simulation)"
    add("reference", type=Path, metavar="CSV", help=reference_help)
    parser.add_argument("--no-reference", action="store_true", help="leave the reference run out")
    add("profile", choices=("casadi",))
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Export by the arguments and print the result; return the exit code."""
    settings = given(arguments, "export_fmu")
    if arguments.no_reference:
        if arguments.reference is not None:
            print("error: --reference and --no-reference exclude each other", file=sys.stderr)
            return 2
        settings["reference"] = False
    path = export_fmu(mechanism_of(arguments), arguments.output or Path(arguments.mechanism.stem + ".fmu"), **settings)
    give_file(path, arguments, fmi=arguments.fmi)
    if not arguments.json:
        for line in without_reference(path):
            print(line)
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line of `build_fmu.py`; return the exit code."""
    parser = argparse.ArgumentParser(prog="build_fmu.py", description="Write a mechanism as an FMU.")
    add_arguments(parser)
    try:
        return run(parser.parse_args(argv))
    except LinkworkError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
