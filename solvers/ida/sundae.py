"""IDA through scikit-sundae, which brings SUNDIALS with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sksundae import ida

from linkwork.solvers.ida.backend import CALLBACK_FAILURE, MOST_FAILURES, Settings
from linkwork.solvers.ida.equations import FATAL, Equations, all_finite
from linkwork.solvers.problem import FloatArray

# Tolerance of the states that stay out of the error test, which scikit-sundae cannot set, relative to the others.
SLACK = 1e10


class CallbackError(Exception):
    """Ends IDA: scikit-sundae takes nothing but exceptions for that."""


class SundaeIDA:
    """A `Backend`. What should make the step shorter is handed to IDA as not a number."""

    def __init__(self, equations: Equations, settings: Settings) -> None:
        self._equations = equations
        self._method = ida.IDA(**_options(equations, settings))
        self._span = self._tip = 0.0
        self._looked = False

    def start(self, y: FloatArray, rate: FloatArray) -> None:
        """Make IDA ready, or ready again."""
        self._span, self._tip, self._looked = self._equations.span, 0.0, False
        self._method.init_step(0.0, y, rate)

    def step(self) -> tuple[int, float, FloatArray]:
        """Take one step."""
        if self._looked:
            self.at(self._tip)  # IDA continues from the time last asked for
            self._looked = False
        try:
            result = self._method.step(self._span, "onestep", self._span)
        except CallbackError:
            return CALLBACK_FAILURE, self._tip, np.empty(0)
        if result.status >= 0:
            self._tip = float(result.t)
        return int(result.status), self._tip, result.y

    def at(self, s: float) -> FloatArray:
        """Interpolate."""
        self._looked = True
        state: FloatArray = self._method.step(s, "normal").y
        return state


def _options(equations: Equations, settings: Settings) -> dict[str, Any]:
    options = settings.options
    atol: float | FloatArray = options.atol
    if settings.algebraic.size:
        atol = np.full(equations.n, options.atol)
        atol[settings.algebraic] *= SLACK
    chosen: dict[str, Any] = {
        "rtol": options.rtol,
        "atol": atol,
        "first_step": settings.first_step,
        "max_step": settings.max_step,
        "max_conv_fails": MOST_FAILURES,
    }

    def residual(s: float, y: FloatArray, rate: FloatArray, out: FloatArray) -> None:
        if equations.not_finite and not all_finite(y):  # made by IDA itself, from earlier values
            out.fill(np.nan)
            return
        _told(equations.residual(s, y, rate, out), out)

    def matrix(s: float, y: FloatArray, rate: FloatArray, out_before: FloatArray, cj: float, out: FloatArray) -> None:
        _told(equations.newton_matrix(s, y, rate, out_before, cj, out), out)

    def product(
        s: float, y: FloatArray, rate: FloatArray, f: FloatArray, v: FloatArray, out: FloatArray, cj: float
    ) -> None:
        _told(equations.product(s, y, rate, f, v, out, cj), out)

    if equations.operator is None:
        return chosen | {"resfn": residual, "linsolver": "dense", "jacfn": matrix}
    prepare: Callable[..., int] = equations.prepare_products
    return chosen | {"resfn": residual, "linsolver": "gmres", "jactimes": ida.IDAJacTimes(prepare, product)}


def _told(answer: int, out: FloatArray) -> None:
    if answer == FATAL:
        raise CallbackError
    if answer:
        out.fill(np.nan)
