"""Batches of steps of the compiled integrator by all of its methods, through its C interface."""

import math

import numpy as np
import pytest

from linkwork.core._core import ffi, lib
from support.integrator import METHODS, Integrator, swing


@pytest.fixture(params=METHODS, autouse=True)
def every_method(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(Integrator, "method", request.param)
    return request.param


# Without events, with events in the middle of steps, and with steps rejected.
BURST_CASES = {
    "smooth": lambda: Integrator(swing, 2),
    "events": lambda: Integrator(swing, 2, lambda t, y: [y[0], y[1] - 0.3], 2),
    "rejections": lambda: Integrator(lambda t, y: [math.exp(-1e4 * (abs(t) - 5.0) ** 2), -y[0]], 2, max_step=0.2),
}
Rows = tuple[list[float], list[list[float]], int]  # times, states, number of events


def by_single_steps(ode: Integrator, t_bound: float, wanted: np.ndarray | None) -> Rows:
    times, states, events = [], [], 0
    while ode.t != t_bound:
        before = ode.t
        events += ode.step(t_bound) == lib.LW_ODE_EVENT
        low, high = sorted([before, ode.t])
        due = [ode.t] if wanted is None else [t for t in wanted.tolist() if low <= t <= high and t not in times]
        times += due
        states += [ode.dense(t) for t in due]
    return times, states, events


def by_bursts(ode: Integrator, t_bound: float, wanted: np.ndarray | None, room: int, tries: int) -> Rows:
    times, states, events = [], [], 0
    for _ in range(3000):
        if wanted is not None and len(times) == wanted.size:
            events += lib.lw_ode_run(ode.ode, t_bound, tries, ffi.NULL) == lib.LW_ODE_EVENT
        else:
            rest = None if wanted is None else wanted[len(times) :]
            outcome, t, y = ode.burst(t_bound, room, tries, rest)
            events += outcome == lib.LW_ODE_EVENT
            times += t.tolist()
            states += y.tolist()
        if ode.t == t_bound and (wanted is None or len(times) == wanted.size):
            return times, states, events
    raise AssertionError("the batches do not reach the end")


@pytest.mark.thin(24, kept=6)
@pytest.mark.parametrize("case", BURST_CASES)
@pytest.mark.parametrize("t_bound", [10.0, -10.0])
@pytest.mark.parametrize("rows_wanted", [None, 1, 11, 1001])
@pytest.mark.parametrize(("room", "tries"), [(5000, 0), (5000, 1), (5000, 7), (1, 0), (13, 5)])
def test_bursts_are_single_steps(case: str, t_bound: float, rows_wanted: int | None, room: int, tries: int) -> None:
    """To the bit, wherever a batch ends."""
    wanted = None if rows_wanted is None else np.linspace(0.0, t_bound, rows_wanted)
    single, many = BURST_CASES[case](), BURST_CASES[case]()
    for ode in (single, many):
        ode.start(0.0, [1.0, 0.0])
    expected = by_single_steps(single, t_bound, wanted)
    assert by_bursts(many, t_bound, wanted, room, tries) == expected
    assert many.y == single.y
    for name in ("steps", "rejected", "evaluations", "event_evaluations"):
        assert getattr(many.counts, name) == getattr(single.counts, name)
    assert (expected[2] > 5) == (case == "events")
    assert (single.counts.rejected > 0) == (case == "rejections")


def test_a_burst_has_a_row_for_the_event_that_ends_it() -> None:
    ode = Integrator(swing, 2, lambda t, y: [y[0]], 1)
    ode.start(0.0, [1.0, 0.0])
    outcome, t, y = ode.burst(10.0, 1000)
    assert outcome == lib.LW_ODE_EVENT
    assert math.isclose(t[-1], math.pi / 2, rel_tol=1e-6)
    assert (t[-1], y[-1].tolist()) == (ode.t, ode.y)
    wanted = np.array([ode.t, math.nextafter(ode.t, 2.0), 3.0])  # at the event and just after
    outcome, t, y = ode.burst(3.0, 3, wanted=wanted)
    assert outcome == lib.LW_ODE_STEP
    assert np.array_equal(t, wanted)
    assert np.allclose(y, np.column_stack([np.cos(t), -np.sin(t)]), atol=1e-6)


@pytest.mark.parametrize("wanted", [None, np.linspace(0.0, 2.0, 201)])
def test_a_failed_burst_keeps_its_rows(wanted: np.ndarray | None) -> None:
    ode = Integrator(lambda t, y: -1 if t > 1.0 else [1.0], 1, max_step=0.1)
    ode.start(0.0, [0.0])
    outcome, t, y = ode.burst(2.0, 1000, wanted=wanted)
    assert outcome == lib.LW_ODE_STOPPED
    assert 0.85 < ode.t <= 1.0
    assert ode.t - 0.01 < t[-1] <= ode.t
    assert np.allclose(y[:, 0], t)
    rest = None if wanted is None else wanted[t.size :]
    outcome, t, _ = ode.burst(2.0, 1000, wanted=rest)  # nothing is made up of a step that failed
    assert (outcome, t.size) == (lib.LW_ODE_STOPPED, 0)


def test_where_a_burst_takes_no_step() -> None:
    ode = Integrator(swing, 2)
    assert ode.burst(1.0, 10)[0] == lib.LW_ODE_NOT_FINITE  # not started
    ode.start(0.5, [1.0, 0.0])
    for bound, room in ((0.5, 10), (1.0, 0)):
        outcome, t, _ = ode.burst(bound, room)
        assert (outcome, t.size, ode.t) == (lib.LW_ODE_STEP, 0, 0.5)
    outcome, t, y = ode.burst(0.5, 2, wanted=np.array([0.5, 0.6]))
    assert (outcome, t.tolist(), y.tolist()) == (lib.LW_ODE_STEP, [0.5], [[1.0, 0.0]])
    assert ode.burst(math.nan, 10)[0] == lib.LW_ODE_NOT_FINITE
    assert ode.counts.steps == 0


@pytest.mark.parametrize("t_bound", [math.inf, -math.inf])
def test_a_burst_to_infinity_ends_where_its_output_is_full(t_bound: float) -> None:
    ode = Integrator(swing, 2)
    ode.start(0.0, [1.0, 0.0])
    outcome, t, _ = ode.burst(t_bound, 20)
    assert (outcome, t.size) == (lib.LW_ODE_STEP, 20)
    wanted = math.copysign(1.0, t_bound) * np.linspace(abs(ode.t), 20.0, 7)
    outcome, t, y = ode.burst(t_bound, 7, wanted=wanted)
    assert np.allclose(y[:, 0], np.cos(wanted), atol=1e-6)
    assert abs(ode.t) >= 20.0


def test_a_burst_without_states() -> None:
    ode = Integrator(lambda t, y: [], 0, max_step=0.25)
    ode.start(0.0, [])
    outcome, t, y = ode.burst(1.0, 100)
    assert (outcome, ode.t, y.shape) == (lib.LW_ODE_STEP, 1.0, (t.size, 0))
    assert np.array_equal(t, np.unique(t))
