"""Recorded operations as functions in C99, without a heap, loops or branches."""

from __future__ import annotations

from collections import Counter

from linkwork.core.tapes import Operation, operations_of_tapes
from linkwork.model.recorded import Recorded

_STEPS_OF_A_PART = 500  # compilers take longer for long functions
_FORMULAS = {
    "add": "{0} + {1}",
    "subtract": "{0} - {1}",
    "multiply": "{0}*{1}",
    "divide": "{0}/{1}",
    "minus": "-{0}",
    "abs": "({0} < 0.0 ? -{0} : {0})",
    "select_less": "{0} < {1} ? {2} : {3}",
    "multiply_add": "{0}*{1} + {2}",
    "multiply_subtract": "{0}*{1} - {2}",
    "subtract_product": "{2} - {0}*{1}",
}
_FUNCTIONS = {  # of libm
    **{name: name for name in ("sqrt", "floor", "rint", "round", "exp", "log", "pow", "sinh", "cosh", "tanh")},
    "sine": "sin",
    "cosine": "cos",
    "arctan2": "atan2",
}
_GUARDS = {"less": "{0} < {1}", "not_less": "{0} >= {1}", "equal": "{0} == {1}", "not_equal": "{0} != {1}"}


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

    def declaration(self) -> str:
        """Return its head without what follows."""
        sizes = self._recorded.arguments
        given = ["double t", *(f"const double {name}[{max(sizes[name], 1)}]" for name in ("x", "tau"))]
        if sizes["p"]:
            given.append(f"const double p[{sizes['p']}]")
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
        lines.append("  (void)t, (void)x, (void)tau;")
        lines += (f"  failed += {self.name}_part{number}(r);" for number in range(len(parts)))
        lines += (f"  result[{i}] = r[{register}];" for i, register in enumerate(operations.results.tolist()))
        return "\n".join(lines) + "\n  return failed;\n}\n"

    def _argument(self, number: int) -> str:
        for name, size in self._recorded.arguments.items():
            if number < size:
                return "t" if name == "t" else f"{name}[{number}]"
            number -= size
        return "t"  # of motions

    def _steps(self, steps: list[list[int]]) -> list[str]:
        found = []
        for code, to, *operands in steps:
            operation = self._known[code]
            values = [f"r[{i}]" for i in operands[: operation.operands]]
            if operation.name in _GUARDS:
                found.append(f"  failed += !({_GUARDS[operation.name].format(*values)});")
            elif operation.name == "sine_cosine":
                found += (f"  r[{at}] = {self._call(one, values)};" for one, at in (("sin", to), ("cos", operands[1])))
            else:
                found.append(f"  r[{to}] = {self._value(operation, values)};")
        return found

    def _value(self, operation: Operation, values: list[str]) -> str:
        if operation.name in _FUNCTIONS:
            return self._call(_FUNCTIONS[operation.name], values)
        formula = _FORMULAS[operation.name]
        self.counts["multiplications"] += formula.count("*")
        self.counts["additions"] += formula.count(" + ") + formula.count(" - ")
        self.counts["divisions"] += formula.count("/")
        self.counts["choices"] += formula.count("?")
        return formula.format(*values)

    def _call(self, function: str, values: list[str]) -> str:
        self.called[function] = len(values)
        self.counts[function] += 1
        return f"{function}({', '.join(values)})"
