"""FMUs with something changed in their archive."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from pathlib import Path

XML = "modelDescription.xml"


def mutated(path: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """A copy of an FMU beside it, whose files by name have gone through `change`."""
    with zipfile.ZipFile(path) as archive:
        files = {one.filename: archive.read(one) for one in archive.infolist()}
    change(files)
    target = path.with_name(f"changed {path.name}")
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return target


def rewritten(path: Path, pattern: str, replacement: str) -> Path:
    """A copy of an FMU in whose model description a pattern, which must be there, is replaced once."""

    def change(files: dict[str, bytes]) -> None:
        text, count = re.subn(pattern, replacement, files[XML].decode(), count=1, flags=re.DOTALL)
        assert count == 1, pattern
        files[XML] = text.encode()

    return mutated(path, change)
