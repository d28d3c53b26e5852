"""Where an FMU carries the scene of its mechanism."""

from __future__ import annotations

import zipfile
from pathlib import Path

from linkwork._util.files import ZIP_ERRORS
from linkwork.errors import LinkworkError

PLACES = {"3.0": "extra/org.linkwork/scene.json", "2.0": "resources/scene.json"}
"""Where the file stands in an FMU, by version of FMI; FMI 2.0 has no folder extra."""


def scene_bytes(path: Path) -> bytes | None:
    """Return the scene file of an FMU; None: it has none."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            return next((archive.read(name) for name in PLACES.values() if name in names), None)
    except (OSError, *ZIP_ERRORS) as problem:
        raise LinkworkError(f"the FMU {path} cannot be read: {problem}") from problem
