"""The compiled Dormand-Prince 5(4): its tableau, its C interface, and C functions called without Python."""

import ctypes
import math
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from linkwork._core import ffi, lib
from linkwork.errors import SolverError
from linkwork.solvers import CompiledFunctions, Problem, Restart, solve

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
