"""Networks of linear blocks as one dense linear system, and what masters make of them, written from their definitions.

Of all blocks together y = C x + D u, and by the connections u = L y + l: at a communication point
(1 - L D) u = L C x + l. Over a step the inputs are polynomials of time, and x follows by the exponential of a matrix.
Nothing is taken from the host: no levels, no transfers, no divided differences.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import block_diag, expm

from .linear_fmus import TEMPERATURES, Block

Array = Any
Points = list[tuple[float, Array]]  # times and inputs, the latest first


@dataclass
class Link:
    """From output i of one block to input j of another: factor * value + offset, after a conversion of units."""

    source: int
    i: int
    target: int
    j: int
    factor: float = 1.0
    offset: float = 0.0
    convert: bool = True


@dataclass
class Dense:
    """Blocks and links; `external` are functions of time by (block, input)."""

    blocks: list[Block]
    links: list[Link]
    external: dict[tuple[int, int], Callable[[float], float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        sizes = np.cumsum([(0, 0, 0), *(one.sizes for one in self.blocks)], axis=0)
        self.x, self.u, self.y = ([slice(a, b) for a, b in itertools.pairwise(column)] for column in sizes.T)
        self.A, self.B, self.C, self.D = (
            block_diag(*(np.asarray(getattr(one, name), dtype=float).reshape(shape(one)) for one in self.blocks))
            for name, shape in {
                "A": lambda b: (b.sizes[0], b.sizes[0]),
                "B": lambda b: b.sizes[:2],
                "C": lambda b: (b.sizes[2], b.sizes[0]),
                "D": lambda b: (b.sizes[2], b.sizes[1]),
            }.items()
        )
        self.x0 = np.concatenate([one.x0 for one in self.blocks])
        self.L = np.zeros((sizes[-1, 1], sizes[-1, 2]))
        self.l = np.concatenate([one.u0 for one in self.blocks]).astype(float)
        self.feeder = np.full(len(self.l), -1)  # the block that an input is connected to
        for link in self.links:
            scale, shift = self._conversion(link)
            to = self.u[link.target].start + link.j
            self.L[to, self.y[link.source].start + link.i] = link.factor * scale
            self.l[to] = link.factor * shift + link.offset
            self.feeder[to] = link.source

    def _conversion(self, link: Link) -> tuple[float, float]:
        units = self.blocks[link.source].y_units, self.blocks[link.target].u_units
        if not link.convert or not all(units):
            return 1.0, 0.0
        (a, b), (c, d) = TEMPERATURES[units[0][link.i]], TEMPERATURES[units[1][link.j]]
        return a / c, (b - d) / c  # a v + b = c w + d

    def constant(self, t: float) -> Array:
        """Values of the inputs from other blocks."""
        values = self.l.copy()
        for (block, j), function in self.external.items():
            values[self.u[block].start + j] = function(t)
        return values

    def inputs(self, x: Array, t: float) -> Array:
        """At a communication point."""
        return np.linalg.solve(np.eye(len(self.l)) - self.L @ self.D, self.L @ self.C @ x + self.constant(t))

    def outputs(self, x: Array, u: Array) -> Array:
        return self.C @ x + self.D @ u

    def together(self) -> tuple[Array, Array]:
        """P and p of x' = P x + p, with all connections in force at all times."""
        inner = np.linalg.inv(np.eye(len(self.l)) - self.L @ self.D)
        return self.A + self.B @ inner @ self.L @ self.C, self.B @ inner @ self.l

    def exact(self, t: float) -> Array:
        """The solution, if nothing comes from outside."""
        P, p = self.together()
        return exponential(P, p[:, None], self.x0, [np.ones(1)], t)

    # ---- steps

    def move(self, k: int, x: Array, rates: Sequence[Array], h: float, straight: int = 2) -> Array:
        """State of a block at the end of a step, with inputs and their derivatives at its begin.

        Where the block takes no derivatives, two constants keep mean and moment of polynomials of the order `straight`
        and above, and one the mean of others.
        """
        block, A, B = self.blocks[k], self.A[self.x[k], self.x[k]], self.B[self.x[k], self.u[k]]
        x = x[self.x[k]]
        if block.interpolates and not block.discrete:
            return exponential(A, B, x, rates, h)
        mean, moment = (
            sum(row * h**i * share(i) for i, row in enumerate(rates))
            for share in (lambda i: 1 / math.factorial(i + 1), lambda i: 1 / math.factorial(i + 2))
        )
        if block.discrete:
            return A @ x + B @ (rates[0] if block.interpolates else mean)
        if len(rates) <= straight:
            return exponential(A, B, x, [mean], h)
        halves = np.linalg.solve([[1 / 2, 1 / 2], [3 / 8, 1 / 8]], [mean, moment])  # of 1 and of h - s over each half
        for constant in halves:
            x = exponential(A, B, x, [constant], h / 2)
        return x

    def jacobi(self, x: Array, points: Points, h: float, straight: int = 2) -> Array:
        """All step with the polynomial through points at and before the begin."""
        rates = polynomial(points)
        return np.concatenate([self.move(k, x, [row[u] for row in rates], h, straight) for k, u in enumerate(self.u)])

    def gauss_seidel(
        self, x: Array, points: Points, h: float, order: int, sequence: Sequence[int], straight: int = 2
    ) -> Array:
        """One after the other; outputs of those before are known at the end: held, or interpolated."""
        end, y, done = x.copy(), np.zeros(len(self.L.T)), np.zeros(len(self.l), dtype=bool)
        for k in sequence:
            ahead = np.where(done, self.L @ y + self.l, points[0][1])
            if order and not done[self.u[k]].any():
                rates = polynomial(points)
            elif order:
                through = polynomial([points[0], (points[0][0] + h, ahead), *points[1:order]])
                pairs = padded(through, polynomial(points)) if done[self.u[k]].any() else padded(polynomial(points))
                rates = [np.where(done, one, other) for one, other in pairs]
            else:
                rates = [ahead]
            end[self.x[k]] = self.move(k, x, [row[self.u[k]] for row in rates], h, straight)
            u = sum(row[self.u[k]] * h**i / math.factorial(i) for i, row in enumerate(rates))
            y[self.y[k]] = self.C[self.y[k], self.x[k]] @ end[self.x[k]] + self.D[self.y[k], self.u[k]] @ u
            done |= self.feeder == k
        return end

    # ---- masters

    def fixed(self, times: Sequence[float], order: int, sequence: Sequence[int] | None = None) -> tuple[Array, Array]:
        """Inputs and outputs at times, by Jacobi or, with a sequence, Gauss-Seidel.

        The first step of order 2 is made again, with inputs on straight lines to those at its end.
        """
        x, points, rows = self.x0, [], []
        for t, after in zip(times, [*times[1:], None], strict=True):
            u = self.inputs(x, t)
            rows.append((u, self.outputs(x, u)))
            points = [(t, u), *points[:order]]
            if after is not None:
                h = after - t
                end = (
                    self.jacobi(x, points, h) if sequence is None else self.gauss_seidel(x, points, h, order, sequence)
                )
                if order == 2 and len(points) == 1:
                    end = self.jacobi(x, [points[0], (after, self.inputs(end, after))], h)
                x = end
        return tuple(np.array(column) for column in zip(*rows, strict=True))

    def doubled(
        self, times: Sequence[float], order: int, sequence: Sequence[int] | None = None
    ) -> tuple[Array, Array, Array]:
        """Inputs and outputs at times, each step a whole one and then two halves with inputs interpolated through those
        at the end of the whole; and the difference of inputs at the end of the two."""
        x, points, rows, apart = self.x0, [], [], []
        for t, after in zip(times, [*times[1:], None], strict=True):
            u = self.inputs(x, t)
            rows.append((u, self.outputs(x, u)))
            points = [(t, u), *points[:order]]
            if after is None:
                break
            h, middle = after - t, t + (after - t) / 2
            if sequence is None:
                whole = self.jacobi(x, points, h, 1)
            else:
                whole = self.gauss_seidel(x, points, h, order, sequence, 1)
            found = after, self.inputs(whole, after)
            x = self.jacobi(x, [points[0], found, *points[1 : order + 1]], middle - t, 1)
            points = [(middle, self.inputs(x, middle)), *points[:order]]
            x = self.jacobi(x, [points[0], found, *points[1 : order + 1]], after - middle, 1)
            apart.append(found[1] - self.inputs(x, after))
        return *(np.array(column) for column in zip(*rows, strict=True)), np.array(apart)


