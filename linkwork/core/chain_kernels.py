"""Chou's equations of a chain of spherical joints in C. This module alone touches their FFI."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from linkwork.core._core import ffi, lib
from linkwork.errors import MechanismError

FloatArray = NDArray[np.float64]

UNKNOWNS = 14  # of a body

_SINGULAR = (
    "the Newton matrix of the chain has no inverse here; give bodies inertia about every axis through their joints"
)
_NOT_FINITE = "the Newton matrix of the chain is not finite here"
_NOT_PREPARED = "nothing is prepared for solving: call factor or reduce first"


@dataclass(frozen=True)
class ChainBodies:
    """Bodies in a row, from the support outwards."""

    # mass, inertia: (n,), kg, and (n, 3, 3) about the mass centres in body axes, kg m^2
    mass: FloatArray
    inertia: FloatArray
    # inner, centre: inner joint and mass centre, each less the outer joint, in body axes, (n, 3), m. The outer joint of
    # the last body is any point of it
    inner: FloatArray
    centre: FloatArray
    # gravity, support: (3,), m/s^2, and place of the first joint, (3,), m; world axes
    gravity: FloatArray
    support: FloatArray


class ChainKernels:
    """The equations F(X, X') = 0 of a chain, and Newton's matrix J = dF/dX + cj dF/dX' in three forms.

    X has 14 unknowns a body, body by body: R and V of the mass centre, Euler parameters P, their rates S. All arrays
    are contiguous doubles, (14 n,); returned arrays are new. One thread at a time.

    Parameters
    ----------
    bodies
        They are copied.
    dense
        Allocate the matrix of `reduce`, 72 n^2 bytes; without it all memory is proportional to n.
    """

    def __init__(self, bodies: ChainBodies, dense: bool = False) -> None:
        self.n = int(bodies.mass.size)
        self.size = UNKNOWNS * self.n
        kept = [np.ascontiguousarray(a, dtype=np.float64) for a in (bodies.inertia, bodies.inner, bodies.centre)]
        if [a.size for a in kept] != [9 * self.n, 3 * self.n, 3 * self.n]:
            raise MechanismError(f"a chain of {self.n} bodies needs arrays of as many inertias, joints and centres")
        given = ffi.new("lw_chain_bodies *")
        given.n, given.dense = self.n, int(dense)
        mass = np.ascontiguousarray(bodies.mass, dtype=np.float64)
        given.mass, given.inertia, given.inner, given.centre = (ffi.from_buffer("double[]", a) for a in (mass, *kept))
        given.gravity, given.support = bodies.gravity.tolist(), bodies.support.tolist()
        handle = ffi.new("lw_chain **")
        status = lib.lw_chain_create(given, handle)
        if status == lib.LW_ERROR_MEMORY:
            raise MemoryError(f"no memory for a chain of {self.n} bodies")
        if status:
            raise MechanismError("a chain needs at least one body, positive masses and finite numbers")
        self._chain = ffi.gc(handle[0], lib.lw_chain_free)
        self._vector = ffi.typeof(f"double[{self.size}]")  # refuses shorter arrays
        self._matrix = ffi.typeof(f"double[{self.size**2}]")

    def addresses(self, reduced: bool = False) -> tuple[int, ...]:
        """Return those of residual, factor (`reduce` or `factor`), solve, rate times and context; keep the kernels."""
        e = ffi.new("lw_implicit *")
        lib.lw_chain_implicit(self._chain, int(reduced), e)
        functions = (e.residual, e.factor, e.solve, e.rate_times, e.context)
        return tuple(int(ffi.cast("uintptr_t", function)) for function in functions)

    def residual(self, x: FloatArray, xdot: FloatArray) -> FloatArray:
        """Return F(X, X')."""
        out = np.empty(self.size)
        view, kind = ffi.from_buffer, self._vector
        lib.lw_chain_residual(self._chain, view(kind, x), view(kind, xdot), view(kind, out))
        return out

    def jacobian(self, x: FloatArray, xdot: FloatArray, cj: float) -> FloatArray:
        """Return J, (14 n, 14 n)."""
        out = np.empty((self.size, self.size))
        view, kind = ffi.from_buffer, self._vector
        lib.lw_chain_jacobian(self._chain, view(kind, x), view(kind, xdot), cj, view(self._matrix, out))
        return out

    def factor(self, x: FloatArray, xdot: FloatArray, cj: float) -> None:
        """Prepare J for `solve` in O(n); LinAlgError where it has no inverse."""
        view, kind = ffi.from_buffer, self._vector
        status = lib.lw_chain_factor(self._chain, view(kind, x), view(kind, xdot), cj)
        if status:
            _refuse(status)

    def reduce(self, x: FloatArray, xdot: FloatArray, cj: float) -> None:
        """Prepare J for `solve` as a dense matrix of 3 n unknowns in O(n^3); LinAlgError where it has no inverse."""
        view, kind = ffi.from_buffer, self._vector
        status = lib.lw_chain_reduce(self._chain, view(kind, x), view(kind, xdot), cj)
        if status:
            _refuse(status)

    def solve(self, b: FloatArray) -> FloatArray:
        """Return J^-1 b by the factors prepared last."""
        out = np.empty(self.size)
        view, kind = ffi.from_buffer, self._vector
        if lib.lw_chain_solve(self._chain, view(kind, b), view(kind, out)):
            raise RuntimeError(_NOT_PREPARED)
        return out

    def rate_times(self, v: FloatArray) -> FloatArray:
        """Return dF/dX' v at the point last prepared."""
        out = np.empty(self.size)
        view, kind = ffi.from_buffer, self._vector
        if lib.lw_chain_rate_times(self._chain, view(kind, v), view(kind, out)):
            raise RuntimeError(_NOT_PREPARED)
        return out

    def close(self, x: FloatArray) -> FloatArray:
        """Return X with |P| = 1 and P.S = 0, and with the R and V that follow; MechanismError where there are none."""
        out = np.array(x, dtype=np.float64)
        if lib.lw_chain_make_consistent(self._chain, ffi.from_buffer(self._vector, out)):
            raise MechanismError("the chain has a quaternion of length zero or numbers that are not finite")
        return out

    def derivative(self, x: FloatArray) -> FloatArray:
        """Return X' at a closed X in O(n), after which nothing is prepared; LinAlgError where there is none."""
        out = np.empty(self.size)
        view, kind = ffi.from_buffer, self._vector
        status = lib.lw_chain_derivative(self._chain, view(kind, x), view(kind, out))
        if status:
            _refuse(status)
        return out


def _refuse(status: int) -> NoReturn:
    if status == lib.LW_ERROR_USAGE:
        raise RuntimeError("this chain has no memory for the reduced matrix: make it with dense=True")
    raise np.linalg.LinAlgError(_SINGULAR if status == lib.LW_ERROR_SINGULAR else _NOT_FINITE)
