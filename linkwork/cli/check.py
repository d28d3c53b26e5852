"""Check any FMU.

Its archive, its model description, and in a process of its own what its library does.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from linkwork._util.names import suggest
from linkwork.cli.result_files import add_json, give
from linkwork.cli.signatures import from_signature, given
from linkwork.cli.values import positive
from linkwork.fmu.check.registry import all_checks
from linkwork.fmu.check.run import check_fmu


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the checks to a parser."""
    add = from_signature(parser, check_fmu)
    add("path", type=Path, nargs="?", metavar="FMU", help="the FMU, of FMI 2.0 or 3.0")
    add("only", type=_checks, action="extend", metavar="NAME,...", help="run these checks alone")
    add("skip", type=_checks, action="extend", metavar="NAME,...", help="leave these checks out")
    parser.add_argument("--list", action="store_true", help="print all checks and what each is for")
    add("time_limit", type=positive, metavar="S", help="of each check [s] (default: %(default)g)")
    add_json(parser, "print the findings as JSON")
    parser.set_defaults(refuse=parser.error, output=[])


def run(arguments: argparse.Namespace) -> int:
    """Check by the arguments and print the findings; return 0 if there is no error, else 1."""
    if arguments.list:
        return _list(arguments.json)
    if arguments.path is None:
        arguments.refuse("name an FMU, or --list the checks")
    report = check_fmu(**given(arguments, "check_fmu"))
    give(report, arguments)
    return 0 if report.passed else 1


def _list(as_json: bool) -> int:
    checks = all_checks().values()
    if as_json:
        known = [{"name": one.name, "reason": one.reason, "dynamic": one.dynamic} for one in checks]
        print(json.dumps(known, indent=2))
        return 0
    width = max(len(one.name) for one in checks)
    for one in checks:
        print(f"{one.name:<{width}}  {one.reason}")
    return 0


def _checks(text: str) -> list[str]:
    names = [one for one in text.split(",") if one]
    if not names:
        raise argparse.ArgumentTypeError("name a check; --list prints all")
    for name in names:
        if name not in all_checks():
            hint = suggest(name, all_checks())
            raise argparse.ArgumentTypeError(f"there is no check {name!r}: {hint}; --list prints all")
    return names
