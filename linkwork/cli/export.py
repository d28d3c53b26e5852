"""The command line of the export: a mechanism's file in, an FMU out."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from linkwork.cli.mechanism_files import add_mechanism, mechanism_of
from linkwork.cli.result_files import file_argument
from linkwork.errors import LinkworkError
from linkwork.fmu.export.fmu import export_fmu
from linkwork.fmu.export.libraries import PLATFORMS
from linkwork.fmu.export.reference_files import without_reference


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the export to a parser."""
    add_mechanism(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=file_argument((".fmu",)),
        metavar="FMU",
        help="output FMU, .fmu (default: <mechanism>.fmu in the current directory)",
    )
    parser.add_argument("--fmi", choices=("2.0", "3.0"), default="3.0", help="version of FMI (default: %(default)s)")
    parser.add_argument(
        "--outputs", nargs="+", metavar="NAME", help="names or beginnings of names, as A.q or coupler.r (default: all)"
    )
    parser.add_argument(
        "--inputs",
        nargs="*",
        metavar="NAME",
        help="names or beginnings of names, as A.tau or push; without a name: none (default: all)",
    )
    parser.add_argument(
        "--states",
        choices=("full", "minimal"),
        default="full",
        help="all states of the tree, or independent ones alone (default: %(default)s)",
    )
    parser.add_argument(
        "--independents", nargs="+", metavar="NAME", help="with --states minimal: coordinates, as A.q (default: chosen)"
    )
    parser.add_argument("--arrays", action="store_true", help="arrays for quantities of several numbers (FMI 3.0 only)")
    stop_help = "end of the default experiment [s] (default: %(default)g)"
    parser.add_argument("--stop-time", type=float, default=10.0, metavar="T", help=stop_help)
    step_help = "step of the default experiment [s] (default: at most 0.01, less for fast motions and stiff springs)"
    parser.add_argument("--step-size", type=float, metavar="DT", help=step_help)
    tolerance_help = "tolerance of the default experiment (default: %(default)g)"
    parser.add_argument("--tolerance", type=float, default=1e-7, metavar="TOL", help=tolerance_help)
    parser.add_argument(
        "--platforms",
        type=lambda text: text.split(","),
        metavar="NAME,...",
        help=f"where it shall run (default: on this platform): {', '.join(PLATFORMS)}",
    )
    parser.add_argument("--sources", action="store_true", help="put the C sources in as well")
    page_help = "put a page that simulates the mechanism into the documentation (0.5 MB)"
    parser.add_argument("--page", action="store_true", help=page_help)
    dae_help = "DAE mode: importers may solve the equations with multipliers (FMI-LS-DAE; FMI 3.0 only)"
    parser.add_argument("--dae", action="store_true", help=dae_help)
    parser.add_argument(
        "--reference",
        type=Path,
        metavar="CSV",
        help="results, and inputs if any, for the reference run of the FMU (default: a short simulation)",
    )
    parser.add_argument("--no-reference", action="store_true", help="leave the reference run out")
    rtol_help = "by how much a run may differ from the reference run (default: 1000 times the tolerance)"
    parser.add_argument("--reference-rtol", type=float, metavar="RTOL", help=rtol_help)
    profile_help = "an importer that takes a part of the standard: real scalars and Model Exchange alone for CasADi"
    parser.add_argument("--profile", choices=("casadi",), help=profile_help)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Export by the arguments and print the result; return the exit code."""
    if arguments.no_reference and arguments.reference is not None:
        print("error: --reference and --no-reference exclude each other", file=sys.stderr)
        return 2
    try:
        path = export_fmu(
            mechanism_of(arguments),
            arguments.output or Path(arguments.mechanism.stem + ".fmu"),
            arguments.fmi,
            arguments.outputs,
            inputs=arguments.inputs,
            states=arguments.states,
            independents=arguments.independents,
            arrays=arguments.arrays,
            stop_time=arguments.stop_time,
            step_size=arguments.step_size,
            tolerance=arguments.tolerance,
            platforms=arguments.platforms,
            sources=arguments.sources,
            page=arguments.page,
            reference=False if arguments.no_reference else arguments.reference,
            reference_rtol=arguments.reference_rtol,
            dae=arguments.dae,
            profile=arguments.profile,
        )
    except LinkworkError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    size = path.stat().st_size
    if arguments.json:
        print(json.dumps({"path": str(path), "fmi": arguments.fmi, "bytes": size}))
    else:
        print(f"{path} (FMI {arguments.fmi}, {size / 1024:.0f} kB)")
        for line in without_reference(path):
            print(line)
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line of `build_fmu.py`; return the exit code."""
    parser = argparse.ArgumentParser(prog="build_fmu.py", description="Write a mechanism as an FMU.")
    add_arguments(parser)
    return run(parser.parse_args(argv))
