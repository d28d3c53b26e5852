"""Straight-line code of a formula while it is written: equal instructions are shared, constants folded."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

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


class Code:
    """The code of one formula.

    Attributes
    ----------
    instructions, spans
        The instructions, and the first place in the text that has the value of each.
    numbers, quantities, tables
        The lists that instructions refer to. A number is a value, or the name of a parameter.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.instructions: list[Instruction] = []
        self.spans: list[Span] = []
        self.numbers: list[float | str] = []
        self.quantities: list[str] = []
        self.tables: list[str] = []
        self._known: dict[Instruction, int] = {}
        self._places: dict[tuple[str, str], int] = {}

    def number(self, number: float | str, span: Span) -> int:
        """Return the value that is a constant or a parameter."""
        key = number if isinstance(number, str) else number.hex()  # 0.0 and -0.0 differ
        kind = "parameter" if isinstance(number, str) else "constant"
        place = self._places.setdefault((kind, key), len(self.numbers))
        if place == len(self.numbers):
            self.numbers.append(number)
        return self._shared((NUMBER["number"], place, 0, 0), span)

    def quantity(self, name: str, span: Span) -> int:
        """Return the value that is a quantity."""
        return self._shared((NUMBER["quantity"], self._listed(self.quantities, "quantity", name), 0, 0), span)

    def table(self, name: str, arguments: list[int], span: Span) -> int:
        """Return the value of a table at one argument or two."""
        self._refuse_comparisons(arguments)
        place = self._listed(self.tables, "table", name)
        return self._shared((NUMBER["table"], place, arguments[0], arguments[-1]), span)

    def apply(self, name: str, operands: list[int], span: Span) -> int:
        """Return the value of an operation on values."""
        self._refuse_comparisons(operands[1:] if name == "select" else operands)
        constants = [self.constant(one) for one in operands]
        if name == "divide" and constants[1] == 0.0:
            raise self.source.error("division by zero", self.spans[operands[1]])
        if name in _FOLDED and None not in constants:
            value = _FOLDED[name](*constants)
            if not math.isfinite(value):
                raise self.source.error("the number is too large for arithmetic", span)
            return self.number(value, span)
        a, b, c = [*operands, 0, 0][:3]
        return self._shared((NUMBER[name], a, b, c), span)

    def whole_power(self, base: int, exponent: int, span: Span) -> int:
        """Return the value of a power with a whole exponent."""
        self._refuse_comparisons([base])
        if exponent == 1:
            return base
        if exponent in (2, 3):
            return self.apply("square" if exponent == 2 else "cube", [base], span)
        return self._shared((NUMBER["integer_power"], base, exponent, 0), span)

    def constant(self, value: int) -> float | None:
        """Return the number that a value always is; None for others."""
        operation, a, _, _ = self.instructions[value]
        if operation == NUMBER["number"] and not isinstance(number := self.numbers[a], str):
            return number
        return None

    def finish(self, result: int) -> None:
        """Leave out the instructions, numbers, quantities and tables that the result does not need."""
        self._refuse_comparisons([result])
        needed = {result}
        for k in range(result, -1, -1):
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
        self.spans = [self.spans[k] for k in kept]
        self.instructions = instructions

    def _operands(self, k: int, letter: str) -> list[int]:
        operation, *operands = self.instructions[k]
        return [one for one, kind in zip(operands, OPERATIONS[operation].operands, strict=False) if kind == letter]

    def _listed(self, names: list[str], kind: str, name: str) -> int:
        place = self._places.setdefault((kind, name), len(names))
        if place == len(names):
            names.append(name)
        return place

    def _shared(self, instruction: Instruction, span: Span) -> int:
        value = self._known.setdefault(instruction, len(self.instructions))
        if value == len(self.instructions):
            self.instructions.append(instruction)
            self.spans.append(span)
        return value

    def _refuse_comparisons(self, values: list[int]) -> None:
        for value in values:
            if self.instructions[value][0] in COMPARISONS:
                raise self.source.error("a comparison is only the condition of if(condition, a, b)", self.spans[value])
