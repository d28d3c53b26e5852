"""Formulas in tests: an evaluator of their programs in any arithmetic, and random ones."""

import math
import random
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from linkwork.formula import OPERATIONS, Formula, Source, compile_formulas


def compile_formula(
    text: str,
    names: Mapping[str, str | None],
    parameters: Mapping[str, object] | None = None,
    tables: Mapping[str, Any] | None = None,
    unit: str | None = None,
    what: str = "the formula",
) -> Formula:
    """The program of one formula."""
    return compile_formulas([Source(text, unit, what)], names, parameters, tables, what)[0]


def real(x: Any) -> Any:
    return x.real


def power(x: Any, exponent: Any) -> Any:
    return x**exponent


OPERATORS = {
    "add": lambda f, x, y: x + y,
    "subtract": lambda f, x, y: x - y,
    "multiply": lambda f, x, y: x * y,
    "divide": lambda f, x, y: x / y,
    "minus": lambda f, x: -x,
    "square": lambda f, x: x * x,
    "cube": lambda f, x: x * x * x,
    "power": lambda f, x, y: x**y,
    "integer_power": lambda f, x, exponent: x**exponent,
    "abs": lambda f, x: -x if real(x) < 0 else x,
    "sign": lambda f, x: (real(x) > 0) - (real(x) < 0),
    "atan2": lambda f, y, x: (
        f.atan2(real(y), real(x)) + 1j * (x * y.imag - y * x.imag) / real(x * x + y * y)
        if y.imag or x.imag
        else f.atan2(real(y), real(x))
    ),
    "min": lambda f, x, y: y if real(y) < real(x) else x,
    "max": lambda f, x, y: y if real(y) > real(x) else x,
    "mod": lambda f, x, y: x - y * f.floor(real(x / y)),
    "less": lambda f, x, y: int(real(x) < real(y)),
    "less_equal": lambda f, x, y: int(real(x) <= real(y)),
    "select": lambda f, condition, x, y: x if real(condition) != 0 else y,
    "floor": lambda f, x: f.floor(real(x)),
}


def evaluate(
    formula: Formula,
    values: Mapping[str, Any],
    functions: Any = math,  # sin, sqrt, ... of its arithmetic
    number: Callable[[float], Any] = float,
    tables: Mapping[str, Callable[..., Any]] | None = None,
) -> Any:
    """The value of a formula, of quantities and changed parameters by name."""
    numbers = [values.get(one.name, number(one.value)) for one in formula.numbers]
    found: list[Any] = []
    for number, *operands in formula.instructions.tolist():
        name, letters, *_ = OPERATIONS[number]
        if name == "number":
            found.append(numbers[operands[0]])
        elif name == "quantity":
            found.append(values[formula.quantities[operands[0]]])
        elif name == "table":
            first, second, place = operands
            table = (tables or {})[formula.tables[place]]
            found.append(table(found[first], found[second]))
        else:
            taken = [found[k] if kind == "v" else k for k, kind in zip(operands, letters, strict=False)]
            function = OPERATORS.get(name) or (lambda f, x, name=name: getattr(f, name)(x))
            found.append(function(functions, *taken))
    return found[-1]


class RandomFormulas:
    """Texts of random formulas of x, y, 'a-b'.q[2] and a parameter p, which are finite at all values.

    Constants are such that arithmetic with them alone is exact.
    """

    LEAVES = ("x", "y", "'a-b'.q[2]", "p", "x", "y")

    def __init__(self, seed: int, *, smooth: bool = False) -> None:
        self.random = random.Random(seed)
        self.smooth = smooth

    def text(self, longest: int = 200) -> str:
        """A formula; SymPy takes minutes with longer ones."""
        while len(found := self.sum(self.random.randint(1, 2))) > longest:
            pass
        return found

    def sum(self, depth: int) -> str:
        terms = [self.product(depth) for _ in range(self.random.choice((1, 1, 2, 3)))]
        return "".join(self.random.choice((" + ", "-", "+", " - -")) + term for term in terms)[1:].lstrip(" -")

    def product(self, depth: int) -> str:
        found = self.factor(depth)
        for _ in range(self.random.choice((0, 0, 1, 2))):
            found += self.random.choice(
                (f"*{self.factor(depth)}", f" * {self.factor(depth)}", f"/{self.divisor(depth)}")
            )
        return self.random.choice(("", "", "-")) + found

    def divisor(self, depth: int) -> str:
        return self.random.choice(("2", "4.", f"(abs({self.inner(depth)}) + 0.5)" if depth > 0 else "8"))

    def factor(self, depth: int) -> str:
        if depth <= 0 or self.random.random() < 0.15:
            return self.random.choice((*self.LEAVES, *self.LEAVES, "2", "0.5", "3", "1.25e1", ".75", "x*pi"))
        x, y = self.inner(depth), self.inner(depth)
        choices = [
            *(f"({x})", f"({x})^{self.random.choice('0123')}", f"(1+abs({x}))^-2", f"(1+abs({x}))**1.5"),
            *(f"(0.5+abs({x}))^sin({y})", "-x^2", "2^-x^2", "(x^2)^3", "(1+x^2)^-y^2", "(-y)^3^1"),
            *(f"sqrt(abs({x})+0.25)", f"exp(sin({x}))", f"log(abs({x}) + .5)", f"sin({x})", f"cos({x})"),
            *(f"tan(sin({x}))", f"asin(sin({x})/2)", f"acos(cos({x})/2)", f"atan({x})", f"sinh(sin({x}))"),
            *(f"cosh(sin({x}))", f"tanh({x})", f"abs({x})", f"if({x} < {y}, {y}, {x})", f"if({x}>={y},x*{x},y)"),
            *(f"min({x}, {y})", f"max({x},{y},x)", f"atan2({x}, 1 + abs({y}))"),
        ]
        if not self.smooth:
            choices += [f"sign({x})", f"mod({x}, 1 + abs({y}))", f"floor({x})"]
        return self.random.choice(choices)

    def inner(self, depth: int) -> str:
        return self.sum(depth - 1)


def arithmetic(module: Any) -> SimpleNamespace:
    """The functions of formulas in a module such as mpmath."""
    names = (
        "sqrt",
        "exp",
        "log",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "tanh",
        "floor",
        "atan2",
    )
    return SimpleNamespace(**{name: getattr(module, name) for name in names})
