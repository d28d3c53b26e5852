"""Published mechanisms as differential-algebraic equations by IDA, against the reduced ODE with a tighter tolerance."""

import importlib.util

import numpy as np
import pytest

import linkwork as lw
from support.augmented import augmented
from support.cases import four_bar
from support.published import andrews_squeezer, ladder, msl_four_bar
from support.quarter_car import quarter_car_multilink

BACKENDS = ("scikits_odes_sundials", "scikits.odes", "sksundae")
RTOL, CLOSE, CLOSED = 1e-9, 1e-4, 1e-8


def is_there(module):
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


pytestmark = pytest.mark.skipif(not any(map(is_there, BACKENDS)), reason="no backend of IDA is installed")


def started(case, t_end, inputs):
    case.mechanism.start(q=case.q, u=case.u)
    return case.mechanism, t_end, inputs


def published(case):
    return started(case, float(case.t[-1]), case.inputs)


CASES = {
    "four_bar": lambda: started(four_bar(), 2.0, {}),
    "ladder": lambda: published(ladder(3)),
    "quarter_car": lambda: published(quarter_car_multilink()),
    "andrews_squeezer": lambda: published(andrews_squeezer()),
    "msl_four_bar": lambda: published(msl_four_bar()),
}


@pytest.fixture(scope="module", params=CASES)
def run(request):
    """The equations, their solution, and the reference at the same times."""
    mechanism, t_end, inputs = CASES[request.param]()
    times = np.linspace(0.0, t_end, 21)
    at = augmented(mechanism, inputs=inputs)
    reference = lw.simulate(mechanism, t_end, inputs=inputs, solver="DOP853", rtol=1e-12, t_eval=times)
    return at, at.run(t_end, RTOL, t_eval=times), reference


def largest_lack(at, solution):
    """Of positions and of velocities, over all rows of the solution."""
    states = at.ggl.states(solution.y)
    residuals = [at.ggl.constraint_residuals(t, y) for t, y in zip(solution.t, states, strict=True)]
    return max(float(np.abs(np.concatenate(pair)).max()) for pair in residuals)


def test_the_motion_is_that_of_the_ode(run):
    at, solution, reference = run
    difference = at.ggl.states(solution.y) - reference.y
    assert np.abs(difference).max() < CLOSE * max(1.0, np.abs(reference.y).max())
    assert np.abs(difference[:, : at.nq]).max() < CLOSE


def test_constraints_hold(run):
    at, solution, _ = run
    assert largest_lack(at, solution) < CLOSED


def test_prescribed_motion_is_followed():
    """A crank that turns evenly, its drive given as a function of time."""
    case = four_bar()
    case.mechanism.prescribe("A", lw.Motion((-0.7, -3.0)))
    case.mechanism.start(q=case.q, u=case.u)
    at = augmented(case.mechanism)
    solution = at.run(1.0, RTOL)
    crank = at.system.numbering.q["A"]
    assert solution.y[:, crank].ravel() == pytest.approx(-0.7 - 3.0 * solution.t, abs=1e-8)
    assert largest_lack(at, solution) < CLOSED


def test_inputs_that_are_functions_of_time():
    case = four_bar()
    case.mechanism.start(q=case.q, u=case.u)
    inputs = {"A": lambda t: 5.0 * np.sin(3.0 * t), "D": lambda t: -2.0 * t}  # the latter in the cut joint
    times = np.linspace(0.0, 1.0, 11)
    at = augmented(case.mechanism, inputs=inputs)
    solution = at.run(1.0, RTOL, t_eval=times)
    reference = lw.simulate(case.mechanism, 1.0, inputs=inputs, rtol=1e-11, t_eval=times)
    assert at.ggl.states(solution.y) == pytest.approx(reference.y, abs=CLOSE)
