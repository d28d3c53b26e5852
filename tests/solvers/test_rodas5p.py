"""The compiled Rodas5P on stiff problems: accuracy, order, its Jacobian and its matrix."""

import math

import numpy as np
import pytest
import scipy.linalg

from linkwork.core._core import ffi, lib
from support.integrator import Integrator, swing

GAMMA = 0.21193756319429014


def rodas5p(derivative, n, jacobian=None, **options) -> Integrator:
    return Integrator(derivative, n, method="rodas5p", jacobian=jacobian, **options)


# ---- order and accuracy ----


def drawn_to_a_sine(stiffness: float, jacobian: str) -> tuple:
    """Prothero and Robinson: y = sin(t + 0.3) whatever the stiffness."""

    def derivative(t, y):
        return [-stiffness * (y[0] - math.sin(t + 0.3)) + math.cos(t + 0.3)]

    def exact(t, y):
        return [[-stiffness]], [stiffness * math.cos(t + 0.3) - math.sin(t + 0.3)]

    given = {"exact": exact, "of the states": lambda t, y: ([[-stiffness]], None), "none": None}
    return derivative, given[jacobian]


def errors(stiffness: float, jacobian: str, h: float) -> tuple[float, float]:
    """At the end of steps of length h, and the largest of all steps."""
    derivative, given = drawn_to_a_sine(stiffness, jacobian)
    ode = rodas5p(derivative, 1, given, rtol=1e6, atol=1e6, first_step=h, max_step=h)
    ode.start(0.0, [math.sin(0.3)])
    between = []
    while ode.t < 1.0:
        before = ode.t
        assert ode.step(1.0) == lib.LW_ODE_STEP
        times = np.linspace(before, ode.t, 7)
        between += [abs(ode.dense(t)[0] - math.sin(t + 0.3)) for t in times]
    assert ode.counts.steps == round(1.0 / h)
    return abs(ode.y[0] - math.sin(1.3)), max(between)


@pytest.mark.parametrize("jacobian", ["exact", "of the states", "none"])
@pytest.mark.parametrize(("stiffness", "order", "between"), [(1.0, 5, 5), (1e4, 3, 4), (1e6, 3, 4), (1e9, 3, 4)])
def test_order_however_stiff(stiffness: float, order: int, between: int, jacobian: str) -> None:
    """Of steps and of the dense output; the constants of the lower orders of steps are tiny."""
    (end, way), (half_end, half_way) = (errors(stiffness, jacobian, h) for h in (0.1, 0.05))
    assert way < 1e-7
    assert end < 2e-8 if stiffness < 1e6 else end < 1e-11
    assert abs(math.log2(way / half_way) - between) < 0.4
    if end > 1e-12:
        assert math.log2(end / half_end) > order - 0.9


def test_it_costs_little_where_the_explicit_method_takes_every_step() -> None:
    counts = {}
    for method in ("dopri5", "rodas5p"):
        derivative, jacobian = drawn_to_a_sine(1e6, "exact")
        ode = Integrator(derivative, 1, method=method, jacobian=jacobian)
        ode.start(0.0, [0.0])  # off the solution at first
        ode.run(0.01)
        assert ode.y[0] == pytest.approx(math.sin(0.31), abs=1e-8)
        counts[method] = ode.counts.evaluations + ode.counts.jacobian_evaluations
    assert counts["rodas5p"] < counts["dopri5"] / 20


def van_der_pol(mu: float):
    def derivative(t, y):
        return [y[1], mu * ((1.0 - y[0] ** 2) * y[1] - y[0])]

    def jacobian(t, y):
        return [[0.0, 1.0], [-mu * (2.0 * y[0] * y[1] + 1.0), mu * (1.0 - y[0] ** 2)]], [0.0, 0.0]

    return derivative, jacobian


def robertson():
    def derivative(t, y):
        slow, back, fast = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
        return [back - slow, slow - back - fast, fast]

    def jacobian(t, y):
        back, fast = [0.0, 1e4 * y[2], 1e4 * y[1]], [0.0, 6e7 * y[1], 0.0]
        slow = [0.04, 0.0, 0.0]
        rows = [np.subtract(back, slow), np.subtract(slow, back) - fast, fast]
        return rows, [0.0, 0.0, 0.0]

    return derivative, jacobian


