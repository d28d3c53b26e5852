"""Masters as the command line names them."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

from linkwork.cosim.masters.base import Master
from linkwork.cosim.masters.fixed import GaussSeidel, Jacobi
from linkwork.errors import CosimError

MASTERS = ("jacobi", "gauss-seidel", "adaptive")
OF_ADAPTIVE = ("tolerance", "smallest_step", "largest_step")
OF_FIXED = ("step", "extrapolation")


def add_master_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the choice of a master algorithm to a parser; `master_of` makes it."""
    add = parser.add_argument_group("master algorithm").add_argument
    add("--master", choices=MASTERS, default="jacobi", help="how FMUs take turns (default: %(default)s)")
    step_help = "communication step [s] (default: the smallest that an FMU proposes, at most a thousandth of the run)"
    add("--step", type=positive, metavar="DT", help=step_help)
    add("--extrapolation", type=int, choices=(0, 1, 2), help="order by which inputs change within a step (default: 0)")
    add("--tolerance", type=positive, metavar="TOL", help="of adaptive: relative error of a step (default: its own)")
    add("--smallest-step", type=positive, metavar="DT", help="of adaptive [s]")
    add("--largest-step", type=positive, metavar="DT", help="of adaptive [s]")


def master_of(arguments: argparse.Namespace, usual_step: Callable[[], float]) -> Master:
    """Make the master that arguments ask for; `usual_step` gives its step if none is named [s].

    Raises
    ------
    CosimError
        If an option belongs to another master.
    """
    adaptive = arguments.master == "adaptive"
    for name in OF_FIXED if adaptive else OF_ADAPTIVE:
        if getattr(arguments, name) is not None:
            right = "jacobi or gauss-seidel" if adaptive else "adaptive"
            raise CosimError(f"--{name.replace('_', '-')} is an option of --master {right}, not of {arguments.master}")
    if adaptive:
        kind: Any = import_module("linkwork.cosim.masters").Adaptive
        given = {name: value for name in OF_ADAPTIVE if (value := getattr(arguments, name)) is not None}
        made: Master = kind(**given)
        return made
    fixed = Jacobi if arguments.master == "jacobi" else GaussSeidel
    return fixed(arguments.step or usual_step(), arguments.extrapolation or 0)


def number(text: str) -> float:
    """Take an argument as a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number")
    return value


def positive(text: str) -> float:
    """Take an argument as a finite number above zero."""
    value = number(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text} is not above zero")
    return value
