"""States that built-in forces own, and all states of a mechanism."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from linkwork._util.checks import number, positive
from linkwork.errors import MechanismError
from linkwork.formula.operations import NUMBER, OPERATIONS
from linkwork.formula.units import read_unit
from linkwork.mechanism.formulas import Program
from linkwork.mechanism.quantities import Quantity, Reading, parameter

if TYPE_CHECKING:
    from linkwork.mechanism.surroundings import Surroundings

RATE = "element_rate"  # field of the core


class StateLaw(NamedTuple):
    """A state of a force, as the force states it.

    Attributes
    ----------
    stem, text
        Its name behind that of the force, by which formulas of the force read it, and what it is.
    unit
        Its unit.
    formula
        Its time derivative; it reads what the formula of the force reads, and states of the force.
    start, nominal
        Start value, and a size that counts as one in absolute tolerances.
    """

    stem: str
    text: str
    unit: str
    formula: str
    start: float = 0.0
    nominal: float = 1.0


def read_states(given: Any, label: str) -> dict[str, dict[str, Any]] | None:
    """Return states of a force by name, each with its formula, start value, unit and nominal size; None: none."""
    if given is None:
        return None
    if not isinstance(given, Mapping) or not given:
        raise MechanismError(
            f"{label}: states must be a dictionary such as {{'act': '(p - act)/T'}}, not {given!r:.60}"
        )
    return {name: _read_state(one, f"{label}: state {name!r}") for name, one in given.items()}


def _read_state(given: Any, what: str) -> dict[str, Any]:
    one = {"formula": given} if isinstance(given, str) else given
    if not isinstance(one, Mapping) or not isinstance(one.get("formula"), str):
        raise MechanismError(f"{what} must be a formula, or a dictionary with a formula, not {given!r:.60}")
    if unknown := [key for key in one if key not in ("formula", "start", "unit", "nominal")]:
        raise MechanismError(f"{what} has no {unknown[0]!r}: give formula, start, unit or nominal")
    read_unit(one.get("unit", "1"), what)
    return {
        "formula": one["formula"],
        "start": number(one.get("start", 0.0), f"{what}: start"),
        "unit": one.get("unit", "1"),
        "nominal": positive(one.get("nominal", 1.0), f"{what}: nominal"),
    }


def state_quantities(name: str, text: str, unit: str, nominal: float, formula: str) -> Iterator[Quantity]:
    """Return a state and its time derivative; `name` has ``{0}`` for its entity."""
    written = " ".join(formula.split()).replace("{", "{{").replace("}", "}}")
    yield Quantity(name, "state", "element_state", unit, text, nominal=nominal)
    yield Quantity(f"der({name})", "derivative", RATE, f"{unit}/s", f"time derivative of {name}: {written}")


@dataclass(frozen=True)
class StateOfForce:
    """A state of a force, which has its parameters and inputs; the interface is that of `ElementState`."""

    force: Any  # a force by a formula
    number: int  # among the states of the force
    law: StateLaw

    inputs: tuple[str, ...] = ()
    table_values: int = 0

    @property
    def owner(self) -> str:
        """The name before its dot."""
        return str(self.force.name)

    @property
    def name(self) -> str:
        """Its name in the core, which no other part can have."""
        return f"{self.owner}:{self.law.stem}"

    @property
    def variable(self) -> str:
        """Its name for users."""
        return f"{self.owner}.{self.law.stem}"

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"state {self.variable!r}"

    @property
    def input_label(self) -> str:
        """What messages call an input of it."""
        return "input"

    @property
    def unit(self) -> str:
        """Its unit."""
        return self.law.unit

    @property
    def formula(self) -> str:
        """Its time derivative."""
        return self.law.formula

    @property
    def start(self) -> float:
        """Its start value."""
        return self.law.start

    @property
    def nominal(self) -> float:
        """A size of it that counts as one in absolute tolerances."""
        return self.law.nominal

    def reading(self) -> Reading:
        """Return what formulas read."""
        return Reading("element_state", self.name, 0, self.unit)

    def readings(self) -> dict[str, Reading]:
        """Return what others may read of it."""
        start = f"{self.variable}_start"
        return {
            self.variable: self.reading(),
            f"der({self.variable})": Reading(RATE, self.name, 0, f"{self.unit}/s"),
            start: Reading("state_start", self.name, 0, self.unit),
        }

    def start_parameter(self) -> Quantity:
        """Return its start value."""
        return parameter(f"{{0}}.{self.law.stem}_start", "state_start", self.unit, f"start value: {self.law.text}")

    def motion(self) -> Iterator[Quantity]:
        """Return its value and its time derivative."""
        law = self.law
        return state_quantities(f"{{0}}.{law.stem}", law.text, law.unit, law.nominal, law.formula)

    def formula_parameters(self, mech: Surroundings) -> Iterable[Quantity]:
        """Return none: they are those of the force."""
        return ()

    def listed_inputs(self, mech: Surroundings) -> Iterable[Quantity]:
        """Return none: they are those of the force."""
        return ()

    def read(self, mech: Surroundings) -> tuple[str, ...]:
        """Return the names of the variables that it reads."""
        force = self.force
        own = {"q": f"{self.owner}.length", "u": f"{self.owner}.rate"}
        of_record = (one.stem for one in force.record)
        stems = {*force.inputs, "length", "rate", *of_record, *(one.law.stem for one in force.own_states(mech))}
        found = force.whole_program(mech).formulas[self._place(mech)].quantities
        return tuple(
            f"{self.owner}.{name}" if name.partition("[")[0] in stems else own.get(name, name) for name in found
        )

    def _place(self, mech: Surroundings) -> int:
        """Return which of the force's formulas is its own."""
        return len(self.force.own_sources(mech)) + self.number

    def program(self, mech: Surroundings) -> Program:
        """Return its formula, whose numbers are read from the force."""
        whole, place = self.force.whole_program(mech), self._place(mech)
        first, numbers = whole.results[place - 1] + 1, len(whole.readings)
        of_force = (Reading("formula_number", self.owner, k, None) for k in range(len(whole.numbers)))
        operations: list[tuple[str, int, int, int]] = []
        for name, *given in whole.operations[first : whole.results[place] + 1]:
            if name == "number":
                operations.append(("quantity", numbers + given[0], 0, 0))
                continue
            kinds = OPERATIONS[NUMBER[name]].operands.ljust(3)
            a, b, c = (one - first if kind == "v" else one for kind, one in zip(kinds, given, strict=True))
            operations.append((name, a, b, c))
        lists = (whole.units, [*whole.readings, *of_force], operations, [len(operations) - 1])
        return Program((whole.formulas[place],), [], *lists, {}, {})

    def check(self, mech: Surroundings) -> None:
        """Refuse what the force refuses."""
        self.force.whole_program(mech)


def all_states(mech: Surroundings) -> list[Any]:
    """Return the states of a mechanism in the order of the core: those that were added, then those of forces."""
    return [*mech.states.values(), *(state for force in mech.forces for state in force.own_states(mech))]
