"""The contract of what takes results, and what makes a file fit for them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from linkwork._util.files import check_target, write_failure
from linkwork.errors import CosimError

SUFFIXES = (".csv", ".parquet")


class Sink(Protocol):
    """Takes the rows of a run in chunks: `begin` once, `rows` again and again, and `end`, more than once at will."""

    def begin(self, names: Sequence[str], units: Mapping[str, str], types: Sequence[type]) -> None:
        """Learn what the columns are; a type is float, int, np.uint64, bool or str."""

    def rows(self, t: Any, columns: Sequence[Any]) -> None:
        """Take rows: times (n,), and for each column an array (n,), all of them only valid during the call."""

    def end(self, about: Mapping[str, Any]) -> None:
        """Complete the file; `about` is `Result.about`."""


def check_suffix(path: Path) -> None:
    """Raise a `CosimError` if there is no way to write results as such a file."""
    if path.suffix.lower() not in SUFFIXES:
        raise CosimError(f"results cannot be written to {path}: name it {' or '.join(f'*{one}' for one in SUFFIXES)}")


def check_place(path: Path) -> None:
    """Raise a `CosimError` if a file cannot be written where it is meant to be."""
    check_target(path, CosimError)
    if not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        raise CosimError(f"cannot write {path}: no permission; choose another place")


def cannot_write(path: Path, problem: OSError) -> CosimError:
    """Return the error for a file that cannot be written."""
    return CosimError(write_failure(path, problem))
