"""The tableau of the compiled Rodas5P: order conditions of Rosenbrock methods, and stability.

The header has a = A Gamma^-1, c = diag(1 / gamma) - Gamma^-1 and weights of U = Gamma k; the conditions are in terms of
A, B = A + Gamma and weights of k (Hairer, Wanner, IV.7). In fractions, so that all that is left is the rounding of the
sixteen digits that are printed.
"""

import math
import re
from fractions import Fraction

import numpy as np
import pytest

from support.checkout import TOP
from support.rooted_trees import density, nodes, trees

TABLEAU = (TOP / "csrc" / "ode" / "rodas5p_tableau.h").read_text(encoding="utf-8")
STAGES = range(8)
ROUNDING = 2e-13
Matrix = list[list[Fraction]]


def table(name: str) -> Matrix:
    """The rows of a table of the header, padded with zeros."""
    body = re.search(rf"\b{name}\[.*?= \{{(.*?)\}};", TABLEAU, re.DOTALL).group(1)
    rows = re.findall(r"\{(.*?)\}", body, re.DOTALL) or [body]
    numbers = [[Fraction(number.strip()) for number in row.split(",") if number.strip()] for row in rows]
    return [row + [Fraction(0)] * (len(STAGES) - len(row)) for row in numbers]


def times(left: Matrix, right: Matrix) -> Matrix:
    return [[sum((row[k] * right[k][j] for k in STAGES), start=Fraction(0)) for j in STAGES] for row in left]


def inverse(lower: Matrix) -> Matrix:
    """Of a lower triangular matrix, column by column."""
    found = [[Fraction(0)] * len(STAGES) for _ in STAGES]
    for j in STAGES:
        for i in STAGES:
            rest = sum((lower[i][k] * found[k][j] for k in range(i)), start=Fraction(0))
            found[i][j] = ((i == j) - rest) / lower[i][i]
    return found


GAMMA = Fraction(re.search(r"GAMMA = ([0-9.]+);", TABLEAU).group(1))
(ALPHA,), (GAMMAS,), DENSE = table("ALPHA"), table("GAMMAS"), table("DENSE")
ONE, ZERO = Fraction(1), Fraction(0)
first = table("A")
a = [*first, [*first[5][:5], ONE, ZERO, ZERO], [*first[5][:5], ONE, ONE, ZERO]]
m = [*first[5][:5], ONE, ONE, ONE]
Gamma = inverse([[(i == j) / GAMMA - c for j, c in enumerate(row)] for i, row in enumerate(table("C"))])
A = times(a, Gamma)
B = [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(A, Gamma, strict=True)]
(WEIGHTS,) = times([m], Gamma)
(EMBEDDED,) = times([[*m[:7], ZERO]], Gamma)


def weights(tree: tuple) -> list[Fraction]:
    """Of each stage: where there is one branch, by B, where there are more, the product of those by A."""
    inner, matrix = [weights(branch) for branch in tree], B if len(tree) == 1 else A
    return [math.prod((sum(matrix[i][j] * w[j] for j in STAGES) for w in inner), start=ONE) for i in STAGES]


def gap(b: list[Fraction], tree: tuple, x: Fraction = ONE) -> float:
    return float(sum(b[i] * w for i, w in enumerate(weights(tree))) - x ** nodes(tree) / density(tree))


def test_rows() -> None:
    """Stages and their times agree with the rows of A, and y_1 is the last stage, as of a stiffly accurate method."""
    for i in STAGES:
        assert float(sum(A[i]) - ALPHA[i]) == pytest.approx(0.0, abs=ROUNDING)
        assert float(sum(Gamma[i]) - GAMMAS[i]) == pytest.approx(0.0, abs=ROUNDING)
        assert Gamma[i][i] == GAMMA
        assert float(B[7][i] - WEIGHTS[i]) == pytest.approx(0.0, abs=ROUNDING)
        assert float(B[6][i] - EMBEDDED[i]) == pytest.approx(0.0, abs=ROUNDING)


@pytest.mark.parametrize("size", range(1, 7))
def test_order_conditions(size: int) -> None:
    """The method satisfies those up to order 5, the embedded one those up to order 4."""
    gaps = [[abs(gap(b, tree)) for tree in trees(size)] for b in (WEIGHTS, EMBEDDED)]
    assert (max(gaps[0]) < ROUNDING) == (size <= 5)
    assert (max(gaps[1]) < ROUNDING) == (size <= 4)
    assert max(gaps[0]) < ROUNDING or max(gaps[0]) > 1e-5
    assert max(gaps[1]) < ROUNDING or max(gaps[1]) > 1e-5


def dense(x: Fraction) -> list[Fraction]:
    w = [x * (m[i] + (1 - x) * (DENSE[0][i] + x * (DENSE[1][i] + x * DENSE[2][i]))) for i in STAGES]
    return times([w], Gamma)[0]


@pytest.mark.parametrize("x", [Fraction(1, 7), Fraction(1, 2), Fraction(5, 6), ONE])
def test_order_conditions_of_the_dense_output(x: Fraction) -> None:
    for size in range(1, 5):
        for tree in trees(size):
            assert abs(gap(dense(x), tree, x)) < ROUNDING


def amplification(b: list[Fraction], z: complex) -> complex:
    """R(z) = 1 + z b' (I - z B)^-1 1 of y' = lambda y, z = lambda h."""
    matrix = np.eye(8) - z * np.array(B, dtype=float)
    return 1.0 + z * np.array(b, dtype=float) @ np.linalg.solve(matrix, np.ones(8))


def test_l_stability() -> None:
    """Nowhere on the imaginary axis, hence nowhere to the left of it, does a motion grow; the fastest ones vanish."""
    along = np.logspace(-1, 5, 4000)
    for b in (WEIGHTS, EMBEDDED):
        assert max(abs(amplification(b, 1j * y)) for y in along) <= 1.0 + 1e-12
        assert abs(amplification(b, -1e9)) < 1e-7
    assert abs(amplification(WEIGHTS, -1.0) - math.exp(-1.0)) < 1e-4
