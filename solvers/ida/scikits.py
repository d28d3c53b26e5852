"""IDA through scikits.odes (3.0 on SUNDIALS 6, 3.1 on SUNDIALS 7).

It takes scalar options, the stop time among them, in single precision; `Equations` has a time that allows for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scikits_odes_sundials import ida

from linkwork.solvers.ida.backends import MOST_FAILURES, Settings
from linkwork.solvers.ida.equations import Equations
from linkwork.solvers.problem import FloatArray


class ScikitsIDA:
    """A `Backend`. scikits.odes swallows exceptions, but takes what the equations return: go on, step shorter, end."""

    def __init__(self, equations: Equations, settings: Settings) -> None:
        self._equations = equations
        self._options = _options(equations, settings)
        self._method: Any = None
        self._tip = 0.0
        self._looking = False

    def start(self, y: FloatArray, rate: FloatArray) -> None:
        """Make IDA ready; it is made only once, as its linear solvers are never freed."""
        self._tip, span = 0.0, self._equations.span
        if self._method is None:
            self._method = ida.IDA(**self._options, tstop=span)
            self._method.init_step(0.0, y, rate)
            return
        self._look(False)
        self._method.reinit_IC(0.0, y, rate)
        self._method.set_options(tstop=span)

    def step(self) -> tuple[int, float, FloatArray]:
        """Take one step."""
        if self._looking:
            self.at(self._tip)  # IDA goes on from the time last asked for
            self._look(False)
        y = np.empty(self._equations.n)
        result = self._method.step(self._equations.span, y, self._rate())
        flag = int(result.flag)
        if flag >= 0:
            self._tip = float(result.values.t)
        return flag, self._tip, y

    def at(self, s: float) -> FloatArray:
        """Interpolate."""
        self._look(True)
        y = np.empty(self._equations.n)
        self._method.step(s, y, self._rate())
        return y

    def _rate(self) -> FloatArray:
        return np.empty(self._equations.n)

    def _look(self, looking: bool) -> None:
        if looking != self._looking:
            self._looking = looking
            self._method.set_options(one_step_compute=not looking)


def _options(equations: Equations, settings: Settings) -> dict[str, Any]:
    options = settings.options
    chosen: dict[str, Any] = {
        "Rfn": equations.residual,
        "rtol": options.rtol,
        "atol": np.full(equations.n, options.atol),  # a number would be rounded to single precision, and so may vanish
        "first_step_size": settings.first_step,
        "max_step_size": settings.max_step,
        "max_conv_fails": MOST_FAILURES,
        "one_step_compute": True,
        "err_handler": _quiet,
    }
    if settings.algebraic.size:
        chosen |= {"algebraic_vars_idx": settings.algebraic, "exclude_algvar_from_error": True}
    if equations.operator is None:
        return chosen | {"linsolver": "dense", "jacfn": equations.newton_matrix}
    products = {"jac_times_setupfn": equations.prepare_products, "jac_times_vecfn": equations.product}
    return chosen | {"linsolver": "spgmr"} | products


def _quiet(*details: object) -> None:
    """Print nothing; the flag that IDA returns says it too."""
