"""Masters as the command line names them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from linkwork.cli.values import positive
from linkwork.cosim.masters.adaptive import Adaptive
from linkwork.cosim.masters.base import Master
from linkwork.cosim.masters.fixed_step import GaussSeidel, Jacobi
from linkwork.errors import CosimError

MASTERS = ("jacobi", "gauss-seidel", "adaptive")
OF_ADAPTIVE = ("rtol", "first_step", "min_step", "max_step")
RTOL = 1e-4


def add_master_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the choice of a master algorithm to a parser; `master_of` makes it."""
    add = parser.add_argument_group("master algorithm").add_argument
    add("--master", choices=MASTERS, default="jacobi", help="co-simulation master algorithm (default: %(default)s)")
    step_help = (
        "communication step of jacobi and gauss-seidel [s] "
        "(default: the smallest that an FMU proposes, else a thousandth of the run)"
    )
    add("--step", type=positive, metavar="DT", help=step_help)
    extrapolation_help = "order by which inputs change within a step (default: 0; of adaptive 1)"
    add("--extrapolation", type=int, choices=(0, 1, 2), help=extrapolation_help)
    rtol_help = f"of adaptive: error of a step, relative to the signals (default: {RTOL:g})"
    add("--rtol", type=positive, metavar="TOL", help=rtol_help)
    first_help = "of adaptive: the first step [s], also after events (default: a thousandth of the run)"
    add("--first-step", type=positive, metavar="DT", help=first_help)
    min_help = "of adaptive: the smallest step [s] (default: 1e-10 of the run)"
    add("--min-step", type=positive, metavar="DT", help=min_help)
    max_help = "of adaptive: the largest step [s] (default: a tenth of the run)"
    add("--max-step", type=positive, metavar="DT", help=max_help)


def master_of(arguments: argparse.Namespace, usual_step: Callable[[], float]) -> Master:
    """Make the master that arguments ask for; `usual_step` gives its step if none is named [s]."""
    if arguments.master == "adaptive":
        return _adaptive(arguments)
    for name in OF_ADAPTIVE:
        if getattr(arguments, name) is not None:
            option = f"--{name.replace('_', '-')}"
            raise CosimError(f"{option} is an option of --master adaptive, not of {arguments.master}")
    fixed = Jacobi if arguments.master == "jacobi" else GaussSeidel
    return fixed(arguments.step or usual_step(), arguments.extrapolation or 0)


def _adaptive(arguments: argparse.Namespace) -> Master:
    if arguments.step is not None:
        raise CosimError("--step is an option of the masters with a fixed step; --master adaptive takes --first-step")
    given: dict[str, Any] = {name: getattr(arguments, name) for name in ("first_step", "min_step", "max_step")}
    if arguments.extrapolation is not None:
        given["extrapolation"] = arguments.extrapolation
    return Adaptive(arguments.rtol or RTOL, **given)
