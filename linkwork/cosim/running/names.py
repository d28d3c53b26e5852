"""Variables of a system as people name them: ``component.variable``, or the variable alone where there is one FMU."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from linkwork.cosim.fmu.model import FmuModel
from linkwork.cosim.recording.selection import chosen
from linkwork.cosim.running.preparation import models_of
from linkwork.cosim.system import System
from linkwork.cosim.system.references import known
from linkwork.errors import CosimError
from linkwork.fmu.description import REAL, TEXT, Variable
from linkwork.results.selection import fits

Scalar = float | int | bool | str


def load_system(path: Path) -> tuple[System, dict[str, FmuModel]]:
    """Return a system and the FMU of each component; one FMU alone brings its own experiment."""
    if path.is_dir():
        raise CosimError(f"{path} is a folder; name an .ssp or an .fmu")
    if path.suffix.lower() not in (".ssp", ".fmu"):
        raise CosimError(f"{path} is neither an .ssp nor an .fmu; 'linkwork simulate' takes mechanisms")
    if not path.is_file():
        raise CosimError(f"there is no file {path}")
    system = System.load(path)
    models = models_of(system, None)
    if path.suffix.lower() == ".fmu":
        (model,) = models.values()
        last = model.description.experiment["stopTime"]
        system.experiment.t_start = model.description.experiment["startTime"] or 0.0
        system.experiment.t_end = system.experiment.t_start + 1.0 if last is None else last
    return system, models


class Names:
    """The variables of a system by ``component.variable``; with one component the variable's name is enough."""

    def __init__(self, system: System, models: dict[str, FmuModel]) -> None:
        self._where = f"the system {system.name!r}"
        self._only = next(iter(models)) if len(models) == 1 else None
        self._variables = {
            f"{name}.{one.name}": one
            for name, model in models.items()
            for one in model.variables.values()
            if one.value_type
        }

    def full(self, name: str) -> str:
        """Return a variable with its component's name."""
        if name in self._variables or self._only is None:
            known(name, self._variables, "variable", self._where)
            return name
        name = self._short(name)
        known(name, {self._short(one): one for one in self._variables}, "variable", self._where)
        return f"{self._only}.{name}"

    def value(self, name: str, text: str) -> tuple[str, Any]:
        """Return a variable with its component's name, and the value that a text is for it."""
        name = self.full(name)
        variable = self._variables[name]
        parts = [text] if variable.size == 1 or variable.value_type == TEXT else text.replace(",", " ").split()
        values = tuple(_value(name, part, variable) for part in parts)
        return name, values if variable.size > 1 else values[0]

    def fitting(self, patterns: Iterable[str], first: Sequence[str] = ()) -> list[str]:
        """Return the variables that fit patterns: for each those of `first`, or of all if there are none."""
        found: list[str] = []
        for pattern in patterns:
            fitting = self._fit(pattern, first) or self._fit(pattern, list(self._variables))
            found += fitting or chosen(pattern, [self._short(one) for one in self._variables], where=self._where)
        return list(dict.fromkeys(found))

    def _fit(self, pattern: str, names: Sequence[str]) -> list[str]:
        return [name for name in names if fits(name, pattern) or fits(self._short(name), pattern)]

    def _short(self, name: str) -> str:
        return name.removeprefix(f"{self._only}.") if self._only else name

    def labels(self, names: Iterable[str]) -> list[str]:
        """Return the columns that variables have: arrays one for each element."""
        columns = []
        for name in names:
            size = self._variables[name].size
            columns += [f"{name}[{k + 1}]" for k in range(size)] if size > 1 else [name]
        return columns


def _value(name: str, text: str, variable: Variable) -> Scalar:
    if variable.value_type == TEXT:
        return text
    if variable.type == "Boolean" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if text in (items := dict(variable.items)):
        return items[text]
    try:
        return float(text) if variable.value_type == REAL else int(text)
    except ValueError:
        words = [*items] or (["true", "false"] if variable.type == "Boolean" else [])
        wanted = (
            f"one of {', '.join(words)}" if words else "a number" if variable.value_type == REAL else "a whole number"
        )
        raise CosimError(f"{name}={text}: it is of type {variable.type}, so {wanted} is expected") from None


def read_inputs(path: Path, names: Names, system: System) -> dict[str, Any]:
    """Return the columns of a file, named after variables or the system's own inputs, as times and values."""
    from linkwork.cosim.recording.reading import read_csv

    if not path.is_file():
        raise CosimError(f"there is no file {path}")
    try:
        table = read_csv(path)
    except (OSError, ValueError) as problem:
        raise CosimError(f"{path} cannot be read as CSV: {problem}") from problem
    columns = {str(name).strip(): table[name].to_numpy() for name in table}
    if "time" not in columns:
        raise CosimError(f"{path} has no column 'time'; it has: {', '.join(list(columns)[:8])}")
    if not len(columns["time"]):
        raise CosimError(f"{path} has a header, but no rows: give one row for each time")
    for name, values in columns.items():
        if values.dtype.kind not in "fiub":
            raise CosimError(f"{path}: the column {name!r} holds {values[0]!r}, which is not a number")
    times = columns.pop("time")
    outside = {one.source for one in system.external_inputs}
    return {name if name in outside else names.full(name): (times, values) for name, values in columns.items()}
