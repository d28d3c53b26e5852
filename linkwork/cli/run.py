"""The command line of runs: a system or an FMU in; results, pictures and a summary out."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from linkwork.cli.masters import add_master_arguments, master_of, number, positive
from linkwork.cli.result_files import (
    DATA,
    PAGES,
    PICTURES,
    add_output,
    check_files,
    file_argument,
    is_page,
    is_picture,
    save_table,
)
from linkwork.cli.run_backends import RunOutcome, in_process, isolated
from linkwork.cli.run_plan import Plan
from linkwork.cli.run_summary import as_text, summarise
from linkwork.cli.shared import INTERRUPTED, AppendNamed
from linkwork.cosim.fmu.model import FmuModel
from linkwork.cosim.network.input_sources import by_target
from linkwork.cosim.recording.result import Result
from linkwork.cosim.recording.selection import chosen
from linkwork.cosim.recording.sink import SUFFIXES, check_place
from linkwork.cosim.recording.sink_choice import open_sink
from linkwork.cosim.recording.tee import Tee
from linkwork.cosim.running import models_of, recorded_variables, scenes_of, usual_step
from linkwork.cosim.system import System
from linkwork.cosim.system.checks import check_system, configured
from linkwork.cosim.system.references import known
from linkwork.errors import CosimError
from linkwork.fmu.description import REAL, TEXT, Variable
from linkwork.results.selection import fits

Scalar = float | int | bool | str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a run to a parser."""
    add = parser.add_argument
    add("system", type=Path, metavar="SYSTEM", help="an .ssp, or one .fmu")
    add("--t-start", type=number, metavar="T", help="start of the run [s] (default: the system's own)")
    add("--t-end", type=number, metavar="T", help="end of the run [s] (default: the system's own)")
    set_help = "a parameter or start value; may be repeated; with one FMU its variable's name is enough"
    add("--set", type=_assignment, action=AppendNamed, default=[], metavar="COMPONENT.VARIABLE=VALUE", help=set_help)
    add(
        "--parameter-set",
        action="append",
        default=[],
        metavar="NAME",
        help="a parameter set of the system; may be repeated",
    )
    input_help = (
        "external inputs over time, with columns time and component.variable (or a name outside); linear in between"
    )
    add("--input", type=Path, metavar="FILE.csv", help=input_help)
    add(
        "--tolerance",
        type=positive,
        metavar="TOL",
        help="tolerance of the integrators in the FMUs (default: their own)",
    )
    columns_help = "variables to record, as plant.A.q or 'plant.*' (default: all outputs and connected inputs)"
    add("--columns", nargs="+", metavar="PATTERN", help=columns_help)
    add("--show", nargs="+", metavar="PATTERN", help="variables to print and plot (default: the recorded ones)")
    text = "write results, .csv and .parquet while it runs, a plot, or a page that shows the motion"
    add_output(parser, text, (*DATA, *PICTURES, *PAGES))
    draw_help = f"draw the system as a block diagram: {', '.join(PICTURES)}"
    add("--diagram", type=file_argument(PICTURES), metavar="FILE", help=draw_help)
    add("--in-process", action="store_true", help="run FMUs in this very process: quicker to start; a crash ends all")
    add("--json", action="store_true", help="print the summary as JSON")
    add("--quiet", action="store_true", help="show neither progress nor summary")
    add_master_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run by the arguments and print a summary; results before a failure or an interrupt are written as well.

    Raises
    ------
    CosimError
        If it cannot be run or fails during the run; the text names the file of the results so far.
    """
    if arguments.in_process:
        plan = make_plan(arguments)
        return _carry_out(plan, arguments, partial(in_process, plan))
    from linkwork.cosim.isolated.parent import Child

    with Child() as child:
        child.start()  # it gets ready while the FMUs are looked at
        plan = make_plan(arguments)
        return _carry_out(plan, arguments, partial(isolated, child, plan))


def _carry_out(plan: Plan, arguments: argparse.Namespace, backend: Callable[..., RunOutcome]) -> int:
    if arguments.diagram:
        plan.system.draw(arguments.diagram)
    streamed = [path for path in arguments.output if path.suffix.lower() in SUFFIXES]
    later = [path for path in arguments.output if path not in streamed]
    tee = Tee(plan.kept if later else (), open_sink(streamed) if streamed else None)
    result, problem = backend(tee, quiet=arguments.quiet)
    wall = time.perf_counter() - tee.started if tee.started is not None else 0.0
    if tee.reached is not None:
        _save(tee.kept(result), later, plan)
    written = arguments.output if tee.last else []
    if problem:
        raise CosimError(f"{problem}{_where(tee, written)}", result) from problem
    summary = summarise(plan, result, tee, wall, [*written, *([arguments.diagram] if arguments.diagram else [])])
    if not arguments.quiet:
        print(json.dumps(summary, indent=2) if arguments.json else as_text(summary, tee.units))
    if result.aborted:
        print(f"interrupted{_where(tee, written)}", file=sys.stderr)
        return INTERRUPTED
    return 0


def _save(result: Result, paths: Sequence[Path], plan: Plan) -> None:
    """Write the files that are not written during the run."""
    for path in paths:
        if is_picture(path):
            result.plot(plan.columns, path)
        elif is_page(path):
            result.scenes = scenes_of(models_of(plan.system, None))
            result.page(path)
        else:
            save_table(result.to_dataframe(), path)


# ---- the system ------------------------------------------------------------------------------------


def make_plan(arguments: argparse.Namespace) -> Plan:
    """Look at everything that can be wrong before anything runs or is written.

    Raises
    ------
    CosimError
        If something does not fit.
    """
    files = [*arguments.output, *([arguments.diagram] if arguments.diagram else [])]
    for path in files:
        check_place(path)
    check_files(files)
    system, models = load(arguments.system)
    t_start = system.experiment.t_start if arguments.t_start is None else arguments.t_start
    t_end = system.experiment.t_end if arguments.t_end is None else arguments.t_end
    check_times(t_start, t_end, arguments.step)
    master = master_of(arguments, lambda: usual_step(models.values(), t_end - t_start))
    names = Names(system, models)
    inputs = read_inputs(arguments.input, names, system) if arguments.input else {}
    parameters = dict(names.value(name, text) for name, text in arguments.set)
    models = configured(system, models, system.parameters(arguments.parameter_set, parameters))
    names = Names(system, models)
    notices = check_system(system, models, values=parameters, external=inputs)
    recorded: list[str] = [*recorded_variables(system, models, None, by_target(system, inputs))]
    if arguments.columns:
        recorded = names.fitting(arguments.columns)
    shown = names.fitting(arguments.show, recorded) if arguments.show else recorded
    kept = list(dict.fromkeys([*recorded, *shown]))
    settings = {
        "t_start": t_start,
        "t_end": t_end,
        "master": master,
        "parameters": parameters,
        "parameter_sets": arguments.parameter_set,
        "inputs": inputs,
        "columns": kept,
        "tolerance": arguments.tolerance,
    }
    text = f"{arguments.master}" + (f", step {master.step:g} s" if hasattr(master, "step") else "")
    return Plan(system, t_start, t_end, settings, names.labels(shown), names.labels(kept), text, notices)


def check_times(t_start: float, t_end: float, step: float | None) -> None:
    """Raise a `CosimError` if a run cannot go from `t_start` to `t_end` by steps of that length."""
    if t_end <= t_start:
        raise CosimError(f"the run is to end at {t_end:g} s, but begins at {t_start:g} s; choose a later --t-end")
    if step and step > (t_end - t_start) * (1 + 1e-9):
        raise CosimError(f"--step {step:g} s is longer than the run of {t_end - t_start:g} s; choose a shorter one")


def load(path: Path) -> tuple[System, dict[str, FmuModel]]:
    """Return a system and the FMU of each component; one FMU alone brings its own experiment.

    Raises
    ------
    CosimError
        If there is none, or it cannot be read.
    """
    if path.is_dir():
        raise CosimError(f"{path} is a folder; name an .ssp or an .fmu")
    if path.suffix.lower() not in (".ssp", ".fmu"):
        raise CosimError(f"{path} is neither an .ssp nor an .fmu; 'linkwork simulate' takes mechanisms")
    if not path.is_file():
        raise CosimError(f"there is no file {path}")
    system = System.load(path)
    models = models_of(system, None)
    if path.suffix.lower() == ".fmu":
        (model,) = models.values()
        last = model.description.experiment["stopTime"]
        system.experiment.t_start = model.description.experiment["startTime"] or 0.0
        system.experiment.t_end = system.experiment.t_start + 1.0 if last is None else last
    return system, models


class Names:
    """The variables of a system by ``component.variable``; with one component the variable's name is enough."""

    def __init__(self, system: System, models: dict[str, FmuModel]) -> None:
        self._where = f"the system {system.name!r}"
        self._only = next(iter(models)) if len(models) == 1 else None
        self._variables = {
            f"{name}.{one.name}": one
            for name, model in models.items()
            for one in model.variables.values()
            if one.value_type
        }

    def full(self, name: str) -> str:
        """Return a variable with its component's name."""
        if name in self._variables or self._only is None:
            known(name, self._variables, "variable", self._where)
            return name
        name = self._short(name)
        known(name, {self._short(one): one for one in self._variables}, "variable", self._where)
        return f"{self._only}.{name}"

    def value(self, name: str, text: str) -> tuple[str, Any]:
        """Return a variable with its component's name, and the value that a text is for it."""
        name = self.full(name)
        variable = self._variables[name]
        parts = [text] if variable.size == 1 or variable.value_type == TEXT else text.replace(",", " ").split()
        values = tuple(_value(name, part, variable) for part in parts)
        return name, values if variable.size > 1 else values[0]

    def fitting(self, patterns: Iterable[str], first: Sequence[str] = ()) -> list[str]:
        """Return the variables that fit patterns: for each those of `first`, or of all if there are none."""
        found: list[str] = []
        for pattern in patterns:
            fitting = self._fit(pattern, first) or self._fit(pattern, list(self._variables))
            found += fitting or chosen(pattern, [self._short(one) for one in self._variables], where=self._where)
        return list(dict.fromkeys(found))

    def _fit(self, pattern: str, names: Sequence[str]) -> list[str]:
        return [name for name in names if fits(name, pattern) or fits(self._short(name), pattern)]

    def _short(self, name: str) -> str:
        return name.removeprefix(f"{self._only}.") if self._only else name

    def labels(self, names: Iterable[str]) -> list[str]:
        """Return the columns that variables have: arrays one for each element."""
        columns = []
        for name in names:
            size = self._variables[name].size
            columns += [f"{name}[{k + 1}]" for k in range(size)] if size > 1 else [name]
        return columns


