"""Single steps of the compiled integrator by all of its methods, through its C interface."""

import math

import numpy as np
import pytest

from linkwork.core._core import ffi, lib
from support.integrator import METHODS, Integrator, swing


@pytest.fixture(params=METHODS, autouse=True)
def every_method(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(Integrator, "method", request.param)
    return request.param


def test_bounds_do_not_shrink_the_steps() -> None:
    """Many bounds that cut steps short: the step size is remembered across them."""
    free = Integrator(swing, 2)
    free.start(0.0, [1.0, 0.0])
    free.run(30.0)
    length = 30.0 / free.counts.steps
    cut = Integrator(swing, 2)
    cut.start(0.0, [1.0, 0.0])
    bounds = np.arange(0.0, 30.0, 10.3 * length)[1:]
    for bound in bounds:
        cut.run(bound)
        assert cut.t == bound
    assert cut.counts.steps <= len(bounds) * 12
    assert cut.counts.rejected == 0


def test_no_crumbs_before_a_bound() -> None:
    ode = Integrator(lambda t, y: [1.0], 1, max_step=0.1, first_step=0.1)
    ode.start(0.0, [0.0])
    times = [0.0]
    while ode.t != 0.2501:
        ode.step(0.2501)
        times.append(ode.t)
    assert np.allclose(np.diff(times), [0.1, 0.07505, 0.07505])


def test_a_bound_at_infinity_is_a_run_without_bounds() -> None:
    ode = Integrator(swing, 2)
    ode.start(0.0, [1.0, 0.0])
    while ode.t < 10.0:
        assert ode.step(math.inf) == lib.LW_ODE_STEP
    assert np.allclose(ode.dense(10.0), [math.cos(10.0), -math.sin(10.0)], atol=1e-6)
    assert ode.dense(ode.t) == ode.y


def test_a_bound_here_is_no_step_and_nan_is_refused() -> None:
    ode = Integrator(swing, 2)
    assert ode.step(1.0) == lib.LW_ODE_NOT_FINITE  # not started
    ode.start(0.5, [1.0, 0.0])
    assert ode.dense(0.7) == ode.y == [1.0, 0.0]
    assert ode.step(0.5) == lib.LW_ODE_STEP
    assert ode.counts.steps == 0
    assert ode.step(math.nan) == lib.LW_ODE_NOT_FINITE


def test_turning_back_in_time() -> None:
    ode = Integrator(swing, 2)
    ode.start(0.0, [1.0, 0.0])
    ode.run(3.0)
    ode.run(0.0)
    assert np.allclose(ode.y, [1.0, 0.0], atol=1e-6)


def test_positive_status_shortens_and_negative_stops() -> None:
    def bounded(t: float, y: np.ndarray) -> int | list[float]:
        return 1 if t > 1.0 else [1.0]

    ode = Integrator(bounded, 1)
    ode.start(0.0, [0.0])
    assert ode.run(2.0)[-1] == lib.LW_ODE_STEP_TOO_SMALL
    assert 1.0 - 1e-12 < ode.t <= 1.0
    assert math.isclose(ode.y[0], ode.t)

    ode = Integrator(lambda t, y: -1 if t > 1.0 else [1.0], 1)
    assert ode.start(2.0, [0.0]) == lib.LW_ODE_STOPPED
    ode.start(0.0, [0.0])
    assert ode.run(2.0)[-1] == lib.LW_ODE_STOPPED
    assert 0.0 < ode.t <= 1.0


def test_a_failed_step_leaves_the_last_state_and_can_be_repeated() -> None:
    closed = [False]

    def gate(t: float, y: np.ndarray) -> int | list[float]:
        return -1 if closed[0] else [math.cos(t)]

    def run(interrupted: bool) -> list[float]:
        ode = Integrator(gate, 1)
        ode.start(0.0, [0.0])
        for _ in range(4):
            ode.step(5.0)
        if interrupted:
            before = ode.t, ode.y
            closed[0] = True
            assert ode.step(5.0) == lib.LW_ODE_STOPPED
            closed[0] = False
            assert (ode.t, ode.y) == before
            assert ode.dense(ode.t) == ode.y
        ode.run(5.0)
        return ode.y

    assert run(True) == run(False)


@pytest.mark.parametrize("status", [1, "nan"])
def test_indicators_that_do_not_exist_shorten_the_step(status: int | str) -> None:
    def indicators(t: float, y: np.ndarray) -> int | list[float]:
        if t <= 1.0:
            return [1.0]
        return [math.nan] if status == "nan" else status

    ode = Integrator(lambda t, y: [1.0], 1, indicators, 1)
    ode.start(0.0, [0.0])
    assert ode.run(2.0)[-1] == lib.LW_ODE_STEP_TOO_SMALL
    assert 1.0 - 1e-12 < ode.t <= 1.0
    assert ode.start(1.5, [0.0]) == lib.LW_ODE_NOT_FINITE


def test_indicators_can_stop_the_run() -> None:
    ode = Integrator(lambda t, y: [1.0], 1, lambda t, y: -1 if t > 1.0 else [1.0], 1)
    ode.start(0.0, [0.0])
    assert ode.run(2.0)[-1] == lib.LW_ODE_STOPPED


def test_limit_of_steps_counts_from_the_start() -> None:
    ode = Integrator(swing, 2, max_steps=5)
    for _ in range(2):
        ode.start(0.0, [1.0, 0.0])
        assert ode.run(10.0) == [lib.LW_ODE_STEP] * 5 + [lib.LW_ODE_TOO_MANY_STEPS]
    lib.lw_ode_set_options(ode.ode, ffi.new("lw_ode_options *", {"rtol": 1e-8, "atol": 1e-8}))
    assert set(ode.run(10.0)) == {lib.LW_ODE_STEP}
    assert ode.t == 10.0


def test_events_within_one_step_come_one_by_one() -> None:
    roots = [0.11, 0.12, 0.37, 0.9]
    ode = Integrator(lambda t, y: [0.0], 1, lambda t, y: [t - root for root in roots], 4, first_step=1.0)
    ode.start(0.0, [0.0])
    found = []
    while ode.t < 1.0:
        if ode.step(1.0) == lib.LW_ODE_EVENT:
            found.append((ode.t, ffi.unpack(lib.lw_ode_crossings(ode.ode), 4)))
    assert [crossings for _, crossings in found] == [[int(i == k) for i in range(4)] for k in range(4)]
    for (t, _), root in zip(found, roots, strict=True):
        assert 0.0 < t - root < 1e-14


@pytest.mark.parametrize("power", [1, 3, 9])
@pytest.mark.parametrize("root", [0.5, 1.0 / 3.0, 1e-7, 0.999999])
def test_flat_crossings_are_located_with_few_evaluations(power: int, root: float) -> None:
    ode = Integrator(lambda t, y: [0.0], 1, lambda t, y: [(t - root) ** power], 1, first_step=1.0)
    ode.start(0.0, [0.0])
    assert ode.step(1.0) == lib.LW_ODE_EVENT
    assert 0.0 < ode.t - root < 1e-14
    assert ode.counts.event_evaluations < (25 if power == 1 else 70)  # bisection alone: 50 and the samples


@pytest.mark.parametrize("slope", [1e-3, 1e-6, 1e-9])
def test_a_crossing_below_the_resolution_is_not_bisected(slope: float) -> None:
    """Near its root the indicator is a staircase of rounding errors, which need not be climbed step by step."""

    def located(resolution: float) -> int:
        def indicators(t: float, y: object) -> list[float]:
            return [1.0 + slope * (t - 1.0 / 3.0) - 1.0]

        ode = Integrator(lambda t, y: [0.0], 1, indicators, 1, first_step=1.0, event_resolution=resolution)
        ode.start(0.0, [0.0])
        assert ode.step(1.0) == lib.LW_ODE_EVENT
        assert 0.0 < indicators(ode.t, None)[0] <= 5e-16
        return int(ode.counts.event_evaluations)

    assert located(5e-16) < 25
    assert located(5e-16) < located(0.0) - 5


def test_a_jump_of_an_indicator_is_located() -> None:
    ode = Integrator(lambda t, y: [0.0], 1, lambda t, y: [-1.0 if t < 0.3 else 1e6], 1, first_step=1.0)
    ode.start(0.0, [0.0])
    assert ode.step(1.0) == lib.LW_ODE_EVENT
    assert 0.0 <= ode.t - 0.3 < 1e-14


def test_the_state_at_an_event_is_as_good_as_the_steps() -> None:
    ode = Integrator(swing, 2, lambda t, y: [y[0]], 1, rtol=1e-10, atol=1e-10)
    ode.start(0.0, [1.0, 0.0])
    while ode.step(10.0) != lib.LW_ODE_EVENT:
        pass
    assert math.isclose(ode.t, math.pi / 2, abs_tol=1e-9)
    assert math.isclose(ode.y[1], -1.0, abs_tol=1e-9)
    assert ode.dense(ode.t) == ode.y
    ode.run(10.0)
    assert np.allclose(ode.y, [math.cos(10.0), -math.sin(10.0)], atol=1e-8)


def test_counts_go_on_over_a_new_start() -> None:
    ode = Integrator(swing, 2)
    ode.start(0.0, [1.0, 0.0])
    ode.run(1.0)
    first = ode.counts.evaluations
    ode.start(0.0, [1.0, 0.0])
    ode.run(1.0)
    assert ode.counts.evaluations == 2 * first


def test_creation_refuses_negative_sizes() -> None:
    options = ffi.new("lw_ode_options *", {"rtol": 1e-8, "atol": 1e-8})
    assert lib.lw_ode_create(-1, 0, ffi.NULL, ffi.NULL, ffi.NULL, options) == ffi.NULL
    lib.lw_ode_free(ffi.NULL)
