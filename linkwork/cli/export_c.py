"""Write a mechanism as C99 for controllers.

The files are a header with the functions, their code and a program that compares them with the core.
"""

from __future__ import annotations

import argparse
import json

import linkwork as lw
from linkwork.cli.info import add_method
from linkwork.cli.mechanism_files import add_gap, add_mechanism, mechanism_of, start_of
from linkwork.cli.result_files import add_json
from linkwork.cli.signatures import from_signature, given

DRIVEN_HELP = (
    "loads for given accelerations are a function as well: of as many independent joints A or speeds U.u[2] as degrees "
    "of freedom, or auto; without a name of all joints in the tree (default: none)"
)
KINEMATICS_HELP = (
    "bodies, points and measures whose poses, velocities and Jacobians are functions as well (default: none)"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to a parser."""
    add_mechanism(parser)
    add = from_signature(parser, lw.export_c)
    add("folder", metavar="FOLDER", help="folder of the files; it is made if it is missing")
    add("outputs", help="variables that are a function as well, as coupler.r energy.kinetic (default: none)")
    add("parameters", help="parameters that are arguments, as coupler.mass (default: none; all are constants)")
    add("kinematics", help=KINEMATICS_HELP)
    add("inverse_dynamics", nargs="*", metavar="NAME", help=DRIVEN_HELP)
    add("jacobian", "--no-jacobian", action="store_false", help="leave out the matrix of the derivatives by the states")
    add("name", help="beginning of all names in C (default: the name of the mechanism)")
    add_method(parser)
    add_gap(parser)
    add_json(parser, "print the paths of the files as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Export by the arguments and print the paths of the files; return the exit code."""
    asked = given(arguments, "export_c")
    if asked["inverse_dynamics"] in ([], ["auto"]):
        asked["inverse_dynamics"] = "auto" if asked["inverse_dynamics"] else True
    model = lw.compile(mechanism_of(arguments), arguments.method)
    header = lw.export_c(model, state=start_of(model, arguments), **asked)
    files = [header, header.with_suffix(".c"), header.with_name(f"{header.stem}_test.c")]
    if arguments.json:
        print(json.dumps({"path": str(header), "files": [str(one) for one in files]}))
    else:
        print("\n".join(f"{one} ({one.stat().st_size / 1024:.0f} kB)" for one in files))
    return 0
