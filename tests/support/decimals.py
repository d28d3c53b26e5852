"""Linear equations and functions in decimals of many digits, as a reference for what doubles lose."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, getcontext

DIGITS = 120
Number = Decimal
Matrix = list[list[Decimal]]


def decimals(values: Sequence[float]) -> list[Decimal]:
    """Exactly these doubles."""
    return [Decimal(float(value)) for value in values]


def solve(A: Matrix, b: Sequence[Decimal]) -> list[Decimal]:
    """A x = b by elimination; pivots are chosen relative to the size of their rows."""
    getcontext().prec = DIGITS
    rows = [[*row, value] for row, value in zip(A, b, strict=True)]
    size = [max(abs(value) for value in row) for row in A]
    n = len(rows)
    for k in range(n):
        best = max(range(k, n), key=lambda i: abs(rows[i][k]) / size[i])
        rows[k], rows[best], size[k], size[best] = rows[best], rows[k], size[best], size[k]
        for i in range(k + 1, n):
            if rows[i][k]:
                factor = rows[i][k] / rows[k][k]
                rows[i][k:] = [a - factor * p if p else a for a, p in zip(rows[i][k:], rows[k][k:], strict=True)]
    x = [Decimal(0)] * n
    for k in reversed(range(n)):
        known = sum((rows[k][j] * x[j] for j in range(k + 1, n) if rows[k][j]), Decimal(0))
        x[k] = (rows[k][n] - known) / rows[k][k]
    return x


def constrained(M: Matrix, C: Matrix, load: Sequence[Decimal], right: Sequence[Decimal]) -> list[float]:
    """x with M x = load + C'mu and C x = right, for independent rows C."""
    n, m = len(M), len(C)
    A = [[*M[i], *(-C[k][i] for k in range(m))] for i in range(n)] + [[*row, *[Decimal(0)] * m] for row in C]
    return [float(value) for value in solve(A, [*load, *right])[:n]]


def cos_sin(angle: Decimal) -> tuple[Decimal, Decimal]:
    getcontext().prec = DIGITS
    small, doublings = angle, 0
    while abs(small) > Decimal("0.01"):
        small, doublings = small / 2, doublings + 1
    c, s, term, k = Decimal(0), Decimal(0), Decimal(1), 0
    while abs(term) > Decimal(10) ** -DIGITS:
        c, s = (c + (-1) ** (k // 2) * term, s) if k % 2 == 0 else (c, s + (-1) ** (k // 2) * term)
        k += 1
        term = term * small / k
    for _ in range(doublings):
        c, s = c * c - s * s, 2 * c * s
    return c, s
