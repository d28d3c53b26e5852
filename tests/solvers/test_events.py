"""Events, with every solver: found where they are, once, in order; what handlers may do."""

import math

import numpy as np
import pytest

from linkwork.errors import SolverError
from linkwork.solvers import Continue, Problem, Restart, Status, Terminate, solve
from support.problems import G, ball, clock, every_solver, oscillator


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


@pytest.mark.thin(3)
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
    assert math.isclose(caught.value.result.t_end, 1.0, rel_tol=1e-6)
