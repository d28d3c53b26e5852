"""An FMU as co-simulation needs it, made of its model description."""

from __future__ import annotations

import math
import os
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from xml.etree.ElementTree import Element

from linkwork._util.names import suggest
from linkwork._util.temporary import TemporaryFolder
from linkwork._util.units import BASE_UNITS
from linkwork.cosim.system.definition import Value
from linkwork.cosim.system.references import known
from linkwork.cosim.system.units import UNKNOWN, Unit
from linkwork.errors import CosimError, LinkworkError
from linkwork.fmu.caller.library import binary
from linkwork.fmu.description import Description, Variable, read_description
from linkwork.fmu.scene_place import scene_bytes

STEPS = 1000  # of a run whose step is not given


@dataclass(frozen=True)
class Abilities:
    """The capabilities of an FMU in the interface that is used."""

    save_state: bool
    variable_step: bool
    interpolation: bool  # inputs have derivatives (FMI 2.0)
    output_derivatives: int  # the highest order
    directional: bool  # it gives directional derivatives
    event_mode: bool
    only_once: bool  # in a process
    needs_tool: bool


@dataclass
class Unpacked:
    """An FMU on disk: its folder while it is unpacked, and whether it is `lost`; see `FmuModel`."""

    folder: Path | None = None
    lost: bool = False
    owner: TemporaryFolder | None = field(default=None, repr=False)


@dataclass
class FmuModel:
    """The file of an FMU, the content of its model description, and the folder in which it is unpacked.

    `interface` is ``"CS"``, or ``"ME"`` of FMUs without Co-Simulation. `variables` are by name, those of aliases last.
    `lost` is true once an instance has returned fatal: FMI forbids all further calls, also those of other instances.
    """

    path: Path
    description: Description
    interface: str
    variables: dict[str, Variable]
    units: dict[str, Unit]
    dependencies: dict[str, frozenset[str] | None]
    abilities: Abilities
    _unpacked: Unpacked = field(default_factory=Unpacked, repr=False)  # shared with `configured` ones

    @property
    def lost(self) -> bool:
        """Whether it may not be called any more."""
        return self._unpacked.lost

    @lost.setter
    def lost(self, lost: bool) -> None:
        self._unpacked.lost = lost

    def variable(self, name: str) -> Variable:
        """Look a variable up."""
        found = self.variables.get(name)
        return found or known(name, self.variables, "variable", f"the FMU {self.path.name}")

    def of_causality(self, causality: str) -> Iterator[Variable]:
        """The variables that are ``input``, ``output``, ``parameter``, ... and can be exchanged."""
        return (one for one in self.variables.values() if one.causality == causality and one.value_type)

    def unit(self, name: str) -> Unit:
        """The unit of a variable; `UNKNOWN` if it has none."""
        return self.units.get(self.variable(name).unit or "", UNKNOWN)

    @cached_property
    def scene(self) -> bytes | None:
        """Its scene file; None: it has none, or the FMU is not there any more."""
        try:
            return scene_bytes(self.path)
        except LinkworkError:
            return None

    def clocks(self) -> list[Variable]:
        """Its clocks."""
        return [one for one in self.variables.values() if one.type == "Clock"]

    def structural(self, names: Iterable[str]) -> list[Variable]:
        """The structural parameters among variables of these names."""
        found = (self.variables.get(name) for name in names)
        return [one for one in found if one is not None and one.causality == "structuralParameter"]

    def configured(self, values: Mapping[str, Value]) -> FmuModel:
        """Return the same FMU with the sizes of arrays at some values of its structural parameters.

        Values that are no sizes change none; checks of values report them.
        """
        given = ((one.reference, _size(values[one.name])) for one in self.structural(values))
        sizes = {reference: size for reference, size in given if reference is not None and size > 0}
        if not sizes:
            return self
        return replace(self, variables={name: one.resized(sizes) for name, one in self.variables.items()})

    @property
    def folder(self) -> Path:
        """The folder in which it is unpacked for as long as this object lives."""
        from fmpy import extract

        if self._unpacked.folder is not None:
            return self._unpacked.folder
        self._check_platform()
        self._unpacked.owner = TemporaryFolder("linkwork_fmu_", self._writable_folder())
        try:
            self._unpacked.folder = Path(extract(self.path, self._unpacked.owner.path))
        except Exception as problem:  # any error of zipfile, zlib or FMPy
            raise CosimError(f"the FMU {self.path} cannot be unpacked: {problem}") from problem
        return self._unpacked.folder

    def _writable_folder(self) -> Path:
        """Return a folder with an ASCII path if there is one, as libraries of PythonFMU crash at others."""
        usual = Path(tempfile.gettempdir())
        for place in (usual, *map(Path, ("/tmp", "/var/tmp")), Path.cwd()):
            if str(place).isascii() and os.access(place, os.W_OK | os.X_OK):
                return place
        if "PythonFMU" in self.description.tool:
            raise CosimError(
                f"the FMU {self.path} cannot be run from {usual}: PythonFMU reads folders of ASCII letters alone; "
                "set TMPDIR to such a folder"
            )
        return usual

    def _check_platform(self) -> None:
        with zipfile.ZipFile(self.path) as archive:
            names = archive.namelist()
        ours = binary(self.description, self.interface)
        if ours in names:
            return
        platform = ours.split("/")[1]
        there = sorted({name.split("/")[1] for name in names if name.startswith("binaries/") and name.count("/") > 1})
        raise CosimError(
            f"the FMU {self.path} has no library for this platform ({platform}), "
            f"only for: {', '.join(there) or 'none'}; export it for this one"
        )


