"""What an FMU says of itself, as a host needs it; read by FMPy."""

from __future__ import annotations

import math
import os
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from linkwork._util.names import suggest
from linkwork._util.units import BASE_UNITS
from linkwork.cosim.system.references import known
from linkwork.cosim.system.units import UNKNOWN, Unit
from linkwork.errors import CosimError

REAL, WHOLE, TEXT = "real", "whole", "text"
VALUE_TYPES = {
    **dict.fromkeys(("Real", "Float64", "Float32"), REAL),
    **dict.fromkeys(("Integer", "Boolean", "Enumeration"), WHOLE),
    **{f"{sign}Int{bits}": WHOLE for sign in ("", "U") for bits in (8, 16, 32, 64)},
    "String": TEXT,
}


@dataclass(frozen=True)
class Variable:
    """A variable of an FMU.

    Attributes
    ----------
    name, reference, causality, variability, description
        As in the model description.
    type
        As FMI names it: ``Real``, ``Float64``, ``Int32``, ``Boolean``, ``Enumeration``, ...
    bank
        How a host keeps its value: ``real`` (a double), ``whole`` (an integer; Booleans are 0 and 1) or ``text``;
        None for what a host cannot exchange (binary variables and clocks).
    start
        As text, or None.
    size
        How many numbers it has; 1 unless it is an array of FMI 3.0.
    unit
        Its name in the model description, or "".
    nominal
        Its usual size.
    low, high
        The range of its values, where the model description gives one.
    enumeration, items
        Name of its type, and name and value of each item, if it is an enumeration.
    """

    name: str
    reference: int
    type: str
    value_type: str | None
    causality: str
    variability: str
    start: str | None
    size: int
    unit: str
    nominal: float
    description: str
    low: float = -math.inf
    high: float = math.inf
    enumeration: str = ""
    items: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Abilities:
    """What an FMU can do in Co-Simulation."""

    save_state: bool
    variable_step: bool
    interpolation: bool  # inputs have derivatives (FMI 2.0)
    output_derivatives: int  # the highest order
    directional: bool  # it gives directional derivatives
    event_mode: bool
    only_once: bool  # in a process
    needs_tool: bool


@dataclass
class FmuModel:
    """An FMU's file, what its model description says, and where it is unpacked.

    `lost` is true once an instance has returned fatal: FMI forbids all further calls, of other instances too.
    """

    path: Path
    fmi: str
    name: str
    identifier: str
    token: str
    variables: dict[str, Variable]
    units: dict[str, Unit]
    dependencies: dict[str, frozenset[str] | None]
    abilities: Abilities
    step_size: float | None
    experiment: tuple[float | None, float | None]
    tool: str = ""  # that made it
    lost: bool = False
    _unpacked: tempfile.TemporaryDirectory[str] | None = field(default=None, repr=False)

    @property
    def fmi3(self) -> bool:
        """Whether it is of FMI 3.0."""
        return self.fmi.startswith("3")

    def variable(self, name: str) -> Variable:
        """Look a variable up.

        Raises
        ------
        CosimError
            If there is none of that name.
        """
        return known(name, self.variables, "variable", f"the FMU {self.path.name}")

    def of_causality(self, causality: str) -> Iterator[Variable]:
        """The variables that are ``input``, ``output``, ``parameter``, ... and can be exchanged."""
        return (one for one in self.variables.values() if one.causality == causality and one.value_type)

    def unit(self, name: str) -> Unit:
        """The unit of a variable; `UNKNOWN` if it has none."""
        return self.units.get(self.variable(name).unit, UNKNOWN)

    @cached_property
    def folder(self) -> Path:
        """The folder in which it is unpacked for as long as this object lives.

        Raises
        ------
        CosimError
            If it has no library for this platform, or cannot be unpacked.
        """
        from fmpy import extract

        self._check_platform()
        self._unpacked = tempfile.TemporaryDirectory(
            prefix="linkwork_fmu_", dir=self._place(), ignore_cleanup_errors=True
        )
        try:
            return Path(extract(self.path, self._unpacked.name))
        except Exception as problem:  # whatever zipfile, zlib or FMPy make of it
            raise CosimError(f"the FMU {self.path} cannot be unpacked: {problem}") from problem

    def _place(self) -> Path:
        """Where to unpack: in a folder of ASCII letters if there is one, as libraries of PythonFMU crash at others."""
        usual = Path(tempfile.gettempdir())
        for place in (usual, *map(Path, ("/tmp", "/var/tmp")), Path.cwd()):
            if str(place).isascii() and os.access(place, os.W_OK | os.X_OK):
                return place
        if "PythonFMU" in self.tool:
            raise CosimError(
                f"the FMU {self.path} cannot be run from {usual}: PythonFMU reads folders of ASCII letters alone; "
                "set TMPDIR to such a folder"
            )
        return usual

    def _check_platform(self) -> None:
        from fmpy import platform, platform_tuple, sharedLibraryExtension

        with zipfile.ZipFile(self.path) as archive:
            names = archive.namelist()
        ours = platform_tuple if self.fmi3 else platform
        if f"binaries/{ours}/{self.identifier}{sharedLibraryExtension}" in names:
            return
        there = sorted({name.split("/")[1] for name in names if name.startswith("binaries/") and name.count("/") > 1})
        raise CosimError(
            f"the FMU {self.path} has no library for this platform ({ours}), only for: {', '.join(there) or 'none'}; "
            "export it for this one"
        )