# The ends are those of the Test Set for IVP Solvers (Mazzia, Magherini), 2008.
VAN_DER_POL = 2.0, [2.0, 0.0], [1.706167732170483, -0.8928097010247975]
ROBERTSON = 1e11, [1.0, 0.0, 0.0], [2.083340149701255e-8, 8.333360770334713e-14, 0.9999999791665050]


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
def test_van_der_pol(rtol: float, exact: bool) -> None:
    t_end, start, end = VAN_DER_POL
    derivative, jacobian = van_der_pol(1e6)
    ode = rodas5p(derivative, 2, jacobian if exact else None, rtol=rtol, atol=rtol)
    ode.start(0.0, start)
    assert set(ode.run(t_end)) == {lib.LW_ODE_STEP}
    assert np.abs(np.subtract(ode.y, end)).max() < 3 * rtol
    assert ode.counts.steps < 2500


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
def test_robertson(rtol: float, exact: bool) -> None:
    t_end, start, end = ROBERTSON
    derivative, jacobian = robertson()
    ode = rodas5p(derivative, 3, jacobian if exact else None, rtol=rtol, atol=1e-10 * rtol)
    ode.start(0.0, start)
    assert set(ode.run(t_end)) == {lib.LW_ODE_STEP}
    assert np.abs(np.divide(ode.y, end) - 1.0).max() < 5 * rtol
    assert ode.counts.steps < 1000


def test_a_linear_system_whose_rows_have_different_units() -> None:
    """Masses on springs in a row from soft to stiff, without damping and with much of it; against the exponential."""
    n = 8
    stiffness, damping = np.logspace(0, 6, n), np.logspace(5, 0, n)
    chain = np.eye(n) - np.eye(n, k=1)
    matrix = np.block([[np.zeros((n, n)), np.eye(n)], [-chain * stiffness, -chain * damping]])
    start = np.linspace(1.0, -1.0, 2 * n)
    expected = scipy.linalg.expm(0.5 * matrix) @ start
    for scale in (1.0, 1e12):  # the speeds in smaller units
        units = np.repeat([1.0, scale], n)
        scaled = matrix * units[:, None] / units
        ode = rodas5p(lambda t, y, s=scaled: s @ y, 2 * n, lambda t, y, s=scaled: (s, np.zeros(2 * n)), rtol=1e-9)
        ode.start(0.0, list(start * units))
        ode.run(0.5)
        assert np.abs(ode.y / units - expected).max() < 1e-7 * np.abs(expected).max()


# ---- the Jacobian ----


@pytest.mark.parametrize("t0", [0.0, 1.0, 1e5])
def test_the_derivative_by_time_is_differenced_where_none_is_given(t0: float) -> None:
    ends = []
    for by_time in (True, False):

        def jacobian(t, y, by_time=by_time):
            return [[math.cos(t - t0)]], [-y[0] * math.sin(t - t0)] if by_time else None

        ode = rodas5p(lambda t, y: [y[0] * math.cos(t - t0)], 1, jacobian, rtol=1e-10, atol=1e-10)
        ode.start(t0, [1.0])
        ode.run(t0 + 3.0)
        ends.append((ode.y[0], ode.counts.steps))
        assert ode.counts.evaluations > (8 if by_time else 10) * ode.counts.steps
        assert ode.counts.jacobian_evaluations == ode.counts.steps
    assert ends[0][0] == pytest.approx(math.exp(math.sin(3.0)), rel=1e-8)
    assert ends[1][0] == pytest.approx(ends[0][0], rel=1e-9)
    assert ends[1][1] == pytest.approx(ends[0][1], rel=0.05)


def test_a_step_that_is_tried_again_keeps_its_jacobian() -> None:
    derivative, jacobian = van_der_pol(1e3)
    ode = rodas5p(derivative, 2, jacobian, first_step=1.0)
    ode.start(0.0, [2.0, 0.0])
    assert ode.step(10.0) == lib.LW_ODE_STEP
    assert ode.counts.rejected > 1
    assert ode.counts.jacobian_evaluations == ode.counts.steps == 1
    assert ode.counts.evaluations == 1 + 7 * (1 + ode.counts.rejected)


def test_differences_are_taken_where_the_derivative_is() -> None:
    """A state is moved away from a wall that it comes close to, and time is not moved back."""

    def derivative(t: float, y: np.ndarray):
        return 1 if y[0] > 0.0 or t < 1.0 else [-y[0]]

    ode = rodas5p(derivative, 1)
    ode.start(1.0, [-1e-12])
    assert set(ode.run(2.0)) == {lib.LW_ODE_STEP}
    assert ode.y[0] == pytest.approx(-1e-12 * math.exp(-1.0))


