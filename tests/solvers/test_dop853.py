"""The compiled Dormand-Prince 8(5,3): against SciPy's, its dense output, and what both ask of the function."""

import math
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import DOP853

import linkwork as lw
from linkwork.core._core import ffi, lib
from linkwork.solvers import Problem, Restart, solve
from support.cases import four_bar, pendulum
from support.integrator import Integrator, swing
from support.problems import G, ball, oscillator

STAGES, EXTRA = 12, 3


def dop853(derivative: Callable, n: int, *events, **options) -> Integrator:
    return Integrator(derivative, n, *events, method="dop853", **options)


def kepler(t: float, y: np.ndarray) -> np.ndarray:
    return np.concatenate([y[2:], -y[:2] / math.hypot(*y[:2]) ** 3])


ORBIT = [0.5, 0.0, 0.0, math.sqrt(3.0)]


def pair(h: float, rtol: float = 1e-4) -> tuple[Integrator, DOP853]:
    """This method and SciPy's after one step of an orbit."""
    options = {"rtol": rtol, "atol": rtol, "first_step": h, "max_step": h}
    ours, theirs = dop853(kepler, 4, **options), DOP853(kepler, 0.0, ORBIT, 10.0, **options)
    ours.start(0.0, ORBIT)
    assert ours.step(10.0) == lib.LW_ODE_STEP
    theirs.step()
    return ours, theirs


# ---- SciPy's ----


@pytest.mark.parametrize("h", [0.02, 0.1, 0.2])
def test_steps_of_a_fixed_size_are_those_of_scipy(h: float) -> None:
    ours, theirs = pair(h, 1.0)
    for _ in range(20):
        ours.step(10.0)
        theirs.step()
    assert ours.t == pytest.approx(theirs.t, abs=1e-14)
    assert np.abs(ours.y - theirs.y).max() < 1e-13
    assert ours.counts.rejected == 0


@pytest.mark.parametrize(("h", "rtol"), [(0.1, 1e-5), (0.2, 3e-4), (0.3, 1e-2)])
def test_error_estimate_is_that_of_scipy(h: float, rtol: float) -> None:
    ours, theirs = pair(h, rtol)
    assert theirs.step_size == h
    scale = rtol * (1.0 + np.maximum(np.abs(ORBIT), np.abs(theirs.y)))
    expected = theirs._estimate_error_norm(theirs.K, h, scale)
    assert 1e-4 < expected < 1.0  # a smaller one is not remembered
    assert lib.lw_ode_get_step_control(ours.ode).previous_error == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("h", [0.05, 0.2])
def test_dense_output_is_that_of_scipy(h: float) -> None:
    ours, theirs = pair(h, 1.0)
    dense = theirs.dense_output()
    for t in np.linspace(0.0, h, 9):
        assert np.abs(ours.dense(t) - dense(t)).max() < 1e-14


@pytest.mark.parametrize("rtol", [1e-6, 1e-9, 1e-12])
def test_costs_what_that_of_scipy_costs(rtol: float) -> None:
    counts = [solve(Problem(kepler, 0.0, ORBIT), 20.0, solver, rtol).statistics for solver in ("dop853", "DOP853")]
    assert counts[0].evaluations < 1.05 * counts[1].evaluations


# ---- further stages of the dense output ----


def test_dense_output_costs_three_evaluations_where_it_is_asked_for() -> None:
    ode = dop853(swing, 2, first_step=0.5, max_step=0.5)
    ode.start(0.0, [1.0, 0.0])
    ode.step(10.0)
    assert ode.counts.evaluations == 1 + STAGES
    assert ode.dense(ode.t) == ode.y
    assert ode.counts.evaluations == 1 + STAGES
    for t in (0.05, 0.1, 0.3):
        assert ode.dense(t)[0] == pytest.approx(math.cos(t), abs=1e-8)
        assert ode.counts.evaluations == 1 + STAGES + EXTRA
    ode.step(10.0)
    assert ode.counts.evaluations == 1 + 2 * STAGES + EXTRA


def test_rows_cost_three_evaluations_in_the_steps_that_have_one() -> None:
    free, rows = (solve(oscillator(), 20.0, "dop853", 1e-10, t_eval=t) for t in (None, [4.0, 4.01, 15.0, 20.0]))
    assert rows.statistics.steps == free.statistics.steps
    assert rows.statistics.evaluations == free.statistics.evaluations + 2 * EXTRA
    assert np.abs(rows.y[:, 0] - np.cos(rows.t)).max() < 1e-9


