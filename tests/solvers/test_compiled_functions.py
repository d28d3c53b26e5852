"""The compiled integrator over C functions, called without Python."""

import ctypes
import signal

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import SolverError
from linkwork.solvers import CompiledFunctions, Problem, Restart, Solution, solve
from support.problems import G
from support.small import pendulum

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
    assert 0.3 < caught.value.result.t_end <= 0.5


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
    """As Ctrl-C does; results until then are kept."""

    def interrupt(number: int, frame: object) -> None:
        raise InterruptedError

    system = lw.compile(pendulum())
    lw.simulate(system, 1e-3)  # what it imports is not to be interrupted
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(InterruptedError) as caught:
            lw.simulate(system, 1e9, t_eval=times, max_steps=10**12, progress=False)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    result = caught.value.result
    assert result.statistics.steps > 10
    assert result.t[-1] > 1.0 if times is None else result.t[-1] == 0.0
    assert len(result.t) == (result.statistics.steps + 1 if times is None else 1)
