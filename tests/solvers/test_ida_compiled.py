"""IDA called in the library of SUNDIALS on compiled equations, in both releases that packages bring."""

import math
from dataclasses import replace

import numpy as np
import pytest

from linkwork.errors import SolverError
from linkwork.solvers import Problem, Restart, Terminate, solve
from linkwork.solvers.ida import backend_choice
from support.compiled_equations import Called, chain_problem, decay

TIMES = np.linspace(0.0, 1.0, 101)


def by_python(problem, t_end, *args, **options):
    """The same problem without compiled equations."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backend_choice, "find_sundials", lambda: None)
        return solve(problem, t_end, "ida", *args, **options)


def reference(problem, t_end, **options):
    """The explicit equations by another solver."""
    return solve(Problem(problem.derivative, problem.t0, problem.y0), t_end, "DOP853", 1e-12, **options)


# ---- trajectories


@pytest.mark.parametrize("t_eval", [None, TIMES])
@pytest.mark.parametrize("t_end", [1.0, -1.0])
def test_the_way_through_python_is_the_same(made, t_end, t_eval):
    problem = chain_problem(3)
    wanted = None if t_eval is None else t_end * t_eval
    compiled_run = solve(problem, t_end, "ida", 1e-8, t_eval=wanted)
    python_run = by_python(problem, t_end, 1e-8, t_eval=wanted)
    assert len(made) == 1
    exact = reference(problem, t_end, t_eval=compiled_run.t)
    size = np.abs(exact.y).max()
    error = np.abs(compiled_run.y - exact.y).max()
    assert error < 1e-4 * size
    assert error < 3.0 * np.abs(python_run.y_end - exact.y[-1]).max() + 1e-5 * size
    steps = compiled_run.statistics.steps, python_run.statistics.steps
    assert steps[0] == pytest.approx(steps[1], rel=0.1)
    assert compiled_run.t_end == t_end


def test_errors_fall_with_the_tolerance(library):
    problem = chain_problem(2)
    exact = reference(problem, 1.0).y_end
    tolerances = 10.0 ** np.arange(-5, -11, -1)
    errors = [np.abs(solve(problem, 1.0, "ida", rtol).y_end - exact).max() for rtol in tolerances]
    assert 0.7 < np.polyfit(np.log(tolerances), np.log(errors), 1)[0] < 1.3


def test_everything_is_counted(library):
    """But for the look at the start, which goes through Python."""
    problem, called = decay()
    for t_eval in (None, [0.5, 1.0]):
        called.calls.update(dict.fromkeys(called.calls, 0))
        cost = solve(problem, 1.0, "ida", 1e-8, t_eval=t_eval).statistics
        assert called.calls["residual"] > cost.steps > 10
        assert cost.evaluations == called.calls["residual"] + 2
        assert cost.jacobian_evaluations == called.calls["factor"] > 1


def test_algebraic_states_stay_out_of_the_error_test(made):
    """One that runs through fifty waves, which the steps need not follow."""

    def residual(t, y, ydot):
        return np.array([ydot[0] + y[0], y[1] - np.sin(300.0 * t)])

    called = Called(2, residual, lambda t, y, ydot, cj: [[1.0 + cj, 0.0], [0.0, 1.0]])
    runs = []
    for algebraic in (None, np.array([False, True])):
        implicit = replace(called.implicit, algebraic=algebraic)
        problem = Problem(lambda t, y: np.array([-y[0], 300.0]), 0.0, [1.0, 0.0], implicit=implicit)
        runs.append(solve(problem, 1.0, "ida", 1e-6))
        assert runs[-1].y_end == pytest.approx([math.exp(-1.0), math.sin(300.0)], abs=1e-4)
    assert len(made) == 2
    assert 3 * runs[1].statistics.steps < runs[0].statistics.steps


# ---- output


@pytest.mark.thin(16, kept=4)
@pytest.mark.parametrize(
    "wanted",
    [
        [],
        [1.0],
        [0.0],
        [0.0, 1.0],
        [1e-15, 1e-9, 0.5],
        np.linspace(0.3, 0.3001, 1001),
        [0.5, np.nextafter(1.0, 0.0), 1.0],
        [np.nextafter(1.0, 0.0)],
        [0.0, 5e-324, 1.0],
        np.arange(11) / 10,
    ],
    ids=str,
)
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("t0", [0.0, 1e3])
def test_wanted_times_are_met(made, wanted, sign, t0):
    problem, _ = decay()
    times = t0 + sign * np.array(wanted)
    times = times[np.concatenate([[True], np.diff(times) != 0])[: times.size]]
    problem = Problem(problem.derivative, t0, problem.y0, implicit=problem.implicit)
    solution = solve(problem, t0 + sign, "ida", 1e-9, t_eval=times)
    assert made
    assert np.array_equal(solution.t, times)
    assert solution.y[:, 0] == pytest.approx(np.exp(t0 - times), rel=1e-6)
    assert solution.t_end == t0 + sign
    assert solution.y_end == pytest.approx(np.exp([-sign]), rel=1e-6)


def test_rows_of_steps_and_wanted_rows_agree(library):
    problem = chain_problem(2)
    steps = solve(problem, 1.0, "ida", 1e-8)
    assert steps.t.size == steps.statistics.steps + 1
    assert (np.diff(steps.t) > 0).all()
    at_them = solve(problem, 1.0, "ida", 1e-8, t_eval=steps.t)
    assert at_them.y == pytest.approx(steps.y, abs=1e-5 * np.abs(steps.y).max())


# ---- events, hooks, restarts, limits


@pytest.mark.parametrize("t_eval", [None, TIMES])
def test_events_of_a_chain(made, t_eval):
    """Where the first mass centre comes through a level that it has reached."""
    free = reference(chain_problem(2), 1.0, t_eval=TIMES)
    level = float(np.median(free.y[:, 0]))
    options = {"events": lambda t, x: x[:1] - level}
    problem = chain_problem(2, **options)
    found = solve(problem, 1.0, "ida", 1e-9, t_eval=t_eval)
    exact = solve(Problem(problem.derivative, 0.0, problem.y0, **options), 1.0, "DOP853", 1e-12)
    assert made
    assert len(found.events) == len(exact.events) > 0
    for event, right in zip(found.events, exact.events, strict=True):
        assert event.t == pytest.approx(right.t, abs=1e-5)
        assert event.y_before[0] == pytest.approx(level, abs=1e-9)
    if t_eval is not None:
        assert np.array_equal(found.t, t_eval)
        assert found.y == pytest.approx(free.y, abs=1e-4 * np.abs(free.y).max())


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_restarts(made, sign):
    """y falls to one half and is set to one again: after n log 2."""
    started = []

    def derivative(t, y):
        started.append(t)
        return -sign * y

    problem, called = decay(
        derivative,
        lambda t, y, ydot: ydot + sign * y,
        lambda t, y, ydot, cj: [[sign + cj]],
        events=lambda t, y: y - 0.5,
        on_event=lambda t, y, crossings: Restart([1.0]),
    )
    end = sign * 3.5 * math.log(2.0)
    solution = solve(problem, end, "ida", 1e-10)
    assert [event.t for event in solution.events] == pytest.approx(sign * math.log(2.0) * np.arange(1, 4), abs=1e-7)
    assert len(made) == len(started) == 4
    assert solution.y_end == pytest.approx([0.5**0.5], abs=1e-7)
    assert called.calls["residual"] > 0


def test_hooks_of_steps(made):
    seen = []

    def hook(t, y):
        seen.append((t, float(y[0])))
        return Terminate() if t > 0.5 else None

    problem, _ = decay(on_step=hook)
    solution = solve(problem, 1.0, "ida", 1e-8)
    assert made
    assert len(seen) == solution.statistics.steps
    assert seen == list(zip(solution.t[1:], solution.y[1:, 0], strict=True))
    assert seen[-2][0] <= 0.5 < seen[-1][0] == solution.t_end


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_limits_of_steps(library, sign):
    problem, _ = decay()
    free, short = (solve(problem, sign, "ida", 1e-5, max_step=longest) for longest in (None, 0.01))
    assert np.abs(np.diff(free.t)).max() > 0.02
    assert np.abs(np.diff(short.t)).max() <= 0.01
    assert short.statistics.steps >= 100
    first = solve(problem, sign, "ida", 1e-5, first_step=1e-7)
    assert abs(first.t[1]) <= 1e-7
    assert abs(first.t[1]) > 1e-9
    between = solve(problem, sign, "ida", 1e-5, max_step=0.01, t_eval=[0.0, sign])
    assert between.statistics.steps >= 100


@pytest.mark.parametrize("t_eval", [None, TIMES, [1.0]])
def test_the_number_of_steps_is_limited(made, t_eval):
    problem, _ = decay()
    with pytest.raises(SolverError, match="max_steps is used up") as caught:
        solve(problem, 1.0, "ida", 1e-10, max_steps=17, t_eval=t_eval)
    solution = caught.value.result
    assert made
    assert solution.statistics.steps == 17
    assert solution.y_end == pytest.approx([math.exp(-solution.t_end)], rel=1e-6)
    assert 0.0 < solution.t_end < 1.0
