"""The command line of statics: poses of rest, and the loads that hold a pose."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import linkwork as lw
from linkwork.analysis.equilibrium_result import Equilibrium
from linkwork.cli.mechanism_files import add_mechanism, mechanism_of
from linkwork.cli.result_files import check_files, wrote
from linkwork.cli.shared import AppendNamed, load


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to a parser."""
    add_mechanism(parser)
    add = parser.add_argument
    hold_help = "coordinate that keeps a value [rad or m], or its start value, as 'A=0.3', 'A', 'hand.r[3]=1.2'"
    add("--hold", type=_held, action=AppendNamed, default=[], metavar="NAME[=VALUE]", help=hold_help)
    motor_help = "joint or actuator whose load that holds the pose is to be found; may be repeated"
    add("--motor", action="append", default=[], metavar="NAME", help=motor_help)
    input_help = "constant load [N.m or N], input of an actuator or motion, as 'A=2', 'push.F[3]=-5'; may be repeated"
    add("--input", type=load, action=AppendNamed, default=[], metavar="NAME=VALUE", help=input_help)
    speed_help = "constant speed [rad/s or m/s] of a coordinate on which no load depends; the others rest"
    add("--speed", type=load, action=AppendNamed, default=[], metavar="NAME=VALUE", help=speed_help)
    add("--any", action="store_true", help="find the pose of rest next to the start, also an unstable one")
    add("--starts", type=int, metavar="N", help="find all poses of rest that searches from N random poses reach")
    add("--seed", type=int, default=0, metavar="N", help="of the random poses (default: %(default)s)")
    add("-o", "--output", type=Path, metavar="FILE", help="write the state, .json or .npz; with --starts a table, .csv")
    add("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Find poses of rest by the arguments, print and write them."""
    _check(arguments)
    options: dict[str, Any] = {"inputs": dict(arguments.input), "speeds": dict(arguments.speed) or None}
    model = lw.compile(mechanism_of(arguments))
    hold = _hold(model, arguments.hold)
    if arguments.starts is not None:
        table = lw.equilibria(model, starts=arguments.starts, seed=arguments.seed, hold=hold, **options)
        if arguments.output:
            table.to_csv(arguments.output)
        _print([describe(one) for one in table], table, arguments)
        return 0
    options["seek"] = "any" if arguments.any else "stable"
    found = lw.equilibrium(model, hold=hold, motors=arguments.motor or None, **options)
    if arguments.output:
        found.state.save(arguments.output)
    _print(describe(found), found, arguments)
    return 0


def _print(facts: Any, found: object, arguments: argparse.Namespace) -> None:
    files = [arguments.output] if arguments.output else []
    print(json.dumps(facts, indent=2) if arguments.json else "\n".join([str(found), *wrote(files)]))


def describe(found: Equilibrium) -> dict[str, Any]:
    """Return a pose of rest as JSON has it."""
    model, state = found.model, found.state
    return {
        "name": model.mechanism.name,
        "stable": found.stable,
        "residual": found.residual,
        "q": dict(zip(model.q_names, state.q.tolist(), strict=True)),
        "u": dict(zip(model.u_names, state.u.tolist(), strict=True)),
        "energy": found.energy,
        "frequencies": [None if np.isnan(one) else one for one in found.frequencies.tolist()],
        "motor_loads": _plain(found.motor_loads),
        "holding": _plain(found.holding),
        "contacts": _plain(found.contacts),
        "inputs": _plain(found.inputs),
        "free": list(found.free),
    }


def _plain(values: Any) -> dict[str, Any]:
    return {name: np.asarray(value).tolist() for name, value in values.items()}


def _held(text: str) -> tuple[str, float | None]:
    return load(text) if "=" in text else (text, None)


def _hold(model: lw.Model, given: list[tuple[str, float | None]]) -> dict[str, Any] | None:
    """Return coordinates to hold; those without a value have that of the assembled start."""
    if not given:
        return None
    start = model.assemble()
    return {name: start[_variable(model, name)] if value is None else value for name, value in given}


def _variable(model: lw.Model, name: str) -> str:
    """Return the variable of a coordinate that may be named by its joint."""
    joint = model.mechanism.joints.get(name)
    return name if joint is None else f"{name}.q"


def _check(arguments: argparse.Namespace) -> None:
    """Refuse options that exclude each other before anything is computed."""
    if arguments.starts is not None and (arguments.motor or arguments.any):
        raise lw.MechanismError("--starts finds poses of rest of any kind, without motors: leave out --motor and --any")
    check_files([arguments.output] if arguments.output else [])
    suffixes = (".csv",) if arguments.starts is not None else (".json", ".npz")
    if arguments.output and arguments.output.suffix not in suffixes:
        raise lw.MechanismError(f"{arguments.output}: the result is written as {' or '.join(suffixes)}")
