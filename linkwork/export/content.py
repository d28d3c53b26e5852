"""What an FMU holds, before it is written in the words of one version of the standard."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from linkwork.errors import ExportError
from linkwork.quantities import Kind, Variable, matching

Causality = Literal["parameter", "input", "output", "local", "independent"]

_CAUSALITY: dict[str, Causality] = {
    "parameter": "parameter",
    "start": "parameter",
    "input": "input",
    "state": "local",
    "derivative": "local",
    "time": "independent",
    "indicator": "local",
}
_COMPUTED: tuple[Kind, ...] = ("state", "derivative", "output")


@dataclass(frozen=True)
class Entry:
    """One variable of the model description: what the mechanism says of it and its part in this FMU."""

    variable: Variable
    causality: Causality

    @property
    def variability(self) -> str:
        """`fixed` for parameters and start values, `discrete` for what changes at events alone, else `continuous`."""
        if self.causality == "parameter":
            return "fixed"
        return "discrete" if self.variable.discrete else "continuous"

    @property
    def initial(self) -> str | None:
        """How the value comes about in initialisation; None where the standard says it already."""
        if self.causality == "parameter":
            return "exact"
        return "calculated" if self.calculated else None

    @property
    def calculated(self) -> bool:
        """The value follows from others in initialisation."""
        return self.causality in ("output", "local")


@dataclass(frozen=True)
class Experiment:
    """The default experiment: times in s, tolerance of the integrator."""

    start: float = 0.0
    stop: float = 10.0
    step: float = 0.01
    tolerance: float = 1e-7


@dataclass(frozen=True)
class Content:
    """All that a model description says, in the order in which it says it."""

    name: str
    token: str
    entries: tuple[Entry, ...]
    indicators: tuple[Entry, ...]
    has_events: bool
    experiment: Experiment
    tool: str

    @property
    def identifier(self) -> str:
        """The mechanism's name as a C identifier: the name of the shared library."""
        return model_identifier(self.name)

    @cached_property
    def by_name(self) -> dict[str, Entry]:
        """The variables by name."""
        return {entry.variable.name: entry for entry in self.entries}

    @cached_property
    def outputs(self) -> list[Entry]:
        """The outputs in the order of the variables."""
        return [entry for entry in self.entries if entry.causality == "output"]

    @cached_property
    def derivatives(self) -> list[Entry]:
        """The derivatives in the order of the continuous states."""
        found = [entry for entry in self.entries if entry.variable.kind == "derivative"]
        return sorted(found, key=lambda entry: entry.variable.reference)

    @cached_property
    def initial_unknowns(self) -> list[Entry]:
        """What initialisation computes, event indicators aside, in the order of the variables."""
        return [entry for entry in self.entries if entry.calculated]

    @cached_property
    def units(self) -> list[str]:
        """The units in use, sorted."""
        reals = (entry.variable for entry in (*self.entries, *self.indicators) if entry.variable.type == "real")
        return sorted({variable.unit for variable in reals})

    def depends_on(self, entry: Entry) -> list[Entry] | None:
        """Return what an output or derivative depends on, in the order of the variables; None: on everything."""
        if entry.variable.kind == "state":
            return [entry]
        if entry.variable.depends is None:
            return None
        needed = set(entry.variable.depends)
        if not needed <= self.by_name.keys():
            missing = sorted(needed - self.by_name.keys())
            raise ExportError(f"{entry.variable.name} depends on {missing}, which are no variables of the mechanism")
        position = self.positions
        return sorted((self.by_name[name] for name in needed), key=lambda known: position[known.variable.name])

    @cached_property
    def positions(self) -> dict[str, int]:
        """The position of each variable, from 0."""
        return {entry.variable.name: i for i, entry in enumerate(self.entries)}


def indicator_entries(variables: Iterable[Variable]) -> tuple[Entry, ...]:
    """Give the event indicators their part in the FMU."""
    return tuple(Entry(variable, _CAUSALITY[variable.kind]) for variable in variables)


def model_identifier(name: str) -> str:
    """Return a name as a C identifier.

    >>> model_identifier("four-bar 2"), model_identifier("3rps")
    ('four_bar_2', '_3rps')
    """
    identifier = re.sub(r"[^A-Za-z0-9_]", "_", name) or "mechanism"
    return f"_{identifier}" if identifier[0].isdigit() else identifier


def choose_entries(variables: Sequence[Variable], outputs: Iterable[str] | None) -> tuple[Entry, ...]:
    """Give every variable its part in the FMU.

    Parameters
    ----------
    variables
        All variables of the mechanism.
    outputs
        Names, or beginnings of names up to a dot or bracket: ``A`` takes ``A.q`` and ``A.f[1]``. Derivatives and
        states may be among them. None: all states and outputs. What is not chosen stays readable if it is a state
        or a derivative and is left out otherwise.

    Raises
    ------
    ExportError
        If a name is unknown or is not computed by the mechanism.
    """
    if outputs is None:
        chosen = {variable.name for variable in variables if variable.kind in ("state", "output")}
    else:
        wanted = [outputs] if isinstance(outputs, str) else list(outputs)
        chosen = {
            variable.name for name in wanted for variable in matching(variables, name, _COMPUTED, error=ExportError)
        }
    return tuple(
        Entry(variable, "output" if variable.name in chosen else _CAUSALITY[variable.kind])
        for variable in variables
        if variable.name in chosen or variable.kind in _CAUSALITY
    )
