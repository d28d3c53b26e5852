"""The compiled Dormand-Prince 5(4): its tableau, its C interface, and C functions called without Python."""

import ctypes
import math
import re
import signal
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork._core import ffi, lib
from linkwork.errors import SolverError
from linkwork.solvers import CompiledFunctions, Problem, Restart, Solution, solve

TABLEAU = Path(__file__).resolve().parent.parent / "csrc" / "ode" / "dopri5_tableau.h"
STAGES = range(7)
G = 9.81


# ---- the tableau -------------------------------------------------------------------------------------


def fractions_of(name: str) -> list[list[Fraction]]:
    """The rows of a table of the header, padded with zeros."""
    body = re.search(rf"\b{name}\[.*?= \{{(.*?)\}};", TABLEAU.read_text(encoding="utf-8"), re.DOTALL).group(1)
    rows = re.findall(r"\{(.*?)\}", body, re.DOTALL) or [body]
    numbers = [[part.split("/") for part in row.split(",") if part.strip()] for row in rows]
    values = [
        [Fraction(p[0].strip()) / Fraction((p[1] if len(p) > 1 else "1").strip()) for p in row] for row in numbers
    ]
    return [row + [Fraction(0)] * (len(STAGES) - len(row)) for row in values]


A = fractions_of("A")
(C,), (B,), (ERROR,), (BUBBLE,) = (fractions_of(name) for name in ("C", "B", "ERROR", "BUBBLE"))


# A rooted tree is the tuple of its subtrees; one condition belongs to each.
def trees(size: int) -> Iterator[tuple]:
    def forests(total: int, largest: int) -> Iterator[tuple]:
        if total == 0:
            yield ()
        for first in range(min(total, largest), 0, -1):
            for tree in trees(first):
                yield from (
                    (tree, *rest) for rest in forests(total - first, first) if not rest or (first, tree) >= key(rest[0])
                )

    yield from forests(size - 1, size - 1)


def nodes(tree: tuple) -> int:
    return 1 + sum(nodes(branch) for branch in tree)


def key(tree: tuple) -> tuple:
    return nodes(tree), tree


def density(tree: tuple) -> int:
    return nodes(tree) * math.prod(density(branch) for branch in tree)


def weights(tree: tuple) -> list[Fraction]:
    """Of each stage: the product over the branches of the sum of a_ij times the branch's weights."""
    inner = [weights(branch) for branch in tree]
    return [math.prod((sum(A[i][j] * w[j] for j in STAGES) for w in inner), start=Fraction(1)) for i in STAGES]


def elementary(b: list[Fraction], tree: tuple) -> Fraction:
    return sum((b[i] * w for i, w in enumerate(weights(tree))), start=Fraction(0))


def test_number_of_conditions() -> None:
    assert [len(set(trees(size))) for size in range(1, 7)] == [1, 1, 2, 4, 9, 20]


def test_rows_and_the_last_stage() -> None:
    assert [sum(row) for row in A] == C
    assert A[-1] == B
    assert all(A[i][j] == 0 for i in STAGES for j in STAGES if j >= i)


@pytest.mark.parametrize("size", range(1, 6))
def test_order_conditions(size: int) -> None:
    """The method satisfies those up to order 5, the embedded one those up to order 4 but not all of order 5."""
    embedded = [b - e for b, e in zip(B, ERROR, strict=True)]
    for tree in trees(size):
        assert elementary(B, tree) == Fraction(1, density(tree))
    gaps = [elementary(embedded, tree) - Fraction(1, density(tree)) for tree in trees(size)]
    assert any(gaps) == (size == 5)


@pytest.mark.parametrize("x", [Fraction(1, 7), Fraction(1, 2), Fraction(5, 6), Fraction(1)])
def test_order_conditions_of_the_dense_output(x: Fraction) -> None:
    w = [x**2 * (3 - 2 * x) * b + x**2 * (1 - x) ** 2 * d for b, d in zip(B, BUBBLE, strict=True)]
    w[0] += x * (1 - x) ** 2
    w[-1] -= x**2 * (1 - x)
    for size in range(1, 5):
        for tree in trees(size):
            assert elementary(w, tree) == x**size / density(tree)


# ---- the C interface ---------------------------------------------------------------------------------


class Integrator:
    """A thin owner of an `lw_ode` over Python functions (t, y) -> values, which may return a status instead."""

    def __init__(self, derivative: Callable, n: int, events: Callable | None = None, n_events: int = 0, **options):
        self.n, self.n_events = n, n_events
        self._kept = [self._callback(derivative, n), self._callback(events, n_events) if events else ffi.NULL]
        settings = {"rtol": 1e-8, "atol": 1e-8} | options
        made = lib.lw_ode_create(n, n_events, *self._kept, ffi.NULL, ffi.new("lw_ode_options *", settings))
        self.ode = ffi.gc(made, lib.lw_ode_free)

    def _callback(self, function: Callable, size: int):
        def call(context, t, y, out):
            values = function(t, np.array(ffi.unpack(y, self.n)) if self.n else np.empty(0))
            if isinstance(values, int):
                return values
            ffi.memmove(out, np.asarray(values, dtype=float).tobytes(), 8 * size)
            return 0

        return ffi.callback("lw_ode_function", call)

    def start(self, t: float, y: list[float]) -> int:
        return lib.lw_ode_start(self.ode, t, ffi.new("double[]", y))

    def step(self, t_bound: float) -> int:
        return lib.lw_ode_step(self.ode, t_bound)

    def burst(self, t_bound: float, room: int, tries: int = 0, wanted: np.ndarray | None = None):
        """One burst: its outcome, and the times and states that it has filled."""
        t = np.full(room, math.nan) if wanted is None else np.array(wanted[:room])
        y = np.full((t.size, self.n), math.nan)
        pointers = [ffi.from_buffer("double[]", array) for array in (t, y)]
        output = ffi.new("lw_ode_output *", (wanted is not None, t.size, 0, *pointers))
        outcome = lib.lw_ode_run(self.ode, t_bound, tries, output)
        assert np.isnan(y[output.count :]).all()
        return outcome, t[: output.count], y[: output.count]

    def run(self, t_bound: float) -> list[int]:
        outcomes = []
        while self.t != t_bound and (not outcomes or outcomes[-1] in (lib.LW_ODE_STEP, lib.LW_ODE_EVENT)):
            outcomes.append(self.step(t_bound))
        return outcomes

    @property
    def t(self) -> float:
        return lib.lw_ode_time(self.ode)

    @property
    def y(self) -> list[float]:
        return ffi.unpack(lib.lw_ode_y(self.ode), self.n)

    def dense(self, t: float) -> list[float]:
        y = ffi.new("double[]", self.n)
        lib.lw_ode_dense(self.ode, t, y)
        return list(y)

    @property
    def counts(self):
        return lib.lw_ode_counts(self.ode)


