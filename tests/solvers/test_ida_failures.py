"""Problems that IDA cannot solve: one exception with place, cause and remedy, and the last good state."""

import math
import re

import numpy as np
import pytest

from linkwork.errors import SolverError
from linkwork.solvers import Implicit, Problem, Solution, Status, solve, solver_names
from linkwork.solvers.ida import backend_choice
from support.dae_problems import Constrained, complex_step, pendulum

WHERE = r"ida stopped at t = [-\d.e+]+, where the norm of the state is [\d.e+]+: "
every_backend = pytest.mark.usefixtures("backend")


def failing(problem: Problem, text: str, t_end: float = 1.0, tolerance: float = 1e-8) -> Solution:
    with pytest.raises(SolverError, match=WHERE + f".*{text}") as caught:
        solve(problem, t_end, "ida", tolerance)
    solution: Solution = caught.value.result
    assert caught.value.result is solution
    assert solution.status is Status.FAILED
    assert np.isfinite(solution.y_end).all()
    assert len(str(caught.value).splitlines()) == 1
    return solution


def mixed(residual_of_rest, derivative=lambda t, y: np.array([-y[0], 0.0]), y0=(1.0, 0.0), jacobian=True) -> Problem:
    """y0' = -y0 and one more equation."""

    def residual(t: float, y: np.ndarray, ydot: np.ndarray) -> np.ndarray:
        return np.array([ydot[0] + y[0], residual_of_rest(t, y, ydot)])

    implicit = Implicit(residual, complex_step(residual) if jacobian else None)
    return Problem(derivative, 0.0, np.array(y0), implicit=implicit)


# ---- start values ----


@every_backend
@pytest.mark.parametrize("jacobian", [True, False])
def test_an_algebraic_state_that_does_not_fit(jacobian: bool) -> None:
    problem = mixed(lambda t, y, ydot: y[1] - 2.0 * y[0] + 1.7, jacobian=jacobian)
    solution = failing(problem, r"consistent.*or relax rtol.*equation 1 has the largest residual, -0\.3")
    assert solution.t_end == 0.0
    assert solution.y_end.tolist() == [1.0, 0.0]


@every_backend
def test_a_rate_that_does_not_fit() -> None:
    """Also where the rates are zero, as if forgotten."""
    for rate in (-0.5, 0.0, 1.0):
        problem = mixed(lambda t, y, ydot: y[1], lambda t, y, rate=rate: np.array([rate, 0.0]))
        failing(problem, r"derivative and residual belong together.*equation 0 has")


@every_backend
def test_start_values_as_good_as_the_tolerance_will_do() -> None:
    for error in (3e-8, -3e-8):
        problem = mixed(lambda t, y, ydot: y[1] - y[0], lambda t, y: -y, (1.0, 1.0 + error))
        assert solve(problem, 1.0, "ida", 1e-8).status is Status.FINISHED


@every_backend
def test_a_hidden_constraint_that_is_not_met() -> None:
    """A pendulum of index 3 that starts along its rod."""
    system = pendulum(x=0.6)
    system.v = np.array([0.3, -0.4])
    failing(system.index_3(suppress_v=False), "hidden constraints.*reduce the index")
    failing(system.index_1(), "equation 5 has the largest residual, 0.5")


@every_backend
@pytest.mark.parametrize("place", ["residual", "derivative"])
def test_a_start_that_is_not_finite(place: str) -> None:
    functions = {"residual": lambda t, y, ydot: ydot + y, "derivative": lambda t, y: -y}
    functions[place] = lambda t, y, *rest: y * math.nan
    problem = Problem(functions["derivative"], 0.0, [1.0], implicit=Implicit(functions["residual"]))
    failing(problem, "not finite there; check the start values")


# ---- singular matrices ----


@every_backend
@pytest.mark.parametrize("jacobian", [True, False])
def test_an_equation_given_twice(jacobian: bool) -> None:
    problem = mixed(lambda t, y, ydot: 2.0 * (ydot[0] + y[0]), jacobian=jacobian)
    failing(problem, "singular.*drop or regularise redundant.*equations 0, 1 depend on one another, states 1 are left")


@every_backend
def test_a_constraint_given_twice() -> None:
    once = pendulum(x=0.6)
    twice = Constrained(
        once.mass,
        once.force,
        lambda t, q: np.tile(once.constraint(t, q), 2),
        lambda t, q, v: np.tile(once.rate(t, q, v), 2),
        lambda t, q: np.tile(once.gradient(t, q), (2, 1)),
        once.q,
        once.v,
    )
    twice.accelerations = lambda t, q, v: (
        once.accelerations(t, q, v)[0],
        np.repeat(once.accelerations(t, q, v)[1], 2) / 2,
    )
    failing(twice.index_1(), "singular.*depend on one another")


@every_backend
@pytest.mark.parametrize("jacobian", [True, False])
def test_a_matrix_that_becomes_singular(jacobian: bool) -> None:
    """The second equation loses its state at y0 = 0.5."""
    problem = mixed(lambda t, y, ydot: max((y[0] - 0.5).real, 0.0) * (y[1] - 1.0), y0=(1.0, 1.0), jacobian=jacobian)
    solution = failing(problem, "states 1 are left open", 2.0, 1e-6)
    assert 0.5 < solution.t_end < 2.0  # an old matrix may serve on


@every_backend
def test_a_jacobian_that_is_wrong() -> None:
    problem = mixed(lambda t, y, ydot: y[1] - y[0] ** 2, lambda t, y: np.array([-y[0], -2.0 * y[1]]), (1.0, 1.0))
    wrong = Implicit(problem.implicit.residual, lambda t, y, ydot, cj: -np.eye(2))
    failing(Problem(problem.derivative, 0.0, problem.y0, implicit=wrong), "check the jacobian")


