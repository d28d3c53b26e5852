"""Systems in independent states, for tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.integrate import solve_ivp

import linkwork as lw
from linkwork.core.native import Block, Minimal, OffsetArray
from linkwork.model.independent_coordinates import choose_independent_coordinates

from .poses import Array


def minimal_of(
    system: lw.Model, state: lw.State, wanted: Sequence[str] | None = None
) -> tuple[Block, Minimal, OffsetArray, OffsetArray]:
    """A block at a state, its independent states, and the offsets of these and of their derivatives."""
    chosen = choose_independent_coordinates(system, state, wanted)
    block = system.block()
    system.enter(block, state)
    at = {name: field.first for name, field in system.fields.items()}
    states = [at["q"] + i for i in chosen.q] + [at["u"] + i for i in chosen.u]
    rates = [at["qdot"] + i for i in chosen.q] + [at["udot"] + i for i in chosen.u]
    return block, Minimal(block, chosen.q, chosen.u), np.array(states, np.uint32), np.array(rates, np.uint32)


def largest_gap(block: Block) -> float:
    """Largest violation of the constraints or their rates, m and m/s."""
    return max(float(np.abs(values).max(initial=0.0)) for values in block.constraints())


def run_minimal(system: lw.Model, state: lw.State, t_end: float, rtol: float = 1e-11) -> tuple[Array, Array]:
    """All coordinates and speeds after the independent ones were integrated."""
    block, minimal, _, _ = minimal_of(system, state)

    def rate(t: float, x: Array) -> Array:
        xdot = minimal.ode(t, x)
        assert xdot is not None, block.reals
        return xdot

    x = minimal.get()
    run = solve_ivp(rate, (state.time, t_end), x, "DOP853", rtol=rtol, atol=rtol)
    assert run.success
    block.put("time", t_end)
    minimal.put(run.y[:, -1])
    return block["q"].copy(), block["u"].copy()


def run_full(system: lw.Model, state: lw.State, t_end: float, rtol: float = 1e-11) -> tuple[Array, Array]:
    """The same by all states."""
    nq = system.numbering.nq

    def rate(t: float, y: Array) -> Array:
        return system.derivatives(y[:nq], y[nq:], time=t)

    run = solve_ivp(rate, (state.time, t_end), np.concatenate([state.q, state.u]), "DOP853", rtol=rtol, atol=rtol)
    assert run.success
    return run.y[:nq, -1], run.y[nq:, -1]


def by_differences(function: object, x: Array, along: Array, h: float = 1e-3) -> Array:
    """The derivative of a function along a direction, by central differences of eighth order."""
    weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    return sum(w * (function(x + k * h * along) - function(x - k * h * along)) for k, w in enumerate(weights, 1)) / h
