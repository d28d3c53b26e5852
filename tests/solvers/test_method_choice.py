"""Solver "auto": explicit until stability limits the steps, implicit while that pays, and back."""

import math

import numpy as np
import pytest

import linkwork as lw
from linkwork.core._core import lib
from linkwork.solvers import Problem, Restart, solve
from support.cases import four_bar, fourbar_planar, pendulum
from support.integrator import Integrator, swing
from support.problems import oscillator
from support.random_mechanisms import random_tree
from support.stiff import arm_with_servos, governor, slug_on_a_rod

METHODS = {"dopri5", "rodas5p"}
STIFF = {
    "damper": (lambda: slug_on_a_rod(damping=6e4), 0.2),
    "spring and damper": (lambda: slug_on_a_rod(1e9, 6e4), 0.2),
    "governor": (lambda: governor(8e5, 6e4), 0.3),
    "finger": (lambda: arm_with_servos(1, 2e6, 2e5), 0.05),
    "arm": (lambda: arm_with_servos(3, 2e4, 2e3), 0.2),
}


def cost(result) -> int:
    """Evaluations, a column of a Jacobian counted as three."""
    counts = result.statistics
    return counts.evaluations + 3 * result.y.shape[1] * counts.jacobian_evaluations


# ---- stiff: about as cheap as the implicit method, and as exact ----


@pytest.mark.parametrize("name", STIFF)
@pytest.mark.parametrize("rtol", [1e-4, 1e-8])
def test_stiff_mechanisms_cost_no_more_than_by_the_implicit_method(name: str, rtol: float) -> None:
    make, t_end = STIFF[name]
    model = lw.compile(make())
    exact = lw.simulate(model, t_end, solver="Radau", rtol=1e-10).y[-1]
    found, implicit = (lw.simulate(model, t_end, solver=s, rtol=rtol) for s in ("auto", "rodas5p"))
    assert np.abs(found.y[-1] - exact).max() < 10 * rtol * (1.0 + np.abs(exact).max())
    assert cost(found) < 3 * cost(implicit)
    assert set(found.statistics.methods) == METHODS
    assert sum(found.statistics.methods.values()) == found.statistics.steps
    assert found.statistics.switches >= 1


@pytest.mark.parametrize("sample_time", [0.0, 1e-3, 4e-3])
@pytest.mark.parametrize("rate", [0.0, 20.0])
def test_samples_cost_no_more_than_by_either_method(sample_time: float, rate: float) -> None:
    """Each starts the integrator again. Where it changes no load, together they have one change of method."""
    model = lw.compile(arm_with_servos(3))
    options = {"controller": lambda t, state: {"J0": math.cos(rate * t)}, "sample_time": sample_time, "rtol": 1e-6}
    found, explicit, implicit = (lw.simulate(model, 0.1, solver=s, **options) for s in ("auto", "dopri5", "rodas5p"))
    assert np.abs(found.y[-1] - implicit.y[-1]).max() < 1e-5
    assert found.statistics.switches == 1 or rate
    assert cost(found) < 1.2 * min(cost(explicit), cost(implicit)) + 500


def test_fast_changes_between_stiff_phases() -> None:
    """Van der Pol with mu = 1000: the two methods take turns, and together cost less than the implicit one."""
    mu = 1000.0
    problem = Problem(lambda t, y: np.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]]), 0.0, [2.0, 0.0])
    found, implicit = (solve(problem, 2000.0, s, 1e-6) for s in ("auto", "rodas5p"))
    assert abs(found.y_end[0] - 1.70616773) < 1e-4
    assert found.statistics.switches >= 3
    assert found.statistics.evaluations < implicit.statistics.evaluations


def test_the_explicit_method_comes_back() -> None:
    """Stiff for a second, then an oscillation."""

    def derivative(t: float, y: np.ndarray) -> np.ndarray:
        return np.array([y[1], -y[0], -1e5 * (y[2] - y[0]) if t < 1.0 else y[0] - y[2]])

    found = solve(Problem(derivative, 0.0, [1.0, 0.0, 1.0]), 60.0, "auto", 1e-6)
    late = solve(Problem(derivative, 1.0, [math.cos(1.0), -math.sin(1.0), math.cos(1.0)]), 60.0, "dopri5", 1e-6)
    assert found.y_end[:2] == pytest.approx([math.cos(60.0), -math.sin(60.0)], abs=1e-4)
    assert found.statistics.switches == 2
    assert found.statistics.methods["dopri5"] > 0.9 * late.statistics.steps


# ---- not stiff: the explicit method to the bit ----


@pytest.mark.parametrize("rtol", [1e-3, 1e-5, 1e-8])
@pytest.mark.parametrize("case", [four_bar, pendulum, fourbar_planar])
def test_motion_that_is_not_stiff_has_the_bits_of_the_explicit_method(case, rtol: float) -> None:
    model = lw.compile(case().mechanism)
    found, explicit = (lw.simulate(model, 0.5, solver=s, rtol=rtol) for s in ("auto", "dopri5"))
    assert np.array_equal(found.t, explicit.t)
    assert np.array_equal(found.y, explicit.y)
    assert found.statistics.switches == 0
    assert found.statistics.evaluations == explicit.statistics.evaluations


