"""Motions in independent states over several swings: right, or ended by an error at the end of a range."""

import numpy as np
import pytest
from scipy.integrate import DOP853, LSODA, solve_ivp

from linkwork.core.native import ffi, lib
from mechanics.test_minimal import LOOPS, SMOOTH
from support.driving import reached
from support.minimal import minimal_of
from support.random_mechanisms import well_posed

DURATION = 1.5  # s
RTOL = 1e-6
MOST_STEPS = 300  # solvers creep towards an end that they cannot pass
# with this seed a torn quaternion, and long solutions next to the end
LEFT_OUT = {"RES", "tangled_4", "three_planar_legs"}


def in_independents(system, state, method):
    """Times and all states at accepted steps, and whether the last one was refused as passing the end of a range."""
    block, minimal, _, _ = minimal_of(system, state)
    missing = np.full(minimal.size, np.nan)
    solver = method(
        lambda t, x: found if (found := minimal.ode(t, x)) is not None else missing,
        *(state.time, minimal.get(), state.time + DURATION),
        rtol=RTOL,
        atol=RTOL,
    )
    lib.lw_minimal_watch(minimal.handle)
    times, states, passed = [], [], False
    while solver.status == "running" and len(times) < MOST_STEPS and not passed:
        solver.step()
        if solver.status == "failed" or minimal.ode(solver.t, solver.y) is None:
            break
        passed = lib.lw_minimal_check_step(minimal.handle) != 0
        message = ffi.string(lib.lw_state_message(block.handle)).decode()
        times.append(solver.t)
        states.append(np.r_[block["q"], block["u"]])
    return np.array(times), np.array(states), message if passed else ""


def in_all(system, state, times):
    nq = system.numbering.nq
    y = np.concatenate([state.q, state.u])
    return solve_ivp(
        lambda t, y: system.derivatives(y[:nq], y[nq:], time=t),
        *((state.time, times[-1]), y, "DOP853"),
        t_eval=times,
        rtol=1e-9,
        atol=1e-9,
    ).y.T


@pytest.mark.thin(24, kept=4)
@pytest.mark.parametrize("name", [name for name in SMOOTH if name not in LEFT_OUT])
@pytest.mark.parametrize("method", [DOP853, LSODA])
@pytest.mark.filterwarnings("ignore")
def test_motions_are_right_or_end(name, method):
    system, state = reached(well_posed(LOOPS[name], 1))
    nq = system.numbering.nq
    times, found, message = in_independents(system, state, method)
    exact = in_all(system, state, times)
    size = 1 + np.abs(exact).max()
    error = np.abs(found - exact) / size
    assert error[: len(times) - bool(message), :nq].max() < 1e-2
    if times[-1] >= state.time + DURATION and not message:
        assert error[:, nq:].max() < 1e-2
    if message:
        assert error[-1].max() > 1e-3  # it would have gone on wrongly
        assert "is at the end of its range" in message
