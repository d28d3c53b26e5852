"""An FMU of FMI 2.0 for Co-Simulation, driven by names through FMPy."""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fmpy import extract, read_model_description
from fmpy.fmi2 import defaultCallbacks, fmi2CallbackFunctions, fmi2CallbackLoggerTYPE

from linkwork.fmu.caller.library import load_library
from linkwork.fmu.description import read_description

Values = dict[str, Any]


class Slave:
    """One instance."""

    def __init__(self, fmu: Path, folder: Path, name: str = "one") -> None:
        strictly = {"validate": True, "validate_variable_names": True, "validate_model_structure": True}
        self.description = read_model_description(str(fmu), **strictly)
        self.variables = {variable.name: variable for variable in self.description.modelVariables}
        extract(str(fmu), str(folder))
        self.fmu = load_library(read_description(fmu), "CS", folder, name)
        self.fmu.instantiate(callbacks=self._callbacks())
        self.time = 0.0

    def _callbacks(self) -> fmi2CallbackFunctions:
        """Those of FMPy, with a logger that prints each line: a text without arguments."""
        found = fmi2CallbackFunctions.from_buffer_copy(defaultCallbacks)
        self.logger = fmi2CallbackLoggerTYPE(
            lambda environment, name, status, category, text: print(name.decode(), text.decode(), file=sys.stderr)
        )
        found.logger = self.logger
        return found

    def enter(self, values: Mapping[str, Any] | None = None) -> None:
        """Set start values and go to Initialization Mode."""
        self.set(values or {})
        self.fmu.setupExperiment(startTime=self.time)
        self.fmu.enterInitializationMode()

    def start(self, values: Mapping[str, Any] | None = None) -> Slave:
        """Initialise."""
        self.enter(values)
        self.fmu.exitInitializationMode()
        return self

    def set(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            variable = self.variables[name]
            getattr(self.fmu, f"set{variable.type}")([variable.valueReference], [value])

    def __getitem__(self, name: str) -> Any:
        variable = self.variables[name]
        return getattr(self.fmu, f"get{variable.type}")([variable.valueReference])[0]

    def get(self, names: Sequence[str]) -> list[Any]:
        return [self[name] for name in names]

    @property
    def outputs(self) -> list[str]:
        return [name for name, variable in self.variables.items() if variable.causality == "output"]

    def step(self, length: float, inputs: Mapping[str, Any] | None = None) -> None:
        self.set(inputs or {})
        self.fmu.doStep(self.time, length)
        self.time += length

    def free(self) -> None:
        self.fmu.freeInstance()


class Slaves:
    """Makes instances, each unpacked to a folder of its own, and frees them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.made: list[Slave] = []
        self.numbers = itertools.count()  # of those that failed as well: no loaded library may be written over

    def __call__(self, fmu: Path) -> Slave:
        number = next(self.numbers)
        one = Slave(fmu, self.folder / f"unpacked {number}", f"slave{number}")
        self.made.append(one)
        return one


@contextlib.contextmanager
def slaves(folder: Path) -> Iterator[Slaves]:
    found = Slaves(folder)
    yield found
    for one in found.made:
        one.free()
