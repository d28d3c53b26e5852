"""Differential-algebraic equations: part of a problem in addition to or instead of an explicit derivative."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

Residual: TypeAlias = Callable[[float, FloatArray, FloatArray], npt.ArrayLike]
NewtonMatrix: TypeAlias = Callable[[float, FloatArray, FloatArray, float], npt.ArrayLike]

Renewal: TypeAlias = Callable[[float, FloatArray, bool], FloatArray | None]


class NewtonOperator(Protocol):
    """The Newton matrix J = dF/dy + cj dF/dy' in a form that is cheaper than a dense one."""

    def factor(self, t: float, y: FloatArray, ydot: FloatArray, cj: float) -> None:
        """Prepare for `solve` and `rate_times` at (t, y, y') and cj; LinAlgError where J is singular."""

    def solve(self, b: FloatArray) -> FloatArray:
        """Return J^-1 b, (n,)."""

    def rate_times(self, v: FloatArray) -> FloatArray:
        """Return dF/dy' v, (n,)."""


@dataclass(frozen=True)
class CompiledImplicit:
    """Addresses of the C functions of `lw_implicit` in csrc/include/linkwork.h, which must outlive the run.

    They give the residual of a problem and its operator.
    """

    residual: int
    factor: int
    solve: int
    rate_times: int
    context: int


@dataclass(frozen=True)
class Implicit:
    """Equations F(t, y, y') = 0 for n states, of index 1 (or 2 and 3 where algebraic states leave the error test).

    Parameters
    ----------
    residual
        (t, y, y') to F, (n,). A value that is not finite makes the solver try a shorter step.
    jacobian
        (t, y, y', cj) to dF/dy + cj dF/dy', (n, n). Without it, and without an operator, differences are taken.
    operator
        Used instead of any matrix.
    algebraic
        Which states are algebraic, (n,); they stay out of the solver's error test. By default all are in it.
    compiled
        Residual and operator once more, as C functions: a solver that can calls them without going through Python.
    renew
        (t, y, failed), asked after every step, and with `failed` after one that failed or many that led nowhere: a
        state, (n,), from which the solver starts again because the equations should be chosen again, or None to
        continue. Starting again asks the derivative of the problem.
    """

    residual: Residual
    jacobian: NewtonMatrix | None = None
    operator: NewtonOperator | None = None
    algebraic: BoolArray | None = None
    compiled: CompiledImplicit | None = None
    renew: Renewal | None = None
