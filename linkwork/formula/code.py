"""Straight-line code of a formula while it is written: equal instructions are shared, constants folded."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import NamedTuple

from linkwork.formula.operations import COMPARISONS, NUMBER, OPERATIONS
from linkwork.formula.source import Source, Span

Instruction = tuple[int, int, int, int]  # operation, a, b, c

# IEEE arithmetic rounds these alike everywhere, so that the result is the one of the evaluation, bit for bit.
_FOLDED: dict[str, Callable[..., float]] = {
    "minus": operator.neg,
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
}


class Value(NamedTuple):
    """A value of the code, by the number of its instruction, and a place in the text that has it."""

    number: int
    span: Span


class Code:
    """The code of one formula.

    Attributes
    ----------
    instructions, places
        The instructions, and of each one the places of its operands in the text.
    numbers, quantities, tables
        The lists that instructions refer to. A number is a value, or the name of a parameter.
    span
        The place of the result in the text.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.span: Span = (0, 0)
        self.instructions: list[Instruction] = []
        self.places: list[list[Span]] = []
        self.numbers: list[float | str] = []
        self.quantities: list[str] = []
        self.tables: list[str] = []
        self._known: dict[Instruction, int] = {}
        self._listed: dict[tuple[str, str], int] = {}

    def number(self, number: float | str, span: Span) -> Value:
        """Return the value that is a constant or a parameter."""
        key = number if isinstance(number, str) else number.hex()  # 0.0 and -0.0 differ
        kind = "parameter" if isinstance(number, str) else "constant"
        place = self._listed.setdefault((kind, key), len(self.numbers))
        if place == len(self.numbers):
            self.numbers.append(number)
        return self._shared((NUMBER["number"], place, 0, 0), span)

    def quantity(self, name: str, span: Span) -> Value:
        """Return the value that is a quantity."""
        return self._shared((NUMBER["quantity"], self._place(self.quantities, "quantity", name), 0, 0), span)

    def table(self, name: str, arguments: list[Value], span: Span) -> Value:
        """Return the value of a table at one argument or two."""
        self._refuse_comparisons(arguments)
        place = self._place(self.tables, "table", name)
        return self._shared((NUMBER["table"], arguments[0].number, arguments[-1].number, place), span, arguments)

    def apply(self, name: str, operands: list[Value], span: Span) -> Value:
        """Return the value of an operation on values."""
        self._refuse_comparisons(operands[1:] if name == "select" else operands)
        constants = [self.constant(one) for one in operands]
        if name == "divide" and constants[1] == 0.0:
            raise self.source.error("division by zero", operands[1].span)
        if name in _FOLDED and None not in constants:
            value = _FOLDED[name](*constants)
            if not math.isfinite(value):
                raise self.source.error("the number is too large for arithmetic", span)
            return self.number(value, span)
        a, b, c = [*(one.number for one in operands), 0, 0][:3]
        return self._shared((NUMBER[name], a, b, c), span, operands)

    def whole_power(self, base: Value, exponent: int, span: Span) -> Value:
        """Return the value of a power with a whole exponent."""
        self._refuse_comparisons([base])
        if exponent == 1:
            return Value(base.number, span)
        if exponent in (2, 3):
            return self.apply("square" if exponent == 2 else "cube", [base], span)
        return self._shared((NUMBER["integer_power"], base.number, exponent, 0), span, [base])

    def constant(self, value: Value | int) -> float | None:
        """Return the number that a value always is; None for others."""
        operation, a, _, _ = self.instructions[value.number if isinstance(value, Value) else value]
        if operation == NUMBER["number"] and not isinstance(number := self.numbers[a], str):
            return number
        return None

    def finish(self, result: Value) -> None:
        """Leave out the instructions, numbers, quantities and tables that the result does not need."""
        self._refuse_comparisons([result])
        self.span = result.span
        needed = {result.number}
        for k in range(result.number, -1, -1):
            if k in needed:
                needed.update(self._operands(k, "v"))
        kept = sorted(needed)
        moved = {"v": {k: i for i, k in enumerate(kept)}}
        for letter in "nqt":
            used = sorted({place for k in kept for place in self._operands(k, letter)})
            moved[letter] = {place: i for i, place in enumerate(used)}
        self.numbers = [self.numbers[place] for place in moved["n"]]
        self.quantities = [self.quantities[place] for place in moved["q"]]
        self.tables = [self.tables[place] for place in moved["t"]]
        self.renumber(kept, moved)

    def renumber(self, kept: list[int], moved: dict[str, dict[int, int]]) -> None:
        """Keep some instructions and give their operands other places, by the letters of operands."""
        instructions = []
        for k in kept:
            operation, *operands = self.instructions[k]
            letters = OPERATIONS[operation].operands.ljust(3)
            a, b, c = (moved.get(letter, {}).get(one, one) for letter, one in zip(letters, operands, strict=True))
            instructions.append((operation, a, b, c))
        self.places = [self.places[k] for k in kept]
        self.instructions = instructions

    def _operands(self, k: int, letter: str) -> list[int]:
        operation, *operands = self.instructions[k]
        return [one for one, kind in zip(operands, OPERATIONS[operation].operands, strict=False) if kind == letter]

    def _place(self, names: list[str], kind: str, name: str) -> int:
        place = self._listed.setdefault((kind, name), len(names))
        if place == len(names):
            names.append(name)
        return place

    def _shared(self, instruction: Instruction, span: Span, operands: list[Value] | None = None) -> Value:
        number = self._known.setdefault(instruction, len(self.instructions))
        if number == len(self.instructions):
            self.instructions.append(instruction)
            self.places.append([one.span for one in operands or ()])
        return Value(number, span)

    def _refuse_comparisons(self, values: list[Value]) -> None:
        for value in values:
            if self.instructions[value.number][0] in COMPARISONS:
                raise self.source.error("a comparison is only the condition of if(condition, a, b)", value.span)
