"""An FMU as a tool sees it: unpacked, its library called through ctypes, version 3.0 alone."""

from __future__ import annotations

import ctypes
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from ctypes import byref, c_bool, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32, c_void_p
from pathlib import Path

_LOG = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p, c_char_p)
_HEAD = 4096  # of the model description, which may be large
_RESULTS = {"InstantiateModelExchange": c_void_p, "InstantiateCoSimulation": c_void_p, "FreeInstance": None}


class Unpacked:
    """Where an FMU's library and resources are, and its token."""

    def __init__(self, fmu: Path, folder: Path) -> None:
        with zipfile.ZipFile(fmu) as archive:
            archive.extractall(folder)
        self.description = folder / "modelDescription.xml"
        with self.description.open(encoding="utf-8") as file:
            head = file.read(_HEAD)
        token = re.search(r'instantiationToken="([^"]*)"', head)
        assert token is not None, "no token in the model description"
        self.token = token[1]
        self.resources = folder / "resources"
        (self.library,) = (folder / "binaries").glob("*/*")

    def references(self) -> dict[str, int]:
        """Value references by name."""
        pairs = re.findall(r'<\w+ name="([^"]+)" valueReference="(\d+)"', self.description.read_text(encoding="utf-8"))
        return {name: int(reference) for name, reference in pairs}


class Instance:
    """One instance; a call that fails raises."""

    def __init__(self, unpacked: Unpacked, kind: str) -> None:
        self.library = ctypes.CDLL(str(unpacked.library))
        self.said: list[str] = []
        self.log = _LOG(lambda _environment, _status, _category, text: self.said.append(text.decode()))
        given = b"timed", unpacked.token.encode(), str(unpacked.resources).encode(), c_bool(False), c_bool(False)
        if kind == "ModelExchange":
            handle = self._function("InstantiateModelExchange")(*given, None, self.log)
        else:
            create = self._function("InstantiateCoSimulation")
            handle = create(*given, c_bool(False), c_bool(False), None, c_size_t(0), None, self.log, None)
        if not handle:
            raise RuntimeError(f"no instance: {' '.join(self.said)}")
        self.handle = c_void_p(handle)

    def initialize(self) -> None:
        """From time 0 on."""
        self._call("EnterInitializationMode", c_bool(False), c_double(0), c_double(0), c_bool(False), c_double(0))
        self._call("ExitInitializationMode")

    def reset(self) -> None:
        self._call("Reset")

    def set_real(self, reference: int, value: float) -> None:
        self._call("SetFloat64", byref(c_uint32(reference)), c_size_t(1), byref(c_double(value)), c_size_t(1))

    def set_enumeration(self, reference: int, value: int) -> None:
        self._call("SetInt64", byref(c_uint32(reference)), c_size_t(1), byref(c_int64(value)), c_size_t(1))

    def get_real(self, reference: int) -> float:
        value = c_double()
        self._call("GetFloat64", byref(c_uint32(reference)), c_size_t(1), byref(value), c_size_t(1))
        return value.value

    def run(self, end: float, steps: int) -> None:
        """Take equal steps from time 0 on; nothing is read in between."""
        do_step = self._function("DoStep")
        length = end / steps
        flags = [byref(c_bool()) for _ in range(3)]
        last, size, keeps = byref(c_double()), c_double(length), c_bool(False)
        for k in range(steps):
            if do_step(self.handle, c_double(k * length), size, keeps, *flags, last):
                raise RuntimeError(f"DoStep fails: {' '.join(self.said)}")

    def differentiate(self, unknowns: Sequence[int], knowns: Sequence[int]) -> Callable[[Sequence[float]], None]:
        """Return a function that sets the continuous states and asks for all partial derivatives, column by column."""
        self._call("EnterContinuousTimeMode")
        ask, enter = self._function("GetDirectionalDerivative"), self._function("SetContinuousStates")
        rows, result, one = (c_uint32 * len(unknowns))(*unknowns), (c_double * len(unknowns))(), c_double(1.0)
        size, single = c_size_t(len(unknowns)), c_size_t(1)
        columns = [c_uint32(known) for known in knowns]

        def differentiate(states: Sequence[float]) -> None:
            if enter(self.handle, (c_double * len(states))(*states), c_size_t(len(states))):
                raise RuntimeError(f"SetContinuousStates fails: {' '.join(self.said)}")
            for column in columns:
                if ask(self.handle, rows, size, byref(column), single, byref(one), single, result, size):
                    raise RuntimeError(f"GetDirectionalDerivative fails: {' '.join(self.said)}")

        return differentiate

    def free(self) -> None:
        self._function("FreeInstance")(self.handle)

    def _function(self, name: str):
        function = getattr(self.library, f"fmi3{name}")
        function.restype = _RESULTS.get(name, c_int)
        return function

    def _call(self, name: str, *arguments: object) -> None:
        if self._function(name)(self.handle, *arguments):
            raise RuntimeError(f"{name} fails: {' '.join(self.said)}")


def sizes(fmu: Path) -> Mapping[str, tuple[int, int]]:
    """Bytes in the archive, and unpacked, by the first part of the path."""
    found: dict[str, tuple[int, int]] = {}
    with zipfile.ZipFile(fmu) as archive:
        for entry in archive.infolist():
            part = entry.filename.split("/")[0]
            packed, whole = found.get(part, (0, 0))
            found[part] = packed + entry.compress_size, whole + entry.file_size
    return found
