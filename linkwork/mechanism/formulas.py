"""What forces, outputs and couplings by formulas share: parameters and tables, and the program that follows."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from linkwork._util.names import quoted
from linkwork._util.part_names import suffixes
from linkwork.errors import MechanismError
from linkwork.formula import KINKED, NUMBER, OPERATIONS, Formula, LookupTable, Source, compile_formulas, read_table
from linkwork.mechanism.point_quantities import measure_outputs, point_outputs
from linkwork.mechanism.quantities import OF_NUMBER, OF_TABLE, Quantity, Reading, indices, parameter

if TYPE_CHECKING:
    from linkwork.mechanism.surroundings import Surroundings

Given = float | tuple[float, str]  # the value of a parameter, or with its unit

_OF_JOINT = re.compile(r"(?P<joint>.+)\.(?P<what>[qu])(?:\[(?P<index>[1-9][0-9]*)\])?")
MOST_VALUES = 10_000  # of a table, each of which is a variable; those of larger ones are not


class Program(NamedTuple):
    """Formulas as the core has them: with common lists, and a result for each."""

    formulas: tuple[Formula, ...]
    numbers: list[float]
    units: dict[str, str]  # of parameters, which are the first numbers, then of inputs
    readings: list[Reading]
    operations: list[tuple[str, int, int, int]]
    results: list[int]
    tables: dict[str, LookupTable]
    table_units: dict[str, str]  # of their values

    def count_kinks(self) -> int:
        """Return how many kinks the core locates, in operations on what varies; a table has one for each argument."""
        tables = list(self.tables.values())
        varies: list[bool] = []
        found = 0
        for name, *operands in self.operations:
            kinds = OPERATIONS[NUMBER[name]].operands
            used = [k for kind, k in zip(kinds, operands, strict=False) if kind == "v"]
            varies.append(name == "quantity" or any(varies[k] for k in used))
            if varies[-1] and name in KINKED:
                found += len(tables[operands[2]].rows) if name == "table" else 1
        return found

    def reads(self, result: int) -> tuple[set[int], set[int]]:
        """Return which of its quantities a result depends on, and which of them by the first argument of a table."""
        depends: list[set[int]] = []
        at_tables: list[set[int]] = []
        for name, *operands in self.operations:
            kinds = OPERATIONS[NUMBER[name]].operands
            used = [k for kind, k in zip(kinds, operands, strict=False) if kind == "v"]
            depends.append({operands[0]} if name == "quantity" else set[int]().union(*(depends[k] for k in used)))
            at_tables.append(set[int]().union(*(at_tables[k] for k in used)))
            if name == "table":
                at_tables[-1] |= depends[operands[0]]
        return depends[self.results[result]], at_tables[self.results[result]]

    def first(self, count: int) -> Program:
        """Return the first formulas alone, with all lists but that of operations."""
        if count == len(self.formulas):
            return self
        operations = self.operations[: self.results[count - 1] + 1]
        return self._replace(formulas=self.formulas[:count], operations=operations, results=self.results[:count])


class Readable(Mapping[str, str | None]):
    """Units of all that a formula may read by its name; None: a unit that follows."""

    def find(self, name: str) -> Reading | None:
        """Return what a name means; None: nothing."""
        raise NotImplementedError

    def __getitem__(self, name: str) -> str | None:
        found = self.find(name)
        if found is None:
            raise KeyError(name)
        return found.unit

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.find(name) is not None

    def __iter__(self) -> Iterator[str]:
        raise NotImplementedError

    def __len__(self) -> int:
        return sum(1 for _ in self)


_OF_POINTS = ("point_position", "point_velocity", "point_axis", "measure_value", "measure_rate")  # known before forces


class JointNames(Readable):
    """What a part may read: its own, states, joints, points of interest and measures, looked up when they are named.

    These are known before forces act, so that no definition is circular.
    """

    def __init__(self, own: Mapping[str, Reading], mech: Surroundings) -> None:
        self._own, self._mech = own, mech

    def find(self, name: str) -> Reading | None:
        """Return what a name means; None: nothing."""
        if name in self._own:
            return self._own[name]
        if (state := self._mech.states.get(name)) is not None:
            return Reading("element_state", state.name, 0, state.unit)
        if name.partition(".")[0] in self._mech.points or name.partition(".")[0] in self._mech.measures:
            return self._of_point(name.partition(".")[0]).get(name)
        named = _OF_JOINT.fullmatch(name)
        joint = self._mech.joints.get(named["joint"]) if named else None
        if named is None or joint is None:
            return next((one.reading() for one in self._of_forces() if one.variable == name), None)
        units = joint.kind.coordinate_units if named["what"] == "q" else rates(joint.kind.motion_units)
        index = int(named["index"] or 1)
        if (named["index"] is None) != (len(units) == 1) or index > len(units):
            return None
        return Reading(named["what"], joint.name, index - 1, units[index - 1])

    def _of_point(self, owner: str) -> dict[str, Reading]:
        """Return what a point or a measure has from positions and speeds."""
        mech = self._mech
        listed = point_outputs(mech.points[owner]) if owner in mech.points else measure_outputs(mech.measures[owner])
        return {
            one.name.format(owner).replace("[]", element): Reading(one.field, owner, one.offset + k, str(one.unit))
            for one in listed
            if one.field in _OF_POINTS
            for k, element in enumerate(one.elements)
        }

    def remark(self, name: str) -> str:
        """Return why a variable of the mechanism is not read, by the part in its name."""
        mech = self._mech
        owner = re.split(r"[.\[)]", name.removeprefix("der("), maxsplit=1)[0]
        owners = (mech.joints, mech.bodies, mech.points, mech.measures, mech.outputs, mech.states, mech.couplings)
        if not any(owner in one for one in owners) and all(owner != getattr(one, "name", None) for one in mech.forces):
            return ""
        return (
            "; what depends on loads, as accelerations, reactions and rates of states, would define itself: formulas "
            "of forces read coordinates, speeds, positions and velocities of points, measures, states, inputs and time"
        )

    def _of_forces(self) -> Iterator[Any]:
        return (state for force in self._mech.forces for state in force.own_states(self._mech))

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        yield from (one.variable for one in self._of_forces())
        yield from self._mech.states
        for owner in (*self._mech.points, *self._mech.measures):
            yield from self._of_point(owner)
        for name, joint in self._mech.joints.items():
            for what, count in (("q", joint.kind.nq), ("u", joint.kind.nu)):
                yield from (f"{name}.{what}{suffix}" for suffix in suffixes(count))


def rates(units: Iterable[str]) -> tuple[str, ...]:
    """Return units per second."""
    return tuple(f"{unit}/s" for unit in units)


class WithFormulas:
    """A part of a mechanism whose formulas share parameters and tables."""

    number_field: ClassVar[str] = "formula_number"  # of the core, of its parameters and constants
    value_field: ClassVar[str] = "lookup_value"  # and of its tables
    texts: ClassVar[Mapping[str, str]] = {}  # descriptions of parameters, inputs and tables, where they are known
    name: str
    parameters: Mapping[str, Given]
    tables: Mapping[str, LookupTable]
    inputs: tuple[str, ...] = ()
    _known: tuple[Any, Program] | None  # the program found last, and what it depends on

    @property
    def label(self) -> str:
        """What messages call it."""
        raise NotImplementedError

    def _sources(self, mech: Surroundings) -> list[Source]:
        """Return its formulas, with the units of their results."""
        raise NotImplementedError

    def _further_sources(self, mech: Surroundings) -> list[Source]:
        """Return formulas of states that it owns, which share its parameters."""
        return []

    def own_sources(self, mech: Surroundings) -> list[Source]:
        """Return its formulas, with the units of their results."""
        return self._sources(mech)

    def _names(self, mech: Surroundings) -> Readable:
        """Return all that its formulas may read."""
        raise NotImplementedError

    def _check_own_names(self, mech: Surroundings) -> None:
        """Refuse names of parameters, tables and inputs that mean something else."""

    def _take_formulas(self) -> None:
        """Check parameters and tables as far as they need no mechanism."""
        given: Any = {} if self.parameters is None else self.parameters
        if isinstance(given, Mapping):
            given = {key: tuple(one) if isinstance(one, list) else one for key, one in given.items()}
        object.__setattr__(self, "parameters", given)
        object.__setattr__(self, "tables", self._read_tables())
        object.__setattr__(self, "_known", None)

    def _read_tables(self) -> dict[str, LookupTable]:
        given: Any = {} if self.tables is None else self.tables
        if not isinstance(given, Mapping):
            raise MechanismError(
                f"{self.label}: tables must be a dictionary such as {{'gas': LookupTable(...)}}, not {given!r:.60}"
            )
        return {key: read_table(one, f"{self.label}: table {key!r}") for key, one in given.items()}

    def given_parameters(self, mech: Surroundings) -> Mapping[str, Given]:
        """Return the values of its parameters in a mechanism, by their names."""
        return self.parameters

    def program(self, mech: Surroundings) -> Program:
        """Return its checked formulas; MechanismError where they do not fit this mechanism."""
        return self.whole_program(mech).first(len(self._sources(mech)))

    def whole_program(self, mech: Surroundings) -> Program:
        """Return the same with the formulas of states that it owns behind them."""
        names = self._names(mech)
        known = self._known
        if known is not None and known[0] == self._key(mech, names, known[1]):
            return known[1]
        self._check_own_names(mech)
        given = self.given_parameters(mech)
        sources = [*self._sources(mech), *self._further_sources(mech)]
        formulas = compile_formulas(sources, names, given, self.tables, self.label)
        read = {name for one in formulas for name in one.quantities}
        if unused := [name for name in self.inputs if name not in read]:
            raise MechanismError(f"{self.label}: no formula uses the input {quoted(unused)}: leave it out, or use it")
        found = _joined(formulas, given, self.tables, names)
        object.__setattr__(self, "_known", (self._key(mech, names, found), found))
        return found

    def _key(self, mech: Surroundings, names: Readable, program: Program) -> tuple[Any, ...]:
        """What a program depends on: the names that it reads, its parameters, and the units of results."""
        read = (names.find(name) for one in program.formulas for name in one.quantities)
        sources = [*self._sources(mech), *self._further_sources(mech)]
        return (*read, *self.given_parameters(mech).items(), *(one.unit for one in sources))

    def formula_parameters(self, mech: Surroundings) -> Iterable[Quantity]:
        """Return its parameters and the values of its tables, with the units that follow from the formulas."""
        program = self.program(mech)
        for k, name in enumerate(self.parameters):
            text = self._text(name, "parameter")
            yield parameter(f"{{0}}.{name}", self.number_field, program.units[name], text, of=OF_NUMBER, offset=k)
        place = 0
        for name, table in self.tables.items():
            count = math.prod(table.rows)
            if count <= MOST_VALUES:
                more: dict[str, Any] = {"of": OF_TABLE, "offset": place, "elements": indices(*table.rows)}
                text = self.texts.get(name, "value of the table")
                yield parameter(f"{{0}}.{name}[]", self.value_field, program.table_units[name], text, **more)
            place += count

    def _text(self, name: str, kind: str) -> str:
        return self.texts.get(name, f"{kind} of the formula")

    @property
    def table_values(self) -> int:
        """How many values its tables have together."""
        return sum(math.prod(table.rows) for table in self.tables.values())


def _joined(
    formulas: Sequence[Formula], parameters: Mapping[str, object], tables: Mapping[str, LookupTable], names: Readable
) -> Program:
    """Return the formulas with common lists: parameters in their order, then constants, each once."""
    numbers = dict.fromkeys(parameters, 0.0)
    units: dict[str, str] = {}
    table_units: dict[str, str] = {}
    read: dict[str, Reading] = {}
    operations: list[tuple[str, int, int, int]] = []
    results = []
    for one in formulas:
        keys = [number.name or number.value.hex() for number in one.numbers]  # no name begins with a digit or a sign
        numbers |= {key: number.value for key, number in zip(keys, one.numbers, strict=True)}
        units |= {number.name: number.unit for number in one.numbers if number.name}
        for name, unit in zip(one.quantities, one.quantity_units, strict=True):
            found = names.find(name)
            assert found is not None
            read.setdefault(name, found)
            units |= {name: unit} if found.unit is None else {}
        table_units |= {name: unit for name, (unit, *_) in zip(one.tables, one.table_units, strict=True)}
        moved = {"n": _places(keys, numbers), "q": _places(one.quantities, read), "v": range(len(operations), 1 << 31)}
        moved["t"] = _places(one.tables, tables)
        for number_of_operation, *given in one.instructions.tolist():
            operation = OPERATIONS[number_of_operation]
            a, b, c = (
                moved[kind][k] if kind in moved else k
                for kind, k in zip(operation.operands.ljust(3), given, strict=True)
            )
            operations.append((operation.name, a, b, c))
        results.append(len(operations) - 1)
    lists = (list(numbers.values()), units, list(read.values()), operations, results)
    return Program(tuple(formulas), *lists, dict(tables), table_units)


def _places(keys: Sequence[str], among: Iterable[str]) -> list[int]:
    numbers = {key: k for k, key in enumerate(among)}
    return [numbers[key] for key in keys]
