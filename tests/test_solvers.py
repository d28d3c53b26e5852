"""Every solver against the one contract: exact solutions, events, limits, failures."""

import math
import threading
from collections.abc import Callable

import numpy as np
import pytest
import scipy.integrate

from linkwork.errors import SolverError
from linkwork.solvers import (
    Continue,
    Problem,
    Restart,
    Solution,
    Solver,
    Status,
    Terminate,
    driver,
    solve,
    solver_names,
)
from linkwork.solvers.base import Options
from linkwork.solvers.output import FIRST_ROOM, Output
from linkwork.solvers.registry import create

ALL = ("dopri5", "RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")
STIFF = ("Radau", "BDF", "LSODA")
COUNTS_REJECTED = ("dopri5", "RK23", "RK45", "DOP853")
ORDERS = {"dopri5": (5, 4), "RK23": (3, 3), "RK45": (5, 4), "DOP853": (8, 7)}  # of the method, of its dense output
G = 9.81

every_solver = pytest.mark.parametrize("solver", ALL)


def oscillator(**options) -> Problem:
    """y = (cos t, -sin t)."""
    return Problem(lambda t, y: np.array([y[1], -y[0]]), 0.0, np.array([1.0, 0.0]), **options)


def swinging(**options) -> Problem:
    """y = exp(sin t), nonlinear in t."""
    return Problem(lambda t, y: y * math.cos(t), 0.0, np.array([1.0]), **options)


def ball(restitution: float = 0.8, **options) -> Problem:
    """A ball dropped from 1 m; its only event is the floor, from above."""

    def bounce(t: float, y: np.ndarray, crossings: np.ndarray) -> Restart:
        return Restart([0.0, -restitution * y[1]])

    arguments = {"events": [lambda t, y: y[0]], "directions": [-1], "on_event": bounce} | options
    return Problem(lambda t, y: np.array([y[1], -G]), 0.0, np.array([1.0, 0.0]), **arguments)


def clock(events: Callable | list, **options) -> Problem:
    """y = t: events at given times."""
    return Problem(lambda t, y: np.ones(1), 0.0, np.zeros(1), events=events, **options)


def slope(errors: list[float]) -> float:
    return math.log2(errors[0] / errors[1])


def test_the_list_of_this_file_is_complete() -> None:
    assert solver_names() == ALL


# ---- accuracy ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ORDERS)
def test_measured_order_of_the_method(solver: str) -> None:
    def error(h: float) -> float:
        solution = solve(swinging(), 4.0, solver, rtol=1e6, atol=1e6, first_step=h, max_step=h)
        assert solution.statistics.steps == round(4.0 / h)
        return abs(solution.y_end[0] - math.exp(math.sin(4.0)))

    h = 0.5 if solver == "DOP853" else 0.0625
    order = slope([error(h), error(h / 2)])
    assert abs(order - ORDERS[solver][0]) < 0.7


@pytest.mark.parametrize("solver", ORDERS)
def test_measured_order_of_the_dense_output(solver: str) -> None:
    def error(h: float) -> float:
        times = h * np.linspace(0.05, 0.95, 19)
        solution = solve(swinging(), h, solver, rtol=1e6, atol=1e6, first_step=h, t_eval=times)
        return np.abs(solution.y[:, 0] - np.exp(np.sin(times))).max()

    h = 0.5 if solver == "DOP853" else 0.1
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
    assert solution.statistics.rejected is None
    assert solution.statistics.jacobian_evaluations > 0


# ---- events ------------------------------------------------------------------------------------------


@every_solver
def test_bouncing_ball_against_the_closed_form(solver: str) -> None:
    e, fall = 0.8, math.sqrt(2.0 / G)
    solution = solve(ball(e), 2.5, solver, 1e-10)
    times = [fall + 2.0 * fall * sum(e**i for i in range(1, bounce + 1)) for bounce in range(5)]
    expected = [time for time in times if time < 2.5]
    assert len(expected) == 4
    assert np.allclose([event.t for event in solution.events], expected, atol=1e-7)
    assert solution.statistics.events == solution.statistics.restarts == 4
    for number, event in enumerate(solution.events):
        assert event.indices == (0,)
        assert event.directions == (-1,)
        assert -1e-12 < event.y_before[0] <= 0.0  # just past the floor, and no farther
        assert event.y_after[0] == 0.0
        assert math.isclose(event.y_after[1], e ** (number + 1) * G * fall, rel_tol=1e-6)


