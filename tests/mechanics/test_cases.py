"""Published motions."""

import numpy as np
import pytest

import linkwork as lw
from support.cases import chain_before_the_lock, fourbar_planar, pendulum, single_window, windows


def run(case, solver, rtol):
    case.mechanism.start(q=case.q, u=case.u)
    return lw.simulate(case.mechanism, case.t[-1], solver=solver, rtol=rtol, t_eval=case.t)


def largest_error(case, result):
    return max(np.abs(result[f"{name}.q"] - expected).max() for name, expected in case.motion.items())


@pytest.mark.parametrize("solver", ["dopri5", "DOP853"])
def test_planar_four_bar(solver):
    case = fourbar_planar()
    result = run(case, solver, 1e-10)
    assert largest_error(case, result) < 2e-8
    assert np.abs(result["loop.D.residual"]).max() < 1e-7


@pytest.mark.parametrize("solver", ["dopri5", "DOP853"])
def test_iftomm_pendulum(solver):
    case = pendulum()
    assert largest_error(case, run(case, solver, 1e-10)) < 1e-8


@pytest.mark.parametrize("solver", ["dopri5", "DOP853"])
def test_chain_of_four(solver):
    case = chain_before_the_lock()
    assert largest_error(case, run(case, solver, 1e-10)) < 1e-8


@pytest.mark.parametrize("solver", ["dopri5", "DOP853"])
@pytest.mark.parametrize("count", [2, 10])
def test_iftomm_windows(count, solver):
    case = windows(count)
    assert 1.3 < case.motion["B0"][-1] + np.pi / 2 < 1.4
    result = run(case, solver, 1e-9)
    assert largest_error(case, result) < 1e-7
    assert max(np.abs(result[f"loop.C{i}.residual"]).max() for i in range(count)) < 1e-7


def test_parallelogram_keeps_its_branch():
    """All bars come into line, where a second branch crosses; only the state's own past distinguishes them."""
    for rtol in (1e-3, 1e-5, 1e-7, 1e-9, 1e-12):
        case = single_window()
        # Between neighbouring poses accelerations have an error of 1e-10 at the least, which adds up.
        assert largest_error(case, run(case, "dopri5", rtol)) < 20 * rtol + 3e-10
