"""Every solver's hooks, limits, failures and checks of its arguments."""

import math
import threading

import numpy as np
import pytest

from linkwork.errors import SolverError
from linkwork.solvers import Problem, Restart, Solution, Status, Terminate, solve
from support.problems import ball, clock, every_solver, oscillator, swinging

COUNTS_REJECTED = ("auto", "dopri5", "rodas5p", "RK23", "RK45", "DOP853")

# ---- hooks and limits ----


@every_solver
def test_every_step_is_shown_and_may_end_the_run(solver: str) -> None:
    seen: list[float] = []
    full = solve(ball(on_step=lambda t, y: seen.append(t)), 1.0, solver)
    assert seen == list(dict.fromkeys(full.t[1:].tolist()))
    problem = oscillator(on_step=lambda t, y: Terminate() if t > 1.0 else None)
    solution = solve(problem, 10.0, solver)
    assert solution.status is Status.TERMINATED
    assert 1.0 < solution.t_end < 10.0


@every_solver
def test_statistics_count_the_calls(solver: str) -> None:
    calls = {"derivative": 0, "events": 0}
    inner = ball()

    def derivative(t: float, y: np.ndarray) -> np.ndarray:
        calls["derivative"] += 1
        return inner.derivative(t, y)

    def floor(t: float, y: np.ndarray) -> float:
        calls["events"] += 1
        return y[0]

    problem = Problem(derivative, 0.0, inner.y0, events=[floor], directions=[-1], on_event=inner.on_event)
    statistics = solve(problem, 2.0, solver).statistics
    assert statistics.evaluations == calls["derivative"]
    assert statistics.event_evaluations == calls["events"]
    assert statistics.steps > 3


@pytest.mark.parametrize("solver", COUNTS_REJECTED)
def test_rejected_steps_are_counted(solver: str) -> None:
    pulse = Problem(lambda t, y: np.array([math.exp(-1e4 * (t - 0.5) ** 2)]), 0.0, [0.0])
    assert solve(pulse, 1.0, solver, 1e-6, 1e-6, max_step=0.05).statistics.rejected > 0


@every_solver
def test_limit_of_steps(solver: str) -> None:
    with pytest.raises(SolverError, match="raise it") as caught:
        solve(oscillator(), 100.0, solver, max_steps=7)
    statistics = caught.value.result.statistics
    assert statistics.steps + (statistics.rejected or 0) == 7
    assert len(caught.value.result.t) == statistics.steps + 1


@every_solver
def test_longest_and_first_step(solver: str) -> None:
    solution = solve(Problem(lambda t, y: np.zeros(1), 0.0, [1.0]), 1.0, solver, max_step=0.1, first_step=0.01)
    steps = np.diff(solution.t)
    assert steps.max() <= 0.1 * (1.0 + 1e-9)
    assert steps[0] <= 0.01


@every_solver
def test_a_run_of_no_length_or_of_a_crumb(solver: str) -> None:
    problem = Problem(lambda t, y: -y, 1.0, [2.0])
    nothing = solve(problem, 1.0, solver, t_eval=[1.0])
    assert nothing.t.tolist() == [1.0]
    assert nothing.y.tolist() == [[2.0]]
    is_remainder = math.nextafter(math.nextafter(1.0, 2.0), 2.0)
    assert solve(problem, is_remainder, solver).t_end == is_remainder


@every_solver
def test_a_problem_without_states_has_events(solver: str) -> None:
    problem = Problem(lambda t, y: np.empty(0), 0.0, [], events=[lambda t, y: t - 0.3])
    solution = solve(problem, 1.0, solver, t_eval=[0.0, 0.5, 1.0])
    assert solution.y.shape == (3, 0)
    assert [round(event.t, 12) for event in solution.events] == [0.3]


@every_solver
def test_callbacks_may_keep_and_change_what_they_are_given(solver: str) -> None:
    def derivative(t: float, y: np.ndarray) -> np.ndarray:
        y *= -1.0
        return y

    def spoil(t: float, y: np.ndarray) -> None:
        y[:] = math.nan

    solution = solve(Problem(derivative, 0.0, [1.0], on_step=spoil), 1.0, solver)
    assert math.isclose(solution.y_end[0], math.exp(-1.0), rel_tol=1e-6)