@every_solver
def test_output_has_both_sides_of_a_jump(solver: str) -> None:
    solution = solve(ball(), 0.6, solver, 1e-9)
    (event,) = solution.events
    rows = np.flatnonzero(solution.t == event.t)
    assert np.array_equal(solution.y[rows], [event.y_before, event.y_after])


@every_solver
@pytest.mark.parametrize(("direction", "count"), [(0, 6), (1, 3), (-1, 3)])
def test_directions(solver: str, direction: int, count: int) -> None:
    problem = oscillator(events=lambda t, y: y[:1], directions=[direction])
    solution = solve(problem, 6.0 * math.pi, solver, 1e-9)
    assert len(solution.events) == count
    for event in solution.events:
        assert direction in (0, event.directions[0])
        assert event.directions[0] == (1 if event.y_before[1] > 0.0 else -1)


@every_solver
def test_the_earliest_of_several_indicators_comes_first(solver: str) -> None:
    events = [lambda t, y: y[0] - 0.7, lambda t, y: 0.3 - y[0], lambda t, y: y[0] - 0.30001, lambda t, y: y[0] - 9.0]
    solution = solve(clock(events), 1.0, solver)
    assert [event.indices for event in solution.events] == [(1,), (2,), (0,)]
    assert [event.directions for event in solution.events] == [(-1,), (1,), (1,)]
    assert np.allclose([event.t for event in solution.events], [0.3, 0.30001, 0.7], rtol=1e-9)


@every_solver
def test_indicators_that_change_together_are_one_event(solver: str) -> None:
    solution = solve(clock(lambda t, y: np.array([t - 0.5, 0.5 - t])), 1.0, solver)
    (event,) = solution.events
    assert event.indices == (0, 1)
    assert event.directions == (1, -1)


@every_solver
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_rests_at_zero_at_the_start_does_not_fire(solver: str, sign: float) -> None:
    """It leaves zero, and fires when it comes back."""
    solution = solve(clock(lambda t, y: np.array([sign * t * (1.0 - t)])), 2.0, solver)
    (event,) = solution.events
    assert math.isclose(event.t, 1.0, rel_tol=1e-12)
    assert event.directions == (-int(sign),)


@every_solver
def test_what_stays_at_zero_fires_when_it_rises_only(solver: str) -> None:
    for sign, count in ((1.0, 1), (-1.0, 0)):
        solution = solve(clock(lambda t, y, s=sign: np.array([s * max(0.0, t - 0.5)])), 1.0, solver, max_step=0.1)
        assert len(solution.events) == count


@every_solver
def test_event_within_the_first_step(solver: str) -> None:
    solution = solve(clock([lambda t, y: t - 1e-3]), 1.0, solver, first_step=0.1)
    assert [round(event.t, 12) for event in solution.events] == [1e-3]


@every_solver
def test_domain_includes_zero_at_the_end_time(solver: str) -> None:
    falling = solve(clock([lambda t, y: 1.0 - t]), 1.0, solver)
    assert [event.t for event in falling.events] == [1.0]
    rising = solve(clock([lambda t, y: t - 1.0]), 1.0, solver)
    assert rising.events == []


@every_solver
def test_an_event_at_the_end_is_handled(solver: str) -> None:
    problem = clock([lambda t, y: 1.0 - t], on_event=lambda t, y, crossings: Restart(y + 5.0))
    solution = solve(problem, 1.0, solver)
    assert solution.status is Status.FINISHED
    assert math.isclose(solution.y_end[0], 6.0)
    assert solution.t.tolist()[-2:] == [1.0, 1.0]


@every_solver
def test_an_excursion_within_one_long_step_is_seen(solver: str) -> None:
    solution = solve(clock([lambda t, y: 0.2 - abs(t - 5.1)]), 10.0, solver, max_step=1.0, first_step=1.0)
    assert np.allclose([event.t for event in solution.events], [4.9, 5.3])


