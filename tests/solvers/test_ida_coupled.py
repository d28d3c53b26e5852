"""IDA called in the library of SUNDIALS on compiled equations, in both releases that packages bring."""

import ctypes.util
import gc
import math
import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from linkwork.errors import SolverError
from linkwork.solvers import Problem, Restart, Terminate, solve
from linkwork.solvers.ida import backends, coupled
from linkwork.solvers.ida import sundials as libraries
from support.compiled_equations import NOT_HERE, STOP, Called, chain_problem

TIMES = np.linspace(0.0, 1.0, 101)


def system_library():
    name = ctypes.util.find_library("sundials_ida")
    return None if name is None else libraries._open(name, 6)


def bundled_library():
    spec = find_spec("sksundae")
    if spec is None or spec.origin is None:
        return None
    beside = Path(spec.origin).parent.parent / "scikit_sundae.libs"
    return next((libraries._open(str(path), 7) for path in beside.glob("libsundials_ida-*")), None)


@pytest.fixture(params=[system_library, bundled_library])
def library(request, monkeypatch):
    """The one that is found."""
    found = request.param()
    if found is None:
        pytest.skip(f"no {request.param.__name__}")
    monkeypatch.setattr(backends, "find_sundials", lambda: found)
    return found


@pytest.fixture
def made(library, monkeypatch):
    """Every instance made, so that a test knows that it was one of these."""
    instances = []
    start = coupled.CoupledIDA.start
    monkeypatch.setattr(
        coupled.CoupledIDA, "start", lambda self, *values: (instances.append(1), start(self, *values))[1]
    )
    return instances


def by_python(problem, t_end, *args, **options):
    """The same problem without compiled equations."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backends, "find_sundials", lambda: None)
        return solve(problem, t_end, "ida", *args, **options)


def reference(problem, t_end, **options):
    """The explicit equations by another solver."""
    return solve(Problem(problem.derivative, problem.t0, problem.y0), t_end, "DOP853", 1e-12, **options)


def decay(derivative=lambda t, y: -y, residual=lambda t, y, ydot: ydot + y, matrix=None, **options):
    """y' = -y, or another equation of one state."""
    called = Called(1, residual, matrix or (lambda t, y, ydot, cj: [[1.0 + cj]]))
    return Problem(derivative, 0.0, [1.0], implicit=called.implicit, **options), called


# ---- trajectories


@pytest.mark.parametrize("t_eval", [None, TIMES])
@pytest.mark.parametrize("t_end", [1.0, -1.0])
def test_the_way_through_python_is_the_same(made, t_end, t_eval):
    problem = chain_problem(3)
    wanted = None if t_eval is None else t_end * t_eval
    coupled_run = solve(problem, t_end, "ida", 1e-8, t_eval=wanted)
    python_run = by_python(problem, t_end, 1e-8, t_eval=wanted)
    assert len(made) == 1
    exact = reference(problem, t_end, t_eval=coupled_run.t)
    size = np.abs(exact.y).max()
    error = np.abs(coupled_run.y - exact.y).max()
    assert error < 1e-4 * size
    assert error < 3.0 * np.abs(python_run.y_end - exact.y[-1]).max() + 1e-5 * size
    steps = coupled_run.statistics.steps, python_run.statistics.steps
    assert steps[0] == pytest.approx(steps[1], rel=0.1)
    assert coupled_run.t_end == t_end


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


# ---- output


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
    solution = caught.value.solution
    assert made
    assert solution.statistics.steps == 17
    assert solution.y_end == pytest.approx([math.exp(-solution.t_end)], rel=1e-6)
    assert 0.0 < solution.t_end < 1.0


# ---- failures


def failing(problem, text, t_end=2.0, **options):
    with pytest.raises(SolverError, match=f"ida stopped at t = .*{text}") as caught:
        solve(problem, t_end, "ida", 1e-8, **options)
    assert len(str(caught.value).splitlines()) == 1
    return caught.value.solution