def exponential(A: Array, B: Array, x: Array, rates: Sequence[Array], h: float) -> Array:
    """x(h) of x' = A x + B u, u a polynomial by its derivatives at 0: the state is enlarged by these."""
    n, m, k = len(A), B.shape[1], len(rates)
    M = np.zeros((n + m * k, n + m * k))
    M[:n, :n], M[:n, n : n + m] = A, B
    M[n : n + m * (k - 1), n + m :] = np.eye(m * (k - 1))
    return (expm(h * M) @ np.concatenate([x, *rates]))[:n]


def polynomial(points: Points) -> list[Array]:
    """Value and derivatives at the first of points of the polynomial through all, by solving for its coefficients."""
    times = np.array([t for t, _ in points])
    scale = np.abs(times - times[0]).max() or 1.0
    powers = np.vander((times - times[0]) / scale, increasing=True)
    rows = np.linalg.solve(powers, np.array([u for _, u in points]))
    return [row * math.factorial(i) / scale**i for i, row in enumerate(rows)]


def padded(one: list[Array], other: list[Array] | None = None) -> list[tuple[Array, Array]]:
    """Pairs of rows, zeros where one has less."""
    other = one if other is None else other
    n, zero = max(len(one), len(other)), np.zeros_like(one[0])
    return [tuple(rows[i] if i < len(rows) else zero for rows in (one, other)) for i in range(n)]
