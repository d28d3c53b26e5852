"""Run a system of FMUs, or one FMU.

FMUs run in a process of their own, so that a crash of one loses no results.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from linkwork.cli.masters import add_master_arguments, master_of
from linkwork.cli.parser import INTERRUPTED
from linkwork.cli.result_files import DATA, PAGES, PICTURES, add_output, check_files
from linkwork.cli.signatures import from_signature, given
from linkwork.cli.values import AppendNamed, assignment, file_argument, number, positive
from linkwork.cosim.network.input_sources import by_target
from linkwork.cosim.recording.sink import check_place
from linkwork.cosim.running import recorded_variables, usual_step
from linkwork.cosim.running import run as run_system
from linkwork.cosim.running.names import Names, load_system, read_inputs
from linkwork.cosim.running.outcome import Plan
from linkwork.cosim.running.streamed_run import run_to_files
from linkwork.cosim.system.checks import check_system, configured
from linkwork.errors import CosimError

if TYPE_CHECKING:
    from linkwork.cosim.isolated.parent import Child


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a run to a parser."""
    parser.add_argument("system", type=Path, metavar="SYSTEM", help="an .ssp, or one .fmu")
    add = from_signature(parser, run_system)
    add("t_start", type=number, help="start of the run [s] (default: the system's own)")
    add("t_end", type=number, help="end of the run [s] (default: the system's own)")
    set_help = "a parameter or start value; may be repeated; with one FMU its variable's name is enough"
    set_metavar = "COMPONENT.VARIABLE=VALUE"
    add("parameters", "--set", type=assignment, action=AppendNamed, metavar=set_metavar, help=set_help)
    sets_help = "a parameter set of the system; may be repeated"
    add("parameter_sets", "--parameter-set", action="append", default=[], help=sets_help)
    input_help = (
        "external inputs over time, with columns time and component.variable (or a name outside); linear in between"
    )
    add("inputs", "--input", type=Path, metavar="FILE.csv", help=input_help)
    tolerance_help = "tolerance of the integrators in the FMUs (default: their own)"
    add("tolerance", type=positive, metavar="TOL", help=tolerance_help)
    columns_help = "variables to record, as plant.A.q or 'plant.*' (default: all outputs and connected inputs)"
    add("columns", metavar="PATTERN", help=columns_help)
    show_help = "variables to print and plot (default: the recorded ones)"
    parser.add_argument("--show", nargs="+", metavar="PATTERN", help=show_help)
    text = "write results, .csv and .parquet while it runs, a plot, or a page that shows the motion"
    add_output(parser, text, (*DATA, *PICTURES, *PAGES))
    draw_help = f"draw the system as a block diagram: {', '.join(PICTURES)}"
    parser.add_argument("--diagram", type=file_argument(PICTURES), metavar="FILE", help=draw_help)
    here_help = "run FMUs in this very process: quicker to start; a crash ends all"
    parser.add_argument("--in-process", action="store_true", help=here_help)
    parser.add_argument("--quiet", action="store_true", help="show neither progress nor summary")
    add_master_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run by the arguments and print a summary; results before a failure or an interrupt are written as well.

    Raises
    ------
    CosimError
        If it cannot be run or fails during the run; the text names the file of the results so far.
    """
    if arguments.in_process:
        return _carry_out(arguments, None)
    from linkwork.cosim.isolated.parent import Child

    with Child() as child:
        child.start()  # it gets ready while the FMUs are looked at
        return _carry_out(arguments, child)


def _carry_out(arguments: argparse.Namespace, child: Child | None) -> int:
    plan = make_plan(arguments)
    if arguments.diagram:
        plan.system.draw(arguments.diagram)
    outcome = run_to_files(plan, arguments.output, child, quiet=arguments.quiet)
    kept = outcome.kept_until
    if outcome.problem:
        raise CosimError(f"{outcome.problem}{kept}", outcome.result) from outcome.problem
    outcome.written = [*outcome.written, *([arguments.diagram] if arguments.diagram else [])]
    if not arguments.quiet:
        print(json.dumps(outcome.to_dict(), indent=2) if arguments.json else outcome.summary())
    if outcome.result.aborted:
        print(f"interrupted{kept}", file=sys.stderr)
        return INTERRUPTED
    return 0


def make_plan(arguments: argparse.Namespace) -> Plan:
    """Look at everything that can be wrong before anything runs or is written."""
    files = [*arguments.output, *([arguments.diagram] if arguments.diagram else [])]
    for path in files:
        check_place(path)
    check_files(files)
    system, models = load_system(arguments.system)
    t_start = system.experiment.t_start if arguments.t_start is None else arguments.t_start
    t_end = system.experiment.t_end if arguments.t_end is None else arguments.t_end
    check_times(t_start, t_end, arguments.step)
    master = master_of(arguments, lambda: usual_step(models.values(), t_end - t_start))
    names = Names(system, models)
    inputs = read_inputs(arguments.inputs, names, system) if arguments.inputs else {}
    parameters = dict(names.value(name, text) for name, text in (arguments.parameters or {}).items())
    models = configured(system, models, system.parameters(arguments.parameter_sets, parameters))
    names = Names(system, models)
    notices = check_system(system, models, values=parameters, external=inputs)
    recorded: list[str] = [*recorded_variables(system, models, None, by_target(system, inputs))]
    if arguments.columns:
        recorded = names.fitting(arguments.columns)
    shown = names.fitting(arguments.show, recorded) if arguments.show else recorded
    kept = list(dict.fromkeys([*recorded, *shown]))
    settings = given(arguments, "run") | {"t_start": t_start, "t_end": t_end, "master": master}
    settings |= {"parameters": parameters, "inputs": inputs, "columns": kept}
    text = f"{arguments.master}" + (f", step {master.step:g} s" if hasattr(master, "step") else "")
    return Plan(system, t_start, t_end, settings, names.labels(shown), names.labels(kept), text, notices)


def check_times(t_start: float, t_end: float, step: float | None) -> None:
    """Raise a `CosimError` if a run cannot go from `t_start` to `t_end` by steps of that length."""
    if t_end <= t_start:
        raise CosimError(f"the run is to end at {t_end:g} s, but begins at {t_start:g} s; choose a later --t-end")
    if step and step > (t_end - t_start) * (1 + 1e-9):
        raise CosimError(f"--step {step:g} s is longer than the run of {t_end - t_start:g} s; choose a shorter one")