@every_solver
def test_runs_in_threads_do_not_meet(solver: str) -> None:
    expected = solve(oscillator(), 3.0, solver).y
    found: list[np.ndarray] = []
    threads = [threading.Thread(target=lambda: found.append(solve(oscillator(), 3.0, solver).y)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(np.array_equal(y, expected) for y in found)


# ---- failures ----


@pytest.mark.thin(12, kept=3)
@every_solver
@pytest.mark.parametrize("error", [RuntimeError("mine"), KeyboardInterrupt(), ValueError("also mine")])
@pytest.mark.parametrize("place", ["derivative", "events", "on_event", "on_step"])
def test_what_a_callback_raises_arrives_unchanged(solver: str, error: BaseException, place: str) -> None:
    def late(t: float, y: np.ndarray, *rest: object) -> np.ndarray:
        if t > 0.5:
            raise error
        return -y

    functions = {"derivative": lambda t, y: -y, "events": [lambda t, y: 0.6 - t]}
    functions[place] = late
    if place == "events":
        functions["events"] = [lambda t, y: late(t, y)[0]]
    problem = Problem(t0=0.0, y0=[1.0], **functions)
    error.__dict__.clear()
    with pytest.raises(type(error)) as caught:
        solve(problem, 1.0, solver)
    assert caught.value is error
    assert caught.value.__cause__ is None
    solution: Solution = caught.value.result
    assert solution.status is Status.FAILED
    assert 0.0 < solution.t_end < 0.8
    assert np.allclose(solution.y[:, 0], np.exp(-solution.t), atol=1e-6)
    assert "stopped at t =" in caught.value.__notes__[-1]


@every_solver
def test_an_exception_of_the_jacobian_arrives_unchanged(solver: str) -> None:
    def jacobian(t: float, y: np.ndarray) -> np.ndarray:
        raise ZeroDivisionError("mine")

    problem = swinging(jacobian=jacobian)
    if solver not in (
        "rodas5p",
        "Radau",
        "BDF",
        "ida",
    ):  # the explicit ones never ask, LSODA only where the problem is stiff
        assert solve(problem, 1.0, solver).status is Status.FINISHED
        return
    with pytest.raises(ZeroDivisionError, match="mine"):
        solve(problem, 1.0, solver)


@every_solver
def test_a_start_that_is_not_finite(solver: str) -> None:
    with pytest.raises(SolverError, match=r"at t = 0.*check the start values"):
        solve(Problem(lambda t, y: -y, 0.0, [math.nan]), 1.0, solver)
    with pytest.raises(SolverError, match=r"at t = 0.*check the start values"):
        solve(Problem(lambda t, y: y / 0.0 if t else y * math.inf, 0.0, [1.0]), 1.0, solver)
    if solver not in ("auto", "dopri5", "rodas5p"):
        return
    with pytest.raises(SolverError, match="event indicator is not finite"):
        solve(clock([lambda t, y: math.nan]), 1.0, solver)


@pytest.mark.thin(12, kept=3)
@every_solver
@pytest.mark.filterwarnings("ignore:lsoda:UserWarning", "ignore:overflow:RuntimeWarning")
def test_a_solution_that_blows_up_keeps_what_came_before(solver: str) -> None:
    with pytest.raises(SolverError, match="relax rtol and atol") as caught:
        solve(Problem(lambda t, y: y**2, 0.0, [1.0]), 2.0, solver, 1e-8, max_steps=50000)
    solution = caught.value.result
    assert caught.value.result is solution
    assert math.isclose(solution.t_end, 1.0, rel_tol=1e-5)
    before = solution.t < 0.99
    assert np.allclose(solution.y[before, 0], 1.0 / (1.0 - solution.t[before]), rtol=1e-3)


@pytest.mark.parametrize("solver", ["dopri5", "rodas5p", "RK23", "RK45", "DOP853", "Radau", "ida"])
def test_a_derivative_that_ends_shortens_the_steps(solver: str) -> None:
    def derivative(t: float, y: np.ndarray) -> np.ndarray:
        return np.array([math.nan if t > 1.0 else 1.0])

    with pytest.raises(SolverError, match="domain of the derivative") as caught:
        solve(Problem(derivative, 0.0, [0.0]), 2.0, solver)
    assert math.isclose(caught.value.result.t_end, 1.0, rel_tol=1e-9)


# ---- arguments ----


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"solver": "dopri6"}, "did you mean 'dopri5'"),
        ({"solver": "lsoda"}, "did you mean 'LSODA'"),
        ({"solver": "qqq"}, "known are 'auto', 'dopri5', 'dop853', 'rodas5p'"),
        ({"rtol": 0.0}, "rtol"),
        ({"rtol": math.nan}, "rtol"),
        ({"atol": 0.0}, "atol"),
        ({"atol": -1.0}, "atol"),
        ({"max_step": 0.0}, "max_step"),
        ({"first_step": -1.0}, "first_step"),
        ({"max_steps": 0}, "max_steps"),
        ({"t_end": math.inf}, "finite times"),
        ({"t_eval": [0.0, 1.5]}, "t_eval contains 1.5"),
        ({"t_eval": [0.5, 0.2]}, "increasing"),
        ({"t_eval": [0.2, 0.2]}, "increasing"),
        ({"t_eval": [-0.1, -0.2], "t_end": -1.0}, None),
        ({"t_eval": [-0.2, -0.1], "t_end": -1.0}, "decreasing"),
        ({"t_eval": [[0.1]]}, "vector"),
        ({"t_eval": "a"}, "t_eval must be times such as .* not 'a'"),
        ({"t_eval": [[0.1, 0.2], [0.3]]}, "t_eval must be times"),
        ({"t_eval": [0.1, None]}, "t_eval must be times"),
        ({"rtol": "1e-8"}, "rtol must be a number, not '1e-8'"),
        ({"rtol": True}, "rtol must be a number, not True"),
        ({"atol": [1e-8]}, r"atol must be a number, not \[1e-08\]"),
        ({"max_step": "x"}, "max_step must be a number, not 'x'"),
        ({"first_step": 1j}, "first_step must be a number, not 1j"),
        ({"max_steps": "many"}, "max_steps must be a number, not 'many'"),
        ({"max_steps": 1.5}, "max_steps = 1.5; give a whole number"),
        ({"max_events": "few"}, "max_events must be a number, not 'few'"),
        ({"t_end": "1"}, "t_end must be a number, not '1'"),
        ({"solver": ["dopri5"]}, r"there is no solver \['dopri5'\]"),
        ({"t_eval": [math.nan]}, "finite"),
    ],
)
def test_arguments_are_checked(arguments: dict, message: str | None) -> None:
    arguments = {"t_end": 1.0} | arguments
    if message is None:
        assert solve(oscillator(), **arguments).t.tolist() == arguments["t_eval"]
        return
    with pytest.raises(SolverError, match=message):
        solve(oscillator(), **arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"derivative": lambda t, y: np.ones(3)}, "the derivative has shape"),
        ({"y0": np.ones((2, 2))}, "y0 has shape"),
        ({"directions": [1, 1]}, "directions"),
        ({"directions": [2]}, "directions"),
        ({"events": lambda t, y: np.ones(1 if t < 0.5 else 2)}, "events returned 2 indicators"),
        ({"on_event": lambda t, y, crossings: y}, "on_event returned"),
        ({"on_event": lambda t, y, crossings: Restart([1.0])}, "shape"),
    ],
)
@pytest.mark.parametrize("solver", ["dopri5", "RK45"])
def test_problems_are_checked(solver: str, options: dict, message: str) -> None:
    good = {"derivative": lambda t, y: np.ones(2), "t0": 0.0, "y0": [0.0, 0.0], "events": [lambda t, y: t - 0.7]}
    with pytest.raises(SolverError, match=message):
        solve(Problem(**(good | options)), 1.0, solver)


