"""The command line, ``linkwork COMMAND``: each command is a module of this folder.

Exit codes: 0 done; 1 failed, with the reason in one line on standard error; 2 wrong usage; 130 interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import Any, NamedTuple, TextIO

from linkwork.cli.parser import INTERRUPTED, Parser
from linkwork.errors import LinkworkError, LinkworkWarning

EXIT_CODES = "0 done, 1 failed, 2 wrong usage, 130 interrupted by Ctrl-C"


class Command(NamedTuple):
    """A command: its module has `add_arguments`, `run` and the description, and is loaded if it is asked for."""

    summary: str
    example: str
    module: str = ""  # by default as the command is called


COMMANDS = {
    "info": Command(
        "show what a mechanism consists of",
        "linkwork info examples/four_bar.py --explain",
    ),
    "simulate": Command(
        "simulate a mechanism in time",
        "linkwork simulate examples/four_bar.py --t-end 5 --columns A.q coupler.r -o out.csv -o out.png",
    ),
    "kinematics": Command(
        "sweep one coordinate of a mechanism through its range",
        "linkwork kinematics examples/four_bar.py A.q -1 5.28 -o out.csv -o out.png",
    ),
    "compare": Command(
        "compare formulations and solvers on a mechanism",
        "linkwork compare examples/four_bar.py --t-end 1 --runs rcr/dopri5 DOP853 -o out.csv -o out.png",
    ),
    "inverse-kinematics": Command(
        "find the pose of a mechanism with given positions",
        "linkwork inverse-kinematics examples/four_bar.py --at A=1.0 --from A=0.6",
    ),
    "workspace": Command(
        "map the poses that a mechanism reaches",
        "linkwork workspace examples/four_bar.py --of 'coupler.r[1]' 'coupler.r[3]' --by A -o map.csv -o map.png",
    ),
    "inverse-dynamics": Command(
        "find the loads of motors that a motion needs",
        "linkwork inverse-dynamics examples/five_bar.py motion.csv --motor L --motor R -o loads.csv -o loads.png",
    ),
    "equilibrium": Command(
        "find poses of rest and the loads that hold a pose",
        "linkwork equilibrium examples/four_bar.py --hold A=0.3 --motor A -o rest.json",
    ),
    "identify": Command(
        "identify masses, springs and frictions from measured motions and loads",
        "linkwork identify examples/five_bar.py data.csv --parameter distal_l.mass --parameter L.damping -o found.csv",
    ),
    "view": Command(
        "write a page that shows mechanisms and runs in motion",
        "linkwork view examples/four_bar.py -o four_bar.html",
    ),
    "export": Command(
        "write a mechanism as an FMU",
        "linkwork export examples/four_bar.py -o four_bar.fmu --fmi 2.0 --outputs A.q coupler.r energy",
    ),
    "export-c": Command(
        "write a mechanism as C99 for controllers",
        "linkwork export-c examples/four_bar.py four_bar_c --outputs coupler.r --inverse-dynamics A",
    ),
    "import": Command(
        "show what becomes of each element of a robot's file",
        "linkwork import cassie.xml --limits --all",
        module="import_report",
    ),
    "convert": Command(
        "write a mechanism in another format",
        "linkwork convert robot.urdf -o robot.json --base free",
    ),
    "schema": Command(
        "print the JSON Schema of mechanisms",
        "linkwork schema -o linkwork.schema.json",
    ),
    "check": Command(
        "check any FMU",
        "linkwork check four_bar.fmu --skip memory",
    ),
    "controller": Command(
        "write a controller as an FMU",
        "linkwork controller pid -o pid.fmu --set kp=20 --set ki=5",
    ),
    "run": Command(
        "run a system of FMUs, or one FMU",
        "linkwork run four_bar.fmu --t-end 2 --set A.u_start=3 -o out.csv",
    ),
    "sweep": Command(
        "run a system of FMUs for many values of its parameters",
        "linkwork sweep car.ssp --grid plant.mode=1,2,3 --latin plant.m=0.5..2 plant.c=1..10:log --samples 200 -o out",
    ),
    "completion": Command(
        "print the script with which a shell completes this command line",
        "linkwork completion bash > ~/.local/share/bash-completion/completions/linkwork",
    ),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line with the given arguments (by default the process's own); return the exit code."""
    argv = sys.argv[1:] if argv is None else argv
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        return _run(argv)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Show a warning of Linkwork as errors are shown, without the line of code; others as Python does."""
    shown = warnings.formatwarning(message, category, filename, lineno, line)
    text = f"warning: {message}\n" if issubclass(category, LinkworkWarning) else shown
    (file or sys.stderr).write(text)


def _write_any_text() -> None:
    """Names in a locale that cannot write them appear escaped; by default the command would end with an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
            with contextlib.suppress(OSError, ValueError):
                stream.reconfigure(errors="backslashreplace")


def _run(argv: Sequence[str]) -> int:
    _write_any_text()
    try:
        arguments = make_parser(argv[:1]).parse_args(argv)
        from linkwork.cli.result_files import refuse_to_overwrite

        refuse_to_overwrite(arguments)
        return int(arguments.run(arguments))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has gone
        return 1
    except (LinkworkError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def make_parser(wanted: Sequence[str] = tuple(COMMANDS)) -> argparse.ArgumentParser:
    """Return the parser of the command line, with the arguments of the requested commands.

    Each command knows its function as `run`.
    """
    parser = Parser(
        prog="linkwork",
        description="Closed-chain multibody dynamics: simulate a mechanism, export it, run it with other FMUs.",
        epilog="'linkwork COMMAND --help' describes a command.",
    )
    parser.add_argument("--version", action=_Version, help="show the version and exit")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, command in COMMANDS.items():
        _add(commands, name, command, name in wanted)
    return parser


class _Version(argparse.Action):
    """Asks for the version only on request: looking it up takes a while."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        import linkwork as lw

        print(f"linkwork {lw.__version__}")
        parser.exit()


def _add(commands: Any, name: str, command: Command, whole: bool) -> None:
    parser: Parser = commands.add_parser(
        name,
        help=command.summary,
        epilog=f"example:\n  {command.example}\n\nexit codes: {EXIT_CODES}",
        conflict_handler="resolve",  # a command may have a help of its own
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if whole:
        room: Any = import_module(f"linkwork.cli.{command.module or name.replace('-', '_')}")
        parser.description = room.__doc__
        room.add_arguments(parser)
        parser.usage = parser.brief_usage()
        parser.set_defaults(run=room.run)
