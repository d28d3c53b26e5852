"""Write a controller as an FMU.

A Python file, or a built-in controller, for Co-Simulation with the FMUs of mechanisms.
"""

from __future__ import annotations

import argparse
import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from linkwork import controllers
from linkwork._util.names import suggest
from linkwork.cli.result_files import add_json, give_file
from linkwork.cli.values import AppendNamed, by_comma, file_argument, setting
from linkwork.errors import FmuError, FmuNameError
from linkwork.fmu.export.libraries import PLATFORMS

SUMMARIES = {
    "pid": "PID with filtered derivative, limits and anti-windup",
    "state_feedback": "u = u0 - K (x - x0), the linear-quadratic regulator of a linear model; from Python alone",
    "computed_torque": "loads of drives by the mechanism's own dynamics; from Python alone",
    "skyhook": "semi-active damper of a body, two coefficients or all between",
    "latch_supervisor": "commands latches in a row where angles are near targets",
    "trajectory": "motion from point to point with waits",
    "signal": "table over time, linear, monotone or cubic",
}
_FROM_PYTHON = ("state_feedback", "computed_torque")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to a parser."""
    add = parser.add_argument
    source_help = "a file with a controller, or a built-in one: see --list and NAME --help"
    add("source", nargs="?", metavar="FILE.py|NAME", help=source_help)
    output_help = "where to write it, .fmu (default: the name, with .fmu)"
    add("-o", "--output", type=file_argument((".fmu",)), metavar="FMU", help=output_help)
    add("--list", action="store_true", help="print the built-in controllers")
    set_help = "start value of a parameter, or another setting as JSON; may be repeated"
    add("--set", type=setting, action=AppendNamed, default={}, dest="settings", metavar="NAME=VALUE", help=set_help)
    resource_help = "file or folder to put next to FILE.py in the FMU; may be repeated"
    add("--resource", type=Path, action="append", default=[], dest="resources", metavar="PATH", help=resource_help)
    add("--class", dest="class_name", metavar="NAME", help="which class of FILE.py, where there are several")
    add("--requirements", type=Path, metavar="FILE", help="a requirements.txt to carry, for 'pythonfmu deploy'")
    add("--fmi", choices=("2.0", "3.0"), help="version of the standard, of a built-in controller in C (default: 2.0)")
    platforms_help = f"where a built-in controller in C shall run (default: on this platform): {', '.join(PLATFORMS)}"
    add("--platforms", type=by_comma, metavar="NAME,...", help=platforms_help)
    add_json(parser, "print the result or the list as JSON")
    parser.set_defaults(refuse=parser.error)
    add("-h", "--help", action=_Help, help="print this; after the name of a built-in controller, its settings")


def run(arguments: argparse.Namespace) -> int:
    """Write the FMU that the arguments ask for."""
    if arguments.list:
        return _list(arguments.json)
    if arguments.source is None:
        arguments.refuse("name a Python file or a built-in controller, or --list them")
    settings = dict(arguments.settings)
    path = _ready(arguments, settings) if Path(arguments.source).suffix != ".py" else _own(arguments, settings)
    give_file(path, arguments)
    return 0


class _Help(argparse.Action):
    """The usual help, and the settings of the built-in controller named before it."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(nargs=0, **{**kwargs, "dest": argparse.SUPPRESS, "default": argparse.SUPPRESS})

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, *_: Any) -> None:
        name = getattr(namespace, "source", None)
        print(_about(name) if isinstance(name, str) and name in controllers.BUILTIN else parser.format_help(), end="")
        parser.exit()


def _about(name: str) -> str:
    """The settings of a built-in controller: the arguments of its function, and their meaning."""
    try:
        function = getattr(controllers, name)
    except ImportError as error:
        return f"{error}\n"
    way = "from Python alone" if name in _FROM_PYTHON else f"linkwork controller {name} --set NAME=VALUE ..."
    return f"{way}\nlinkwork.controllers.{name}{_signature(function)}\n\n{inspect.getdoc(function)}\n"


def _signature(function: Callable[..., Any]) -> str:
    """Arguments and start values, without types."""
    plain = [one.replace(annotation=one.empty) for one in inspect.signature(function).parameters.values()]
    return str(inspect.Signature(plain))


def _own(arguments: argparse.Namespace, settings: dict[str, Any]) -> Path:
    if arguments.fmi == "3.0" or arguments.platforms:
        arguments.refuse("--fmi 3.0 and --platforms need a built-in controller in C: one in Python has FMI 2.0")
    return controllers.package(
        arguments.source,
        arguments.output,
        resources=arguments.resources,
        settings=settings,
        class_name=arguments.class_name,
        requirements=arguments.requirements,
    )


def _ready(arguments: argparse.Namespace, settings: dict[str, Any]) -> Path:
    name = arguments.source
    if name not in controllers.BUILTIN:
        hint = suggest(name, controllers.BUILTIN)
        raise FmuNameError(f"{name!r} is neither a .py file nor a built-in controller; {hint}")
    if name in _FROM_PYTHON:
        raise FmuError(f"{name} takes a mechanism: write it from Python, linkwork.controllers.{name}(...)")
    if arguments.resources or arguments.requirements or arguments.class_name:
        arguments.refuse("--resource, --requirements and --class need a controller file FILE.py")
    for option in ("fmi", "platforms"):
        if getattr(arguments, option) is not None:
            settings[option] = getattr(arguments, option)
    path = arguments.output or Path(f"{name}.fmu")
    try:
        written: Path = getattr(controllers, name)(path, **settings)
    except (TypeError, ValueError) as error:  # missing, unknown or unreadable arguments
        raise FmuError(
            f"{error}; give settings as --set NAME=VALUE, as linkwork.controllers.{name} has them"
        ) from error
    return written


def _list(as_json: bool) -> int:
    if as_json:
        print(json.dumps([{"name": name, "summary": SUMMARIES[name]} for name in controllers.BUILTIN], indent=2))
        return 0
    width = max(map(len, controllers.BUILTIN))
    for name in controllers.BUILTIN:
        print(f"{name:<{width}}  {SUMMARIES[name]}")
    print("\n'linkwork controller NAME --help' lists the settings")
    return 0
