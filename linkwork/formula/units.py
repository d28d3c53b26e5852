"""Units of formulas: those that are open follow from linear equations of exponents.

Each unit is a product of powers of base units and of unknown units. Values that are added or compared have one unit:
each such pair is an equation of exponents, which gives an unknown unit or is checked.

Rules
-----
- A quantity has its unit. A number in the text is a pure number; zero has any unit.
- A parameter, an input or a table without a unit gets the one that follows.
- rad counts as a number: an angle may be added to a number. Where a unit is inferred, rad is carried along, so that k
  in k*q of a torque has N.m/rad; arguments of sin, cos and tan and results of asin, acos, atan and atan2 are in rad.
- If equations leave units open, as those of a*b, the unknown declared first gets the unit, and later ones are numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import TypeAlias

from linkwork._util.units import base_exponents, unit_text
from linkwork.errors import ExportError, MechanismError
from linkwork.formula.code import Code
from linkwork.formula.operations import OPERATIONS, Operation
from linkwork.formula.source import Span

Unit: TypeAlias = dict[str | int, Fraction]  # exponents of base units, and of unknown units by their numbers

PURE: Unit = {}
ANGLE: Unit = {"rad": Fraction(1)}
FINEST = 1000  # largest denominator of an exponent: 0.333... is 1/3

_RESULTS: dict[str, dict[str, int | Fraction]] = {  # exponents of the operands' units
    "a": {"a": 1},
    "a.b": {"a": 1, "b": 1},
    "a/b": {"a": 1, "b": -1},
    "a2": {"a": 2},
    "a3": {"a": 3},
    "a(1/2)": {"a": Fraction(1, 2)},
}
_NOUNS = {  # of operations in messages
    "add": "a sum",
    "subtract": "a difference",
    "select": "if(condition, a, b)",
    "less": "a comparison",
    "less_equal": "a comparison",
    "power": "an exponent",
}


def product(one: Unit, other: Unit, exponent: int | Fraction = 1) -> Unit:
    """Return one unit times a power of another.

    >>> product({"m": Fraction(1)}, {"s": Fraction(1)}, -2) == {"m": 1, "s": -2}
    True
    """
    found = dict(one)
    for key, own in other.items():
        found[key] = found.get(key, Fraction(0)) + own * exponent
    return {key: own for key, own in found.items() if own}


def read_unit(unit: str, what: str) -> Unit:
    """Return the exponents of a unit that is written; an error names `what`."""
    try:
        return {base: Fraction(exponent) for base, exponent in base_exponents(unit).items()}
    except (ExportError, TypeError) as error:
        raise MechanismError(f"{what}: {error}; values are in SI units") from None


class Equations:
    """Equations of units; the unknown units that have followed so far are known in terms of the others."""

    def __init__(self) -> None:
        self._known: dict[int, Unit] = {}
        self._numbers: dict[Hashable, int] = {}
        self._nameless = 0

    def unknown(self, name: Hashable) -> Unit:
        """Return the unknown unit of a name, the same for each call; the first ones get their units first."""
        return {self._numbers.setdefault(name, len(self._numbers)): Fraction(1)}

    def nameless(self) -> Unit:
        """Return another unknown unit, that of a zero; it gets its unit before all others."""
        self._nameless -= 1
        return {self._nameless: Fraction(1)}

    def require_equal(self, one: Unit, other: Unit) -> bool:
        """Let two units be the same; False where they differ, except by angles."""
        rest = self.reduced(product(one, other, -1))
        unknown = [key for key in rest if isinstance(key, int)]
        if not unknown:
            return rest.keys() <= ANGLE.keys()
        found = min(unknown)
        share = rest.pop(found)
        solution = product(PURE, rest, -1 / share)
        for key, unit in self._known.items():
            if found in unit:
                exponent = unit.pop(found)
                self._known[key] = product(unit, solution, exponent)
        self._known[found] = solution
        return True

    def reduced(self, unit: Unit) -> Unit:
        """Return a unit in terms of base units and unknown ones that are open."""
        if not any(key in self._known for key in unit):
            return unit
        found: Unit = {}
        for key, exponent in unit.items():
            own = self._known.get(key) if isinstance(key, int) else None
            found = product(found, {key: Fraction(1)} if own is None else own, exponent)
        return found

    def text(self, unit: Unit) -> str:
        """Return a unit in the project's notation; units that are still open count as numbers."""
        return unit_text({key: one for key, one in self.reduced(unit).items() if isinstance(key, str)})


