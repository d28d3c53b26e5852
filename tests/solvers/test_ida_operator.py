"""IDA with the Newton matrix as an operator, through each of its backends."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
import scipy.linalg

from linkwork.errors import SolverError
from linkwork.solvers import Implicit, Problem, solve
from support.dae_problems import complex_step, pendulum

pytestmark = pytest.mark.usefixtures("backend")


@dataclass
class DenseOperator:
    """A Newton matrix by LU, and dF/dy' from two of them."""

    jacobian: Callable
    calls: dict[str, int] = field(default_factory=lambda: {"factor": 0, "solve": 0, "rate_times": 0})

    def factor(self, t: float, y: np.ndarray, ydot: np.ndarray, cj: float) -> None:
        self.calls["factor"] += 1
        matrix = self.jacobian(t, y, ydot, cj)
        if not np.linalg.det(matrix):
            raise np.linalg.LinAlgError("no inverse")
        self.lu = scipy.linalg.lu_factor(matrix)
        self.rates = self.jacobian(t, y, ydot, 1.0) - self.jacobian(t, y, ydot, 0.0)

    def solve(self, b: np.ndarray) -> np.ndarray:
        self.calls["solve"] += 1
        return scipy.linalg.lu_solve(self.lu, b)

    def rate_times(self, v: np.ndarray) -> np.ndarray:
        self.calls["rate_times"] += 1
        return self.rates @ v


class Rod:
    """Heat in a rod of n points, cold at both ends: y' = n^2 (second difference of y)."""

    def __init__(self, n: int) -> None:
        self.n = n

    def residual(self, t: float, y: np.ndarray, ydot: np.ndarray) -> np.ndarray:
        return ydot - self.n**2 * np.diff(y, 2, prepend=0.0, append=0.0)

    def factor(self, t: float, y: np.ndarray, ydot: np.ndarray, cj: float) -> None:
        self.bands = np.full((3, self.n), -float(self.n**2))
        self.bands[1] = cj + 2.0 * self.n**2

    def solve(self, b: np.ndarray) -> np.ndarray:
        return scipy.linalg.solve_banded((1, 1), self.bands, b)

    def rate_times(self, v: np.ndarray) -> np.ndarray:
        return v


def with_operator(problem: Problem) -> tuple[Problem, DenseOperator]:
    operator = DenseOperator(complex_step(problem.implicit.residual))
    implicit = Implicit(problem.implicit.residual, operator=operator, algebraic=problem.implicit.algebraic)
    return Problem(problem.derivative, 0.0, problem.y0, implicit=implicit), operator


@pytest.mark.parametrize("t_end", [1.0, -1.0])
def test_an_operator_serves_like_a_matrix(t_end: float) -> None:
    problem = pendulum(x=0.6).index_1()
    served, operator = with_operator(problem)
    expected, found = (solve(p, t_end, "ida", 1e-9) for p in (problem, served))
    assert np.abs(found.y_end - expected.y_end).max() < 1e-6
    assert found.statistics.jacobian_evaluations + 1 >= operator.calls["factor"] > 0
    assert found.statistics.evaluations < 3 * expected.statistics.evaluations
    assert operator.calls["solve"] < 3 * found.statistics.evaluations


def test_algebraic_states_with_an_operator() -> None:
    problem = pendulum(x=0.6).index_3()
    expected, found = (solve(p, 1.0, "ida", 1e-8).y_end for p in (problem, with_operator(problem)[0]))
    assert np.abs(found[:2] - expected[:2]).max() < 1e-3


def test_many_states_with_a_banded_operator() -> None:
    """Its slowest mode decays by the eigenvalue of the second difference."""
    n = 1500
    rod, place = Rod(n), np.arange(1, n + 1) * math.pi / (n + 1)
    rate = -4.0 * n**2 * math.sin(math.pi / (2 * (n + 1))) ** 2
    y0 = np.sin(place)
    problem = Problem(lambda t, y: rate * y, 0.0, y0, implicit=Implicit(rod.residual, operator=rod))
    solution = solve(problem, 0.2, "ida", 1e-6)
    assert np.abs(solution.y_end - math.exp(0.2 * rate) * y0).max() < 1e-5
    assert solution.statistics.steps < 300
    assert solution.statistics.evaluations < 4 * solution.statistics.steps


def test_a_singular_operator_at_the_start() -> None:
    problem = Problem(
        lambda t, y: -y, 0.0, [1.0, 1.0], implicit=Implicit(lambda t, y, ydot: np.full(2, ydot[0] + y[0]))
    )
    with pytest.raises(SolverError, match=r"singular there.*the operator reports: no inverse"):
        solve(with_operator(problem)[0], 1.0, "ida")


def test_an_operator_that_becomes_singular() -> None:
    served, operator = with_operator(pendulum(x=0.6).index_1())
    factor = operator.factor

    def until(t: float, y: np.ndarray, ydot: np.ndarray, cj: float) -> None:
        factor(t, y, ydot, cj)
        if t > 0.5:
            raise np.linalg.LinAlgError("no inverse there")

    operator.factor = until
    with pytest.raises(SolverError, match="the operator reports: no inverse there") as caught:
        solve(served, 1.0, "ida", 1e-6)
    assert 0.4 < caught.value.result.t_end <= 0.51


@pytest.mark.parametrize("name", ["factor", "solve", "rate_times"])
def test_what_an_operator_raises_arrives_unchanged(name: str) -> None:
    served, operator = with_operator(pendulum(x=0.6).index_1())
    mine, inner, count = KeyError("mine"), getattr(operator, name), [0]

    def late(*arguments: object) -> object:
        count[0] += 1
        if count[0] > 5:
            raise mine
        return inner(*arguments)

    setattr(operator, name, late)
    with pytest.raises(KeyError) as caught:
        solve(served, 1.0, "ida", 1e-6)
    assert caught.value is mine
    assert caught.value.result.t_end > 0.0
