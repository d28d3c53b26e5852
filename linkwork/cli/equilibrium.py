"""Find poses of rest and the loads that hold a pose.

Gravity, springs, constant loads and stops act on it; the search begins at the assembled start.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import linkwork as lw
from linkwork.cli.mechanism_files import add_mechanism, mechanism_of
from linkwork.cli.result_files import add_json, check_files, give
from linkwork.cli.signatures import from_signature, given
from linkwork.cli.values import AppendNamed, held


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to a parser."""
    add_mechanism(parser)
    add = from_signature(parser, lw.equilibrium)
    hold_help = "coordinate that keeps a value [rad or m], or its start value, as 'A=0.3', 'A', 'hand.r[3]=1.2'"
    add("hold", type=held, action=AppendNamed, metavar="NAME[=VALUE]", help=hold_help)
    motor_help = "joint or actuator whose load that holds the pose is to be found; may be repeated"
    add("motors", "--motor", action="append", metavar="NAME", help=motor_help)
    input_help = "constant load [N.m or N], input of an actuator or motion, as 'A=2', 'push.F[3]=-5'; may be repeated"
    add("inputs", "--input", help=input_help)
    speed_help = "constant speed [rad/s or m/s] of a coordinate on which no load depends; the others rest"
    add("speeds", "--speed", help=speed_help)
    any_help = "find the pose of rest next to the start, also an unstable one"
    add("seek", "--any", action="store_const", const="any", help=any_help)
    parser.add_argument("--stuck", action="store_true", help="the start itself, if dry friction holds it")
    range_help = "print instead between which values of a coordinate dry friction keeps the mechanism at rest"
    parser.add_argument("--range", metavar="NAME", help=range_help)
    add = from_signature(parser, lw.equilibria)
    add("starts", default=None, help="find all poses of rest that searches from N random poses reach")
    add("seed")
    text = "write the state, .json or .npz; with --starts a table, .csv"
    parser.add_argument("-o", "--output", type=Path, action="append", default=[], metavar="FILE", help=text)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Find poses of rest by the arguments, print and write them."""
    _check(arguments)
    model = lw.compile(mechanism_of(arguments))
    options = given(arguments, "equilibrium") | {"hold": _hold(model, arguments.hold)}
    if arguments.stuck:
        options["seek"] = "stuck"
    if arguments.range is not None:
        print(
            lw.rest_range(
                model, arguments.range, **{name: options[name] for name in ("inputs", "time") if name in options}
            )
        )
        return 0
    if arguments.starts is None:
        return give(lw.equilibrium(model, **options), arguments)
    del options["motors"], options["seek"]
    table = lw.equilibria(model, **options, **given(arguments, "equilibria"))
    return give(table, arguments, plain=[one.to_dict() for one in table])


def _hold(model: lw.Model, asked: Mapping[str, float | None] | None) -> dict[str, Any] | None:
    """Return coordinates to hold; those without a value have that of the assembled start."""
    if not asked:
        return None
    start, joints = model.assemble(), model.mechanism.joints
    return {
        name: start[f"{name}.q" if name in joints else name] if value is None else value
        for name, value in asked.items()
    }


def _check(arguments: argparse.Namespace) -> None:
    """Refuse options that exclude each other before anything is computed."""
    elsewhere = arguments.seek == "any" or arguments.stuck
    others = (arguments.hold, arguments.motors, arguments.speeds, arguments.output, arguments.json, elsewhere)
    if arguments.range is not None and (any(others) or arguments.starts is not None):
        raise lw.MechanismError("--range prints the range of rest by dry friction alone: with it only --input is taken")
    if arguments.starts is not None and (arguments.motors or elsewhere):
        raise lw.MechanismError(
            "--starts finds poses of rest of any kind, without motors: leave out --motor, --any and --stuck"
        )
    if arguments.seek == "any" and arguments.stuck:
        raise lw.MechanismError("--any seeks another pose than --stuck, the start: give one of them")
    check_files(arguments.output)
    suffixes = (".csv",) if arguments.starts is not None else (".json", ".npz")
    for path in arguments.output:
        if path.suffix not in suffixes:
            raise lw.MechanismError(f"{path}: the result is written as {' or '.join(suffixes)}")
