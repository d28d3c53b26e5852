"""Files and results of the commands: ``-o FILE``, whose suffix chooses the format, and results before a failure."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from linkwork._util.files import check_target
from linkwork.cli.values import file_argument
from linkwork.errors import LinkworkError
from linkwork.results.base import FILMS, MODELS, PAGES, PICTURES, ResultBase
from linkwork.results.in_time import TimeResult

DATA = (".csv", ".parquet", ".json", ".mat")

__all__ = ["DATA", "FILMS", "MODELS", "PAGES", "PICTURES"]


def add_output(parser: argparse.ArgumentParser, text: str, suffixes: Sequence[str] = (*DATA, *PICTURES)) -> None:
    """Add ``-o FILE``, which may be repeated, to a parser, and --json; `text` is the help."""
    listed = f"{text}; the suffix is the format: {', '.join(suffixes)}; may be repeated"
    take = file_argument(suffixes)
    parser.add_argument("-o", "--output", type=take, action="append", default=[], metavar="FILE", help=listed)
    add_json(parser)


def add_json(parser: argparse.ArgumentParser, text: str = "print the result as JSON") -> None:
    """Add --json to a parser."""
    parser.add_argument("--json", action="store_true", help=text)


def is_picture(path: Path) -> bool:
    """Whether a file is for a plot rather than for numbers."""
    return path.suffix.lower() in PICTURES


def check_files(paths: Iterable[Path]) -> None:
    """Refuse, before a run, files that cannot be written after it.

    Raises
    ------
    LinkworkError
        If a folder is missing, a file is named twice, the viewer of pages has not been built, or ffmpeg is missing.
    ImportError
        If a package that draws pictures or writes films is not installed.
    """
    paths = list(paths)
    for number, path in enumerate(paths):
        check_target(path, LinkworkError)
        if path.resolve() in [other.resolve() for other in paths[:number]]:
            raise LinkworkError(f"cannot write {path} twice: give each file a name of its own")
    for path in paths:
        suffix = path.suffix.lower()
        if suffix in PICTURES:
            import_module("linkwork.draw.plotting")
        elif suffix in PAGES:
            import_module("linkwork.view.document").check_built()
        elif suffix in FILMS:
            import_module("linkwork.view.film_files").check_film(path)


def refuse_to_overwrite(arguments: argparse.Namespace) -> None:
    """Refuse an output file that is one of the files that the command reads."""
    files = {name: list(_paths(value)) for name, value in vars(arguments).items()}
    written = files.pop("output", [])
    for read in (path for paths in files.values() for path in paths):
        for path in written:
            if os.path.exists(path) and os.path.exists(read) and path.samefile(read):
                raise LinkworkError(f"-o {path}: the command reads this file and would overwrite it; name another file")


def _paths(value: Any) -> Iterator[Path]:
    if isinstance(value, list | tuple | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _paths(one)
    elif isinstance(value, Path):
        yield value


def give(
    result: ResultBase,
    arguments: argparse.Namespace,
    written: Any = None,
    plain: Any = None,
    plot: str = "",
    **shown: Any,
) -> int:
    """Write the files that are asked for, and print the summary, or as JSON `plain` or `to_dict`; return 0."""
    write(result, arguments.output, written, plot)
    if arguments.json:
        print(json.dumps(result.to_dict(**shown) if plain is None else plain, indent=2))
    else:
        print("\n".join([result.summary(**shown), *(f"wrote {path}" for path in arguments.output)]))
    return 0


def write(result: ResultBase, paths: Iterable[Path], written: Any = None, plot: str = "") -> None:
    """Write columns of a result to files; `plot` is the name of another method for pictures."""
    for path in paths:
        if plot and is_picture(path):
            getattr(result, plot)(path)
        else:
            result.save(path, written)


def give_file(path: Path, arguments: argparse.Namespace, **facts: str) -> None:
    """Print the path of a file that was written, facts about it, and its size."""
    size = path.stat().st_size
    if arguments.json:
        print(json.dumps({"path": str(path), **facts, "bytes": size}))
    else:
        known = [f"{name.upper()} {value}" for name, value in facts.items()]
        print(f"{path} ({', '.join([*known, f'{size / 1024:.0f} kB'])})")


@contextmanager
def keeping(arguments: argparse.Namespace, columns: Any = None) -> Iterator[None]:
    """Write what a run has come to before it failed or was interrupted; an interrupt is reported with where that is."""
    try:
        yield
    except (LinkworkError, KeyboardInterrupt) as error:
        kept = keep(getattr(error, "result", None), arguments, columns)
        if isinstance(error, KeyboardInterrupt):
            print(f"interrupted{kept}", file=sys.stderr)
        raise


def keep(result: object, arguments: argparse.Namespace, columns: Any = None) -> str:
    """Write a partial result with rows; return where it is, to be added to the reason why it is one."""
    if not (isinstance(result, ResultBase) and getattr(result, "__len__", int)()):
        return ""
    write(result, arguments.output, columns)
    if not isinstance(result, TimeResult):
        return ""
    if not arguments.output:
        return f"; it had come to t = {result.t[-1]:.9g} s, and -o FILE would have kept the results"
    return f"; results until t = {result.t[-1]:.9g} s are in {' and '.join(map(str, arguments.output))}"
