"""Built-in controllers as Python FMUs: their classes in PythonFMU's library, the reference of those in C."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from linkwork import controllers


def in_python(name: str, path: Path, *args: Any, **settings: Any) -> Path:
    """Write the FMU of a built-in controller's class, with the arguments of its function."""
    function = getattr(controllers, name)
    return controllers.package(inspect.getfile(function._kind), path, settings=function._settings(*args, **settings))