@every_solver
def test_events_backwards_in_time(solver: str) -> None:
    problem = oscillator(events=lambda t, y: y[:1])
    solution = solve(problem, -5.0, solver, 1e-9)
    assert np.allclose([event.t for event in solution.events], [-math.pi / 2, -1.5 * math.pi], atol=1e-7)
    assert [event.directions for event in solution.events] == [(-1,), (1,)]
    for event in solution.events:
        assert (event.y_before[0] > 0.0) == (event.directions[0] > 0)


@every_solver
def test_a_handler_that_continues_changes_nothing(solver: str) -> None:
    seen = []
    handler_calls = {"on_event": lambda t, y, crossings: seen.append((t, crossings.tolist())) or Continue()}
    solution = solve(oscillator(events=lambda t, y: y[:1], **handler_calls), 5.0, solver, 1e-9)
    assert [t for t, _ in seen] == [event.t for event in solution.events]
    assert [crossings for _, crossings in seen] == [[-1], [1]]
    assert solution.statistics.restarts == 0
    assert np.allclose(solution.y_end, [math.cos(5.0), -math.sin(5.0)], atol=2e-7)


@every_solver
def test_a_handler_may_change_the_derivative(solver: str) -> None:
    rate = [1.0]

    def faster(t: float, y: np.ndarray, crossings: np.ndarray) -> Restart:
        rate[0] = 3.0
        return Restart()

    problem = Problem(lambda t, y: np.array(rate), 0.0, [0.0], events=[lambda t, y: y[0] - 0.5], on_event=faster)
    assert math.isclose(solve(problem, 1.0, solver).y_end[0], 0.5 + 3.0 * 0.5, rel_tol=1e-7)


@every_solver
def test_a_handler_may_end_the_run(solver: str) -> None:
    problem = ball(on_event=lambda t, y, crossings: Terminate([0.0, 0.0]))
    solution = solve(problem, 5.0, solver, t_eval=np.linspace(0.0, 5.0, 51))
    assert solution.status is Status.TERMINATED
    assert math.isclose(solution.t_end, math.sqrt(2.0 / G), rel_tol=1e-6)
    assert solution.t[-1] == 0.4
    assert solution.y_end.tolist() == [0.0, 0.0]


@every_solver
def test_events_that_accumulate_are_an_error_that_names_the_indicator(solver: str) -> None:
    """An indicator that is driven back across zero at each event."""
    problem = Problem(
        lambda t, y: np.ones(1),
        0.0,
        [-1.0],
        events=[lambda t, y: 1.0, lambda t, y: y[0]],
        on_event=lambda t, y, crossings: Restart(-1e-14 * np.ones(1)),
    )
    with pytest.raises(SolverError, match=r"without end.* indicator 1;") as caught:
        solve(problem, 2.0, solver)
    assert math.isclose(caught.value.solution.t_end, 1.0, rel_tol=1e-6)


# ---- hooks, limits and failures ----------------------------------------------------------------------


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
    solution: Solution = caught.value.solution
    assert solution.status is Status.FAILED
    assert 0.0 < solution.t_end < 0.8
    assert np.allclose(solution.y[:, 0], np.exp(-solution.t), atol=1e-6)
    assert "stopped at t =" in caught.value.__notes__[-1]


@every_solver
def test_an_exception_of_the_jacobian_arrives_unchanged(solver: str) -> None:
    def jacobian(t: float, y: np.ndarray) -> np.ndarray:
        raise ZeroDivisionError("mine")

    problem = swinging(jacobian=jacobian)
    if solver not in ("Radau", "BDF"):  # the explicit ones never ask, LSODA only where the problem is stiff
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
    if solver != "dopri5":
        return
    with pytest.raises(SolverError, match="event indicator is not finite"):
        solve(clock([lambda t, y: math.nan]), 1.0, solver)


@every_solver
@pytest.mark.filterwarnings("ignore:lsoda:UserWarning", "ignore:overflow:RuntimeWarning")
def test_a_solution_that_blows_up_keeps_what_came_before(solver: str) -> None:
    with pytest.raises(SolverError, match="relax rtol and atol") as caught:
        solve(Problem(lambda t, y: y**2, 0.0, [1.0]), 2.0, solver, 1e-8, max_steps=50000)
    solution = caught.value.solution
    assert caught.value.result is solution
    assert math.isclose(solution.t_end, 1.0, rel_tol=1e-5)
    before = solution.t < 0.99
    assert np.allclose(solution.y[before, 0], 1.0 / (1.0 - solution.t[before]), rtol=1e-3)


