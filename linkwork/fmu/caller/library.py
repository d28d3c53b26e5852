"""Loads the library of an FMU through FMPy, for each version and interface."""

from __future__ import annotations

import atexit
import ctypes
import os
import re
import threading
from functools import cache
from pathlib import Path
from typing import Any

from linkwork.errors import FmuError
from linkwork.fmu.description import Description

_one_at_a_time = threading.Lock()  # FMPy goes to the FMU's folder to load it, and all threads share one folder


class NotLoaded(FmuError):
    """The library cannot be loaded; `missing` names a function that it does not export, if that is the reason."""

    def __init__(self, text: str, missing: str | None = None) -> None:
        super().__init__(text)
        self.missing = missing


def load_library(
    # description, interface: of its FMU, and ``"ME"`` or ``"CS"``
    description: Description,
    interface: str,
    folder: Path,  # the folder in which the FMU is unpacked
    name: str,  # that of the instance
    token: str | None = None,  # an instantiation token (GUID) other than that of the description
) -> Any:
    """Return FMPy's object for an instance of this name; the working directory stays as it is.

    Raises
    ------
    NotLoaded
        If the library cannot be loaded or does not export a function.
    """
    kind, where = _class(description.version, interface), str(folder)
    fmu = kind.__new__(kind)
    with _one_at_a_time:
        here = os.getcwd()
        try:
            fmu.__init__(
                guid=description.token if token is None else token,
                unzipDirectory=where,
                modelIdentifier=description.identifier(interface),
                instanceName=name,
            )
        except Exception as problem:  # any error of FMPy or ctypes
            if hasattr(fmu, "dll"):
                fmu.freeLibrary()
            raise _not_loaded(problem, description.version, where) from problem
        finally:
            os.chdir(here)  # FMPy stays in the FMU's folder where loading fails
    _release_python(fmu.dll)
    return fmu


def binary(description: Description, interface: str) -> str:
    """The path within an FMU of the library for this platform."""
    from fmpy import platform, platform_tuple, sharedLibraryExtension

    folder = platform_tuple if description.fmi3 else platform
    return f"binaries/{folder}/{description.identifier(interface)}{sharedLibraryExtension}"


def _release_python(library: ctypes.CDLL) -> None:
    """Have a library of PythonFMU release the interpreter before the process ends.

    As the process ends it does so twice, and the second time damages the heap.
    """
    if hasattr(library, "finalizePythonInterpreter"):
        again = ctypes.CDLL(library._name)  # so that it stays in the process until then
        atexit.register(again.finalizePythonInterpreter)


@cache
def _class(version: str, interface: str) -> Any:
    from fmpy import fmi2, fmi3

    if version.startswith("2."):
        return _typed_once(fmi2.FMU2Model if interface == "ME" else fmi2.FMU2Slave)
    return _typed_once(fmi3.FMU3Model if interface == "ME" else fmi3.FMU3Slave)


def _typed_once(kind: Any) -> Any:
    """Return FMPy's class with the types of its functions read once: FMPy reads them again for each instance."""
    known: list[tuple[str, list[str], list[Any], Any]] = []

    def load_functions(fmu: Any) -> None:
        if not known:
            kind._loadFunctions(fmu)
            known.extend((name, one.argnames, one.argtypes, one.restype) for name, one in fmu._functions.items())
            return
        for name, argument_names, argument_types, result_type in known:
            function = getattr(fmu.dll, name)
            function.argnames, function.argtypes, function.restype = argument_names, argument_types, result_type
            fmu._functions[name] = function

    return type(kind.__name__, (kind,), {"_loadFunctions": load_functions})  # which reads the version from the name


def _not_loaded(problem: Exception, version: str, folder: str) -> NotLoaded:
    text = str(problem)
    missing = re.search(r"fmi[23]\w+", text) if isinstance(problem, AttributeError) else None
    if missing:
        return NotLoaded(f"its library has no function {missing[0]}, which FMI {version} requires", missing[0])
    text = re.sub(r"^Failed to load shared library [^\n]*?\.(so|dll|dylib)\. ", "", text)
    while folder in text:
        text = text.replace(folder + os.sep, "")
    return NotLoaded(f"its library cannot be loaded: {text}")
