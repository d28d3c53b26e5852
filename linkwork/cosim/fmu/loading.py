"""Loads the library of an FMU through FMPy."""

from __future__ import annotations

import os
import re
from typing import Any

from linkwork.cosim.fmu.model import FmuModel
from linkwork.errors import FmuError


def load(kind: Any, model: FmuModel, name: str) -> Any:
    """Return FMPy's object of a kind for an instance, and leave no trace where that fails.

    Raises
    ------
    FmuError
        If the library cannot be loaded or lacks a function.
    """
    here = os.getcwd()
    folder = str(model.folder)
    fmu = kind.__new__(kind)
    try:
        fmu.__init__(guid=model.token, unzipDirectory=folder, modelIdentifier=model.identifier, instanceName=name)
    except Exception as problem:
        if hasattr(fmu, "dll"):
            fmu.freeLibrary()
        raise FmuError(f"FMU {model.path.name} (instance {name!r}): {_reason(problem, model, folder)}") from problem
    finally:
        os.chdir(here)  # FMPy stays in the FMU's folder where loading fails
    return fmu


def _reason(problem: Exception, model: FmuModel, folder: str) -> str:
    text = str(problem)
    missing = re.search(r"fmi[23]\w+", text) if isinstance(problem, AttributeError) else None
    if missing:
        return (
            f"its library lacks the function {missing[0]}, which FMI {model.fmi} demands; 'linkwork check' "
            "lists all that are missing, for its maker to add"
        )
    said = re.sub(r"^Failed to load shared library [^\n]*?\.(so|dll|dylib)\. ", "", text)
    while folder in said:
        said = said.replace(folder + os.sep, "")
    return f"its library cannot be loaded: {said}; install what it depends on, or export it for this platform"
