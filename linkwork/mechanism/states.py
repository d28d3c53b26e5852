"""Continuous states of elements: a current, a pressure, the lag of an actuator, whose time derivatives are formulas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from linkwork._util.checks import number
from linkwork.errors import MechanismError
from linkwork.formula import LookupTable, Source
from linkwork.formula.units import read_unit
from linkwork.mechanism.formulas import Given, Readable, WithFormulas
from linkwork.mechanism.outputs import RESERVED, Variables
from linkwork.mechanism.own_states import RATE, state_quantities
from linkwork.mechanism.quantities import OF_INPUT, Quantity, Reading, indices, load, parameter

if TYPE_CHECKING:
    from linkwork.mechanism.surroundings import Surroundings


@dataclass(frozen=True)
class ElementState(WithFormulas):
    """A continuous state in addition to coordinates and speeds, whose time derivative is a formula."""

    name: str  # its name, which is that of its variable
    formula: str  # its time derivative, such as "(voltage - R*i - k*axle.u)/L"
    start: float = 0.0
    unit: str = "1"
    parameters: Mapping[str, Given] | None = None  # type: ignore[assignment]
    tables: Mapping[str, LookupTable] | None = None  # type: ignore[assignment]
    inputs: tuple[str, ...] = ()
    nominal: float = 1.0  # a size of it that counts as one in absolute tolerances

    def __post_init__(self) -> None:
        if self.name in RESERVED:
            raise MechanismError(f"{self.label}: this is the name of a variable of the whole mechanism: rename it")
        read_unit(self.unit, f"{self.label}: unit")
        object.__setattr__(self, "start", number(self.start, f"{self.label}: start"))
        nominal = number(self.nominal, f"{self.label}: nominal")
        if nominal <= 0.0:
            raise MechanismError(f"{self.label}: nominal must be above zero, a usual size of it, not {nominal!r}")
        object.__setattr__(self, "nominal", nominal)
        inputs: Any = self.inputs
        if isinstance(inputs, str) or not all(isinstance(one, str) for one in inputs):
            raise MechanismError(f"{self.label}: inputs must be names such as ('voltage',), not {inputs!r:.60}")
        object.__setattr__(self, "inputs", tuple(inputs))
        self._take_formulas()

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"state {self.name!r}"

    @property
    def input_label(self) -> str:
        """What messages call an input of it."""
        return "input"

    @property
    def owner(self) -> str:
        """What the names of its variables begin with."""
        return self.name

    @property
    def variable(self) -> str:
        """Its name for users."""
        return self.name

    @property
    def rate_unit(self) -> str:
        """Unit of its time derivative."""
        return f"{self.unit}/s"

    def _sources(self, mech: Surroundings) -> list[Source]:
        return [Source(self.formula, self.rate_unit, self.label)]

    def _names(self, mech: Surroundings) -> Readable:
        inputs = {name: Reading("formula_input", self.name, k, None) for k, name in enumerate(self.inputs)}
        return NamesOfState(mech, inputs)

    def _check_own_names(self, mech: Surroundings) -> None:
        for name in (*(self.parameters or ()), *(self.tables or ()), *self.inputs):
            if name == self.name or name in RESERVED:
                raise MechanismError(f"{self.label}: {name!r} means something else here: rename it")

    def start_parameter(self) -> Quantity:
        """Return its start value."""
        return parameter("{0}.start", "state_start", self.unit, "start value")

    def motion(self) -> Iterator[Quantity]:
        """Return its value and its time derivative."""
        return state_quantities("{0}", "state of an element", self.unit, self.nominal, self.formula)

    def listed_inputs(self, mech: Surroundings) -> Iterator[Quantity]:
        """Return its inputs, with the units that follow."""
        units = self.program(mech).units
        for k, name in enumerate(self.inputs):
            one = load(f"{{0}}.{name}", "formula_input", "1", self._text(name, "input"), of=OF_INPUT, offset=k)
            yield replace(one, unit=units[name])

    def readings(self) -> dict[str, Reading]:
        """Return what others may read of it; units that follow from its formula are left open."""
        found = {
            self.name: Reading("element_state", self.name, 0, self.unit),
            f"der({self.name})": Reading(RATE, self.name, 0, self.rate_unit),
            f"{self.name}.start": Reading("state_start", self.name, 0, self.unit),
        }
        for k, (name, given) in enumerate((self.parameters or {}).items()):
            unit = given[1] if isinstance(given, tuple) else None
            found[f"{self.name}.{name}"] = Reading(self.number_field, self.name, k, unit)
        for k, name in enumerate(self.inputs):
            found[f"{self.name}.{name}"] = Reading("formula_input", self.name, k, None)
        for name, table in (self.tables or {}).items():
            for k, element in enumerate(indices(*table.rows)):
                found[f"{self.name}.{name}{element}"] = Reading(self.value_field, f"{self.name}.{name}", k, table.unit)
        return found

    def read(self, mech: Surroundings) -> tuple[str, ...]:
        """Return the names of the variables that it reads."""
        found = self.program(mech).formulas[0].quantities
        return tuple(f"{self.name}.{name}" if name in self.inputs else name for name in found)

    def check(self, mech: Surroundings) -> None:
        """Refuse a text that is no formula, and names that do not exist (any more)."""
        self.program(mech)


class NamesOfState(Readable):
    """What the formula of a state may read: its inputs, and the variables of the mechanism."""

    def __init__(self, mech: Surroundings, inputs: Mapping[str, Reading]) -> None:
        self._mech, self._inputs, self._variables = mech, inputs, Variables(mech)

    def find(self, name: str) -> Reading | None:
        """Return what a name means; None: nothing."""
        found = self._inputs.get(name) or self._variables.find(name)
        return None if found is None or self._reads_rates(name, found) else found

    def _reads_rates(self, name: str, found: Reading) -> bool:
        """Whether it is the rate of a state, or an output that reads one: these have no order."""
        if found.field != "formula_output":
            return found.field == RATE
        read = self._mech.outputs[name].read(self._mech)
        return any(self._reads_rates(other, of) for other in read if (of := self._variables.find(other)))

    def remark(self, name: str) -> str:
        """Return why a rate is not read."""
        found = self._variables.find(name)
        rates = found is not None and self._reads_rates(name, found)
        return "; formulas of states read no rates of states: write out what it is" if rates else ""

    def __iter__(self) -> Iterator[str]:
        yield from self._inputs
        yield from (name for name in self._variables if self.find(name) is not None)
