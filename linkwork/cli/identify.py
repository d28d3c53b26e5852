"""Identify masses, springs and frictions from measured motions and loads.

It prints parameters, or combinations of them where the loads determine no more, with standard deviations.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from linkwork.analysis.identify import identify
from linkwork.cli.mechanism_files import add_mechanism, mechanism_of
from linkwork.cli.result_files import PICTURES, add_output, check_files, give
from linkwork.cli.signatures import from_signature, given


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of an identification to a parser."""
    add_mechanism(parser)
    add = from_signature(parser, identify)
    data_help = "CSV file: time, coordinates as A.q (speeds A.u, accelerations A.a), loads as A.tau"
    add("measurements", type=Path, metavar="DATA", help=data_help)
    parameter_help = "unknown parameter, as crank.mass, A.damping, or a body; may be repeated (default: all bodies)"
    add("parameters", "--parameter", action="append", help=parameter_help)
    add("motors")
    add("smoothing", type=float, metavar="STD")
    add_output(parser, "write the parameters, or plot the residuals", (".csv", ".json", *PICTURES))


def run(arguments: argparse.Namespace) -> int:
    """Identify by the arguments and print; return 0."""
    check_files(arguments.output)
    return give(identify(mechanism_of(arguments), **given(arguments, "identify")), arguments)