@pytest.mark.parametrize("seed", range(6))
def test_random_mechanisms_have_the_bits_of_the_explicit_method(seed: int) -> None:
    model = lw.compile(random_tree(np.random.default_rng(seed), 4, springs=2).mechanism)
    found, explicit = (lw.simulate(model, 0.3, solver=s, rtol=1e-4) for s in ("auto", "dopri5"))
    assert np.array_equal(found.y, explicit.y)


@pytest.mark.parametrize("rtol", [1e-2, 1e-4])
def test_a_fast_oscillation_is_not_stiff(rtol: float) -> None:
    """What has to be resolved stays with the explicit method, although its steps are near the limit of stability."""
    fast = Problem(lambda t, y: np.array([y[1], -1e6 * y[0]]), 0.0, [1.0, 0.0])
    found, explicit = (solve(fast, 1.0, s, rtol) for s in ("auto", "dopri5"))
    assert found.statistics.evaluations < 1.05 * explicit.statistics.evaluations


# ---- what the choice survives ----


def test_a_run_that_was_cut_continues_with_the_same_bits() -> None:
    model = lw.compile(arm_with_servos(2))
    whole = lw.simulate(model, 0.05, rtol=1e-6)
    cuts = range(3, len(whole.t) - 2, 7)
    for cut in cuts:
        state = whole.state(whole.t[cut])
        rest = lw.simulate(model, 0.05, state=state, rtol=1e-6)
        assert np.array_equal(rest.t, whole.t[cut:])
        assert np.array_equal(rest.y, whole.y[cut:])


def test_restarts_keep_the_choice() -> None:
    """At events that change the state: a stiff decay that is set back again and again."""

    def derivative(t: float, y: np.ndarray) -> np.ndarray:
        return np.array([1.0, -1e6 * (y[1] - math.cos(t))])

    problem = Problem(
        derivative, 0.0, [0.0, 1.0], events=[lambda t, y: y[0] - 0.1], on_event=lambda t, y, z: Restart([0.0, y[1]])
    )
    found = solve(problem, 5.05, "auto", 1e-6)
    assert found.statistics.restarts == 50
    assert found.statistics.switches == 1
    assert found.y_end[1] == pytest.approx(math.cos(5.05), abs=1e-5)


def test_the_choice_is_a_number_that_may_be_invented() -> None:
    """As bytes of an FMU state are: whatever it is, the run goes on and has its accuracy."""
    for choice in (-1.0, math.nan, math.inf, 1e300, 0.5, 3.0, 63.0, 1e9, 2.0**60):
        ode = Integrator(swing, 2, method="auto")
        ode.start(0.0, [1.0, 0.0])
        control = lib.lw_ode_get_step_control(ode.ode)
        control.choice = choice
        lib.lw_ode_set_step_control(ode.ode, control)
        ode.run(3.0)
        assert ode.y == pytest.approx([math.cos(3.0), -math.sin(3.0)], abs=1e-6)


def test_where_there_is_no_jacobian_the_explicit_method_goes_on() -> None:
    def derivative(t: float, y: np.ndarray) -> list[float]:
        return [-1e4 * (y[0] - math.cos(t))]

    ode = Integrator(derivative, 1, method="auto", jacobian=lambda t, y: 1, rtol=1e-6, atol=1e-6)
    ode.start(0.0, [1.0])
    ode.run(1.0)
    assert ode.y[0] == pytest.approx(math.cos(1.0), abs=1e-3)
    assert ode.counts.method_steps[lib.LW_ODE_RODAS5P] == 0
    assert 0 < ode.counts.jacobian_evaluations < 20


def test_dense_output_across_changes_of_the_method() -> None:
    times = np.linspace(0.0, 2.0, 2001)
    problem = Problem(lambda t, y: np.array([-1e5 * (y[0] - math.cos(t))]), 0.0, [1.0])
    found = solve(problem, 2.0, "auto", 1e-7, t_eval=times)
    assert set(found.statistics.methods) == METHODS
    assert np.abs(found.y[:, 0] - np.cos(times)).max() < 1e-4


def test_every_solver_names_its_method() -> None:
    for name in ("dopri5", "rodas5p", "DOP853", "LSODA"):
        found = solve(oscillator(), 1.0, name)
        assert found.statistics.methods == {name: found.statistics.steps}
        assert (found.statistics + found.statistics).methods == {name: 2 * found.statistics.steps}


@pytest.mark.parametrize("formulation", ["ggl", "chou"])
def test_implicit_equations_are_solved_by_ida(formulation: str, needs) -> None:
    needs("sksundae")
    mech = lw.Mechanism("ball")
    mech.add_body("b", mass=1.0, com=(0, 0, -0.1), inertia=lw.inertia.sphere(1.0, 0.05))
    mech.add_joint("S", lw.Spherical(), "ground", "b", at=(0, 0, 0))
    found = lw.simulate(mech, 0.1, formulation=formulation, rtol=1e-5)
    assert list(found.statistics.methods) == ["ida"]
