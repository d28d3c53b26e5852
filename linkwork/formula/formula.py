"""Formulas: from texts to programs that the core evaluates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from linkwork._util.checks import number, shortened
from linkwork._util.names import quoted
from linkwork.errors import MechanismError
from linkwork.formula.code import Code
from linkwork.formula.parser import RESERVED, Names, parse
from linkwork.formula.source import Source
from linkwork.formula.units import Equations, Inference, Unit, read_unit

MOST_OPEN = 100  # parameters without a unit; more make the equations of units long
_IDENTIFIER = re.compile("[A-Za-z_][A-Za-z0-9_]*")


class Parameter(NamedTuple):
    """A parameter of formulas; a plain number has an open unit, and a pair of value and unit serves as well.

    Attributes
    ----------
    value
        Its value, in SI units.
    unit
        Its unit, such as "N.m/rad"; None: the one that follows from the formula.
    """

    value: float
    unit: str | None = None


class TableUnits(Protocol):
    """What formulas need of a table: the units of its value and its arguments, None where they are open."""

    @property
    def unit(self) -> str | None:
        """Unit of its value."""

    @property
    def argument_units(self) -> tuple[str | None, ...]:
        """Units of its arguments, one or two."""


class Number(NamedTuple):
    """A number of a formula: a parameter with its name, or a constant of the text, whose name is None."""

    name: str | None
    value: float
    unit: str


@dataclass(frozen=True)
class Formula:
    """A formula that is checked.

    Attributes
    ----------
    text
        As it was written.
    unit
        Of its result: the one that was stated, or the one that follows.
    instructions
        (n, 4), int32: operation (its place in `OPERATIONS`), a, b, c; the last one gives the result.
    numbers
        Its parameters in the order of declaration, then the constants of the text.
    quantities, quantity_units
        Its quantities in the order of their first use.
    tables, table_units
        Its tables in the order of their first use, and the units of the value and of the arguments of each.
    """

    text: str
    unit: str
    instructions: NDArray[np.int32]
    numbers: tuple[Number, ...]
    quantities: tuple[str, ...]
    quantity_units: tuple[str, ...]
    tables: tuple[str, ...] = ()
    table_units: tuple[tuple[str, ...], ...] = ()

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of its parameters, in the order of declaration."""
        return tuple(one.name for one in self.numbers if one.name is not None)


def compile_formulas(
    sources: Sequence[Source],
    names: Mapping[str, str | None],
    parameters: Mapping[str, object] | None = None,
    tables: Mapping[str, TableUnits] | None = None,
    what: str = "the formulas",
) -> tuple[Formula, ...]:
    """Return the programs of formulas that share parameters and tables; each of these has one unit in all of them.

    Parameters
    ----------
    sources
        The formulas, such as "k*q + c3*q^3 - d*u*abs(u)".
    names
        Unit of each quantity that formulas may use, by its name; None: the unit that follows.
    parameters
        Value of each parameter by its name, or a `Parameter`, or a pair of value and unit; each is used by one formula
        at least.
    tables
        Units of each table that formulas may call, by its name; each is used by one formula at least.
    what
        What errors of parameters and tables call all of them.

    Raises
    ------
    MechanismError
        On a text that is no formula, with the place and a remedy; on an unknown name, on units that contradict each
        other, and on a parameter or table that is not used.

    Examples
    --------
    >>> drag = Source("k*q - d*u*abs(u)", unit="N.m")
    >>> spring, = compile_formulas([drag], {"q": "rad", "u": "rad/s"}, {"k": 3.0, "d": 0.1})
    >>> spring.quantities, [(one.name, one.unit) for one in spring.numbers]
    (('q', 'u'), [('k', 'N.m/rad'), ('d', 'kg.m2/rad2')])
    >>> spring.instructions.tolist()[:3]
    [[0, 0, 0, 0], [1, 0, 0, 0], [4, 0, 1, 0]]
    """
    declared = _checked_parameters({} if parameters is None else parameters, names, what)
    given = dict(tables or {})
    _check_names(given, "table", declared, names, what)
    arguments = {name: len(one.argument_units) for name, one in given.items()}
    meant = Names(declared, names, arguments, getattr(names, "remark", None))
    codes = [parse(source, meant) for source in sources]
    _check_used(declared, "parameter", (one for code in codes for one in code.numbers), what)
    _check_used(given, "table", (one for code in codes for one in code.tables), what)
    units = _Units(names, declared, given, what)
    inferred = [_inferred(code, units) for code in codes]
    return tuple(_formula(code, declared, units, one) for code, one in zip(codes, inferred, strict=True))


