"""Find the loads of motors that a motion needs.

The motion is a table of coordinates or points over time, or of a simulation. Loops are closed.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import linkwork as lw
from linkwork.cli.info import add_method
from linkwork.cli.inputs import add_loads, inputs_of
from linkwork.cli.mechanism_files import add_mechanism, mechanism_of
from linkwork.cli.result_files import DATA, PICTURES, add_output, check_files, give, is_picture, write
from linkwork.cli.signatures import from_signature, given
from linkwork.cli.values import AppendNamed, load

MOTION_HELP = (
    "the motion, a .csv file with a column 'time' or 't' [s]: all columns of a simulation (A.q, A.u, A.a, ...), or as "
    "many functions of the pose as degrees of freedom (A.q, hand.r[1]), with or without rates (A.u) and accelerations "
    "(A.a)"
)
LIMIT_HELP = (
    "limit of a motor's load in both directions [N.m or N], as A=5; may be repeated; other motors have the limits of "
    "their joints and actuators, as with --own-limits"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to a parser."""
    add_mechanism(parser)
    add = from_signature(parser, lw.inverse_dynamics)
    add("motion", type=Path, metavar="TABLE", help=MOTION_HELP)
    motor_help = "joint 'A', speed 'U[2]' or actuator that is a motor; may be repeated (default: all actuators)"
    add("motors", "--motor", action="append", help=motor_help)
    weight_help = "of a motor's load in the norm, as A=2; may be repeated (default: 1)"
    add("weights", "--weight", metavar="MOTOR=WEIGHT", help=weight_help)
    add("max_load", type=load, action=AppendNamed, metavar="MOTOR=LOAD", help=LIMIT_HELP)
    own_help = "keep the limits that the mechanism gives its joints and actuators"
    parser.add_argument("--own-limits", action="store_true", help=own_help)
    add_method(parser)
    add_loads(parser)
    columns_help = "columns to write or plot by -o, as A.tau (default: all; plotted: loads)"
    parser.add_argument("--columns", nargs="+", metavar="NAME", help=columns_help)
    envelope_help = "plots by -o show load over speed of each motor, not over time"
    parser.add_argument("--envelope", action="store_true", help=envelope_help)
    add_output(parser, "write loads over time or a plot", (*DATA, *PICTURES))


def run(arguments: argparse.Namespace) -> int:
    """Find the loads by the arguments; those before a failure are written as well."""
    check_files(arguments.output)
    if arguments.columns and not arguments.output:
        raise lw.MechanismError("--columns selects what -o FILE writes or plots: give -o FILE")
    if arguments.envelope and not any(map(is_picture, arguments.output)):
        raise lw.MechanismError(f"--envelope is for a plot: give -o FILE that ends in {' or '.join(PICTURES)}")
    asked = given(arguments, "inverse_dynamics")
    asked["max_load"] = asked["max_load"] or arguments.own_limits or None
    model = lw.compile(mechanism_of(arguments), arguments.method)
    files: dict[str, Any] = {"written": arguments.columns, "plot": "plot_envelope" if arguments.envelope else ""}
    try:
        loads = lw.inverse_dynamics(model, inputs=inputs_of(arguments), **asked)
    except lw.LoadsError as error:
        partial = error.result
        if not (isinstance(partial, lw.MotorLoads) and len(partial)):
            raise
        write(partial, arguments.output, **files)
        kept = f"are in {' and '.join(map(str, arguments.output))}" if arguments.output else "exist"
        raise lw.LoadsError(f"{error}; loads until t = {partial.t[-1]:.9g} s {kept}") from None
    return give(loads, arguments, **files)
