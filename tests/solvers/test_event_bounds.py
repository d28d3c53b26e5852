"""Bounds of event indicators, by which the compiled integrator passes steps that cannot hold an event."""

from __future__ import annotations

import math

import numpy as np
import pytest

from linkwork.core._core import ffi, lib
from support.integrator import Integrator

WITH_RANGE = ["dopri5", "rodas5p", "auto"]


class Bounded:
    """A random oscillator with friction and a load, whose indicators are its states less thresholds."""

    def __init__(self, seed: int, method: str, bounds: bool = True):
        rng = np.random.default_rng(seed)
        self.thresholds = rng.uniform(-0.8, 0.8, 2)
        self.boxes: list[tuple[float, float, np.ndarray, np.ndarray]] = []
        frequency, damping = rng.uniform(0.5, 4.0), rng.uniform(0.0, 0.4)

        def derivative(t: float, y: np.ndarray) -> list[float]:
            return [y[1], -(frequency**2) * math.sin(y[0]) - damping * y[1] + math.cos(2.0 * t)]

        def indicators(t: float, y: np.ndarray) -> list[float]:
            return list(y - self.thresholds)

        self.ode = Integrator(derivative, 2, indicators, 2, method=method, rtol=1e-6, atol=1e-6)
        self.indicators = indicators
        self._bounds = ffi.callback("lw_ode_bounds", self._find)
        if bounds:
            lib.lw_ode_set_bounds(self.ode.ode, self._bounds)
        self.ode.start(0.0, list(rng.uniform(-1.0, 1.0, 2)))

    def _find(self, context: object, box: object, low: object, high: object) -> int:
        below, above = (np.array(ffi.unpack(one, 2)) for one in (box.y_low, box.y_high))
        self.boxes.append((box.t, box.duration, below, above))
        for k in range(2):
            low[k], high[k] = below[k] - self.thresholds[k], above[k] - self.thresholds[k]
        return 0

    def events(self, t_end: float) -> list[tuple[float, list[int]]]:
        """Times of events, and which indicators crossed zero."""
        found = []
        while self.ode.t < t_end:
            if self.ode.step(t_end) == lib.LW_ODE_EVENT:
                found.append((self.ode.t, ffi.unpack(lib.lw_ode_crossings(self.ode.ode), 2)))
        return found


@pytest.mark.parametrize("method", WITH_RANGE)
@pytest.mark.parametrize("seed", range(8))
def test_a_step_stays_within_its_box(seed: int, method: str) -> None:
    one = Bounded(seed, method)
    asked, begin = 0, one.ode.t
    while one.ode.t < 8.0:
        one.boxes.clear()
        outcome = one.ode.step(8.0)
        boxes = [box for box in one.boxes if box[1] > 0.0 and box[0] == one.ode.t]
        if outcome == lib.LW_ODE_STEP:
            assert boxes
            _, duration, low, high = boxes[-1]
            assert duration == pytest.approx(one.ode.t - begin, rel=1e-12)
            inner = np.array([one.ode.dense(t) for t in np.linspace(begin, one.ode.t, 41)])
            rounding = 1e-14 * np.abs(inner).max(axis=0)
            assert (inner >= low - rounding).all()
            assert (inner <= high + rounding).all()
            assert (high - low <= 2.5 * np.ptp(inner, axis=0) + 0.05).all()  # no wider than it takes
            asked += 1
        begin = one.ode.t
    assert asked > 10


@pytest.mark.parametrize("method", [*WITH_RANGE, "dop853"])
@pytest.mark.parametrize("seed", range(8))
def test_the_events_are_those_of_a_search_in_every_step(seed: int, method: str) -> None:
    with_bounds, without = Bounded(seed, method), Bounded(seed, method, bounds=False)
    found, expected = with_bounds.events(12.0), without.events(12.0)
    assert [which for _, which in found] == [which for _, which in expected]
    np.testing.assert_allclose([t for t, _ in found], [t for t, _ in expected], rtol=1e-13)
    assert with_bounds.ode.y == pytest.approx(without.ode.y, rel=1e-9)
    assert found
    counts = [one.ode.counts.event_evaluations for one in (with_bounds, without)]
    assert counts[0] < counts[1] if method != "dop853" else counts[0] == pytest.approx(counts[1], abs=2)


@pytest.mark.parametrize("method", WITH_RANGE)
def test_indicators_are_not_computed_far_from_zero(method: str) -> None:
    one = Bounded(1, method)
    one.thresholds[:] = 50.0
    one.ode.start(0.0, [0.5, 0.5])
    assert one.events(8.0) == []
    assert one.boxes
    assert one.ode.counts.event_evaluations == 0


def test_a_touch_within_one_step_is_found() -> None:
    """The box of a step that turns back beyond a threshold reaches over it, although both ends are clear of it."""
    depth = 1e-4
    for at in np.linspace(0.2, 0.8, 13):
        # y = (t - at)^2, whose derivative is linear in time: one step of any size is exact
        ode = Integrator(lambda t, y, at=at: [2.0 * (t - at)], 1, lambda t, y: [y[0] - depth], 1, first_step=1.0)

        def bounds(context: object, box: object, low: object, high: object) -> int:
            low[0], high[0] = box.y_low[0] - depth, box.y_high[0] - depth
            return 0

        kept = ffi.callback("lw_ode_bounds", bounds)
        lib.lw_ode_set_bounds(ode.ode, kept)
        ode.start(0.0, [at**2])
        assert ode.step(1.0) == lib.LW_ODE_EVENT
        assert ode.t == pytest.approx(at - math.sqrt(depth), abs=1e-12)
