"""IDA through scikits.odes (3.0 on SUNDIALS 6, 3.1 on SUNDIALS 7).

It takes scalar options, the stop time among them, in single precision; `Equations` has a time that allows for it. Its
old interface costs a third less for a step than the new one, whose results carry lists of all roots and stop times.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scikits_odes_sundials import ida

from linkwork.solvers.ida.backend import MOST_FAILURES, Settings
from linkwork.solvers.ida.equations import Equations
from linkwork.solvers.problem import FloatArray

_TINY = float(np.finfo(np.float64).tiny)


class ScikitsIDA:
    """A `Backend`. scikits.odes swallows exceptions, but takes the status of the equations."""

    def __init__(self, equations: Equations, settings: Settings) -> None:
        self._equations = equations
        self._options = _options(equations, settings)
        self._method: Any = None
        self._rate = np.empty(equations.n)
        self._tip = 0.0
        self._looked = False

    def start(self, y: FloatArray, rate: FloatArray) -> None:
        """Make IDA ready; it is made only once, as its linear solvers are never freed."""
        span, self._tip, self._looked = self._equations.span, 0.0, False
        if self._method is not None:
            self._method.reinit_IC(0.0, y, rate)
            self._method.set_options(tstop=span)
            return
        self._method = ida.IDA(**self._options, tstop=span)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of the old interface
            self._method.init_step(0.0, y, rate)

    def step(self) -> tuple[int, float, FloatArray]:
        """Take one step, which a negative time asks for."""
        if self._looked:
            self.at(self._tip)  # IDA continues from the time last asked for
            self._looked = False
        y = np.empty(self._equations.n)
        flag, s = self._method.step(-self._equations.span, y, self._rate)
        if flag >= 0:
            self._tip = s
        return flag, self._tip, y

    def at(self, s: float) -> FloatArray:
        """Interpolate, for which the time must be positive."""
        self._looked = True
        y = np.empty(self._equations.n)
        self._method.step(s if s > 0.0 else _TINY, y, self._rate)
        return y


def _options(equations: Equations, settings: Settings) -> dict[str, Any]:
    options = settings.options
    chosen: dict[str, Any] = {
        "Rfn": equations.residual,
        "rtol": options.rtol,
        "atol": np.full(equations.n, options.atol),  # a number would be rounded to single precision, and so may vanish
        "first_step_size": settings.first_step,
        "max_step_size": settings.max_step,
        "max_conv_fails": MOST_FAILURES,
        "old_api": True,
        "err_handler": _quiet,
    }
    if settings.algebraic.size:
        chosen |= {"algebraic_vars_idx": settings.algebraic, "exclude_algvar_from_error": True}
    if equations.operator is None:
        return chosen | {"linsolver": "dense", "jacfn": equations.newton_matrix}
    products = {"jac_times_setupfn": equations.prepare_products, "jac_times_vecfn": equations.product}
    return chosen | {"linsolver": "spgmr"} | products


def _quiet(*details: object) -> None:
    """Print nothing; the flag that IDA returns is enough."""
