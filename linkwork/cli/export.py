"""The command line of the export: a mechanism's file in, an FMU out."""

import argparse
import importlib.util
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from linkwork.errors import ExportError, LinkworkError
from linkwork.fmu.export.fmu import export_fmu
from linkwork.fmu.export.libraries import PLATFORMS

if TYPE_CHECKING:
    from linkwork.mechanism import Mechanism


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the export to a parser."""
    parser.add_argument(
        "mechanism", type=Path, metavar="MECHANISM", help="a .json file, or a .py file that defines mechanism()"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FMU",
        help="output FMU (default: <mechanism>.fmu in the current directory)",
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
    step_help = "step of the default experiment [s] (default: %(default)g)"
    parser.add_argument("--step-size", type=float, default=0.01, metavar="DT", help=step_help)
    tolerance_help = "tolerance of the default experiment (default: %(default)g)"
    parser.add_argument("--tolerance", type=float, default=1e-7, metavar="TOL", help=tolerance_help)
    parser.add_argument(
        "--platforms",
        type=lambda text: text.split(","),
        metavar="NAME,...",
        help=f"where it shall run (default: on this platform): {', '.join(PLATFORMS)}",
    )
    parser.add_argument("--sources", action="store_true", help="put the C sources in as well")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Export by the arguments and print the result; return the exit code."""
    try:
        path = export_fmu(
            load_mechanism(arguments.mechanism),
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
        )
    except LinkworkError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    size = path.stat().st_size
    if arguments.json:
        print(json.dumps({"path": str(path), "fmi": arguments.fmi, "bytes": size}))
    else:
        print(f"{path} (FMI {arguments.fmi}, {size / 1024:.0f} kB)")
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line of `build_fmu.py`; return the exit code."""
    parser = argparse.ArgumentParser(prog="build_fmu.py", description="Write a mechanism as an FMU.")
    add_arguments(parser)
    return run(parser.parse_args(argv))


def load_mechanism(path: Path) -> "Mechanism":
    """Read a mechanism from a JSON file, or from the function ``mechanism()`` of a Python file.

    Raises
    ------
    ExportError
        If the file is not there, is of another kind or gives no mechanism.
    """
    from linkwork.mechanism import Mechanism

    if not path.is_file():
        raise ExportError(f"there is no file {path}")
    if path.suffix == ".json":
        return Mechanism.load(path)
    if path.suffix != ".py":
        hint = "; 'linkwork run' takes FMUs and systems of them" if path.suffix in (".fmu", ".ssp") else ""
        raise ExportError(f"{path} is neither a .json nor a .py file{hint}")
    specification = importlib.util.spec_from_file_location(path.stem, path)
    if specification is None or specification.loader is None:
        raise ExportError(f"cannot import {path}")
    module = importlib.util.module_from_spec(specification)
    with _neighbours_of(path):
        specification.loader.exec_module(module)
        if not callable(getattr(module, "mechanism", None)):
            raise ExportError(f"{path} defines no function mechanism(); let it return the mechanism")
        mechanism = module.mechanism()
    if not isinstance(mechanism, Mechanism):
        raise ExportError(f"mechanism() in {path} returns {type(mechanism).__name__}, not a Mechanism")
    return mechanism


@contextmanager
def _neighbours_of(path: Path) -> Iterator[None]:
    """Let a script import the files next to it, as it can when it is run."""
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        if folder in sys.path:
            sys.path.remove(folder)
