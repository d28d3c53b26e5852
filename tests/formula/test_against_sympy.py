"""Values and derivatives of random formulas, against SymPy, which parses the texts by itself.

Both are evaluated with 60 digits, so that rounding hides no fault.
"""

import math
from collections.abc import Iterator
from typing import Any

import pytest

from support.formulas import RandomFormulas, arithmetic, compile_formula, evaluate

mpmath = pytest.importorskip("mpmath")
sympy = pytest.importorskip("sympy")
from sympy.parsing.sympy_parser import parse_expr, rationalize, standard_transformations  # noqa: E402

DIGITS = 60
AGREEMENT = 1e-30
STEP = 1e-20  # mpmath computes complex functions to 60 digits of their size, not of their imaginary parts
NAMES = {"x": "1", "y": "1", "a-b.q[2]": "1"}
# SymPy decides comparisons of real symbols by long numerical searches, and leaves those of others as they are.
SYMBOLS = {name: sympy.Symbol(name if name != "pi" else "rounded_pi") for name in ("x", "y", "z", "p", "pi")}
FUNCTIONS = arithmetic(mpmath)


@pytest.fixture(autouse=True)
def digits() -> Iterator[None]:
    with mpmath.workdps(DIGITS):
        yield


class Positive(sympy.Function):
    """The second argument where the first one is positive, else the third; SymPy's Piecewise takes minutes."""

    nargs = 3

    def fdiff(self, argindex: int = 1) -> Any:
        return Positive(self.args[0], *map(int, (argindex == 2, argindex == 3))) if argindex > 1 else sympy.S.Zero


def choice(condition: Any, one: Any, other: Any) -> Any:
    if condition in (sympy.true, sympy.false):
        return one if condition else other
    excess = condition.gts - condition.lts
    is_strict = isinstance(condition, sympy.StrictLessThan | sympy.StrictGreaterThan)
    return Positive(excess, one, other) if is_strict else Positive(-excess, other, one)


def least(first: Any, *others: Any) -> Any:
    for other in others:
        first = choice(other < first, other, first)
    return first


def size(x: Any) -> Any:
    return choice(x < 0, -x, x)


MEANINGS = {  # of names that are not SymPy's own
    **SYMBOLS,
    "choice": choice,
    "min": least,
    "max": lambda *values: -least(*(-one for one in values)),
    "abs": size,
    "mod": lambda x, y: x - y * sympy.floor(x / y),
}


def expression(text: str) -> Any:
    """The formula as SymPy reads it, by Python's own rules of precedence."""
    text = text.replace("^", "**").replace("if(", "choice(").replace("'a-b'.q[2]", "z")
    return parse_expr(text, MEANINGS, transformations=(*standard_transformations, rationalize))


def numeric(found: Any) -> Any:
    """A function of x, y, z, p and pi with 60 digits."""
    positive = {"Positive": lambda x, one, other: one if x > 0 else other}
    return sympy.lambdify([SYMBOLS[name] for name in ("x", "y", "z", "p", "pi")], found, [positive, "mpmath"])


def values(formulas: RandomFormulas) -> list[Any]:
    return [mpmath.mpf(formulas.random.uniform(-3.0, 3.0)) for _ in range(4)]


def compiled(text: str) -> Any:
    parameters = {"p": 0.0} if "p" in text.replace("exp", "").replace("pi", "") else {}
    return compile_formula(text, NAMES, parameters)


def compare_values(seed: int, count: int) -> None:
    formulas = RandomFormulas(seed)
    for _ in range(count):
        text, (x, y, z, p) = formulas.text(), values(formulas)
        own = evaluate(compiled(text), {"x": x, "y": y, "a-b.q[2]": z, "p": p}, FUNCTIONS, mpmath.mpf)
        peer = numeric(expression(text))(x, y, z, p, mpmath.mpf(math.pi))
        assert abs(own - peer) <= AGREEMENT * (1 + abs(peer)), text


def compare_derivatives(seed: int, count: int) -> None:
    formulas = RandomFormulas(seed, smooth=True)
    for _ in range(count):
        text, (x, y, z, p) = formulas.text(80), values(formulas)
        own = (
            evaluate(
                compiled(text), {"x": mpmath.mpc(x, STEP), "y": y, "a-b.q[2]": z, "p": p}, FUNCTIONS, mpmath.mpf
            ).imag
            / STEP
        )
        peer = numeric(sympy.diff(expression(text), SYMBOLS["x"]))(x, y, z, p, mpmath.mpf(math.pi))
        assert abs(own - peer) <= AGREEMENT * (1 + abs(peer)), text


def test_values_are_those_of_sympy() -> None:
    compare_values(1, 200)


def test_derivatives_by_complex_steps_are_those_of_sympy() -> None:
    compare_derivatives(1, 100)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_ten_thousand_formulas(seed: int) -> None:
    compare_values(seed, 1000)
    compare_derivatives(seed, 100)
