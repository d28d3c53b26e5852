"""Mechanisms on the command line: the file, and how files of robots are read."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwork.errors import ExportError

if TYPE_CHECKING:
    from linkwork.mechanism import Mechanism

FILE_HELP = "a .py file that defines mechanism(), or a .json, .urdf, .sdf, .xml (MJCF) or .usda/.usdc file"


def add_mechanism(parser: argparse.ArgumentParser) -> None:
    """Add the file of a mechanism to a parser, and options for files of robots."""
    parser.add_argument("mechanism", type=Path, metavar="MECHANISM", help=FILE_HELP)
    add_robot_options(parser)


def add_robot_options(parser: argparse.ArgumentParser) -> None:
    """Add options for files of robots to a parser."""
    group = parser.add_argument_group("files of robots (.urdf, .sdf, .xml, .usda, .usdc)")
    base_help = "joint of the base to the world (default: stated by the file)"
    group.add_argument("--base", choices=("fixed", "free"), help=base_help)
    group.add_argument("--limits", action="store_true", help="make limits of joints inelastic stops")
    group.add_argument("--keep-fixed", action="store_true", help="keep links that are fixed to each other as bodies")
    group.add_argument("--root", type=Path, metavar="FOLDER", help="folder around the file, from which meshes are read")
    group.add_argument("--strict", action="store_true", help="refuse a file with approximated or omitted elements")


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
    options = {"base": arguments.base, "limits": arguments.limits, "strict": arguments.strict, "root": arguments.root}
    return options | {"merge_fixed": not arguments.keep_fixed}


def load_mechanism(path: Path, options: dict[str, Any] | None = None) -> Mechanism:
    """Read a mechanism from a file, or from the function ``mechanism()`` of a Python file.

    Raises
    ------
    ExportError
        If the file is not there, is of another kind or gives no mechanism.
    """
    from linkwork.formats.files import SUFFIXES, load

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
