"""The one reader of modelDescription.xml, of FMI 2.0 and 3.0 alike.

It is tolerant: a missing or wrong entry is None, so that broken descriptions can be checked. `Description.problems`
names the entries without which an FMU cannot be run.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from linkwork.fmu.combinations import ALLOWED, DEFAULT_INITIAL

FILE = "modelDescription.xml"
REAL, WHOLE, TEXT = "real", "whole", "text"
REALS = ("Real", "Float32", "Float64")
VALUE_TYPES = {
    **dict.fromkeys(REALS, REAL),
    **dict.fromkeys(("Integer", "Boolean", "Enumeration"), WHOLE),
    **{f"{sign}Int{bits}": WHOLE for sign in ("", "U") for bits in (8, 16, 32, 64)},
    "String": TEXT,
}
TYPES = (*VALUE_TYPES, "Binary", "Clock")
_KINDS = {"ModelExchange": "ME", "CoSimulation": "CS", "ScheduledExecution": "SE"}
# Elements of ModelStructure: in FMI 2.0 groups of Unknown, in FMI 3.0 one of them each.
UNKNOWNS = {
    "output": ("Outputs", "Output"),
    "derivative": ("Derivatives", "ContinuousStateDerivative"),
    "initial": ("InitialUnknowns", "InitialUnknown"),
    "indicator": ("", "EventIndicator"),
    "clocked": ("", "ClockedState"),
}


class Alias(NamedTuple):
    """Another name of a variable in FMI 3.0."""

    name: str
    display_unit: str | None
    description: str | None


@dataclass(eq=False)
class Variable:
    """A variable of an FMU.

    Attributes
    ----------
    name, causality, variability
        As in the model description, or the default.
    type
        As FMI names it: ``Real``, ``Float64``, ``Int32``, ``Boolean``, ``Enumeration``, ...
    position
        In the model description from 1, as FMI 2.0 counts.
    reference
        Its value reference; None if it is missing or no number.
    given_initial, initial
        The attribute, and the attribute or its default.
    given, declared
        Its own attributes with those of its element of type, and those of the type it declares; numbers as written.
    start
        As text, or None.
    aliases
        Its other names (FMI 3.0).
    dimensions
        The sizes of an array, at the values of its structural parameters; empty unless it is an array of FMI 3.0.
    structural
        Of each size the value reference of the structural parameter that gives it; None: it is fixed.
    clocks
        Names of the clocks to which it belongs; it has a value only while one of them ticks.
    items
        Name and value of each item, if it is an enumeration.
    """

    name: str
    type: str
    position: int
    reference: int | None
    causality: str
    variability: str
    given_initial: str | None
    initial: str | None
    given: dict[str, str]
    declared: dict[str, str]
    start: str | None
    aliases: list[Alias] = field(default_factory=list)
    dimensions: tuple[int, ...] = ()
    structural: tuple[int | None, ...] = ()
    clocks: tuple[str, ...] = ()
    items: tuple[tuple[str, int], ...] = ()

    def attribute(self, name: str) -> str | None:
        """One attribute, its own or its type's."""
        return self.given.get(name, self.declared.get(name))

    def number(self, name: str) -> float | None:
        """One attribute as a number; None if it is missing or none."""
        return as_number(self.attribute(name))

    @property
    def unit(self) -> str | None:
        """Its unit, its own or its type's."""
        return self.attribute("unit")

    @property
    def nominal(self) -> float:
        """Its usual size; 1 if none is given."""
        given = abs(self.number("nominal") or 1.0)
        return given if 0 < given < math.inf else 1.0

    @cached_property
    def size(self) -> int:
        """How many numbers it has; 1 unless it is an array."""
        return math.prod(self.dimensions)

    @cached_property
    def value_type(self) -> str | None:
        """The type of its value: ``real`` (a double), ``whole`` (an integer; Booleans are 0 and 1) or ``text``.

        None of variables that are not exchanged: binary ones, clocks, and those that belong to clocks.
        """
        return None if self.clocks else VALUE_TYPES.get(self.type)

    @property
    def real(self) -> bool:
        """Whether it holds floating-point numbers, one or an array of them, at any time: not at ticks of clocks."""
        return self.type in ("Real", "Float64") and self.reference is not None and not self.clocks

    def resized(self, sizes: Mapping[int, int]) -> Variable:
        """Return it with other values of structural parameters, by value reference; its start values are then void."""
        pairs = zip(self.structural, self.dimensions, strict=True)
        dimensions = tuple(size if by is None else sizes.get(by, size) for by, size in pairs)
        return self if dimensions == self.dimensions else replace(self, dimensions=dimensions, start=None)