@pytest.mark.parametrize("solver", ["dopri5", "RK23", "RK45", "DOP853", "Radau"])
def test_a_derivative_that_ends_shortens_the_steps(solver: str) -> None:
    def derivative(t: float, y: np.ndarray) -> np.ndarray:
        return np.array([math.nan if t > 1.0 else 1.0])

    with pytest.raises(SolverError, match="domain of the derivative") as caught:
        solve(Problem(derivative, 0.0, [0.0]), 2.0, solver)
    assert math.isclose(caught.value.solution.t_end, 1.0, rel_tol=1e-9)


@every_solver
def test_limit_of_steps(solver: str) -> None:
    with pytest.raises(SolverError, match="raise it") as caught:
        solve(oscillator(), 100.0, solver, max_steps=7)
    statistics = caught.value.solution.statistics
    assert statistics.steps + (statistics.rejected or 0) == 7
    assert len(caught.value.solution.t) == statistics.steps + 1


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
    crumb = math.nextafter(math.nextafter(1.0, 2.0), 2.0)
    assert solve(problem, crumb, solver).t_end == crumb


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


@every_solver
def test_dense_output_ends_at_the_state_itself(solver: str) -> None:
    method: Solver = create(solver, oscillator(), 1.0, Options())
    method.start(0.0, np.array([1.0, 0.0]))
    while method.t != 1.0:
        assert method.step() is None
        assert np.array_equal(method.dense(np.array([method.t]))[0], method.y)


# ---- bursts of steps ---------------------------------------------------------------------------------


def everything(solution: Solution) -> tuple:
    events = [(e.t, e.indices, e.directions, e.y_before.tolist(), e.y_after.tolist()) for e in solution.events]
    ends = solution.t_end, solution.y_end.tolist(), solution.statistics, solution.status, solution.message
    return solution.t.tolist(), solution.y.tolist(), events, ends


@every_solver
@pytest.mark.parametrize("t_end", [4.0, -4.0])
@pytest.mark.parametrize("rows", [None, 7, 501])
def test_the_length_of_bursts_changes_nothing(
    solver: str, t_end: float, rows: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = None if rows is None else np.linspace(0.0, t_end, rows)

    def bounce(t: float, y: np.ndarray, crossings: np.ndarray) -> Restart | Continue:
        return Restart([0.0, -0.8 * y[1]]) if crossings[0] else Continue()

    def run(burst: int, **options) -> tuple:
        monkeypatch.setattr(driver, "BURST", burst)
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
    rows, wanted = Output(2, None, backwards=False), Output(2, times, backwards=False)
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
    solution: Solution = caught.value.solution
    assert 8.9 < solution.t_end <= 9.0
    assert solution.t_end - 0.01 < solution.t[-1] <= solution.t_end
    assert len(solution.t) > 3 * FIRST_ROOM
    assert np.allclose(solution.y[:, 0], np.cos(solution.t), atol=1e-4)
    if not with_times:
        assert len(solution.t) == solution.statistics.steps + 1


@every_solver
@pytest.mark.parametrize("with_times", [False, True])
def test_the_limit_of_steps_holds_beyond_a_burst(solver: str, with_times: bool) -> None:
    most = driver.BURST + 3
    times = np.linspace(0.0, 10.0, 1001) if with_times else None
    with pytest.raises(SolverError, match="raise it") as caught:
        solve(oscillator(), 10.0, solver, 1e-6, t_eval=times, max_step=0.01, max_steps=most)
    solution = caught.value.solution
    assert solution.statistics.steps == most
    assert solution.t_end - 0.01 < solution.t[-1] <= solution.t_end


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"solver": "dopri6"}, "did you mean 'dopri5'"),
        ({"solver": "lsoda"}, "did you mean 'LSODA'"),
        ({"solver": "qqq"}, "among dopri5, RK23"),
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