def test_rows_cost_nothing_at_the_ends_of_steps() -> None:
    free = solve(oscillator(), 20.0, "dop853", 1e-10)
    rows = solve(oscillator(), 20.0, "dop853", 1e-10, t_eval=free.t)
    assert rows.statistics.evaluations == free.statistics.evaluations
    assert np.array_equal(rows.y, free.y)


def pole(t: float, y: np.ndarray) -> list[float] | int:
    """No value near 0.1 of the first step, where only the dense output evaluates it."""
    return 1 if 0.09 < t < 0.11 else [math.cos(t)]


def test_a_row_whose_dense_output_fails_shortens_the_step() -> None:
    ode = dop853(pole, 1, first_step=1.0, max_step=1.0)
    ode.start(0.0, [0.0])
    outcome, _, y = ode.burst(1.0, 1, wanted=np.array([0.5]))
    assert outcome == lib.LW_ODE_STEP
    assert ode.counts.rejected >= 1
    assert y[0, 0] == pytest.approx(math.sin(0.5), abs=1e-9)


def test_dense_output_that_fails_later_reports_it() -> None:
    ode = dop853(pole, 1, first_step=1.0, max_step=1.0, rtol=1.0, atol=1.0)
    ode.start(0.0, [0.0])
    assert ode.step(1.0) == lib.LW_ODE_STEP
    assert ode.counts.rejected == 0
    y = ffi.new("double[]", [7.0])
    assert lib.lw_ode_dense(ode.ode, 0.5, y) == 1
    assert y[0] == 7.0
    assert ode.dense(1.0)[0] == pytest.approx(math.sin(1.0), abs=1e-6)
    rows = ode.burst(2.0, 1, wanted=np.array([0.5]))
    assert rows[0] == lib.LW_ODE_NOT_FINITE
    assert len(rows[1]) == 0


def test_what_the_function_raises_in_the_dense_output_comes_through() -> None:
    def derivative(t: float, y: np.ndarray) -> np.ndarray:
        if 0.09 < t < 0.11:
            raise ZeroDivisionError
        return np.array([1.0])

    with pytest.raises(ZeroDivisionError):
        solve(Problem(derivative, 0.0, [0.0]), 1.0, "dop853", t_eval=[0.5], first_step=1.0)


# ---- events ----


@pytest.mark.parametrize("rtol", [1e-7, 1e-10, 1e-13])
def test_events_are_located_to_the_tolerance(rtol: float) -> None:
    found = solve(oscillator(events=[lambda t, y: y[0] - 0.3]), 60.0, "dop853", rtol)
    first = math.acos(0.3)
    turns = 2.0 * math.pi * np.arange(11)
    expected = np.sort(np.concatenate([first + turns, 2.0 * math.pi - first + turns]))
    times = np.array([event.t for event in found.events])
    assert np.abs(times - expected[: len(times)]).max() < 200 * rtol + 1e-13
    assert len(times) == (expected < 60.0).sum()


def test_restarts_after_events() -> None:
    """A ball that bounces without loss: after each bounce the method starts again."""
    found = solve(ball(1.0), 5.0, "dop853", 1e-11)
    period = math.sqrt(8.0 / G)
    times = [event.t for event in found.events]
    assert times == pytest.approx([period * (k + 0.5) for k in range(len(times))], abs=1e-10)
    assert len(times) == int(5.0 / period + 0.5)
    assert found.statistics.restarts == len(times)


def test_rows_before_an_event_in_its_step() -> None:
    """They follow the whole step, of which the event has left the beginning."""
    problem = oscillator(events=[lambda t, y: y[0]], on_event=lambda t, y, z: Restart([1.0, 0.0]))
    times = np.linspace(0.0, 6.0, 601)
    found = solve(problem, 6.0, "dop853", 1e-11, t_eval=times)
    assert np.abs(found.y[:, 0] - np.cos(np.mod(times, math.pi / 2))).max() < 1e-9


# ---- stability ----


def test_stability_limits_its_steps() -> None:
    """To about 6.1 of the shortest time constant."""
    rate = 1e6
    ode = Integrator(lambda t, y: [-rate * (y[0] - math.cos(t))], 1, method="dop853", rtol=1e-11, atol=1e-11)
    ode.start(0.0, [1.0])
    for _ in range(300):
        assert ode.step(0.2) == lib.LW_ODE_STEP
    assert ode.y[0] == pytest.approx(math.cos(ode.t) + math.sin(ode.t) / rate, abs=1e-9)
    assert 5.5 < rate * ode.t / 300 < 6.5


