"""Implicit problems whose equations are C functions too: those of chains, and any written in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from cffi import FFI

from linkwork.core.chain_kernels import ChainBodies, ChainKernels
from linkwork.simulation.dae.chou import ChainNewton
from linkwork.solvers import CompiledImplicit, Implicit, Problem

from .chou_oracle import closed_point, random_chain
from .poses import Array

STOP, NOT_HERE = -1, 1  # statuses that a residual may return instead of numbers


def chain_problem(n: int, seed: int = 0, **options: Any) -> Problem:
    """Of n bodies in Chou's unknowns, place and velocity of the first mass centre leading."""
    rng = np.random.default_rng(seed)
    data = random_chain(rng, n)
    kernels = ChainKernels(ChainBodies(data.mass, data.inertia, data.a, data.r, data.gravity, data.support))
    implicit = Implicit(
        lambda t, x, xdot: kernels.residual(x, xdot),
        operator=ChainNewton(kernels),
        compiled=CompiledImplicit(*kernels.addresses()),
    )
    return Problem(lambda t, x: kernels.derivative(x), 0.0, closed_point(rng, data), implicit=implicit, **options)


class Called:
    """A residual (t, y, y') and its Newton matrix (t, y, y', cj), both functions of Python, as C functions.

    Attributes
    ----------
    calls
        How often each has been called as a C function.
    """

    def __init__(
        self,
        n: int,
        residual: Callable[[float, Array, Array], Any],
        matrix: Callable[[float, Array, Array, float], Any],
    ) -> None:
        self.calls = {"residual": 0, "factor": 0, "solve": 0, "rate_times": 0}
        self._ffi, self._n = FFI(), n
        self._residual, self._matrix = residual, matrix
        kinds = {
            "residual": "int(void *, double, const double *, const double *, double *)",
            "factor": "int(void *, double, const double *, const double *, double)",
            "solve": "int(void *, const double *, double *)",
            "rate_times": "int(void *, const double *, double *)",
        }
        self._kept = {name: self._ffi.callback(kind, getattr(self, f"_c_{name}")) for name, kind in kinds.items()}
        addresses = {name: int(self._ffi.cast("uintptr_t", function)) for name, function in self._kept.items()}
        self.implicit = Implicit(residual, operator=self, compiled=CompiledImplicit(**addresses, context=0))

    def factor(self, t: float, y: Array, ydot: Array, cj: float) -> None:
        matrix = np.asarray(self._matrix(t, y, ydot, cj), dtype=np.float64)
        self._inverse = np.linalg.inv(matrix)
        self._rates = np.asarray(self._matrix(t, y, ydot, 1.0)) - np.asarray(self._matrix(t, y, ydot, 0.0))

    def solve(self, b: Array) -> Array:
        return np.asarray(self._inverse @ b)

    def rate_times(self, v: Array) -> Array:
        return np.asarray(self._rates @ v)

    def _array(self, pointer: Any) -> Array:
        return np.frombuffer(self._ffi.buffer(pointer, 8 * self._n))

    def _c_residual(self, _: Any, t: float, y: Any, ydot: Any, out: Any) -> int:
        self.calls["residual"] += 1
        found = self._residual(t, self._array(y).copy(), self._array(ydot).copy())
        if isinstance(found, int):
            return found
        self._array(out)[:] = found
        return 0

    def _c_factor(self, _: Any, t: float, y: Any, ydot: Any, cj: float) -> int:
        self.calls["factor"] += 1
        try:
            self.factor(t, self._array(y).copy(), self._array(ydot).copy(), cj)
        except np.linalg.LinAlgError:
            return 1
        return 0

    def _c_solve(self, _: Any, b: Any, x: Any) -> int:
        self.calls["solve"] += 1
        self._array(x)[:] = self.solve(self._array(b).copy())
        return 0

    def _c_rate_times(self, _: Any, v: Any, out: Any) -> int:
        self.calls["rate_times"] += 1
        self._array(out)[:] = self.rate_times(self._array(v).copy())
        return 0


def decay(
    derivative: Callable[[float, Array], Any] = lambda t, y: -y,
    residual: Callable[[float, Array, Array], Any] = lambda t, y, ydot: ydot + y,
    matrix: Callable[[float, Array, Array, float], Any] = lambda t, y, ydot, cj: [[1.0 + cj]],
    **options: Any,
) -> tuple[Problem, Called]:
    """y' = -y from 1, or another equation of one state."""
    called = Called(1, residual, matrix)
    return Problem(derivative, 0.0, np.ones(1), implicit=called.implicit, **options), called
