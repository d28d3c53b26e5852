"""Built-in controllers as Python FMUs: their laws in Python, in PythonFMU's library, the reference of those in C."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from linkwork import controllers
from linkwork.controllers.built_in import made
from linkwork.controllers.controller import Controller

LAWS = Path(__file__).parent / "laws"


def in_python(name: str, path: Path, *args: Any, **settings: Any) -> Path:
    """Write the FMU of the law in Python, with the arguments of its function."""
    found = getattr(controllers, name)._settings(*args, **settings)
    return controllers.package(LAWS / f"{name}.py", path, settings=found)


def reference(name: str, *args: Any, **settings: Any) -> Controller:
    """Return the law in Python, with the arguments of its function."""
    function = getattr(controllers, name)
    (kind,) = (
        one
        for one in vars(importlib.import_module(f"support.laws.{name}")).values()
        if isinstance(one, type) and issubclass(one, function._kind) and one is not function._kind
    )
    return made(kind, function._settings(*args, **settings))
