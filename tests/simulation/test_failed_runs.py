"""Runs that cannot start or come to no end: limits, options, solvers that do not exist."""

import dataclasses

import numpy as np
import pytest

import linkwork as lw
from linkwork.solvers import solver_names
from support.cases import four_bar


@pytest.mark.parametrize("solver", solver_names())
def test_steps_used_up(system, solver):
    with pytest.raises(lw.SolverError, match="max_steps is used up") as raised:
        lw.simulate(system, 100.0, max_steps=20, solver=solver)
    result = raised.value.result
    assert isinstance(result, lw.Result)
    assert 2 <= len(result.t) <= (81 if solver == "dop853" else 21)  # it has rows within steps
    assert "max_steps" in result.message
    assert result.statistics.steps + (result.statistics.rejected or 0) == 20
    assert "There," not in str(raised.value)  # nothing is wrong with the mechanism


@pytest.mark.parametrize(
    ("name", "hint"),
    [("dopri", "dopri5"), ("radau", "Radau"), ("RK54", "RK45"), ("Lsoda", "LSODA"), ("dop835", "dop853")],
)
def test_misspelt_solvers(system, name, hint):
    with pytest.raises(lw.SolverError, match=f"no solver '{name}'.*did you mean '{hint}'") as raised:
        lw.simulate(system, 1.0, solver=name)
    assert raised.value.result is None


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"rtol": 0.0}, "rtol = 0"),
        ({"rtol": -1.0}, "rtol = -"),
        ({"rtol": np.nan}, "rtol = nan"),
        ({"atol": 0.0}, "atol = 0"),
        ({"max_step": 0.0}, "max_step = 0"),
        ({"first_step": -1.0}, "first_step = -1"),
        ({"max_steps": 0}, "max_steps = 0"),
        ({"t_eval": [0.0, 2.0]}, "t_eval contains 2"),
        ({"t_eval": [0.5, 0.2]}, "t_eval must be strictly increasing"),
        ({"t_eval": [0.0, np.nan]}, "t_eval must be a vector of finite"),
        ({"t_start": np.inf}, "between finite times"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_options_that_make_no_sense(system, options, text):
    with pytest.raises(lw.SolverError, match=text) as raised:
        lw.simulate(system, 1.0, **options)
    assert "There," not in str(raised.value)


def test_loops_that_cannot_be_closed():
    mech = four_bar().mechanism
    mech.joints["D"] = dataclasses.replace(mech.joints["D"], parent_frame=lw.Frame((5.0, 0, 0)))
    with pytest.raises(lw.AssemblyError, match="'D'"):
        lw.simulate(mech, 1.0)


@pytest.mark.parametrize("solver", ["dopri5", "DOP853"])
def test_a_start_without_a_derivative(solver):
    """Speeds so large that their squares are no numbers."""
    mech = four_bar().mechanism
    mech.start(q=four_bar().q, u={"A": 1e200})
    with pytest.raises(lw.LinkworkError, match=r"'[ABCD]'"):
        lw.simulate(mech, 1.0, solver=solver)
