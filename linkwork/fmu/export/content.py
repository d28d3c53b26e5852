"""What an FMU holds, before it is written in the words of one version of the standard."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal
from zlib import crc32

from linkwork._util.checks import FloatArray
from linkwork.errors import ExportError
from linkwork.fmu.export.dae_mode import DaeMode
from linkwork.fmu.export.nominal_values import NominalSizes
from linkwork.fmu.export.profiles import Profile
from linkwork.fmu.export.settings import SETTING_STARTS
from linkwork.variables.schema import Variable
from linkwork.variables.templates import WITH_START, made

Causality = Literal["parameter", "input", "output", "local", "independent"]

Place = tuple["VariableGroup", int]  # an entry: its row, and its position there

# References in all dependencies together, about 2 MB of text. Beyond it, lists of everything are left out, which means
# the same.
MOST_DEPENDENCIES = 500_000

LONGEST_IDENTIFIER = 60  # of an FMU, the name of its library, which importers unpack into deep folders
RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{k}" for port in ("com", "lpt") for k in range(10))}  # by Windows


@dataclass(frozen=True)
class Entry:
    """One variable of the model description: its meaning in the mechanism and its part in this FMU."""

    variable: Variable  # an array has the name without an index
    causality: Causality  # its part
    count: int = 0  # how many numbers an array has, 0: it is none
    assembled: bool = False  # whether it is a state with the value of the assembled start as its start value

    @property
    def variability(self) -> str:
        """Parameters and start values are `fixed` or `tunable`; `discrete` ones change at events alone."""
        if self.causality == "parameter":
            return "tunable" if self.variable.tunable else "fixed"
        return "discrete" if self.variable.discrete else "continuous"

    @property
    def initial(self) -> str | None:
        """How the value comes about in initialisation; None where the standard defines it.

        The start value of a state is a guess, from which assembly begins: `approx`.
        """
        if self.causality == "parameter":
            return "exact"
        if self.assembled:
            return "approx"
        return "calculated" if self.calculated else None

    @property
    def calculated(self) -> bool:
        """The value follows from others in initialisation."""
        return self.causality in ("output", "local")

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return self.count or 1


@dataclass(frozen=True)
class GroupTemplate:
    """What a pattern becomes in an FMU: entries whose entity's name and place are still open."""

    entries: tuple[Entry, ...]  # in the order of the pattern
    first: tuple[int, ...]  # which of the pattern's numbers is the first of each
    # For each that is computed and no state, which of its entity's dependencies hold: one, or those of its elements.
    rules: tuple[tuple[int, ...], ...]

    @cached_property
    def dependency(self) -> list[int] | None:
        """For each entry its rule, -1 if it has none; None where an array has several."""
        several = any(len(rules) > 1 for rules in self.rules)
        return None if several else [rules[0] if rules else -1 for rules in self.rules]

    @cached_property
    def arrays(self) -> list[int]:
        """Entries that are arrays."""
        return [i for i, entry in enumerate(self.entries) if entry.count]

    @cached_property
    def states(self) -> list[int]:
        """For each derivative among the entries, which of them is its state."""
        at = {entry.variable.name: i for i, entry in enumerate(self.entries)}
        return [at[e.variable.derivative_of] for e in self.entries if e.variable.derivative_of is not None]

    @cached_property
    def with_start(self) -> list[int]:
        """Entries that have start values."""
        return [i for i, entry in enumerate(self.entries) if entry.variable.kind in WITH_START or entry.assembled]

    @cached_property
    def plain(self) -> bool:
        """All that have start values are real numbers."""
        return all(self.entries[i].variable.type == "real" and not self.entries[i].count for i in self.with_start)

    @cached_property
    def bounded(self) -> bool:
        """Some have a least or largest value."""
        return any(e.variable.minimum is not None or e.variable.maximum is not None for e in self.entries)

    @cached_property
    def outputs(self) -> list[int]:
        """Entries that are outputs."""
        return self.which("output")

    @cached_property
    def calculated(self) -> list[int]:
        """Entries that follow from others in initialisation."""
        return self.which("output", "local")

    @cached_property
    def initial_unknowns(self) -> list[int]:
        """Of these the outputs, states and derivatives: other local variables are not listed."""
        listed = {*self.outputs, *self.of_kind("state", "derivative")}
        return [i for i in self.calculated if i in listed]

    @cached_property
    def derivatives(self) -> list[int]:
        """Entries that are derivatives of states."""
        return self.of_kind("derivative")

    @cached_property
    def knowns(self) -> list[int]:
        """Entries that others may depend on."""
        return self.of_kind("state", "input", "time")

    @cached_property
    def known_at_start(self) -> list[int]:
        """Entries that those computed in initialisation may depend on."""
        return self.of_kind("parameter", "start", "input", "time")

    @cached_property
    def assembling(self) -> list[int]:
        """Of these, entries that states may depend on: masses, springs and the like do not change the assembly."""
        return [i for i in self.known_at_start if not self.entries[i].variable.tunable]

    def which(self, *causalities: Causality) -> list[int]:
        """Return the entries with one of these parts."""
        return [i for i, entry in enumerate(self.entries) if entry.causality in causalities]

    def of_kind(self, *kinds: str) -> list[int]:
        """Return the entries of some kinds."""
        return [i for i, entry in enumerate(self.entries) if entry.variable.kind in kinds]