def references(variables: Iterable[Variable]) -> list[int]:
    """The value references of variables that have one."""
    return [one.reference for one in variables if one.reference is not None]


@dataclass(frozen=True)
class Number:
    """One number of a variable: a scalar, or an element of an array."""

    variable: Variable
    index: int  # from 0
    count: int

    @property
    def name(self) -> str:
        """The name of its variable, of arrays with the index from 1, as the standard counts elements."""
        return f"{self.variable.name}[{self.index + 1}]" if self.variable.dimensions else self.variable.name


@dataclass(eq=False)
class Unknown:
    """An entry of ModelStructure; what it refers to is None if there is no such variable."""

    kind: str
    reference: str
    variable: Variable | None
    dependencies: list[str] | None
    knowns: list[Variable | None]
    kinds: list[str] | None

    @property
    def name(self) -> str:
        """The name of its variable, or its reference if there is no such variable."""
        return self.variable.name if self.variable else self.reference


_BASES = ("kg", "m", "s", "A", "K", "mol", "cd")


class Description:
    """The content of a model description."""

    def __init__(self, root: Element) -> None:
        self.root = root
        self.version = root.get("fmiVersion", "")
        self.fmi2 = self.version.startswith("2.")
        self.fmi3 = self.version.startswith("3.")
        self.token = root.get("guid" if self.fmi2 else "instantiationToken")
        self.tool = root.get("generationTool", "")
        self.kinds = {short: element for tag, short in _KINDS.items() if (element := root.find(tag)) is not None}

    @cached_property
    def units(self) -> dict[str, set[str]]:
        """The units defined, and the display units of each."""
        return {
            unit.get("name", ""): {shown.get("name", "") for shown in unit.findall("DisplayUnit")}
            for unit in self.root.findall("UnitDefinitions/Unit")
        }

    @cached_property
    def base_units(self) -> dict[str | None, dict[str, int]]:
        """The exponents of SI base units, angles aside, of the units that give any."""
        return {
            unit.get("name", ""): {base: n for base in _BASES if (n := as_integer(found.get(base, "0")))}
            for unit in self.root.findall("UnitDefinitions/Unit")
            if (found := unit.find("BaseUnit")) is not None
        }

    @cached_property
    def types(self) -> dict[str, dict[str, str]]:
        """The attributes of the types defined, by name."""
        found = {}
        for entry in self.root.findall("TypeDefinitions/*"):
            inner = entry if self.fmi3 or not len(entry) else entry[0]
            found[entry.get("name", "")] = {key: value for key, value in inner.attrib.items() if key != "name"}
        return found

    @cached_property
    def variables(self) -> list[Variable]:
        """All variables, in order."""
        entries = self.root.findall("ModelVariables/*")
        read = self._variable2 if self.fmi2 else self._variable3
        found = [read(entry, position) for position, entry in enumerate(entries, start=1)]
        known = _by_reference(found)
        for one, entry in zip(found, entries, strict=True):
            self._refer(one, entry, known)
        return found

    def _variable2(self, entry: Element, position: int) -> Variable:
        inner = next((one for one in entry if one.tag != "Annotations"), Element("?"))
        return self._make(entry, inner.tag, {**entry.attrib, **inner.attrib}, inner.get("start"), position)

    def _variable3(self, entry: Element, position: int) -> Variable:
        starts = [one.get("value", "") for one in entry.findall("Start")]
        start = entry.get("start", " ".join(starts) if starts else None)
        made = self._make(entry, entry.tag, dict(entry.attrib), start, position)
        made.aliases = [
            Alias(one.get("name", ""), one.get("displayUnit"), one.get("description")) for one in entry.findall("Alias")
        ]
        return made

    def _make(self, entry: Element, type_: str, given: dict[str, str], start: str | None, position: int) -> Variable:
        causality = entry.get("causality", "local")
        fixed = self.fmi3 and causality in ("parameter", "calculatedParameter", "structuralParameter")
        usual = "fixed" if fixed else "continuous" if type_ in REALS else "discrete"
        variability = entry.get("variability", usual)
        initial = entry.get("initial", DEFAULT_INITIAL.get((variability, causality)))
        if causality == "input" and self.fmi2:
            initial = entry.get("initial")
        return Variable(
            name=entry.get("name", ""),
            type=type_,
            position=position,
            reference=as_integer(entry.get("valueReference")),
            causality=causality,
            variability=variability,
            given_initial=entry.get("initial"),
            initial=initial,
            given=given,
            declared=self.types.get(given.get("declaredType", ""), {}),
            start=start,
        )

    def _refer(self, one: Variable, entry: Element, known: Mapping[int, Variable]) -> None:
        """Complete a variable by what it refers to."""
        if one.type == "Enumeration":
            items = self.items(one.given.get("declaredType", ""))
            one.items = tuple((name, number) for name, text in items if (number := as_integer(text)) is not None)
        for text in one.given.get("clocks", "").split():
            clock = _referred(text, known)
            one.clocks += (clock.name if clock else text,)
        for size in entry.findall("Dimension"):
            by = None if size.get("start") is not None else _referred(size.get("valueReference"), known)
            one.dimensions += (as_integer(by.start if by else size.get("start")) or 0,)
            one.structural += (by.reference if by and by.causality == "structuralParameter" else None,)

    @cached_property
    def by_reference(self) -> dict[int, Variable]:
        """The variables by value reference; of aliases in FMI 2.0 the first."""
        return _by_reference(self.variables)

    def find(self, text: str | None) -> Variable | None:
        """The variable that a `derivative` or an entry of ModelStructure refers to."""
        if self.fmi3:
            return _referred(text, self.by_reference)
        number = as_integer(text) or 0
        return self.variables[number - 1] if 1 <= number <= len(self.variables) else None

    @cached_property
    def structure(self) -> list[Unknown]:
        """All entries of ModelStructure, in order."""
        return [self._unknown(kind, entry) for kind in UNKNOWNS for entry in self._entries(kind)]

    def _entries(self, kind: str) -> Iterator[Element]:
        group, tag = UNKNOWNS[kind]
        path = f"ModelStructure/{tag}" if self.fmi3 else f"ModelStructure/{group}/Unknown"
        if self.fmi3 or group:
            yield from self.root.findall(path)

    def _unknown(self, kind: str, entry: Element) -> Unknown:
        reference = entry.get("valueReference" if self.fmi3 else "index", "")
        dependencies, kinds = (_split(entry.get(name)) for name in ("dependencies", "dependenciesKind"))
        knowns = [self.find(text) for text in dependencies or ()]
        return Unknown(kind, reference, self.find(reference), dependencies, knowns, kinds)

    def unknowns(self, kind: str) -> list[Unknown]:
        """The entries of one kind: output, derivative, initial, indicator or clocked."""
        return [one for one in self.structure if one.kind == kind]

    @cached_property
    def states(self) -> list[Variable]:
        """The continuous states, in the order of their derivatives."""
        pairs = [one.variable for one in self.unknowns("derivative")]
        found = [self.find(one.given.get("derivative")) for one in pairs if one is not None]
        return [one for one in found if one is not None]

    def numbers(self, variables: Iterable[Variable]) -> list[Number]:
        """All numbers of some variables, in the order in which they are read and written."""
        return [Number(one, i, one.size) for one in variables for i in range(one.size)]

    @cached_property
    def n_states(self) -> int:
        """How many continuous states it declares."""
        return sum(one.size for one in self.states)

    @cached_property
    def n_indicators(self) -> int:
        """How many event indicators it declares."""
        if self.fmi3:
            return sum(one.variable.size for one in self.unknowns("indicator") if one.variable)
        return as_integer(self.root.get("numberOfEventIndicators")) or 0

    def items(self, type_name: str) -> list[tuple[str, str]]:
        """Name and value of each item of an enumeration."""
        return [
            (item.get("name", ""), item.get("value", ""))
            for entry in self.root.findall("TypeDefinitions/*")
            if entry.get("name") == type_name
            for item in entry.iter("Item")
        ]

    def problems(self) -> Iterator[str]:
        """Name each entry that is wrong and without which the FMU cannot be run."""
        for kind, element in self.kinds.items():
            if not element.get("modelIdentifier"):
                yield f"the interface {kind} has no modelIdentifier"
        for one in self.variables:
            yield from (f"variable {one.name!r}: {problem}" for problem in self._problems_of(one))
        for unknown in self.unknowns("output"):
            if unknown.variable is None or None in unknown.knowns:
                yield f"the output {unknown.name!r} of ModelStructure refers to a variable that does not exist"

    def _problems_of(self, one: Variable) -> Iterator[str]:
        declared = one.given.get("declaredType")
        if one.reference is None:
            yield "it has no valueReference that is a number"
        if one.type not in TYPES:
            yield f"it has no type of FMI {self.version}"
        if declared is not None and declared not in self.types:
            yield f"its declaredType {declared!r} is not defined"
        if one.given_initial is None and (one.variability, one.causality) not in ALLOWED:
            yield f"causality {one.causality!r} and variability {one.variability!r} are no allowed combination"
        if one.dimensions and not one.size:
            yield "its dimensions are not known"
        for name in ("min", "max", "nominal"):
            if one.attribute(name) and one.number(name) is None:
                yield f"its {name} {one.attribute(name)!r} is no number"
        for name, value in self.items(declared or "") if one.type == "Enumeration" else ():
            if as_integer(value) is None:
                yield f"the value {value!r} of the item {name!r} of its type is no whole number"

    def identifier(self, kind: str) -> str:
        """The model identifier of an interface that is there."""
        return self.kinds[kind].get("modelIdentifier", "")

    def able(self, kind: str, *names: str) -> bool:
        """Whether an interface is there and declares an ability, under one of its names in the versions."""
        element = self.kinds.get(kind)
        return element is not None and any(element.get(name) in ("true", "1") for name in names)

    @cached_property
    def experiment(self) -> dict[str, float | None]:
        """Numbers of the default experiment; None where they are not given."""
        element = self.root.find("DefaultExperiment")
        names = ("startTime", "stopTime", "stepSize", "tolerance")
        return {name: None if element is None else as_number(element.get(name)) for name in names}


def read_description(path: Path) -> Description:
    """Read the model description of an archive.

    Raises
    ------
    KeyError
        If the archive has none.
    zipfile.BadZipFile, OSError, xml.etree.ElementTree.ParseError
        If the archive or the XML cannot be read.
    """
    with zipfile.ZipFile(path) as archive, archive.open(FILE) as file:
        return Description(ElementTree.parse(file).getroot())


def _by_reference(variables: Sequence[Variable]) -> dict[int, Variable]:
    found: dict[int, Variable] = {}
    for one in variables:
        if one.reference is not None:
            found.setdefault(one.reference, one)
    return found


def _referred(text: str | None, known: Mapping[int, Variable]) -> Variable | None:
    number = as_integer(text)
    return None if number is None else known.get(number)


def as_integer(text: str | None) -> int | None:
    """Return a text as an integer, or None."""
    try:
        return None if text is None else int(text)
    except ValueError:
        return None


def as_number(text: str | None) -> float | None:
    """Return a text as a number, or None."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def _split(text: str | None) -> list[str] | None:
    return None if text is None else text.split()
