"""The rates of one state as runs ask for them, by its compiled tape, if that is faster, timed by a loop in C."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from functools import partial

import numpy as np

import linkwork as lw
from bench.mechanisms import Missing
from bench.timing import Contestant, Timing
from linkwork.core._core import ffi, lib
from linkwork.core.compiled_tapes import Compilation
from linkwork.core.native import Block, doubles

NAME = "one state, compiled"
BATCHES, SHORTEST = 25, 0.016  # batches of so many seconds at least
LOOP = b"""\
#ifdef _WIN32
__declspec(dllexport)
#endif
void linkwork_tape(int (*rates)(void *, double, const double *, double *), void *state, const double *y,
                   const double *nearby, double *ydot, long count) {
  for (long i = 0; i < count; i++) rates(state, 0.0, i % 2 ? nearby : y, ydot);
}
"""


def by_one_state(model: lw.Model, q: np.ndarray, u: np.ndarray, tau: np.ndarray | None = None) -> Contestant:
    """Rates by a tape of this state, with the checks of a run; one result of 256 is compared with the kernels.

    Where the kernels are faster a run uses them, and they are timed. Where the tape is not compiled there is no time.
    """
    block, runs = model.block(), model.rates_of_runs
    inputs = np.zeros(model.numbering.n_inputs)
    if tau is not None:
        inputs[: tau.size] = tau
    block.enter(q, u, inputs)
    runs.record(block)
    loop = Compilation(LOOP)
    loop.wait()
    if reason := runs.wait() or loop.reason:
        raise Missing(f"tapes are not compiled: {reason}")
    runs.serve(block, 0)
    if not any(tape.compiled for tape in runs.tapes.recorded):
        return dict
    n = model.sizes.states
    y = block.reals[model.fields["q"].first :][:n].copy()
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 5, ctypes.c_long)(loop.address)
    return partial(timed, function, block, y)


def timed(loop: Callable[..., None], block: Block, y: np.ndarray) -> dict[str, Timing]:
    """The best of some batches, and the accelerations."""
    rates, by_kernels = np.empty_like(y), block.rates_by_kernels
    nearby = y + 1e-13  # a state that has not changed is not evaluated again
    pointers = ffi.addressof(lib, "lw_ode_mechanism"), block.handle, *map(doubles, (y, nearby, rates))
    call = partial(loop, *(int(ffi.cast("intptr_t", one)) for one in pointers))
    count, calls, best = 1, 1, np.inf
    while _spent(call, count) < SHORTEST:
        count *= 2
        calls += count
    for _ in range(BATCHES):
        best = min(best, _spent(call, count))
        calls += count
    if 0 < block.rates_by_kernels - by_kernels < calls // 2:
        raise AssertionError("the tape does not count for its own state")
    sizes = block.model.sizes
    return {NAME: Timing(1e6 * best / count, rates[sizes.nq :][: sizes.nu])}


def _spent(call: Callable[[int], None], count: int) -> float:
    begin = time.thread_time()
    call(count)
    return time.thread_time() - begin
