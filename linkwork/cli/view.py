"""Write a page that shows mechanisms and runs in motion.

It is one HTML file that opens in any browser without a network. The page of a mechanism simulates it.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import linkwork as lw
from linkwork.cli.info import add_method
from linkwork.cli.inputs import add_loads, inputs_of
from linkwork.cli.mechanism_files import add_robot_options, load_mechanism, robot_options
from linkwork.cli.result_files import PAGES, add_json, check_files, give_file
from linkwork.cli.signatures import from_signature, given
from linkwork.cli.simulate import SOLVER_HELP, output_times
from linkwork.cli.values import file_argument
from linkwork.simulation.simulate import simulate
from linkwork.view.live import T_END
from linkwork.view.page import page
from linkwork.view.part import Pageable, PagePart, PageRequest

if TYPE_CHECKING:
    from linkwork.cosim.recording.result import Result as CosimResult
    from linkwork.model.model import Model

TABLES = (".csv", ".parquet")
FILE_HELP = (
    "a mechanism (.py, .json, .urdf, .sdf, .xml, .usda, .usdc), an .fmu of Linkwork, or with --mechanism or --system a "
    "saved result (.csv, .parquet)"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to a parser."""
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help=FILE_HELP)
    output_help = "page to write, .html (default: named after the first file, in the current directory)"
    parser.add_argument("-o", "--output", type=file_argument(PAGES), metavar="FILE", help=output_help)
    add = from_signature(parser, page)
    add("title", metavar="TEXT")
    add("labels", metavar="TEXT", help="a label for each file (default: its name)")
    add("columns")
    add("max_rows")
    parser.add_argument("--mechanism", type=Path, metavar="FILE", help="mechanism or FMU of the saved results")
    system_help = ".ssp or .fmu of the saved results of 'linkwork run'"
    parser.add_argument("--system", type=Path, metavar="FILE", help=system_help)
    simulate_help = "simulate now and write the runs, instead of the simulator"
    parser.add_argument("--simulate", action="store_true", help=simulate_help)
    add("t_end", help="end of the run [s] (default: that of the FMU, or 10)")
    of_run = from_signature(parser, simulate)
    of_run("rtol")
    of_run("atol")
    add_method(parser)
    group = parser.add_argument_group("with --simulate")
    group.add_argument("--every", type=float, metavar="DT", help="spacing of the rows [s] (default: every step)")
    group.add_argument("--solver", default="auto", help=SOLVER_HELP)
    add_loads(group)
    add_robot_options(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write a page by the arguments."""
    path = arguments.output or Path(arguments.files[0].stem + ".html")
    check_files([path])
    _check_options(arguments)
    shown = [_shown(file, arguments) for file in arguments.files]
    labels = arguments.labels or ([file.stem for file in arguments.files] if len(shown) > 1 else None)
    ends = [] if arguments.simulate else [arguments.t_end, *map(_default_end, arguments.files)]
    t_end = next((end for end in ends if end is not None), None)
    accuracy = given(arguments, "simulate")
    page(shown, path, **{**given(arguments, "page"), **accuracy, "labels": labels, "t_end": t_end})
    give_file(path, arguments)
    return 0


def _check_options(arguments: argparse.Namespace) -> None:
    """Refuse, before a run, options that would have no effect, and two scenes for a saved result."""
    if not arguments.simulate and (arguments.every is not None or arguments.input):
        raise lw.LinkworkError("--every and --input are of runs that this command simulates: add --simulate")
    if arguments.mechanism is not None and arguments.system is not None:
        raise lw.LinkworkError("saved results are of a mechanism or of a system: give either --mechanism or --system")


def _shown(file: Path, arguments: argparse.Namespace) -> Pageable:
    """Return what a file holds, as a page shows it."""
    if file.suffix.lower() in TABLES:
        return _saved(file, arguments)
    if file.suffix.lower() == ".ssp":
        raise lw.LinkworkError(
            f"{file} is a system that has not been run: 'linkwork run {file} -o run.parquet', then "
            f"'linkwork view run.parquet --system {file}'"
        )
    if arguments.simulate:
        return _simulated(file, arguments)
    return _model(file, arguments)


class _Saved:
    """A saved result of a mechanism, and its model."""

    def __init__(self, result: CosimResult, model: Model) -> None:
        self.result, self.model = result, model

    def _page_part(self, request: PageRequest) -> PagePart:
        from linkwork.view.cosim_run import part_of_table
        from linkwork.view.meshes import ShapeTable
        from linkwork.view.scene import scene_of

        shapes = ShapeTable(self.model.mechanism)
        scene = scene_of(self.model, shapes=shapes)
        remedy = "give the mechanism of this result, and save all columns, as to_csv does by default"
        return replace(part_of_table(self.result, scene, request, remedy), meshes=shapes.packed())


def _model(file: Path, arguments: argparse.Namespace) -> Model:
    """Compile the mechanism of a file or of an FMU."""
    if file.suffix.lower() != ".fmu":
        return lw.compile(load_mechanism(file, robot_options(arguments)), arguments.method)
    from linkwork.view.scene_file import mechanism_in

    mechanism, options, parameters = mechanism_in(file)
    if arguments.method != "auto":
        options["method"] = arguments.method
    model = lw.compile(mechanism, **options)
    return model.with_parameters(parameters) if parameters else model


def _default_end(file: Path) -> float | None:
    """Return the end of an FMU's default experiment, s."""
    if file.suffix.lower() != ".fmu":
        return None
    from linkwork.fmu.description import read_description

    end = read_description(file).experiment["stopTime"]
    return None if end is None else float(end)


def _simulated(file: Path, arguments: argparse.Namespace) -> Pageable:
    t_end = next(end for end in (arguments.t_end, _default_end(file), T_END) if end is not None)
    result: Pageable = lw.simulate(
        _model(file, arguments),
        t_end,
        inputs=inputs_of(arguments),
        solver=arguments.solver,
        **given(arguments, "simulate"),
        t_eval=output_times(arguments.every, 0.0, t_end),
    )
    return result


def _saved(file: Path, arguments: argparse.Namespace) -> Pageable:
    """Return a saved result with the scene of its mechanism or of the FMUs of its system."""
    from linkwork.cosim.recording.result import Result

    if arguments.mechanism is None and arguments.system is None:
        raise lw.LinkworkError(
            f"{file} has columns and no scene: give the mechanism by --mechanism FILE, or, for a result of 'linkwork "
            "run', the system by --system FILE"
        )
    result = Result.read(file)
    if arguments.mechanism is not None:
        return _Saved(result, _model(arguments.mechanism, arguments))
    from linkwork.cosim.running import models_of, scenes_of
    from linkwork.cosim.system import System

    system = System.load(arguments.system)  # an .ssp is unpacked for as long as it lives
    result.scenes = scenes_of(models_of(system, None))
    return result
