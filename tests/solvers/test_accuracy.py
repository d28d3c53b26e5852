"""Every solver against exact solutions: orders, tolerances, output times, stiffness."""

import math

import numpy as np
import pytest
import scipy.integrate

from linkwork.solvers import Problem, Solver, Status, solve, solver_names
from linkwork.solvers.base import Options
from linkwork.solvers.registry import create
from support.problems import SOLVERS, every_solver, oscillator, swinging

STIFF = ("auto", "rodas5p", "Radau", "BDF", "LSODA", "ida")
# of the method, of its dense output
ORDERS = {"auto": (5, 4), "dopri5": (5, 4), "dop853": (8, 7), "rodas5p": (5, 4), "RK23": (3, 3), "RK45": (5, 4)}
ORDERS["DOP853"] = ORDERS["dop853"]


def slope(errors: list[float]) -> float:
    return math.log2(errors[0] / errors[1])


def test_the_list_of_solvers_is_complete() -> None:
    assert solver_names() == SOLVERS


@pytest.mark.parametrize("solver", ORDERS)
def test_measured_order_of_the_method(solver: str) -> None:
    def error(h: float) -> float:
        solution = solve(swinging(), 4.0, solver, rtol=1e6, atol=1e6, first_step=h, max_step=h)
        assert solution.statistics.steps == round(4.0 / h)
        return abs(solution.y_end[0] - math.exp(math.sin(4.0)))

    h = 0.5 if ORDERS[solver] == (8, 7) else 0.0625
    order = slope([error(h), error(h / 2)])
    assert abs(order - ORDERS[solver][0]) < 0.7


@pytest.mark.parametrize("solver", ORDERS)
def test_measured_order_of_the_dense_output(solver: str) -> None:
    def error(h: float) -> float:
        times = h * np.linspace(0.05, 0.95, 19)
        solution = solve(swinging(), h, solver, rtol=1e6, atol=1e6, first_step=h, t_eval=times)
        return np.abs(solution.y[:, 0] - np.exp(np.sin(times))).max()

    h = 0.5 if ORDERS[solver] == (8, 7) else 0.1
    assert slope([error(h), error(h / 2)]) > ORDERS[solver][1] + 0.6  # the local error is one order smaller


@every_solver
def test_error_is_in_proportion_to_the_tolerance(solver: str) -> None:
    tolerances = [1e-4, 1e-6, 1e-8]
    ends = [solve(oscillator(), 10.0, solver, rtol).y_end for rtol in tolerances]
    errors = [np.abs(end - [math.cos(10.0), -math.sin(10.0)]).max() for end in ends]
    assert all(error < 500 * rtol for error, rtol in zip(errors, tolerances, strict=True))
    assert errors[2] < errors[1] < errors[0]


@every_solver
@pytest.mark.parametrize("t_end", [2.0 * math.sqrt(2.0), -math.pi])
def test_both_directions_of_time_end_exactly(solver: str, t_end: float) -> None:
    solution = solve(oscillator(), t_end, solver, 1e-9)
    assert solution.status is Status.FINISHED
    assert solution.t_end == solution.t[-1] == t_end
    assert (np.diff(solution.t) * np.sign(t_end) > 0.0).all()
    assert np.allclose(solution.y_end, [math.cos(t_end), -math.sin(t_end)], atol=3e-7)
    assert np.array_equal(solution.y_end, solution.y[-1])


@every_solver
def test_output_times_do_not_change_the_steps(solver: str) -> None:
    times = np.linspace(0.0, 10.0, 101)
    free = solve(oscillator(), 10.0, solver, 1e-8)
    solution = solve(oscillator(), 10.0, solver, 1e-8, t_eval=times)
    assert np.array_equal(solution.t, times)
    assert np.array_equal(solution.y[-1], free.y[-1])
    assert solution.statistics.steps == free.statistics.steps
    assert np.allclose(solution.y[:, 0], np.cos(times), atol=2e-6)


@pytest.mark.parametrize("solver", ["RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA"])
def test_a_plain_run_is_scipys(solver: str) -> None:
    problem = swinging()
    expected = scipy.integrate.solve_ivp(problem.derivative, (0.0, 3.0), problem.y0, solver, rtol=1e-7, atol=1e-9)
    solution = solve(problem, 3.0, solver, 1e-7, 1e-9)
    assert np.array_equal(solution.t, expected.t)
    assert np.array_equal(solution.y, expected.y.T)


@pytest.mark.parametrize("solver", STIFF)
@pytest.mark.parametrize("with_jacobian", [False, True])
def test_a_stiff_problem_takes_few_steps(solver: str, with_jacobian: bool) -> None:
    """Van der Pol with mu = 1000 over one fast change."""
    mu = 1000.0

    def derivative(t: float, y: np.ndarray) -> np.ndarray:
        return np.array([y[1], mu * (1.0 - y[0] ** 2) * y[1] - y[0]])

    def jacobian(t: float, y: np.ndarray) -> np.ndarray:
        return np.array([[0.0, 1.0], [-2.0 * mu * y[0] * y[1] - 1.0, mu * (1.0 - y[0] ** 2)]])

    problem = Problem(derivative, 0.0, [2.0, 0.0], jacobian=jacobian if with_jacobian else None)
    solution = solve(problem, 2000.0, solver, 1e-7, 1e-7, max_steps=20000)
    assert abs(solution.y_end[0] - 1.7061677321) < 2e-3
    assert solution.statistics.steps < 3000
    assert (solution.statistics.rejected is None) == (solver not in ("auto", "rodas5p"))
    assert solution.statistics.jacobian_evaluations > 0


@every_solver
def test_dense_output_ends_at_the_state_itself(solver: str) -> None:
    method: Solver = create(solver, oscillator(), 1.0, Options())
    method.start(0.0, np.array([1.0, 0.0]))
    while method.t != 1.0:
        assert method.step() is None
        assert np.array_equal(method.dense(np.array([method.t]))[0], method.y)
