"""The command line of identification: a mechanism and measurements in; parameters with standard deviations out."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwork._util.files import atomic_path
from linkwork.analysis.identify import identify
from linkwork.cli.mechanism_files import add_mechanism, mechanism_of
from linkwork.cli.result_files import PICTURES, add_output, check_files, is_picture, wrote

if TYPE_CHECKING:
    from linkwork.analysis.identify import Identification


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of an identification to a parser."""
    add = parser.add_argument
    add_mechanism(parser)
    data_help = "CSV file: time, coordinates as A.q (speeds A.u, accelerations A.a), loads as A.tau"
    add("data", type=Path, metavar="DATA", help=data_help)
    parameter_help = "unknown parameter, as crank.mass, A.damping, or a body; may be repeated (default: all bodies)"
    add("--parameter", action="append", metavar="NAME", help=parameter_help)
    motors_help = "joints and actuators with measured loads (default: all whose column is not zero)"
    add("--motors", nargs="+", metavar="NAME", help=motors_help)
    smoothing_help = "standard deviation of the coordinates, for derivatives by splines (default: they interpolate)"
    add("--smoothing", type=float, metavar="STD", help=smoothing_help)
    add("--json", action="store_true", help="print the result as JSON")
    add_output(parser, "write the parameters, or plot the residuals", (".csv", ".json", *PICTURES))


def run(arguments: argparse.Namespace) -> int:
    """Identify by the arguments and print; return 0."""
    check_files(arguments.output)
    found = identify(
        mechanism_of(arguments),
        arguments.data,
        arguments.parameter,
        motors=arguments.motors,
        smoothing=arguments.smoothing,
    )
    for path in arguments.output:
        _save(found, path)
    lines = [str(found), *wrote(arguments.output)]
    print(json.dumps(found.to_dict(), indent=2) if arguments.json else "\n".join(lines))
    return 0


def _save(found: Identification, path: Path) -> None:
    if is_picture(path):
        found.plot(path)
    elif path.suffix.lower() == ".csv":
        found.to_csv(path)
    else:
        data: dict[str, Any] = found.to_dict()
        with atomic_path(path) as part:
            part.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
