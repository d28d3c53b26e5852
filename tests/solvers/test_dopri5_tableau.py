"""The tableau of the compiled Dormand-Prince 5(4): its order conditions, in exact fractions."""

import math
import re
from fractions import Fraction

import pytest

from support.checkout import TOP
from support.rooted_trees import density, trees

TABLEAU = TOP / "csrc" / "ode" / "dopri5_tableau.h"
STAGES = range(7)


def fractions_of(name: str) -> list[list[Fraction]]:
    """The rows of a table of the header, padded with zeros."""
    body = re.search(rf"\b{name}\[.*?= \{{(.*?)\}};", TABLEAU.read_text(encoding="utf-8"), re.DOTALL).group(1)
    rows = re.findall(r"\{(.*?)\}", body, re.DOTALL) or [body]
    numbers = [[part.split("/") for part in row.split(",") if part.strip()] for row in rows]
    values = [
        [Fraction(p[0].strip()) / Fraction((p[1] if len(p) > 1 else "1").strip()) for p in row] for row in numbers
    ]
    return [row + [Fraction(0)] * (len(STAGES) - len(row)) for row in values]


A = fractions_of("A")
(C,), (B,), (ERROR,), (BUBBLE,) = (fractions_of(name) for name in ("C", "B", "ERROR", "BUBBLE"))


def weights(tree: tuple) -> list[Fraction]:
    """Of each stage: the product over the branches of the sum of a_ij times the branch's weights."""
    inner = [weights(branch) for branch in tree]
    return [math.prod((sum(A[i][j] * w[j] for j in STAGES) for w in inner), start=Fraction(1)) for i in STAGES]


def elementary(b: list[Fraction], tree: tuple) -> Fraction:
    return sum((b[i] * w for i, w in enumerate(weights(tree))), start=Fraction(0))


def test_number_of_conditions() -> None:
    assert [len(set(trees(size))) for size in range(1, 7)] == [1, 1, 2, 4, 9, 20]


def test_rows_and_the_last_stage() -> None:
    assert [sum(row) for row in A] == C
    assert A[-1] == B
    assert all(A[i][j] == 0 for i in STAGES for j in STAGES if j >= i)


@pytest.mark.parametrize("size", range(1, 6))
def test_order_conditions(size: int) -> None:
    """The method satisfies those up to order 5, the embedded one those up to order 4 but not all of order 5."""
    embedded = [b - e for b, e in zip(B, ERROR, strict=True)]
    for tree in trees(size):
        assert elementary(B, tree) == Fraction(1, density(tree))
    gaps = [elementary(embedded, tree) - Fraction(1, density(tree)) for tree in trees(size)]
    assert any(gaps) == (size == 5)


@pytest.mark.parametrize("x", [Fraction(1, 7), Fraction(1, 2), Fraction(5, 6), Fraction(1)])
def test_order_conditions_of_the_dense_output(x: Fraction) -> None:
    w = [x**2 * (3 - 2 * x) * b + x**2 * (1 - x) ** 2 * d for b, d in zip(B, BUBBLE, strict=True)]
    w[0] += x * (1 - x) ** 2
    w[-1] -= x**2 * (1 - x)
    for size in range(1, 5):
        for tree in trees(size):
            assert elementary(w, tree) == x**size / density(tree)
