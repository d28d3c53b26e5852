"""Run a system of FMUs for many values of its parameters.

Each point runs in its own worker process, locally or on a Dask cluster. Run the command again to resume.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from linkwork.cli.masters import add_master_arguments, master_of
from linkwork.cli.parser import INTERRUPTED
from linkwork.cli.result_files import add_json
from linkwork.cli.run import check_times
from linkwork.cli.signatures import from_signature, given
from linkwork.cli.values import AppendNamed, named, number, positive
from linkwork.cosim.isolated.job import KEEP
from linkwork.cosim.running import usual_step
from linkwork.cosim.running.names import Names, load_system
from linkwork.cosim.sweep.run_sweep import sweep
from linkwork.cosim.sweep.sampling import Points, Value, grid, latin, table, value_of
from linkwork.errors import CosimError


def _values(text: str) -> list[Value]:
    parts = text.split(":")
    if len(parts) == 3:
        try:
            first, last, count = float(parts[0]), float(parts[1]), int(parts[2])
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not first:last:count, such as 1000:2000:5") from None
        if count < 2:
            raise argparse.ArgumentTypeError(f"{text!r} needs at least two values; one is written alone")
        return [first + (last - first) * (i / (count - 1)) for i in range(count)]
    if len(parts) > 1 and all(isinstance(value_of(one), float | int) for one in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is not first:last:count, such as 1000:2000:5")
    found = [one.strip() for one in text.split(",")]
    if not all(found):
        raise argparse.ArgumentTypeError(f"{text!r} has no value")
    return [value_of(one) for one in found]


def _range(text: str) -> tuple[float, float, str]:
    limits, _, scale = text.partition(":")
    lower, upper = map(float, limits.split(".."))
    if scale not in ("", "linear", "log"):
        raise argparse.ArgumentTypeError(f"{scale!r} is no scale: linear or log")
    return lower, upper, scale or "linear"


GRID = named(_values, "NAME=VALUES", "plant.k=1000:2000:5 or plant.mode=1,2,3")
RANGE = named(_range, "NAME=A..B", "plant.m=0.5..2")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of sweeps to a parser."""
    option = parser.add_argument
    option("system", type=Path, metavar="SYSTEM", help="an .ssp, or an .fmu as a system of its own")
    grid_help = "values of a parameter, as plant.mode=1,2,3 or first:last:count; several make every combination"
    option("--grid", type=GRID, action=AppendNamed, default={}, metavar="NAME=VALUES", help=grid_help)
    latin_help = "ranges sampled together by a Latin hypercube, as plant.m=0.5..2 or plant.c=1..10:log"
    option("--latin", type=RANGE, nargs="+", action=AppendNamed, default={}, metavar="NAME=A..B", help=latin_help)
    option("--samples", type=int, metavar="N", help="points of the Latin hypercube")
    option("--seed", type=int, metavar="N", help="seed of the Latin hypercube (default: 0)")
    option("--table", type=Path, metavar="FILE", help="points as lines of a CSV file headed by the parameters")
    output_help = "folder of the results; an unfinished sweep in it is resumed"
    option("-o", "--output", type=Path, required=True, metavar="FOLDER", help=output_help)
    add = from_signature(parser, sweep)
    add("t_end", type=number, help="end of each run [s] (default: the system's own)")
    columns_help = "variables to record, such as 'plant.*' (default: all outputs and connected inputs)"
    add("columns", metavar="PATTERN", help=columns_help)
    keep_help = "of each run: all values, the final ones, or min, max, final and rms (default: %(default)s)"
    add("keep", choices=KEEP, help=keep_help)
    add("workers")
    add("scheduler", metavar="ADDRESS")
    add("retries")
    add("time_limit", type=positive)
    add_json(parser, "print the summary as JSON")
    add_master_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Sweep by the arguments; return 0 if all points have results, 1 if some failed, 130 after an interruption."""
    points = points_of(arguments)
    system, models = load_system(arguments.system)
    names = Names(system, models)
    t_start = system.experiment.t_start
    t_end = system.experiment.t_end if arguments.t_end is None else arguments.t_end
    check_times(t_start, t_end, arguments.step)
    settings = given(arguments, "sweep") | {
        "t_end": t_end,
        "master": master_of(arguments, lambda: usual_step(models.values(), t_end - t_start)),
        "columns": names.fitting(arguments.columns) if arguments.columns else None,
        "notify": lambda text: print(f"note: {text}", file=sys.stderr),
    }
    of_system = Points({names.full(name): column for name, column in points.columns.items()})
    result = sweep(system, of_system, arguments.output, **settings)
    print(json.dumps(result.to_dict(), indent=2) if arguments.json else result.summary())
    return INTERRUPTED if result.aborted else int(bool(result.failures))


def points_of(arguments: argparse.Namespace) -> Points:
    """The points that the arguments describe: every combination of table, grid and Latin hypercube."""
    factors = [table(arguments.table)] if arguments.table else []
    factors += [grid({name: values}) for name, values in arguments.grid.items()]
    if arguments.latin:
        if arguments.samples is None:
            raise CosimError("--latin needs the number of points: --samples N")
        factors.append(latin(arguments.latin, arguments.samples, seed=arguments.seed or 0))
    else:
        for option in ("samples", "seed"):
            if getattr(arguments, option) is not None:
                text = f"--{option} is an option of --latin; name ranges, such as --latin plant.m=0.5..2"
                raise CosimError(text)
    if not factors:
        raise CosimError("nothing is swept; use --grid, --latin or --table")
    whole = factors[0]
    for factor in factors[1:]:
        whole = whole * factor
    return whole
