"""Result files of the commands: ``-o FILE``, whose suffix chooses the format."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwork._util.files import atomic_path
from linkwork._util.names import nearest
from linkwork.errors import LinkworkError
from linkwork.view.document import check_built
from linkwork.view.film_files import check_film

if TYPE_CHECKING:
    import pandas as pd

    from linkwork.simulation.result import Result

PICTURES = (".png", ".svg", ".pdf")
DATA = (".csv", ".parquet", ".json", ".mat")
PAGES = (".html",)
MODELS = (".glb",)
FILMS = (".gif", ".webp", ".mp4")


def file_argument(suffixes: Sequence[str]) -> Callable[[str], Path]:
    """Return the type of an argument that names a file of one of these formats."""

    def take(text: str) -> Path:
        path = Path(text)
        if path.suffix.lower() not in suffixes:
            near = nearest(path.suffix, suffixes)
            hint = f": did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise argparse.ArgumentTypeError(f"{text!r} does not end in {', '.join(suffixes)}{hint}")
        return path

    return take


def add_output(parser: argparse.ArgumentParser, text: str, suffixes: Sequence[str] = (*DATA, *PICTURES)) -> None:
    """Add ``-o FILE``, which may be repeated, to a parser; `text` is its help."""
    listed = f"{text}; the suffix is the format: {', '.join(suffixes)}; may be repeated"
    take = file_argument(suffixes)
    parser.add_argument("-o", "--output", type=take, action="append", default=[], metavar="FILE", help=listed)


def is_picture(path: Path) -> bool:
    """Whether a file is for a plot rather than for numbers."""
    return path.suffix.lower() in PICTURES


def is_page(path: Path) -> bool:
    """Whether a file is a page with the motion."""
    return path.suffix.lower() in PAGES


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
        if not path.absolute().parent.is_dir():
            raise LinkworkError(f"cannot write {path}: there is no folder {path.parent}")
        if path.resolve() in [other.resolve() for other in paths[:number]]:
            raise LinkworkError(f"cannot write {path} twice: give each file a name of its own")
    if any(map(is_picture, paths)):
        import_module("linkwork.draw.plotting")
    if any(map(is_page, paths)):
        check_built()
    for path in paths:
        if path.suffix.lower() in FILMS:
            check_film(path)


def wrote(paths: Iterable[Path]) -> list[str]:
    """Return the lines that name the files written."""
    return [f"wrote {path}" for path in paths]


def save(result: Result, path: Path, columns: Sequence[str] | None = None) -> None:
    """Write columns of a simulation (by default all; in a plot the states) in the format of the suffix."""
    if is_picture(path):
        result.plot(columns, path)
    elif is_page(path):
        result.page(path, columns)
    elif path.suffix.lower() in MODELS:
        result.glb(path)
    elif path.suffix.lower() in FILMS:
        result.film(path)
    elif path.suffix.lower() == ".csv":
        result.to_csv(path, columns)
    else:
        save_table(result.to_dataframe(columns), path)


def save_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table with the time as index as .parquet, .json or .mat.

    JSON has an array for each column, ``time`` first, with null for values that are not finite. MATLAB gets ``time``,
    ``data`` with a column for each variable, and their ``names``.
    """
    frame = frame.reset_index()
    with atomic_path(path) as part:
        match path.suffix.lower():
            case ".parquet":
                frame.to_parquet(part)
            case ".json":
                columns = {name: _json_values(frame[name].tolist()) for name in frame}
                part.write_text(json.dumps(columns) + "\n", encoding="utf-8")
            case _:
                _save_mat(frame, part)


def _json_values(values: list[Any]) -> list[Any]:
    return [None if value != value or value in (float("inf"), -float("inf")) else value for value in values]


def _save_mat(frame: pd.DataFrame, path: Path) -> None:
    import numpy as np
    from scipy.io import savemat

    time, *names = map(str, frame)
    columns = {
        "time": frame[time].to_numpy(dtype=float),
        "data": frame[names].to_numpy(dtype=float),
        "names": np.array(names, dtype=object),
    }
    savemat(str(path), columns, appendmat=False, oned_as="column")