class Inference:
    """Inference of the units of one formula.

    Parameters
    ----------
    code
        Its code.
    equations
        The equations so far, which may be those of several formulas.
    own
        Returns the unit of a parameter, quantity or table by kind ("n", "q", "t") and name, of a table those of its
        arguments as well, the value's first.
    """

    def __init__(self, code: Code, equations: Equations, own: Callable[[str, str], list[Unit]]) -> None:
        self.code, self.equations, self.own = code, equations, own
        self.units: list[Unit] = []
        for k in range(len(code.instructions)):
            self.units.append(self._unit(k))

    def require_result(self, unit: str) -> None:
        """Let the result have a unit."""
        found, source = self.units[-1], self.code.source
        if self._is_zero(len(self.units) - 1):
            return
        if not self.equations.require_equal(found, read_unit(unit, source.what)):
            raise source.error(
                f"the result has the unit {self.equations.text(found)}, and {unit} is needed{self._remark(found)}",
                self.code.span,
            )

    def _unit(self, k: int) -> Unit:
        """Return the unit of a value; those of its operands are checked."""
        number, *operands = self.code.instructions[k]
        operation = OPERATIONS[number]
        given, _, result = operation.units.partition("-> ")
        places = self.code.places[k]
        if result == "own":
            return self._own(operation, operands, places)
        bound: dict[str, tuple[int, Unit, Span]] = {}
        for rule, value, span in zip(given.split(), operands, places, strict=False):
            if rule in bound:
                self._require_same(operation, bound[rule], (value, self._of(value), span))
            elif rule not in ("1", "rad"):
                bound[rule] = value, self._of(value), span
            elif not self._fits(value, PURE if rule == "1" else ANGLE):
                wanted = "a number" if rule == "1" else "an angle, rad"
                raise self._wrong(f"{_noun(operation)} takes {wanted}", value, span)
        if result == "a^b":
            return self._power(operation, operands, places[0])
        found = ANGLE if result == "rad" else PURE
        if result in ("a.b", "a/b") and any(map(self._is_zero, operands[:2])):
            return self.equations.nameless()
        for letter, exponent in _RESULTS.get(result, {}).items():
            found = product(found, bound[letter][1], exponent)
        return self.equations.reduced(found)

    def _own(self, operation: Operation, operands: list[int], places: list[Span]) -> Unit:
        """Return the unit of a number, quantity or table."""
        code, kind = self.code, operation.operands[-1]
        lists: dict[str, Sequence[float | str]] = {"n": code.numbers, "q": code.quantities, "t": code.tables}
        name = lists[kind][operands[len(operation.operands) - 1]]
        if not isinstance(name, str):
            return PURE
        unit, *arguments = self.own(kind, name)
        for value, argument, span in zip(operands, arguments, places, strict=False):
            if not self._fits(value, argument):
                raise self._wrong(f"table {name} takes an argument in {self.equations.text(argument)}", value, span)
        return unit

    def _power(self, operation: Operation, operands: list[int], span: Span) -> Unit:
        base, exponent = operands[:2]
        if operation.name == "integer_power":
            return self.equations.reduced(product(PURE, self._of(base), exponent))
        number = self.code.constant(exponent)
        if number is not None:
            exact = Fraction(number)
            near = exact.limit_denominator(FINEST)
            close = abs(exact - near) <= Fraction(1, 10**12)
            return self.equations.reduced(product(PURE, self._of(base), near if close else exact))
        if not self._fits(base, PURE):
            raise self._wrong("an exponent that is no written number needs a base without unit", base, span)
        return PURE

    def _of(self, value: int) -> Unit:
        return self.equations.nameless() if self._is_zero(value) else self.units[value]

    def _fits(self, value: int, unit: Unit) -> bool:
        return self._is_zero(value) or self.equations.require_equal(self.units[value], unit)

    def _is_zero(self, value: int) -> bool:
        return self.code.constant(value) == 0.0

    def _require_same(self, operation: Operation, *values: tuple[int, Unit, Span]) -> None:
        """Let two values, given with their units and places, have one unit."""
        (first, one, _), (second, other, _) = values
        if first == second or self.equations.require_equal(one, other):
            return
        source = self.code.source
        texts = [f"{source.piece(span)} has {self.equations.text(unit)}" for _, unit, span in values]
        raise source.error(
            f"{_noun(operation)} needs one unit: {' and '.join(texts)}{self._remark(one, other)}",
            *(span for _, _, span in values),
        )

    def _wrong(self, rule: str, value: int, span: Span) -> MechanismError:
        unit = self.units[value]
        return self.code.source.error(
            f"{rule}: {self.code.source.piece(span)} has {self.equations.text(unit)}{self._remark(unit)}", span
        )

    def _remark(self, *units: Unit) -> str:
        """Return a remedy where a number without a unit is wrong."""
        has_pure = any(self.equations.text(unit) == "1" for unit in units)
        return "; numbers in formulas have no unit: make a number with a unit a parameter" if has_pure else ""


def _noun(operation: Operation) -> str:
    return _NOUNS.get(operation.name, operation.name)
