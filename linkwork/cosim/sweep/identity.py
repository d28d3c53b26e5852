"""The identity of a sweep, as JSON: enough to decide whether a folder belongs to it."""

from __future__ import annotations

import dataclasses
import hashlib
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from linkwork.cosim.sweep.sampling import Points
from linkwork.cosim.system import System
from linkwork.errors import CosimError

FORMAT = 1
MUST_AGREE = ("format", "system", "files", "points", "settings", "keep")
DESCRIPTION = ("name", "components", "connections", "parameter_sets", "experiment")  # of a system
PACKAGES = ("linkwork", "numpy", "fmpy")


def identity(system: System, points: Points, settings: Mapping[str, Any], keep: str) -> dict[str, Any]:
    """Describe a sweep."""
    return {
        "format": FORMAT,
        "system": {name: plain(getattr(system, name)) for name in DESCRIPTION},
        "files": {one.name: digest(one.fmu) for one in system.components.values()},
        "points": {"count": len(points), "parameters": list(points.columns), "sha256": points.digest},
        "settings": plain(dict(settings)),
        "keep": keep,
        "versions": {"python": platform.python_version(), "machine": platform.machine(), **_versions()},
    }


def differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    """What makes them different sweeps."""
    return [name for name in MUST_AGREE if ours.get(name) != theirs.get(name)]


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as problem:
        raise CosimError(f"the FMU {path} cannot be read: {problem}") from problem


def plain(thing: Any) -> Any:
    """Data that JSON can hold and give back unchanged; files count by their name."""
    if isinstance(thing, bool | int | float | str | None):
        return thing
    if isinstance(thing, Path):
        return thing.name
    if isinstance(thing, Mapping):
        return {str(key): plain(value) for key, value in thing.items()}
    if isinstance(thing, list | tuple | set | frozenset):
        return [plain(value) for value in thing]
    if hasattr(thing, "tolist"):  # of numpy
        return thing.tolist()
    if not dataclasses.is_dataclass(thing) or isinstance(thing, type):
        return repr(thing)
    content = {one.name: getattr(thing, one.name) for one in dataclasses.fields(thing)}
    return {"type": type(thing).__name__, **{str(name): plain(value) for name, value in content.items()}}


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found
