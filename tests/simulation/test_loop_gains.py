"""The feedback that keeps loops closed over time: its gains, and the default."""

import numpy as np
import pytest

import linkwork as lw
from support.cases import four_bar
from support.published import ladder

CASES = {"four_bar": four_bar, "ladder": lambda: ladder(3, deep=True)}


@pytest.fixture(scope="module", params=CASES)
def run(request):
    case = CASES[request.param]()
    case.mechanism.start(q=case.q, u=case.u)
    system = lw.compile(case.mechanism)
    exact = lw.simulate(system, 20.0, rtol=1e-11, t_eval=np.linspace(0.0, 20.0, 41))

    def measure(solver, loop_gain):
        result = lw.simulate(system, 20.0, rtol=1e-6, solver=solver, t_eval=exact.t, loop_gain=loop_gain)
        gaps = [np.abs(result[f"loop.{name}.residual"]).max() for name in system.loop_names]
        errors = [np.abs(result[name] - exact[name]).max() for name in system.q_names]
        return max(gaps), max(errors), result.statistics.evaluations

    return measure


@pytest.mark.parametrize("solver", ["dopri5", "DOP853", "LSODA"])
def test_the_default_holds_the_loops_at_little_cost(run, solver):
    """Against no feedback: narrower gaps, errors of the same size, about as many evaluations; 100 times more costs."""
    gap, error, evaluations = run(solver, None)
    free_gap, free_error, free_evaluations = run(solver, 0.0)
    assert gap < 1e-5
    assert gap < free_gap + 1e-14
    assert error < 10.0 * free_error
    assert evaluations < 1.5 * free_evaluations


def test_a_gap_stays_below_the_tolerance():
    case = four_bar()
    case.mechanism.start(q=case.q, u=case.u)
    result = lw.simulate(case.mechanism, 10.0, rtol=1e-8)
    assert 1e-12 < result["loop.D.residual"].max() < 1e-9


def test_high_gains_make_small_steps(run):
    assert run("dopri5", 1000.0)[2] > 3 * run("dopri5", 10.0)[2]


def test_one_gain_for_each_level(run):
    assert run("dopri5", (10.0, 10.0)) == run("dopri5", 10.0)
    assert run("dopri5", (0.0, 10.0))[0] != run("dopri5", 10.0)[0]


@pytest.mark.parametrize("solver", ["auto", "dopri5", "DOP853"])
@pytest.mark.parametrize("slower", [1e3, 1e7])
def test_slow_motions_take_no_more_steps_than_fast_ones(slower: float, solver: str) -> None:
    """One radian of a four-bar without loads: the same path, whatever the speed."""
    mech = four_bar().mechanism
    mech.gravity = np.zeros(3)
    model = lw.compile(mech)

    def turned(speed: float) -> lw.Result:
        return lw.simulate(model, 1.0 / speed, state=model.assemble(u={"A": speed}), solver=solver)

    fast, slow = turned(1.0), turned(1.0 / slower)
    assert slow.statistics.steps < fast.statistics.steps + 10  # the first step is found from a short one
    assert slow["A.q"][-1] == pytest.approx(fast["A.q"][-1], abs=1e-7)
    assert slow["loop.D.residual"].max() < 1e-8
