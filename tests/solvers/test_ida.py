"""IDA against closed forms and independent solvers, through each of its backends."""

import math

import numpy as np
import pytest

from linkwork.solvers import Implicit, Problem, Restart, solve
from linkwork.solvers.ida import method
from support.dae_problems import complex_step, pendulum, robertson
from support.problems import oscillator

pytestmark = pytest.mark.usefixtures("backend")

with_and_without = pytest.mark.parametrize("jacobian", [True, False])


def decay(jacobian: bool = True, t0: float = 0.0, **options) -> Problem:
    """y = exp(t0 - t), and a second state that is its square."""

    def residual(t: float, y: np.ndarray, ydot: np.ndarray) -> np.ndarray:
        return np.array([ydot[0] + y[0], y[1] - y[0] ** 2])

    implicit = Implicit(residual, complex_step(residual) if jacobian else None)
    return Problem(lambda t, y: np.array([-y[0], -2.0 * y[1]]), t0, [1.0, 1.0], implicit=implicit, **options)


@with_and_without
@pytest.mark.parametrize("t0", [0.0, -2.0, 1e6])
@pytest.mark.parametrize("length", [0.1, math.pi, -0.7])
def test_decay_ends_where_it_should(jacobian: bool, t0: float, length: float) -> None:
    """To more digits than single precision has, wherever time begins and whichever way it runs."""
    t = t0 + length * np.linspace(0.0, 1.0, 7)
    solution = solve(decay(jacobian, t0), t[-1], "ida", 1e-12, t_eval=t)
    expected = np.exp(t0 - t)
    assert solution.t_end == t[-1]
    assert np.allclose(solution.y, np.column_stack([expected, expected**2]), rtol=2e-9)


@with_and_without
def test_errors_fall_with_the_tolerance(jacobian: bool) -> None:
    tolerances = [1e-4, 1e-6, 1e-8, 1e-10]
    ends = [solve(decay(jacobian), 3.0, "ida", tolerance).y_end for tolerance in tolerances]
    errors = [np.abs(end - np.exp([-3.0, -6.0])).max() for end in ends]
    slopes = -np.diff(np.log10(errors)) / 2.0
    assert (slopes > 0.4).all()
    assert all(error < 100.0 * tolerance for error, tolerance in zip(errors, tolerances, strict=True))


def test_explicit_problems_are_implicit_ones() -> None:
    def jacobian(t: float, y: np.ndarray) -> np.ndarray:
        return np.array([[0.0, 1.0], [-1.0, 0.0]])

    for options in ({}, {"jacobian": jacobian}):
        solution = solve(oscillator(**options), 10.0, "ida", 1e-10)
        assert np.allclose(solution.y_end, [math.cos(10.0), -math.sin(10.0)], atol=2e-7)
        assert 0 < solution.statistics.jacobian_evaluations < solution.statistics.steps


@with_and_without
def test_robertson(jacobian: bool) -> None:
    """Published at the end, SciPy's Radau on the explicit equations in between."""
    late = solve(robertson(jacobian), 1e11, "ida", 1e-8, 1e-14).y_end
    assert np.allclose(late, [2.083340149701255e-08, 8.333360770334713e-14, 0.9999999791665050], rtol=3e-5, atol=0.0)

    def explicit(t: float, y: np.ndarray) -> np.ndarray:
        first, last = -0.04 * y[0] + 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
        return np.array([first, -first - last, last])

    expected = solve(Problem(explicit, 0.0, [1.0, 0.0, 0.0]), 40.0, "Radau", 1e-10, 1e-14).y_end
    assert np.allclose(solve(robertson(jacobian), 40.0, "ida", 1e-8, 1e-14).y_end, expected, rtol=1e-6)


@with_and_without
def test_pendulum_of_index_1_and_3_is_that_of_its_angle(jacobian: bool) -> None:
    swing = Problem(lambda t, y: np.array([y[1], -9.81 * np.sin(y[0])]), 0.0, [math.asin(0.6), 0.0])
    angle = solve(swing, 2.0, "DOP853", 1e-12).y_end[0]
    place = [math.sin(angle), -math.cos(angle)]
    system = pendulum(x=0.6)
    for problem, error in ((system.index_1(jacobian), 1e-6), (system.index_3(jacobian), 1e-3)):
        y = solve(problem, 2.0, "ida", 1e-8).y_end
        assert np.abs(y[:2] - place).max() < error
        assert abs(np.linalg.norm(y[:2]) - 1.0) < 1e-7
    assert abs(y[4] - system.accelerations(2.0, y[:2], y[2:4])[1][0]) < 1e-2  # the multiplier of index 3


def test_there_and_back_again() -> None:
    there = solve(pendulum(x=0.6).index_1(), 1.0, "ida", 1e-10).y_end
    turned = pendulum(x=0.6)
    turned.q, turned.v = there[:2], there[2:4]
    back = solve(turned.index_1(), -1.0, "ida", 1e-10).y_end
    assert np.allclose(back[:4], [0.6, -0.8, 0.0, 0.0], atol=1e-6)


def test_events_and_restarts_of_an_implicit_problem() -> None:
    """A pendulum that loses half its speed at the lowest point; y' is asked at the start and there only."""
    problem = pendulum(x=0.6).index_1()
    asked = []

    def derivative(t: float, y: np.ndarray) -> np.ndarray:
        asked.append(t)
        return problem.derivative(t, y)

    def slower(t: float, y: np.ndarray, crossings: np.ndarray) -> Restart:
        return Restart(np.concatenate([y[:2], y[2:4] / 2.0, y[4:]]))

    braked = Problem(
        derivative, 0.0, problem.y0, implicit=problem.implicit, events=[lambda t, y: y[0]], on_event=slower
    )
    solution = solve(braked, 4.0, "ida", 1e-10)
    assert asked == [0.0, *(event.t for event in solution.events)]
    assert len(asked) > 3
    fastest = math.sqrt(2.0 * 9.81 * 0.2)
    for turn, event in enumerate(solution.events):
        assert abs(event.y_before[0]) < 1e-9
        assert math.isclose(abs(event.y_before[2]), fastest / 2.0**turn, rel_tol=1e-6)


def test_equations_are_chosen_again_where_steps_lead_nowhere(monkeypatch) -> None:
    """As after a failed step; here no change of the state counts as one."""
    monkeypatch.setattr(method, "UNSEEN", math.inf)
    problem, asked = decay(), []

    def renew(t: float, y: np.ndarray, failed: bool) -> np.ndarray | None:
        asked.extend([t] if failed else [])
        return y if failed else None

    implicit = Implicit(problem.implicit.residual, problem.implicit.jacobian, renew=renew)
    solution = solve(Problem(problem.derivative, 0.0, problem.y0, implicit=implicit), 3.0, "ida", 1e-10)
    assert 0 < len(asked) == solution.statistics.restarts
    assert np.allclose(solution.y_end, np.exp([-3.0, -6.0]), atol=1e-8)