class _Units:
    """The units of all that formulas name."""

    def __init__(
        self,
        names: Mapping[str, str | None],
        parameters: Mapping[str, Parameter],
        tables: Mapping[str, TableUnits],
        what: str,
    ) -> None:
        self.equations, self.what = Equations(), what
        self._stated: dict[tuple[str, str], list[str | None]] = {}
        self._names = names
        for name, one in parameters.items():
            self._stated["n", name] = [one.unit]
        for name, table in tables.items():
            self._stated["t", name] = [table.unit, *table.argument_units]
        self._units: dict[tuple[str, str], list[Unit]] = {}
        for kind, name in self._stated:
            self.of(kind, name)

    def stated(self, kind: str, name: str) -> list[str | None]:
        return [self._names[name]] if kind == "q" else self._stated[kind, name]

    def of(self, kind: str, name: str) -> list[Unit]:
        """Return the units of a parameter, quantity or table, those that are open as unknown ones."""
        if (kind, name) not in self._units:
            self._units[kind, name] = [
                self.equations.unknown((kind, name, k)) if unit is None else read_unit(unit, f"{self.what}: {name!r}")
                for k, unit in enumerate(self.stated(kind, name))
            ]
        return self._units[kind, name]

    def texts(self, kind: str, name: str) -> tuple[str, ...]:
        """Return the units as they were stated, or as they follow."""
        pairs = zip(self.stated(kind, name), self.of(kind, name), strict=True)
        return tuple(self.equations.text(unit) if stated is None else stated for stated, unit in pairs)


def _inferred(code: Code, units: _Units) -> Inference:
    found = Inference(code, units.equations, units.of)
    if code.source.unit is not None:
        found.require_result(code.source.unit)
    return found


def _formula(code: Code, parameters: Mapping[str, Parameter], units: _Units, inferred: Inference) -> Formula:
    order = {name: k for k, name in enumerate(parameters)}
    places = sorted(
        range(len(code.numbers)),
        key=lambda k: order[one] if isinstance(one := code.numbers[k], str) else len(order) + k,
    )
    code.renumber(list(range(len(code.instructions))), {"n": {place: k for k, place in enumerate(places)}})
    numbers = [code.numbers[place] for place in places]
    instructions = np.array(code.instructions, dtype=np.int32)
    instructions.setflags(write=False)
    return Formula(
        code.source.text,
        units.equations.text(inferred.units[-1]) if code.source.unit is None else code.source.unit,
        instructions,
        tuple(
            Number(one, parameters[one].value, units.texts("n", one)[0])
            if isinstance(one, str)
            else Number(None, one, "1")
            for one in numbers
        ),
        tuple(code.quantities),
        tuple(units.texts("q", name)[0] for name in code.quantities),
        tuple(code.tables),
        tuple(units.texts("t", name) for name in code.tables),
    )


def _checked_parameters(
    parameters: Mapping[str, object], names: Mapping[str, str | None], what: str
) -> dict[str, Parameter]:
    if not isinstance(parameters, Mapping):
        raise MechanismError(f"{what}: parameters must be a dictionary such as {{'k': 3.0}}, not {parameters!r:.60}")
    _check_names(parameters, "parameter", (), names, what)
    found = {name: _parameter(value, f"{what}: parameter {name!r}") for name, value in parameters.items()}
    if sum(one.unit is None for one in found.values()) > MOST_OPEN:
        raise MechanismError(
            f"{what}: more than {MOST_OPEN} parameters have no unit: give pairs such as (3.0, 'N.m/rad'), or a table"
        )
    return found


def _parameter(value: object, what: str) -> Parameter:
    unit: object = None
    if isinstance(value, tuple | list) and len(value) == 2 and isinstance(value[1], str | None):
        value, unit = value
    if isinstance(unit, str):
        read_unit(unit, what)
    return Parameter(number(value, what), unit if isinstance(unit, str) else None)


def _check_names(
    given: Mapping[str, object], kind: str, taken: Iterable[str], names: Mapping[str, str | None], what: str
) -> None:
    """Refuse names that formulas cannot write, or that mean something else there."""
    for name in given:
        if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name):
            raise MechanismError(
                f"{what}: a {kind} cannot have the name {shortened(name)}: use letters, digits and _, a letter first"
            )
        if name in RESERVED or name in names or name in taken:
            raise MechanismError(f"{what}: the {kind} {name!r} has a name that means something else: rename it")


def _check_used(declared: Iterable[str], kind: str, used: Iterable[object], what: str) -> None:
    found = set(used)
    if unused := [name for name in declared if name not in found]:
        raise MechanismError(f"{what}: no formula uses the {kind} {quoted(unused)}: leave it out, or use it")