# ---- runs without hope ----


@pytest.mark.parametrize("solver", ["auto", "dopri5"])
def test_a_run_without_hope_ends_early(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An oscillation of 1e9 rad/s over an hour: some 1e13 steps."""
    monkeypatch.setattr("linkwork.solvers.driver.FIRST_LOOK", 10_000)
    fast = Problem(lambda t, y: np.array([1e9 * y[1], -1e9 * y[0]]), 0.0, [1.0, 0.0])
    with pytest.raises(SolverError, match=r"would be used up long before the end.*after 1\d{4} steps") as caught:
        solve(fast, 3600.0, solver, 1e-3, max_steps=200_000)
    assert caught.value.result.statistics.steps < 11_000


def test_a_run_late_in_time_has_as_much_hope_as_an_early_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("linkwork.solvers.driver.FIRST_LOOK", 10)
    late = Problem(lambda t, y: np.ones(1), 1e6, [0.0])
    assert solve(late, 1e6 + 1.0, "RK45", 1e-6, max_step=0.01, max_steps=200).t_end == 1e6 + 1.0


def test_a_slow_start_is_no_reason_to_give_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The speed is that since the last look; a run that has hope, or no limit, goes on."""
    monkeypatch.setattr("linkwork.solvers.driver.FIRST_LOOK", 100)
    fast_then_slow = Problem(lambda t, y: np.array([1.0]) * (math.cos(1e3 * t) if t < 1.0 else 0.0), 0.0, [0.0])
    assert solve(fast_then_slow, 1e4, "dopri5", 1e-6, max_steps=1_000_000).t_end == 1e4
    with pytest.raises(SolverError, match="long before the end"):
        solve(fast_then_slow, 1e6, "dopri5", 1e-6, max_steps=10_000)
    assert solve(fast_then_slow, 1e6, "dopri5", 1e-6, max_steps=None).t_end == 1e6
