"""Show what a mechanism consists of.

Its bodies, joints, couplings, forces and loops, its degrees of freedom, and the assembled start.
"""

from __future__ import annotations

import argparse

import linkwork as lw
from linkwork.analysis.explain import groups
from linkwork.analysis.overview import Overview
from linkwork.cli.mechanism_files import add_gap, add_mechanism, mechanism_of, start_of
from linkwork.cli.result_files import add_json, give
from linkwork.model.methods import METHODS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to a parser."""
    add_mechanism(parser)
    add_json(parser, "print the same as JSON, with --explain more of it")
    explain_help = "print its tree and cuts, and how and in what order its loops are solved, and why so"
    parser.add_argument("--explain", action="store_true", help=explain_help)
    add_method(parser)
    add_gap(parser)
    parser.set_defaults(output=[])


def add_method(parser: argparse.ArgumentParser) -> None:
    """Add the choice of a method to a parser."""
    text = "how loops are solved (default: %(default)s, by expected cost)"
    parser.add_argument("--method", choices=("auto", *METHODS), default="auto", help=text)


def run(arguments: argparse.Namespace) -> int:
    """Print what a mechanism consists of."""
    system = lw.compile(mechanism_of(arguments), arguments.method)
    if arguments.explain and not arguments.json:
        print(system.explain(start_of(system, arguments)))
        return 0
    try:
        state = start_of(system, arguments) or system.assemble()
    except lw.LinkworkError as error:
        raise lw.LinkworkError(f"{error} (--explain shows tree and loops all the same)") from error
    overview = Overview(system, state)
    explained = {"method": arguments.method, "groups": groups(system, state)} if arguments.explain else {}
    return give(overview, arguments, plain=overview.to_dict() | explained if explained else None)
