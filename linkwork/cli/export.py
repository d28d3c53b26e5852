"""The command line of the export: a mechanism's file in, an FMU out."""

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
    add("fmi", choices=("2.0", "3.0"), help="version of FMI (default: %(default)s)")
    add("outputs", help="names or beginnings of names, as A.q or coupler.r (default: all)")
    inputs_help = "names or beginnings of names, as A.tau or push; without a name: none (default: all)"
    add("inputs", nargs="*", help=inputs_help)
    states_help = "all states of the tree, or independent ones alone (default: %(default)s)"
    add("states", choices=("full", "minimal"), help=states_help)
    add("independents", help="with --states minimal: coordinates, as A.q (default: chosen)")
    add("arrays", help="arrays for quantities of several numbers (FMI 3.0 only)")
    add("stop_time", metavar="T", help="end of the default experiment [s] (default: %(default)g)")
    step_help = "step of the default experiment [s] (default: at most 0.01, less for fast motions and stiff springs)"
    add("step_size", metavar="DT", help=step_help)
    add("tolerance", metavar="TOL", help="tolerance of the default experiment (default: %(default)g)")
    platforms_help = f"where it shall run (default: on this platform): {', '.join(PLATFORMS)}"
    add("platforms", type=by_comma, metavar="NAME,...", help=platforms_help)
    add("sources", help="put the C sources in as well")
    add("page", help="put a page that simulates the mechanism into the documentation (0.5 MB)")
    add("dae", help="DAE mode: importers may solve the equations with multipliers (FMI-LS-DAE; FMI 3.0 only)")
    reference_help = "results, and inputs if any, for the reference run of the FMU (default: a short simulation)"
    add("reference", type=Path, metavar="CSV", help=reference_help)
    parser.add_argument("--no-reference", action="store_true", help="leave the reference run out")
    rtol_help = "by how much a run may differ from the reference run (default: 1000 times the tolerance)"
    add("reference_rtol", metavar="RTOL", help=rtol_help)
    profile_help = "an importer that takes a part of the standard: real scalars and Model Exchange alone for CasADi"
    add("profile", choices=("casadi",), help=profile_help)
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