# ---- functions of the problem ----


@every_backend
@pytest.mark.parametrize("place", ["residual", "jacobian", "events"])
@pytest.mark.parametrize("mine", [RuntimeError("mine"), KeyboardInterrupt(), MemoryError()])
def test_what_a_function_raises_arrives_unchanged(place: str, mine: BaseException) -> None:
    inner = pendulum(x=0.6).index_1()
    functions = {"residual": inner.implicit.residual, "jacobian": inner.implicit.jacobian, "events": lambda t, y: y[:1]}
    good = functions[place]

    def late(t: float, *rest: object) -> np.ndarray:
        if t > 0.5:
            raise mine
        return good(t, *rest)

    functions[place] = late
    implicit = Implicit(functions["residual"], functions["jacobian"])
    mine.__dict__.clear()
    with pytest.raises(type(mine)) as caught:
        solve(Problem(inner.derivative, 0.0, inner.y0, implicit=implicit, events=functions["events"]), 1.0, "ida", 1e-7)
    assert caught.value is mine
    assert 0.3 < caught.value.result.t_end <= (0.51 if place != "jacobian" else 1.0)
    assert "stopped at t =" in caught.value.__notes__[-1]


@every_backend
@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("jacobian", [True, False])
def test_a_residual_that_ends_shortens_the_steps(bad: float, jacobian: bool) -> None:
    def residual(t: float, y: np.ndarray, ydot: np.ndarray) -> np.ndarray:
        assert np.isfinite(y).all()  # nothing else ever reaches a problem
        return np.array([bad]) if t > 1.0 else ydot - 1.0

    implicit = Implicit(residual, (lambda t, y, ydot, cj: np.array([[cj]])) if jacobian else None)
    problem = Problem(lambda t, y: np.ones(1), 0.0, [0.0], implicit=implicit)
    solution = failing(problem, "domain of the derivative", 2.0)
    assert math.isclose(solution.t_end, 1.0, rel_tol=1e-9)
    assert np.allclose(solution.y[:, 0], solution.t)


@every_backend
def test_a_residual_with_a_gap_is_stepped_over_or_ends() -> None:
    """Not finite at a single evaluation: a shorter step does."""
    seen = []

    def residual(t: float, y: np.ndarray, ydot: np.ndarray) -> np.ndarray:
        seen.append(t)
        return np.array([math.nan]) if len(seen) == 50 else ydot + y

    problem = Problem(lambda t, y: -y, 0.0, [1.0], implicit=Implicit(residual, lambda t, y, ydot, cj: [[1.0 + cj]]))
    assert math.isclose(solve(problem, 1.0, "ida", 1e-8).y_end[0], math.exp(-1.0), rel_tol=1e-6)


@every_backend
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.full((2, 2), math.nan), "check the jacobian.*the Newton matrix is not finite"),
        (np.ones(3), r"the jacobian has shape \(3,\); 2 states need \(2, 2\)"),
    ],
)
def test_a_jacobian_that_makes_no_sense(bad: np.ndarray, message: str) -> None:
    problem = mixed(lambda t, y, ydot: y[1] - y[0] ** 2, lambda t, y: np.array([-y[0], -2.0 * y[1]]), (1.0, 1.0))
    implicit = Implicit(problem.implicit.residual, lambda t, y, ydot, cj: bad)
    with pytest.raises(SolverError, match=message) as caught:
        solve(Problem(problem.derivative, 0.0, problem.y0, implicit=implicit), 1.0, "ida")
    assert caught.value.result.t_end == 0.0


# ---- arguments ----


@every_backend
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"residual": lambda t, y, ydot: np.ones(3)}, r"the residual has shape \(3,\), the state \(2,\)"),
        ({"algebraic": np.array([True])}, "give 2 booleans"),
        ({"algebraic": np.array([0, 1])}, "give 2 booleans"),
        ({"algebraic": np.array([True, True])}, "leaves no state"),
    ],
)
def test_implicit_equations_are_checked(options: dict, message: str) -> None:
    implicit = Implicit(**({"residual": lambda t, y, ydot: ydot + y} | options))
    with pytest.raises(SolverError, match=message):
        solve(Problem(lambda t, y: -y, 0.0, [1.0, 1.0], implicit=implicit), 1.0, "ida")


@pytest.mark.parametrize("tolerance", ["rtol", "atol"])
def test_tolerances_of_zero_are_refused(tolerance: str) -> None:
    with pytest.raises(SolverError, match=tolerance):
        solve(pendulum().index_1(), 1.0, "ida", **{tolerance: 0.0})


@pytest.mark.parametrize("solver", [name for name in solver_names() if name != "ida"])
def test_solvers_of_explicit_equations_refuse_implicit_ones(solver: str) -> None:
    with pytest.raises(SolverError, match=rf"solver '{solver}' takes no implicit.*choose solver 'ida'"):
        solve(pendulum().index_1(), 1.0, solver)


def test_without_a_backend_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend_choice, "BACKENDS", {"no_such_module": "nowhere:Nothing"})
    with pytest.raises(SolverError) as caught:
        solve(pendulum().index_1(), 1.0, "ida")
    assert re.search(r"pip install scikit-sundae; .*libsundials-dev.*pip install 'linkwork\[dae\]'", str(caught.value))
    assert "\n" not in str(caught.value)


def test_the_second_backend_serves_where_the_first_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sksundae.ida")
    first, second = backend_choice.BACKENDS.items()
    monkeypatch.setattr(backend_choice, "BACKENDS", {"no_such_module": first[1], second[0]: second[1]})
    assert backend_choice.find_backend().__name__ == "SundaeIDA"
