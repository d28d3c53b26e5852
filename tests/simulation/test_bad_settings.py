"""Settings that no run can have: one error, which shows the value as it was given."""

import math

import numpy as np
import pytest

import linkwork as lw
from linkwork.solvers import solver_names
from support.small import pendulum

BAD = {
    "negative rtol": ({"rtol": -1}, "rtol = -1 "),
    "zero rtol": ({"rtol": 0.0}, "rtol = 0 "),
    "rtol below double precision": ({"rtol": 1e-15}, "rtol = 1e-15 cannot be kept"),
    "text for rtol": ({"rtol": "1e-8"}, "rtol must be a number, not '1e-8'"),
    "negative atol": ({"atol": -1}, "atol = -1;"),
    "text for atol": ({"atol": "small"}, "atol must be a number, not 'small'"),
    "text for max_step": ({"max_step": "x"}, "max_step must be a number, not 'x'"),
    "negative max_step": ({"max_step": -0.5}, "max_step = -0.5;"),
    "NaN for first_step": ({"first_step": math.nan}, "first_step = nan;"),
    "text for t_eval": ({"t_eval": "a"}, "t_eval must be times such as .* not 'a'"),
    "ragged t_eval": ({"t_eval": [[0.0], 1.0]}, "t_eval must be times"),
    "number for t_eval": ({"t_eval": 0.5}, "give a vector of times"),
    "text for t_end": ({"t_end": "1"}, "t_end must be a number, s, not '1'"),
    "text for t_start": ({"t_start": "0"}, "t_start must be a number, s, not '0'"),
    "text for max_steps": ({"max_steps": "many"}, "max_steps must be a number, not 'many'"),
    "half of max_steps": ({"max_steps": 0.5}, "max_steps = 0.5; give a whole number"),
    "text for max_events": ({"max_events": "few"}, "max_events must be a number"),
    "number for solver": ({"solver": 5}, "there is no solver 5"),
    "number for formulation": ({"formulation": 5}, "there is no formulation 5"),
}


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD)
def test_bad_settings_are_refused_as_they_were_given(arguments, message):
    with pytest.raises((lw.MechanismError, lw.SolverError), match=message):
        lw.simulate(pendulum(), **{"t_end": 0.1} | arguments)


@pytest.mark.parametrize("name", ["rtol", "atol", "t_eval", "max_step", "first_step", "max_steps"])
@pytest.mark.parametrize("value", [-1.0, "1e-3", [1.0, "x"], {}, math.nan], ids=str)
def test_wrong_values_and_types_are_errors_of_python_too(name, value):
    with pytest.raises(lw.SolverError) as refused:
        lw.simulate(pendulum(), 0.1, **{name: [value] if name == "t_eval" and isinstance(value, float) else value})
    assert isinstance(refused.value, ValueError)
    assert isinstance(refused.value, TypeError) != isinstance(value, float)


@pytest.mark.parametrize("ends", [(0.0, 0.3), (0.3, 0.0), (7.0, 7.3)])
def test_times_within_rounding_of_the_ends_are_there(ends):
    begin, end = ends
    t_eval = begin + np.linspace(0.0, end - begin, 4) * (1 + 3e-16)
    t_eval[-1] = end + (end - begin) * 1e-14
    result = lw.simulate(pendulum(), end, t_start=begin, t_eval=t_eval)
    assert (result.t[0], result.t[-1]) == ends
    with pytest.raises(ValueError, match="outside the run"):
        lw.simulate(pendulum(), end, t_start=begin, t_eval=[begin, end + (end - begin) * 1e-6])


@pytest.mark.parametrize("solver", solver_names())
def test_the_share_of_a_step_is_in_no_message(solver):
    with pytest.raises(lw.SolverError, match="rtol = -1 "):
        lw.simulate(pendulum(), 0.1, rtol=-1, solver=solver)


def test_numbers_of_other_types_are_numbers():
    settings = {"rtol": np.float32(1e-6), "atol": np.array(1e-6), "max_step": np.int64(1), "max_steps": 1e4}
    first = lw.simulate(pendulum(), np.float64(0.5), t_eval=range(1), **settings)
    assert first.t.tolist() == [0.0]
