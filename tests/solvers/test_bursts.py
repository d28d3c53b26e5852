"""Batches of steps give the results of single steps, with every solver."""

import numpy as np
import pytest

from linkwork.errors import SolverError
from linkwork.solvers import Continue, Problem, Restart, Solution, driver, solve
from linkwork.solvers.base import Options
from linkwork.solvers.output import FIRST_CAPACITY, Output
from linkwork.solvers.registry import create
from support.problems import ball, every_solver, oscillator


def everything(solution: Solution) -> tuple:
    events = [(e.t, e.indices, e.directions, e.y_before.tolist(), e.y_after.tolist()) for e in solution.events]
    ends = solution.t_end, solution.y_end.tolist(), solution.statistics, solution.status, solution.message
    return solution.t.tolist(), solution.y.tolist(), events, ends


@every_solver
@pytest.mark.parametrize("t_end", [4.0, -4.0])
@pytest.mark.parametrize("rows", [None, 7, 501])
@pytest.mark.thin(12, kept=3)
def test_the_length_of_bursts_changes_nothing(
    solver: str, t_end: float, rows: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = None if rows is None else np.linspace(0.0, t_end, rows)

    def bounce(t: float, y: np.ndarray, crossings: np.ndarray) -> Restart | Continue:
        return Restart([0.0, -0.8 * y[1]]) if crossings[0] else Continue()

    def run(burst: int, **options) -> tuple:
        monkeypatch.setattr(driver, "BATCH", burst)
        problem = ball(events=lambda t, y: y, directions=[-1, 0], on_event=bounce, **options)
        return everything(solve(problem, t_end, solver, 1e-7, t_eval=times, max_step=0.05))

    single = run(1)
    assert single[3][2].events > single[3][2].restarts > 3
    assert run(7) == run(5000) == single
    assert run(5000, on_step=lambda t, y: None) == single


@every_solver
def test_a_run_of_one_try_is_a_step(solver: str) -> None:
    problem, times = oscillator(events=lambda t, y: y[:1]), np.linspace(0.1, 5.0, 83)
    single, every, some = (create(solver, problem, 5.0, Options()) for _ in range(3))
    rows, wanted = (Output(2, given, False, np.empty(0)) for given in (None, times))
    for method in (single, every, some):
        method.start(0.0, np.array([1.0, 0.0]))
    while single.t != 5.0:
        first, crossings = wanted.count, single.step()
        found = [every.run(rows, 1), some.run(wanted, 1)]
        assert [None if f is None else f.tolist() for f in found] == [None if crossings is None else [*crossings]] * 2
        assert rows.t[rows.count - 1] == every.t == some.t == single.t
        assert np.array_equal(rows.y[rows.count - 1], single.y)
        passed = times[first : wanted.count]
        assert np.array_equal(wanted.y[first : wanted.count], single.dense(passed))
        assert wanted.complete or passed.size == 0 or passed[-1] <= single.t < times[wanted.count]
    assert wanted.complete
    assert every.statistics == single.statistics


@every_solver
@pytest.mark.parametrize("with_times", [False, True])
def test_a_failure_within_a_burst_keeps_the_rows_before(solver: str, with_times: bool) -> None:
    """Far enough for the output to have grown."""

    def derivative(t: float, y: np.ndarray) -> np.ndarray:
        if t > 9.0:
            raise RuntimeError("mine")
        return np.array([y[1], -y[0]])

    times = np.linspace(0.0, 10.0, 1001) if with_times else None
    with pytest.raises(RuntimeError, match="mine") as caught:
        solve(Problem(derivative, 0.0, [1.0, 0.0]), 10.0, solver, 1e-7, t_eval=times, max_step=0.01)
    solution: Solution = caught.value.result
    assert 8.9 < solution.t_end <= 9.0
    assert solution.t_end - 0.01 < solution.t[-1] <= solution.t_end
    assert len(solution.t) > 3 * FIRST_CAPACITY
    assert np.allclose(solution.y[:, 0], np.cos(solution.t), atol=1e-4)
    if not with_times:
        assert len(solution.t) == solution.statistics.steps + 1


@every_solver
@pytest.mark.parametrize("with_times", [False, True])
def test_the_limit_of_steps_holds_beyond_a_burst(solver: str, with_times: bool) -> None:
    most = driver.BATCH + 3
    times = np.linspace(0.0, 10.0, 1001) if with_times else None
    with pytest.raises(SolverError, match="raise it") as caught:
        solve(oscillator(), 10.0, solver, 1e-6, t_eval=times, max_step=0.01, max_steps=most)
    solution = caught.value.result
    assert solution.statistics.steps == most
    assert solution.t_end - 0.01 < solution.t[-1] <= solution.t_end


def test_progress_tells_the_time_of_every_burst():
    told = []
    problem = Problem(lambda t, y: -y, t0=0.0, y0=[1.0], on_progress=told.append)
    solve(problem, 30.0, rtol=1e-13)
    assert told[-1] == 30.0
    assert told == sorted(told)
    assert 1 < len(told) < 100