@pytest.mark.parametrize("what", [1, math.nan, math.inf])
def test_a_jacobian_that_does_not_exist_shortens_the_step(what: float) -> None:
    def jacobian(t, y):
        if t <= 1.0:
            return [[0.0]], [0.0]
        return what if isinstance(what, int) else ([[what]], [0.0])

    ode = rodas5p(lambda t, y: [1.0], 1, jacobian, max_step=0.3)
    ode.start(0.0, [0.0])
    assert ode.run(2.0)[-1] == lib.LW_ODE_STEP_TOO_SMALL
    assert 1.0 < ode.t <= 1.3
    assert ode.y[0] == pytest.approx(ode.t)
    assert ode.dense(ode.t) == ode.y


def test_a_jacobian_may_stop_the_run() -> None:
    ode = rodas5p(lambda t, y: [1.0], 1, lambda t, y: -1 if t > 0.5 else ([[0.0]], [0.0]), max_step=0.2)
    ode.start(0.0, [0.0])
    assert ode.run(2.0)[-1] == lib.LW_ODE_STOPPED
    assert 0.5 < ode.t < 0.71


def test_a_singular_matrix_shortens_the_step() -> None:
    """I / (h gamma) - J is exactly zero for the requested first step."""
    h = 0.125
    rate = 1.0 / (h * GAMMA)
    ode = rodas5p(lambda t, y: [rate * y[0]], 1, lambda t, y: ([[rate]], [0.0]), first_step=h)
    ode.start(0.0, [1.0])
    assert ode.step(1.0) == lib.LW_ODE_STEP
    assert ode.counts.rejected >= 1
    ode.run(0.5)
    assert ode.y[0] == pytest.approx(math.exp(0.5 * rate), rel=1e-6)


# ---- choosing the method ----


def run_of(method: str) -> list[float]:
    ode = Integrator(swing, 2, method=method)
    ode.start(0.0, [1.0, 0.0])
    ode.run(3.0)
    return ode.y


def test_methods_can_be_changed_between_runs() -> None:
    ode = Integrator(swing, 2, lambda t, y: [y[0]], 1)
    for method in ("rodas5p", "dopri5", "dopri5", "rodas5p", "dopri5"):
        assert ode.use(method) == lib.LW_OK
        assert ode.step(3.0) == lib.LW_ODE_NOT_FINITE  # not started
        ode.start(0.0, [1.0, 0.0])
        ode.run(1.0)
        ode.start(0.0, [1.0, 0.0])
        while ode.t < 3.0:
            assert ode.step(3.0) in (lib.LW_ODE_STEP, lib.LW_ODE_EVENT)
        assert ode.y == pytest.approx([math.cos(3.0), -math.sin(3.0)], abs=1e-6)
    free = Integrator(swing, 2)
    for method in ("rodas5p", "dopri5", "rodas5p"):
        free.use(method)
        free.start(0.0, [1.0, 0.0])
        free.run(3.0)
        assert free.y == run_of(method)


def test_a_method_that_cannot_be_had_changes_nothing() -> None:
    ode = Integrator(swing, 2)
    ode.start(0.0, [1.0, 0.0])
    assert lib.lw_ode_set_method(ode.ode, 7, ffi.NULL) == lib.LW_ERROR_USAGE
    ode.run(3.0)
    assert ode.y == run_of("dopri5")
    n = 5_000_000  # whose matrix has more bytes than there are addresses
    options = ffi.new("lw_ode_options *", {"rtol": 1e-8, "atol": 1e-8})
    large = ffi.gc(lib.lw_ode_create(n, 0, ffi.NULL, ffi.NULL, ffi.NULL, options), lib.lw_ode_free)
    assert lib.lw_ode_set_method(large, lib.LW_ODE_RODAS5P, ffi.NULL) == lib.LW_ERROR_MEMORY


def test_no_states_need_no_matrix() -> None:
    ode = rodas5p(lambda t, y: [], 0, max_step=0.25)
    ode.start(0.0, [])
    assert set(ode.run(1.0)) == {lib.LW_ODE_STEP}
    assert ode.counts.rejected == 0