def read_model(path: Path) -> FmuModel:
    """Read the model description of an FMU for Co-Simulation.

    Raises
    ------
    CosimError
        If there is no such FMU, it cannot be read, or is none for Co-Simulation of FMI 2.0 or 3.0.
    """
    try:
        from fmpy import read_model_description
    except ImportError as missing:
        raise CosimError("FMUs are run by FMPy: pip install 'linkwork[cosim]'") from missing
    _check_file(path)
    try:
        version = _version(path)
        if not version.startswith(("2.", "3.")):
            raise CosimError(f"the FMU {path} is of FMI {version}; export it for FMI 2.0 or 3.0")
        description = read_model_description(path, validate=False)
        if description.coSimulation is None:
            raise CosimError(f"the FMU {path} offers no Co-Simulation; export it for that")
        return _model(path, version, description)
    except CosimError:
        raise
    except zipfile.BadZipFile as problem:
        raise CosimError(f"the FMU {path} cannot be read: it is not a zip file, or cut off; get it again") from problem
    except Exception as problem:  # whatever zlib, lxml or FMPy make of it
        raise CosimError(f"the FMU {path} cannot be read: {problem}; 'linkwork check' tells more") from problem


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise CosimError(f"{path} is a folder, and an FMU is one file; name the file that it was unpacked from")
    if not path.is_file():
        there = [one.name for one in path.parent.glob("*.fmu")] if path.parent.is_dir() else []
        hint = f"; {suggest(path.name, there)}" if there else ""
        raise CosimError(f"there is no FMU {path}{hint}")


def _version(path: Path) -> str:
    with zipfile.ZipFile(path) as archive, archive.open("modelDescription.xml") as file:
        _, root = next(iter(ElementTree.iterparse(file, events=["start"])))
        return str(root.get("fmiVersion"))


def _model(path: Path, version: str, description: Any) -> FmuModel:
    return FmuModel(
        path=path,
        fmi=version,
        name=description.modelName,
        identifier=description.coSimulation.modelIdentifier,
        token=description.guid,
        variables={one.name: _variable(one) for one in description.modelVariables},
        units={one.name: _unit(one) for one in description.unitDefinitions},
        dependencies=_dependencies(description),
        abilities=_abilities(description, path),
        step_size=_number(description.defaultExperiment, "stepSize"),
        experiment=(
            _number(description.defaultExperiment, "startTime"),
            _number(description.defaultExperiment, "stopTime"),
        ),
        tool=description.generationTool or "",
    )


def _variable(one: Any) -> Variable:
    declared = one.declaredType
    nominal = abs(float(one.nominal or (declared.nominal if declared else None) or 1.0))
    return Variable(
        name=one.name,
        reference=one.valueReference,
        type=one.type,
        value_type=VALUE_TYPES.get(one.type),
        causality=one.causality or "local",
        variability=one.variability or ("continuous" if VALUE_TYPES.get(one.type) == REAL else "discrete"),
        start=one.start,
        size=math.prod(one.shape or ()),
        unit=one.unit or (declared.unit if declared else None) or "",
        nominal=nominal if 0 < nominal < math.inf else 1.0,
        description=one.description or "",
        low=_bound(one, "min", -math.inf),
        high=_bound(one, "max", math.inf),
        enumeration=declared.name if declared and one.type == "Enumeration" else "",
        items=_items(declared) if declared and one.type == "Enumeration" else (),
    )


def _bound(one: Any, name: str, otherwise: float) -> float:
    text = getattr(one, name) or getattr(one.declaredType, name, None)
    return float(text) if text else otherwise


def _items(declared: Any) -> tuple[tuple[str, int], ...]:
    return tuple((item.name, int(item.value)) for item in declared.items or ())


def _unit(one: Any) -> Unit:
    base = one.baseUnit
    if base is None:
        return Unit(one.name)
    exponents = tuple(int(getattr(base, name) or 0) for name in BASE_UNITS)
    return Unit(one.name, exponents, float(base.factor), float(base.offset))


def _dependencies(description: Any) -> dict[str, frozenset[str] | None]:
    """On which variables each output depends; None: perhaps on all."""
    return {
        one.variable.name: None if one.dependencies is None else frozenset(known.name for known in one.dependencies)
        for one in description.outputs
    }


def _abilities(description: Any, path: Path) -> Abilities:
    one, two = description.coSimulation, str(description.fmiVersion).startswith("2.")
    return Abilities(
        save_state=bool(one.canGetAndSetFMUstate),
        variable_step=bool(one.canHandleVariableCommunicationStepSize),
        interpolation=two and bool(one.canInterpolateInputs),
        output_derivatives=int(one.maxOutputDerivativeOrder or 0),
        directional=bool(one.providesDirectionalDerivative) or (not two and _says_directional(path)),
        event_mode=not two and bool(one.hasEventMode),
        only_once=bool(one.canBeInstantiatedOnlyOncePerProcess),
        needs_tool=bool(one.needsExecutionTool),
    )


def _says_directional(path: Path) -> bool:
    """Whether an FMU of FMI 3.0 gives directional derivatives, which FMPy looks for by the name of FMI 2.0."""
    with zipfile.ZipFile(path) as archive, archive.open("modelDescription.xml") as xml:
        for _, element in ElementTree.iterparse(xml):
            if element.tag == "CoSimulation":
                return element.get("providesDirectionalDerivatives", "false") in ("true", "1")
    return False


def _number(experiment: Any, name: str) -> float | None:
    text = getattr(experiment, name, None)
    return None if text is None else float(text)