# ---- memory ----


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_further_stages_take_memory_where_the_method_is_selected() -> None:
    n, page = 2_000_000, os.sysconf("SC_PAGE_SIZE")
    options = ffi.new("lw_ode_options *", {"rtol": 1e-8, "atol": 1e-8})

    def vectors() -> float:
        return int(Path("/proc/self/statm").read_text().split()[0]) * page / (8.0 * n)

    ode = ffi.gc(lib.lw_ode_create(n, 0, ffi.NULL, ffi.NULL, ffi.NULL, options), lib.lw_ode_free)
    before, grown = vectors(), []
    for method in (lib.LW_ODE_DOPRI5, lib.LW_ODE_DOP853, lib.LW_ODE_DOPRI5, lib.LW_ODE_DOP853):
        assert lib.lw_ode_set_method(ode, method, ffi.NULL) == lib.LW_OK
        grown.append(vectors() - before)
    assert grown == pytest.approx([0.0, 9.0, 9.0, 9.0], abs=0.2)


def test_methods_take_turns_with_the_same_bits() -> None:
    ode = Integrator(swing, 2)
    ends: dict[str, list] = {}
    for method in ("dop853", "rodas5p", "dopri5", "dop853", "auto", "rodas5p", "dop853", "dopri5"):
        assert ode.use(method) == lib.LW_OK
        ode.start(0.0, [1.0, 0.0])
        ode.run(3.0)
        ends.setdefault(method, []).append((ode.y, ode.dense(ode.t - 1e-3)))
    assert all(one == several[0] for several in ends.values() for one in several)


# ---- mechanisms ----


@pytest.mark.parametrize("case", [four_bar, pendulum])
def test_mechanisms_move_as_by_scipy(case: Callable) -> None:
    model = lw.compile(case().mechanism)
    times = np.linspace(0.0, 2.0, 41)
    found, expected = (lw.simulate(model, 2.0, solver=s, rtol=1e-11, t_eval=times) for s in ("dop853", "DOP853"))
    assert np.abs(found.y - expected.y).max() < 1e-8
    assert found.statistics.methods == {"dop853": found.statistics.steps}
    again = lw.simulate(model, 2.0, solver="dop853", rtol=1e-11, t_eval=times)
    assert np.array_equal(again.y, found.y)


def rod_between_stops() -> lw.Mechanism:
    mech = lw.Mechanism("rod")
    mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    mech.add_transition("stop", lw.Stop("A", upper=1.0, restitution=0.8))
    return mech


@pytest.mark.parametrize("rtol", [1e-6, 1e-11])
def test_stops(rtol: float) -> None:
    model = lw.compile(rod_between_stops())
    found, other = (lw.simulate(model, 3.0, solver=s, rtol=r) for s, r in (("dop853", rtol), ("dopri5", 1e-12)))
    assert len(found.events) == len(other.events) > 3
    times = [[event.t for event in run.events] for run in (found, other)]
    assert np.abs(np.subtract(*times)).max() < 100 * rtol
    assert np.abs(found.y[-1] - other.y[-1]).max() < 300 * rtol


def test_samples() -> None:
    """Each starts the method again, from the step size that it had."""
    model = lw.compile(rod_between_stops())
    options = {"controller": lambda t, state: {"A": -3.0 * state.u[0]}, "sample_time": 0.05, "rtol": 1e-10}
    found, other = (lw.simulate(model, 1.0, solver=solver, **options) for solver in ("dop853", "dopri5"))
    assert np.abs(found.y[-1] - other.y[-1]).max() < 1e-8
    assert found.statistics.evaluations < other.statistics.evaluations


def test_a_run_that_was_cut_continues_with_the_same_bits() -> None:
    model = lw.compile(four_bar().mechanism)
    whole = lw.simulate(model, 1.0, solver="dop853", rtol=1e-9)
    ends = []
    for t in whole.t[3:-2:3]:
        rest = lw.simulate(model, 1.0, state=whole.state(t), solver="dop853", rtol=1e-9)
        assert np.abs(rest.y[-1] - whole.y[-1]).max() < 1e-6
        ends.append(np.array_equal(rest.y[-1], whole.y[-1]))
    assert sum(ends) >= len(ends) // 4  # every fourth row is the end of a step