def read_model(path: Path) -> FmuModel:
    """Read the model description of an FMU for Co-Simulation, or for Model Exchange alone."""
    if find_spec("fmpy") is None:
        raise CosimError("FMUs are run by FMPy: pip install 'linkwork[cosim]'")
    _check_file(path)
    try:
        description = read_description(path)
    except zipfile.BadZipFile as problem:
        raise CosimError(f"the FMU {path} cannot be read: it is not a zip file, or cut off; get it again") from problem
    except Exception as problem:  # any error of zlib or the XML parser
        raise _unreadable(path, problem) from problem
    if not (description.fmi2 or description.fmi3):
        raise CosimError(f"the FMU {path} is of FMI {description.version}; export it for FMI 2.0 or 3.0")
    if not {"CS", "ME"} & set(description.kinds):
        raise CosimError(f"the FMU {path} {_other_kind(description)}; export it for Co-Simulation or Model Exchange")
    for wrong in description.problems():
        raise _unreadable(path, wrong)
    try:
        return _model(path, description)
    except ValueError as error:  # text where a number is expected
        raise _unreadable(path, error) from error


def _other_kind(description: Description) -> str:
    if "SE" not in description.kinds:
        return "offers no Co-Simulation and no Model Exchange"
    clocks = ", ".join(repr(one.name) for one in description.variables if one.type == "Clock")
    return (
        "is for Scheduled Execution alone, where a scheduler of the importer runs its parts"
        f"{f' at the ticks of the clocks {clocks}' if clocks else ''}: a run has none"
    )


def _unreadable(path: Path, problem: object) -> CosimError:
    return CosimError(f"the FMU {path} cannot be read: {problem}; 'linkwork check' lists the problems")


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise CosimError(f"{path} is a folder, and an FMU is one file; name the file that it was unpacked from")
    if not path.is_file():
        there = [one.name for one in path.parent.glob("*.fmu")] if path.parent.is_dir() else []
        hint = f"; {suggest(path.name, there)}" if there else ""
        raise CosimError(f"there is no FMU {path}{hint}")


def _model(path: Path, description: Description) -> FmuModel:
    interface = "CS" if "CS" in description.kinds else "ME"
    return FmuModel(
        path=path,
        description=description,
        interface=interface,
        variables=_by_name(description.variables),
        units={one.name: one for one in map(_unit, description.root.findall("UnitDefinitions/Unit"))},
        dependencies=_dependencies(description),
        abilities=_abilities(description, interface),
    )


def _by_name(variables: Sequence[Variable]) -> dict[str, Variable]:
    """All variables, those of aliases last."""
    found = {one.name: one for one in variables if one.name}
    for one in found.copy().values():
        for alias in one.aliases:
            found[alias.name] = replace(one, name=alias.name)
    return found


def _size(value: Value) -> int:
    """A value as the size of an array; 0: it is none."""
    try:
        size = float(value) if isinstance(value, int | float | str) else 0.0
    except ValueError:
        return 0
    return int(size) if size.is_integer() and size > 0 else 0


def _unit(one: Element) -> Unit:
    base = one.find("BaseUnit")
    if base is None:
        return Unit(one.get("name", ""))
    exponents = tuple(int(base.get(name, 0)) for name in BASE_UNITS)
    return Unit(one.get("name", ""), exponents, float(base.get("factor", 1.0)), float(base.get("offset", 0.0)))


def _dependencies(description: Description) -> dict[str, frozenset[str] | None]:
    """The variables on which each output depends; None: perhaps all."""
    return {
        one.name: None if one.dependencies is None else frozenset(known.name for known in one.knowns if known)
        for one in description.unknowns("output")
    }


def _abilities(description: Description, interface: str) -> Abilities:
    """In Model Exchange a solver of Linkwork takes steps of any length and handles the events."""
    steps = interface == "CS"

    def able(*names: str) -> bool:
        return description.able(interface, *names)

    return Abilities(
        save_state=able("canGetAndSetFMUState" if description.fmi3 else "canGetAndSetFMUstate"),
        variable_step=not steps or able("canHandleVariableCommunicationStepSize"),
        interpolation=steps and description.fmi2 and able("canInterpolateInputs"),
        output_derivatives=int(description.kinds[interface].get("maxOutputDerivativeOrder", 0)) if steps else 0,
        directional=able("providesDirectionalDerivative" + "s" * description.fmi3),
        event_mode=steps and description.fmi3 and able("hasEventMode"),
        only_once=able("canBeInstantiatedOnlyOncePerProcess"),
        needs_tool=able("needsExecutionTool"),
    )


def usual_step(models: Iterable[FmuModel], length: float) -> float:
    """Return the communication step of a run for which nobody names one [s]."""
    given = [one.description.experiment["stepSize"] for one in models]
    named = [step for step in given if step and 0 < step < math.inf]
    return min([*named, length]) if named else length / STEPS
