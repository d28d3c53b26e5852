"""The tableau of the compiled Dormand-Prince 8(5,3): its order conditions, to the rounding of the numbers."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate._ivp import dop853_coefficients as published

from support.checkout import TOP
from support.rooted_trees import density, trees

TABLEAU = (TOP / "csrc" / "ode" / "dop853_tableau.h").read_text(encoding="utf-8")
STAGES, VECTORS = 12, 16
ROUNDING = 2e-13


def table(name: str, columns: int) -> np.ndarray:
    """The rows of a table of the header, padded with zeros."""
    body = re.search(rf"\b{name}\[.*?= \{{(.*?)\}};", TABLEAU, re.DOTALL).group(1)
    rows = re.findall(r"\{(.*?)\}", body, re.DOTALL) or [body]
    found = np.zeros((len(rows), columns))
    for values, row in zip(found, rows, strict=True):
        for at, number in enumerate(part.strip() for part in row.split(",") if part.strip()):
            index, _, text = number.rpartition("=")
            quotient = [Fraction(one.strip()) for one in text.split("/")]
            values[int(index.strip(" []")) if index else at] = float(quotient[0] / math.prod(quotient[1:]))
    return found


A, C, DENSE = table("A", VECTORS), table("C", VECTORS)[0], table("DENSE", VECTORS)
ORDER3, ERROR5 = table("ORDER3", VECTORS)[0], table("ERROR5", VECTORS)[0]
B = A[STAGES]


def weights(tree: tuple) -> np.ndarray:
    """Of each stage: the product over the branches of the sum of a_ij times the branch's weights."""
    return math.prod((A @ weights(branch) for branch in tree), start=np.ones(VECTORS))


def largest_gap(b: np.ndarray, size: int, x: float = 1.0) -> float:
    return max(abs(b @ weights(tree) - x**size / density(tree)) for tree in trees(size))


def test_numbers_are_the_published_ones() -> None:
    assert np.array_equal(A, published.A)
    assert np.array_equal(C, published.C)
    assert np.array_equal(DENSE, published.D)
    assert np.array_equal(B[:STAGES] - ORDER3[:STAGES], published.E3[:STAGES])
    assert np.array_equal(ERROR5[:STAGES], published.E5[:STAGES])


def test_rows_add_up() -> None:
    assert np.abs(A.sum(axis=1) - C).max() < ROUNDING
    assert np.array_equal(A, np.tril(A, -1))


@pytest.mark.parametrize("size", range(1, 10))
def test_order_conditions(size: int) -> None:
    """The method satisfies those up to order 8, the embedded ones those up to their orders and not all beyond."""
    for b, order in ((B, 8), (B - ERROR5, 5), (ORDER3, 3)):
        if size <= order:
            assert largest_gap(b, size) < ROUNDING
        if size == order + 1:
            assert largest_gap(b, size) > 1e-7


@pytest.mark.parametrize("x", [1 / 7, 1 / 2, 5 / 6, 1.0])
def test_order_conditions_of_the_dense_output(x: float) -> None:
    rest, first, last = 1.0 - x, np.eye(VECTORS)[0], np.eye(VECTORS)[STAGES]
    beyond = DENSE[0] + x * (DENSE[1] + rest * (DENSE[2] + x * DENSE[3]))
    w = x * (B + rest * (first - B + x * (2.0 * B - first - last + rest * beyond)))
    for size in range(1, 8):
        assert largest_gap(w, size, x) < ROUNDING
