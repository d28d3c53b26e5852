"""The command line of inverse dynamics: a mechanism and a motion in; loads of motors, plots and a summary out."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import linkwork as lw
from linkwork._util.checks import FloatArray
from linkwork._util.names import quoted
from linkwork.analysis.tables import TIMES, read_csv
from linkwork.cli.info import add_method
from linkwork.cli.inputs import add_loads, inputs_of
from linkwork.cli.mechanism_files import add_mechanism, mechanism_of
from linkwork.cli.result_files import DATA, PICTURES, add_output, check_files, is_picture, wrote
from linkwork.cli.shared import AppendNamed, aligned, load


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to a parser."""
    add_mechanism(parser)
    add = parser.add_argument
    table_help = (
        "the motion, a .csv file with a column 'time' or 't' [s]: all columns of a simulation (A.q, A.u, A.a, ...), or "
        "as "
        "many functions of the pose as degrees of freedom (A.q, hand.r[1]), with or without rates (A.u) and "
        "accelerations "
        "(A.a)"
    )
    add("motion", type=Path, metavar="TABLE", help=table_help)
    motor_help = "joint 'A', speed 'U[2]' or actuator that is a motor; may be repeated (default: all actuators)"
    add("--motor", action="append", metavar="NAME", help=motor_help)
    weight_help = "of a motor's load in the norm, as A=2; may be repeated (default: 1)"
    add("--weight", type=load, action=AppendNamed, default=[], metavar="MOTOR=WEIGHT", help=weight_help)
    limit_help = (
        "limit of a motor's load in both directions [N.m or N], as A=5; may be repeated; other motors have the limits "
        "of their joints and actuators, as with --own-limits"
    )
    add("--max-load", type=load, action=AppendNamed, default=[], metavar="MOTOR=LOAD", help=limit_help)
    add("--own-limits", action="store_true", help="keep the limits that the mechanism gives its joints and actuators")
    add_method(parser)
    add_loads(parser)
    add(
        "--columns",
        nargs="+",
        metavar="NAME",
        help="columns to write or plot by -o, as A.tau (default: all; plotted: loads)",
    )
    add("--envelope", action="store_true", help="plots by -o show load over speed of each motor, not over time")
    add_output(parser, "write loads over time or a plot", (*DATA, *PICTURES))
    add("--json", action="store_true", help="print the summary as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Find the loads by the arguments; those before a failure are written as well."""
    _check(arguments)
    model = lw.compile(mechanism_of(arguments), arguments.method)
    t, columns = read_table(arguments.motion)
    limits = dict(arguments.max_load) or (True if arguments.own_limits else None)
    try:
        loads = lw.inverse_dynamics(
            model,
            motion_of(model, columns),
            motors=arguments.motor,
            t_eval=t,
            inputs=inputs_of(arguments),
            weights=dict(arguments.weight),
            max_load=limits,
        )
    except lw.LoadsError as error:
        if isinstance(error.result, lw.MotorLoads) and len(error.result):
            _write(error.result, arguments)
            end = f"t = {error.result.t[-1]:.9g} s"
            kept = " and ".join(map(str, arguments.output))
            raise lw.LoadsError(f"{error}; loads until {end} {'are in ' + kept if kept else 'exist'}") from None
        raise
    _write(loads, arguments)
    print(json.dumps(loads.about(), indent=2) if arguments.json else summary(loads, arguments))
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Refuse, before anything is computed, files that cannot be written, and options that have no effect."""
    check_files(arguments.output)
    if arguments.columns and not arguments.output:
        raise lw.MechanismError("--columns selects what -o FILE writes or plots: give -o FILE")
    if arguments.envelope and not any(map(is_picture, arguments.output)):
        raise lw.MechanismError(f"--envelope is for a plot: give -o FILE that ends in {' or '.join(PICTURES)}")


def read_table(path: Path) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Return the times and the columns of a .csv file by name."""
    columns = read_csv(path)
    time = next((name for name in TIMES if name in columns), None)
    if time is None:
        raise lw.MechanismError(f"{path} has no column 'time' of numbers, s; its columns are {quoted(columns)}")
    return columns.pop(time), columns


def motion_of(model: lw.Model, columns: dict[str, FloatArray]) -> Any:
    """Return the motion that columns describe: all states and accelerations, or functions of the pose."""
    accelerations = [_with_ending(name, "u", "a") for name in model.u_names]
    names = (model.q_names, model.u_names, accelerations)
    if all(name in columns for part in names for name in part):
        return tuple(np.column_stack([columns[name] for name in part]) for part in names)
    rates = {name: [_with_ending(name, "q", kind) for kind in "ua"] for name in columns}
    derived = {rate for name, both in rates.items() for rate in both if rate != name}
    motion: dict[str, Any] = {}
    for name, values in columns.items():
        if name in derived:
            continue
        given = name not in rates[name] and all(rate in columns for rate in rates[name])
        motion[name] = (values, *(columns[rate] for rate in rates[name])) if given else values
    return motion


def _with_ending(name: str, ending: str, other: str) -> str:
    """Return the name of another quantity of a joint: A.q, A.u for the endings q, u; U.q[2], U.u[2]."""
    what, bracket, index = name.partition("[")
    return f"{what.removesuffix('.' + ending)}.{other}{bracket}{index}" if what.endswith(f".{ending}") else name


def _write(loads: lw.MotorLoads, arguments: argparse.Namespace) -> None:
    for path in arguments.output:
        if not is_picture(path):
            loads.save(path, arguments.columns)
        elif arguments.envelope:
            loads.plot_envelope(path)
        else:
            loads.plot(arguments.columns, path)


def summary(loads: lw.MotorLoads, arguments: argparse.Namespace) -> str:
    """Return the extremes of each motor as a table."""
    head, *table = repr(loads).splitlines()
    del head
    lines = [f"{loads.name}: {len(loads)} rows, {loads.t[0]:g} to {loads.t[-1]:g} s", *table]
    worst = int(np.argmin(loads["conditioning"]))
    rows = [("conditioning", f"at least {loads['conditioning'][worst]:.3g}, at t = {loads.t[worst]:.6g} s")]
    return "\n".join([*lines, *aligned(rows), *wrote(arguments.output)])