@pytest.mark.parametrize("t_eval", [None, np.linspace(0.0, 2.0, 11)])
@pytest.mark.parametrize("bad", [np.array([math.nan]), np.array([math.inf]), NOT_HERE], ids=["nan", "inf", "status"])
def test_a_residual_that_ends_shortens_the_steps(made, bad, t_eval):
    tried = []

    def residual(t, y, ydot):
        tried.append(t)
        return bad if t > 1.0 else ydot + y

    problem, _ = decay(residual=residual)
    solution = failing(problem, "domain of the derivative", t_eval=t_eval)
    assert made
    assert solution.t_end == pytest.approx(1.0, rel=1e-9)
    assert solution.y_end == pytest.approx([math.exp(-1.0)], rel=1e-6)
    assert sum(t > 1.0 for t in tried) > 10
    if t_eval is not None:
        assert solution.t == pytest.approx(t_eval[:6] if solution.t_end >= 1.0 else t_eval[:5])


def test_a_residual_with_a_gap_is_stepped_over(made):
    count = iter(range(10**9))
    problem, _ = decay(residual=lambda t, y, ydot: np.array([math.nan]) if next(count) == 50 else ydot + y)
    assert solve(problem, 1.0, "ida", 1e-8).y_end == pytest.approx([math.exp(-1.0)], rel=1e-6)
    assert made


@pytest.mark.parametrize("t_eval", [None, [2.0]])
def test_a_residual_that_says_stop(made, t_eval):
    """A text of its own: nothing is wrong with the steps or the matrix."""
    problem, _ = decay(residual=lambda t, y, ydot: STOP if t > 1.0 else ydot + y)
    solution = failing(problem, "asked to stop", t_eval=t_eval)
    assert made
    assert 0.5 < solution.t_end <= 1.0


@pytest.mark.parametrize("t_eval", [None, [2.0]])
def test_a_matrix_without_inverse(made, t_eval):
    def matrix(t, y, ydot, cj):
        return [[1.0 + cj]] if t < 1.0 else [[0.0]]

    problem, _ = decay(matrix=matrix)
    solution = failing(problem, "singular there.*it has no inverse", t_eval=t_eval)
    assert made
    assert 0.9 < solution.t_end <= 2.0


def test_a_matrix_without_inverse_at_the_start(library):
    problem, _ = decay(matrix=lambda t, y, ydot, cj: [[0.0]])
    assert failing(problem, "singular there").t_end == 0.0


def test_start_values_that_do_not_fit(library):
    problem, _ = decay(derivative=lambda t, y: y)
    assert failing(problem, "equation 0 has the largest residual, 2").t_end == 0.0


# ---- what SUNDIALS has made


def test_what_was_made_is_freed_with_the_run(library, monkeypatch):
    """Also after a run that fails, as soon as its exception is gone."""
    freed = []
    free = coupled._free
    monkeypatch.setattr(coupled, "_free", lambda *made: (freed.append(1), free(*made))[1])
    for _ in range(3):
        solve(decay()[0], 1.0, "ida", 1e-6)
    failing(decay(residual=lambda t, y, ydot: ydot + y if t < 1.0 else y * math.nan)[0], "domain")
    gc.collect()
    assert len(freed) == 4


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_many_runs_take_no_memory(library):
    """An IDA on 60 bodies has more than 100 kB of vectors; 300 would be seen."""
    problem = chain_problem(60)

    def resident():
        gc.collect()
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def run(times):
        for _ in range(times):
            solve(problem, 1e-6, "ida", 1e-4, t_eval=[1e-6])

    run(30)
    before = resident()
    run(300)
    assert resident() - before < 5e6


def test_libraries_of_another_release_are_not_taken(library):
    path = ctypes.util.find_library("sundials_ida") if library.major == 6 else None
    path = path or next(
        str(p) for p in (Path(find_spec("sksundae").origin).parent.parent / "scikit_sundae.libs").glob("*_ida-*")
    )
    assert libraries._open(path, library.major) is not None
    assert libraries._open(path, 13 - library.major) is None
    assert libraries._open("libno_such_thing.so", library.major) is None
    assert libraries._open(ctypes.util.find_library("m"), library.major) is None