def _value(name: str, text: str, variable: Variable) -> Scalar:
    if variable.value_type == TEXT:
        return text
    if variable.type == "Boolean" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if text in (items := dict(variable.items)):
        return items[text]
    try:
        return float(text) if variable.value_type == REAL else int(text)
    except ValueError:
        words = [*items] or (["true", "false"] if variable.type == "Boolean" else [])
        wanted = (
            f"one of {', '.join(words)}" if words else "a number" if variable.value_type == REAL else "a whole number"
        )
        raise CosimError(f"{name}={text}: it is of type {variable.type}, so {wanted} is expected") from None


def read_inputs(path: Path, names: Names, system: System) -> dict[str, Any]:
    """Return the columns of a file, named after variables or the system's own inputs, as times and values.

    Raises
    ------
    CosimError
        If it cannot be read, has no column ``time``, or a name in it is none of the system's.
    """
    from linkwork.cosim.recording.reading import read_csv

    if not path.is_file():
        raise CosimError(f"there is no file {path}")
    try:
        table = read_csv(path)
    except (OSError, ValueError) as problem:
        raise CosimError(f"{path} cannot be read as CSV: {problem}") from problem
    columns = {str(name).strip(): table[name].to_numpy() for name in table}
    if "time" not in columns:
        raise CosimError(f"{path} has no column 'time'; it has: {', '.join(list(columns)[:8])}")
    if not len(columns["time"]):
        raise CosimError(f"{path} has a header, but no rows: give one row for each time")
    for name, values in columns.items():
        if values.dtype.kind not in "fiub":
            raise CosimError(f"{path}: the column {name!r} holds {values[0]!r}, which is not a number")
    times = columns.pop("time")
    outside = {one.source for one in system.external_inputs}
    return {name if name in outside else names.full(name): (times, values) for name, values in columns.items()}


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise argparse.ArgumentTypeError(f"{text!r} is not COMPONENT.VARIABLE=VALUE, such as plant.A.u_start=2")
    return name.strip(), value.strip()


def _where(tee: Tee, written: Sequence[Path]) -> str:
    """Where the results so far are."""
    if tee.reached is None:
        return ""
    if not written:
        return f"; it had come to t = {tee.reached:.9g} s, and -o FILE would have kept the results"
    if tee.saved is None:
        return ""
    return f"; results until t = {tee.saved:.9g} s are in {' and '.join(map(str, written))}"
