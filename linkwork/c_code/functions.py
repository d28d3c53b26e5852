"""Recorded operations as functions in C99, without a heap, loops or branches."""

from __future__ import annotations

import re
from collections import Counter

from linkwork.core.tapes import operations_of_tapes
from linkwork.model.recorded import Recorded

_STEPS_OF_A_PART = 500  # compilers take longer for long functions
# Of the formulas of operations, those that are no calls of libm.
_FORMULAS = {"ROOT": "sqrt({0})", "ABSOLUTE": "({0} < 0.0 ? -{0} : {0})", "CHOSEN": "{0} ? {1} : {2}"}
_CALL = re.compile(r"(\w+)\((.*)\)")
_COUNTED = {"multiplications": r"\*", "additions": r" [+-] ", "divisions": "/", "choices": r"\?"}


class CFunction:
    """A function in C.

    Attributes
    ----------
    name
        Of the function.
    text
        Its definition, after those of its parts.
    called
        Functions of libm that it calls, with their numbers of arguments.
    counts
        How many operations of each sort it does: all of them at every call.
    """

    def __init__(self, name: str, recorded: Recorded) -> None:
        self.name, self._recorded = name, recorded
        self._known = operations_of_tapes()
        self.called: dict[str, int] = {}
        self.counts: Counter[str] = Counter()
        self.text = self._written()

    @property
    def arguments(self) -> list[str]:
        """Names of its arguments but the result."""
        return [name for name, size in self._recorded.arguments.items() if size or name != "p"]

    def declaration(self) -> str:
        """Return its head without what follows."""
        sizes = self._recorded.arguments
        given = ["double t" if one == "t" else f"const double {one}[{max(sizes[one], 1)}]" for one in self.arguments]
        given.append(f"double result[{max(sum(self._recorded.results.values()), 1)}]")
        return f"int {self.name}({', '.join(given)})"

    def _written(self) -> str:
        operations = self._recorded.operations
        # Guards of numbers that must be finite are left out: results show where one is not.
        steps = [step for step in operations.steps.tolist() if self._known[step[0]].name != "within"]
        parts = [steps[i : i + _STEPS_OF_A_PART] for i in range(0, len(steps), _STEPS_OF_A_PART)]
        lines = []
        for number, part in enumerate(parts):
            lines.append(f"static int {self.name}_part{number}(double *r) {{\n  int failed = 0;")
            lines += self._steps(part)
            lines.append("  return failed;\n}\n")
        lines.append(f"{self.declaration()} {{\n  double r[{max(operations.registers, 1)}];\n  int failed = 0;")
        values = [self._argument(int(i)) for i in operations.inputs]
        values += map(repr, [*operations.constants.tolist(), *self._recorded.kept.tolist()])
        lines += (f"  r[{i}] = {value};" for i, value in enumerate(values))
        lines.append(f"  {', '.join(f'(void){one}' for one in self.arguments)};")
        lines += (f"  failed += {self.name}_part{number}(r);" for number in range(len(parts)))
        lines += (f"  result[{i}] = r[{register}];" for i, register in enumerate(operations.results.tolist()))
        return "\n".join(lines) + "\n  return failed;\n}\n"

    def _argument(self, number: int) -> str:
        name, place = self._recorded.places[number]
        return "t" if name == "t" else f"{name}[{place}]"

    def _steps(self, steps: list[list[int]]) -> list[str]:
        found = []
        for code, to, *operands in steps:
            operation = self._known[code]
            values = {"abcd"[k]: f"r[{i}]" for k, i in enumerate(operands[: operation.operands])}
            if operation.is_guard:
                found.append(f"  failed += !({_filled(operation.formula, values)});")
                continue
            found.append(f"  r[{to}] = {self._value(operation.formula, values)};")
            if operation.name == "sine_cosine":
                found.append(f"  r[{operands[1]}] = {self._value('cos(a)', values)};")
        return found

    def _value(self, formula: str, values: dict[str, str]) -> str:
        """Return the value of an operation, which is counted: of a call, or of operators."""
        if call := _CALL.fullmatch(formula):
            arguments = call[2].split(", ")
            if call[1] in _FORMULAS:
                formula = _FORMULAS[call[1]].format(*arguments)
                call = _CALL.fullmatch(formula)
            if call:
                self.called[call[1]] = len(arguments)
                self.counts[call[1]] += 1
        self.counts.update({of: len(re.findall(operator, formula)) for of, operator in _COUNTED.items()})
        return _filled(formula, values)


def _filled(formula: str, values: dict[str, str]) -> str:
    return re.sub(r"\b[abcd]\b", lambda found: values[found[0]], formula)