@dataclass(slots=True)
class VariableGroup:
    """An entity in an FMU."""

    # form, labels: its entries, and the names that go into them, quoted as FMI's structured names need it
    form: GroupTemplate
    labels: tuple[str, ...]
    offsets: list[int]  # positions of the entries in the block and behind it, of an array that of its first number
    # For each entry the offsets of what it depends on, ascending; None: all, or nothing is computed.
    depends: list[list[int] | None] = field(default_factory=list)


@dataclass(frozen=True)
class Experiment:
    """The default experiment: times in s, tolerance of the integrator."""

    start: float = 0.0
    stop: float = 10.0
    step: float = 0.01
    tolerance: float = 1e-7


@dataclass(frozen=True)
class Content:
    """The content of a model description, in its order."""

    name: str  # of the mechanism
    # rows, indicators: variables by entity; event indicators
    rows: list[VariableGroup]
    indicators: list[VariableGroup]
    # The numbers at the start, with the states of the assembled start, and behind them those stored behind the block.
    block: FloatArray
    # experiment, tool: the default experiment, and who writes
    experiment: Experiment
    tool: str
    # Positions of the coordinates and of the speeds that are states, in the core's fields q and u; both empty: all.
    independents: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    sources: tuple[str, ...] = ()  # C files to compile, by path in the folder of sources; none: it is no source FMU
    dae: DaeMode | None = None  # what DAE mode adds; None: there is none
    profile: Profile | None = None  # the importer that it is written for; None: any
    nominal: NominalSizes = field(default_factory=NominalSizes)  # from which the nominal values of variables follow

    @property
    def co_simulation(self) -> bool:
        """Whether the FMU is for Co-Simulation as well."""
        return self.profile is None or self.profile.co_simulation

    @property
    def identifier(self) -> str:
        """The mechanism's name as a C identifier: the name of the shared library."""
        return model_identifier(self.name)

    def numbered(self) -> dict[int, int]:
        """Return by offset the position from 1 in the model description: value references of FMI 3.0.

        Some importers take a value reference for that position.
        """
        offsets = [at for row in self.all_rows for at in row.offsets]
        if self.dae is not None:
            offsets += self.dae.offsets
        return {at: number for number, at in enumerate(offsets, start=1)}

    @property
    def all_rows(self) -> list[VariableGroup]:
        """Variables, then event indicators."""
        return [*self.rows, *self.indicators]

    @property
    def forms(self) -> list[GroupTemplate]:
        """All forms, each once."""
        return list({id(row.form): row.form for row in self.all_rows}.values())

    def each(self, *causalities: Causality) -> Iterator[Entry]:
        """Return the entries with one of these parts, in order, as far as somebody asks for them."""
        for row in self.rows:
            for i in row.form.which(*causalities):
                entry, at = row.form.entries[i], row.offsets[i]
                yield replace(entry, variable=made(entry.variable, row.labels, at, self.block))

    def causality_of(self, name: str) -> Causality | None:
        """Return the part of a variable that is named after its entity, as ``A.q`` is; None: there is no such one."""
        end = name.find(".")
        while end >= 0:
            if (found := self._names_of(name[:end]).get(name)) is not None:
                return found
            end = name.find(".", end + 1)
        return None

    def _names_of(self, entity: str) -> dict[str, Causality]:
        """What an entity has, by name."""
        if entity not in self._named:
            rows = self._owned.get(entity, ())
            entries = ((row, entry) for row in rows for entry in row.form.entries)
            self._named[entity] = {e.variable.name.format(*row.labels): e.causality for row, e in entries}
        return self._named[entity]

    @cached_property
    def _named(self) -> dict[str, dict[str, Causality]]:
        return {}

    @cached_property
    def _owned(self) -> dict[str, list[VariableGroup]]:
        found: dict[str, list[VariableGroup]] = {}
        for row in self.rows:
            if row.labels:
                found.setdefault(row.labels[0], []).append(row)
        return found

    def count(self, *kinds: str) -> int:
        """Return how many numbers of some kinds there are."""
        counts = {id(form): sum(form.entries[i].size for i in form.of_kind(*kinds)) for form in self.forms}
        return sum(counts[id(row.form)] for row in self.rows)

    @property
    def units(self) -> list[str]:
        """The units in use, sorted."""
        variables = (entry.variable for form in self.forms for entry in form.entries)
        return sorted({variable.unit for variable in variables if variable.type == "real"})

    @property
    def outputs(self) -> Iterator[Place]:
        """The outputs in the order of the variables."""
        return ((row, i) for row in self.rows for i in row.form.outputs)

    def offsets_of(self, causality: Causality) -> list[int]:
        """Offsets of continuous numbers with a part, of their own kind: states and parameters aside, ascending."""
        places = ((row, i) for row in self.rows for i in row.form.which(causality))
        found = list[int]()
        for row, i in places:
            entry = row.form.entries[i]
            if entry.variable.kind == causality and entry.variable.type == "real" and entry.variability == "continuous":
                found += range(row.offsets[i], row.offsets[i] + entry.size)
        return sorted(found)

    @property
    def derivatives(self) -> list[Place]:
        """The derivatives in the order of the continuous states."""
        found = [(row, i) for row in self.rows for i in row.form.derivatives]
        return sorted(found, key=lambda place: place[0].offsets[place[1]])

    @property
    def initial_unknowns(self) -> Iterator[Place]:
        """What initialisation computes, event indicators aside, in the order of the variables."""
        return ((row, i) for row in self.rows for i in row.form.initial_unknowns)

    def at_start(self, entry: Entry) -> list[int]:
        """Offsets of what an entry depends on in initialisation, in the order of the variables."""
        return self._assembling if entry.variable.kind == "state" else self._known_at_start

    @cached_property
    def _known_at_start(self) -> list[int]:
        return [row.offsets[i] for row in self._without_settings for i in row.form.known_at_start]

    @cached_property
    def _assembling(self) -> list[int]:
        return [row.offsets[i] for row in self._without_settings for i in row.form.assembling]

    @property
    def _without_settings(self) -> Iterator[VariableGroup]:
        """The settings of Co-Simulation are behind the block."""
        end = self.block.size - len(SETTING_STARTS)
        return (row for row in self.rows if row.offsets[0] < end)

    @cached_property
    def everything(self) -> list[int]:
        """Offsets of what others may depend on, ascending."""
        return sorted(set(self.knowns))

    @cached_property
    def lists_everything(self) -> bool:
        """Whether an unknown that depends on everything lists everything."""
        if self.profile is not None and self.profile.all_dependencies:
            return True
        total = sum(len(self.at_start(row.form.entries[i])) for row, i in self.initial_unknowns)
        for places in (self.outputs, self.derivatives, self.event_indicators):
            for row, i in places:
                knowns = row.depends[i]
                total += len(self.everything if knowns is None else knowns)
        return total <= MOST_DEPENDENCIES

    @property
    def event_indicators(self) -> Iterator[Place]:
        """The event indicators in their order."""
        return ((row, i) for row in self.indicators for i in range(len(row.offsets)))

    @property
    def knowns(self) -> Iterator[int]:
        """Offsets of what others may depend on: states, inputs and time."""
        return (row.offsets[i] for row in self.rows for i in row.form.knowns)

    def starts(self, row: VariableGroup) -> list[list[float]]:
        """Return the start values of those entries of a row that have some."""
        block, offsets, entries = self.block, row.offsets, row.form.entries
        return [block[offsets[i] : offsets[i] + entries[i].size].tolist() for i in row.form.with_start]

    def plain_starts(self, row: VariableGroup) -> list[float]:
        """Return the same of a row whose form is plain."""
        return [self.block.item(row.offsets[i]) for i in row.form.with_start]

    def check(self) -> None:
        """Refuse start values that are out of bounds."""
        for row in self.rows:
            if row.form.bounded:
                for i, values in zip(row.form.with_start, self.starts(row), strict=True):
                    _check_bounds(row.form.entries[i].variable, row.labels, values)


def _check_bounds(variable: Variable, labels: Sequence[str], values: list[float]) -> None:
    low, high = variable.minimum, variable.maximum
    for value in values:
        if (low is not None and value < low) or (high is not None and value > high):
            bounds = f"{'any' if low is None else low} to {'any' if high is None else high}"
            raise ExportError(f"{variable.name.format(*labels)} starts at {value}, but allowed is {bounds}; change it")


def model_identifier(name: str) -> str:
    """Return a name as a C identifier that may be the name of a file on all platforms.

    >>> model_identifier("con"), len(model_identifier("n" * 400))
    ('con_', 60)
    >>> model_identifier("four-bar 2"), model_identifier("3rps")
    ('four_bar_2', '_3rps')
    """
    identifier = re.sub(r"[^A-Za-z0-9_]", "_", name) or "mechanism"
    if len(identifier) > LONGEST_IDENTIFIER:
        checksum = f"_{crc32(name.encode()):08x}"
        identifier = identifier[: LONGEST_IDENTIFIER - len(checksum)] + checksum
    if identifier.lower() in RESERVED:
        identifier += "_"
    return f"_{identifier}" if identifier[0].isdigit() else identifier