def swing(t: float, y: np.ndarray) -> list[float]:
    return [y[1], -y[0]]


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
    assert ode.counts.event_evaluations < (25 if power == 1 else 65)


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
    raise AssertionError("the bursts do not come to the end")


@pytest.mark.parametrize("case", BURST_CASES)
@pytest.mark.parametrize("t_bound", [10.0, -10.0])
@pytest.mark.parametrize("rows_wanted", [None, 1, 11, 1001])
@pytest.mark.parametrize(("room", "tries"), [(5000, 0), (5000, 1), (5000, 7), (1, 0), (13, 5)])
def test_bursts_are_single_steps(case: str, t_bound: float, rows_wanted: int | None, room: int, tries: int) -> None:
    """To the bit, wherever a burst ends."""
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


# ---- C functions without Python ----------------------------------------------------------------------

FUNCTION = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_double, ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_double)
)


@FUNCTION
def ball_in_c(context, t, y, out):
    out[0], out[1] = y[1], -ctypes.cast(context, ctypes.POINTER(ctypes.c_double))[0]
    return 0


@FUNCTION
def floor_in_c(context, t, y, out):
    out[0] = y[0]
    return 0


@FUNCTION
def stopping_in_c(context, t, y, out):
    out[0], out[1] = 0.0, 0.0
    return -1 if t > 0.5 else 0


def address(thing: object) -> int:
    return ctypes.cast(thing, ctypes.c_void_p).value or 0


def compiled_ball(derivative: object = ball_in_c) -> tuple[CompiledFunctions, ctypes.Array]:
    gravity = (ctypes.c_double * 1)(G)
    return CompiledFunctions(address(derivative), ctypes.addressof(gravity), address(floor_in_c)), gravity


def test_compiled_functions_give_the_same_bits_as_python_ones() -> None:
    compiled, _gravity = compiled_ball()

    def problem(**options) -> Problem:
        return Problem(
            lambda t, y: np.array([y[1], -G]),
            0.0,
            [1.0, 0.0],
            events=lambda t, y: y[:1],
            directions=[-1],
            on_event=lambda t, y, crossings: Restart([0.0, -0.8 * y[1]]),
            **options,
        )

    times = np.linspace(0.0, 3.0, 31)
    python, c = (solve(p, 3.0, rtol=1e-9, t_eval=times) for p in (problem(), problem(compiled=compiled)))
    assert np.array_equal(python.y, c.y)
    assert [event.t for event in python.events] == [event.t for event in c.events]
    assert python.statistics == c.statistics
    assert len(c.events) > 3


def test_a_compiled_function_that_stops() -> None:
    compiled, _gravity = compiled_ball(stopping_in_c)
    problem = Problem(lambda t, y: np.zeros(2), 0.0, [1.0, 0.0], events=lambda t, y: y[:1], compiled=compiled)
    with pytest.raises(SolverError, match="asked to stop") as caught:
        solve(problem, 1.0, max_step=0.1)
    assert 0.3 < caught.value.solution.t_end <= 0.5


def test_compiled_events_need_python_ones() -> None:
    compiled, _gravity = compiled_ball()
    with pytest.raises(SolverError, match="give both"):
        Problem(lambda t, y: y, 0.0, [1.0, 0.0], compiled=compiled)


def test_a_burst_of_compiled_functions_is_single_steps() -> None:
    compiled, _gravity = compiled_ball()

    def run(**options) -> Solution:
        problem = Problem(lambda t, y: y, 0.0, [1.0, 0.0], events=lambda t, y: y[:1], compiled=compiled, **options)
        return solve(problem, 5.0, max_step=0.004)

    free, hooked = run(), run(on_step=lambda t, y: None)
    assert free.statistics == hooked.statistics
    assert free.statistics.steps > 1000
    assert np.array_equal(free.t, hooked.t)
    assert np.array_equal(free.y, hooked.y)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timer signals")
@pytest.mark.parametrize("times", [None, np.linspace(0.0, 1e9, 11)])
def test_a_signal_ends_a_run_that_is_all_in_c(times: np.ndarray | None) -> None:
    """As Ctrl-C does; what was computed until then is kept."""

    def interrupt(number: int, frame: object) -> None:
        raise InterruptedError

    mechanism = lw.Mechanism("pendulum")
    mechanism.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    mechanism.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(InterruptedError) as caught:
            lw.simulate(mechanism, 1e9, t_eval=times, progress=False)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    solution = caught.value.solution
    assert solution.t_end > 1.0
    assert solution.t[-1] == (solution.t_end if times is None else 0.0)
    assert len(solution.t) == (solution.statistics.steps + 1 if times is None else 1)
