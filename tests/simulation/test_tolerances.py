"""Tolerances asked for and errors obtained, of the solvers by backward differences, on published mechanisms."""

import functools

import numpy as np
import pytest

import linkwork as lw
from support.cases import four_bar
from support.dae_backends import needs_ida
from support.published import andrews_squeezer, ladder, msl_four_bar
from support.quarter_car import quarter_car_multilink

FACTOR = 30.0  # as docs/dae.md states, of rtol or the error of dopri5, whichever is larger
CASES = {
    "four_bar": (four_bar, 2.0),
    "ladder": (lambda: ladder(3), None),
    "quarter_car": (quarter_car_multilink, None),
    "andrews_squeezer": (andrews_squeezer, None),
    "msl_four_bar": (msl_four_bar, None),
}


@functools.cache
def reference(name):
    """The mechanism, what runs need, and states of a tight tolerance."""
    make, t_end = CASES[name]
    case = make()
    case.mechanism.start(q=case.q, u=case.u)
    t_end = t_end or float(case.t[-1])
    options = {"inputs": getattr(case, "inputs", {}), "t_eval": np.linspace(0.0, t_end, 101)}
    exact = lw.simulate(case.mechanism, t_end, solver="DOP853", rtol=1e-12, **options).y
    return case.mechanism, t_end, options, exact


@functools.cache
def error(name, rtol, solver, formulation="ode"):
    """The largest error of a state, in parts of 1 + its size."""
    mechanism, t_end, options, exact = reference(name)
    result = lw.simulate(mechanism, t_end, rtol=rtol, solver=solver, formulation=formulation, **options)
    return float((np.abs(result.y - exact) / (1.0 + np.abs(exact))).max())


@needs_ida
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    "rtol", [1e-4, 1e-7, *(pytest.param(rtol, marks=pytest.mark.slow) for rtol in (1e-3, 1e-5, 1e-6, 1e-8))]
)
@pytest.mark.parametrize(("solver", "formulation"), [("BDF", "ode"), ("ida", "ode"), ("ida", "ggl")])
@pytest.mark.thin(24, kept=6)
def test_backward_differences(name, rtol, solver, formulation):
    assert error(name, rtol, solver, formulation) < FACTOR * max(rtol, error(name, rtol, "dopri5"))
