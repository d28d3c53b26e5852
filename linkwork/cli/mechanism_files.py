"""Mechanisms on the command line: the file, and how files of robots are read."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwork.cli.signatures import from_signature, given
from linkwork.errors import ExportError
from linkwork.formats.files import SUFFIXES, load

if TYPE_CHECKING:
    from linkwork.mechanism import Mechanism
    from linkwork.model.model import Model
    from linkwork.model.state import State

FILE_HELP = "a .py file that defines mechanism(), or a .json, .urdf, .sdf, .xml (MJCF) or .usda/.usdc file"


def add_mechanism(parser: argparse.ArgumentParser) -> None:
    """Add the file of a mechanism to a parser, and options for files of robots."""
    parser.add_argument("mechanism", type=Path, metavar="MECHANISM", help=FILE_HELP)
    add_robot_options(parser)


def add_robot_options(parser: argparse.ArgumentParser) -> None:
    """Add options for files of robots to a parser."""
    add = from_signature(parser.add_argument_group("files of robots (.urdf, .sdf, .xml, .usda, .usdc)"), load)
    add("base", help="joint of the base to the world (default: stated by the file)")
    add("limits", help="make limits of joints inelastic stops")
    keep_help = "keep links that are fixed to each other as bodies"
    add("merge_fixed", "--keep-fixed", action="store_false", help=keep_help)
    add("root", metavar="FOLDER", help="folder around the file, from which meshes are read")
    add("strict", help="refuse a file with approximated or omitted elements")


def add_gap(parser: argparse.ArgumentParser) -> None:
    """Add the gap that assembly accepts."""
    text = "largest gap of a loop that assembly accepts, where numbers were rounded [m] (default: 1e-8)"
    parser.add_argument("--tolerance", type=float, metavar="M", help=text)


def start_of(system: Model, arguments: argparse.Namespace, time: float = 0.0) -> State | None:
    """Return the start assembled with the gap that was given; None: none was, and the default serves."""
    return None if arguments.tolerance is None else system.assemble(tolerance=arguments.tolerance, time=time)


def mechanism_of(arguments: argparse.Namespace) -> Mechanism:
    """Read the mechanism that the arguments of `add_mechanism` name.

    Raises
    ------
    ExportError
        If the file is not there, is of another kind or gives no mechanism.
    """
    return load_mechanism(arguments.mechanism, robot_options(arguments))


def robot_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of `linkwork.load` that the options for files of robots are."""
    return given(arguments, "load")


def load_mechanism(path: Path, options: dict[str, Any] | None = None) -> Mechanism:
    """Read a mechanism from a file, or from the function ``mechanism()`` of a Python file."""
    if not path.is_file():
        raise ExportError(f"there is no file {path}")
    if path.suffix != ".py":
        if path.suffix not in SUFFIXES:
            hint = "; 'linkwork run' takes FMUs and systems of them" if path.suffix in (".fmu", ".ssp") else ""
            raise ExportError(f"{path} is neither a .py file nor one of {', '.join(SUFFIXES)}{hint}")
        return load(path, **(options or {}))
    specification = importlib.util.spec_from_file_location(path.stem, path)
    if specification is None or specification.loader is None:
        raise ExportError(f"cannot import {path}")
    module = importlib.util.module_from_spec(specification)
    with _neighbours_of(path):
        specification.loader.exec_module(module)
        if not callable(getattr(module, "mechanism", None)):
            raise ExportError(f"{path} defines no function mechanism(); let it return the mechanism")
        mechanism: Mechanism = module.mechanism()
    from linkwork.mechanism import Mechanism

    if not isinstance(mechanism, Mechanism):
        raise ExportError(f"mechanism() in {path} returns {type(mechanism).__name__}, not a Mechanism")
    return mechanism


@contextmanager
def _neighbours_of(path: Path) -> Iterator[None]:
    """Let a script import the files next to it, as it can when it is run."""
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        if folder in sys.path:
            sys.path.remove(folder)
