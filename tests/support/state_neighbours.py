"""States near another one, with the same discrete state, and differences along them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

import linkwork as lw
from linkwork.model.state import JointArray

from .poses import Array

STEPS = {-2: 1, -1: -8, 1: 8, 2: -1}


def beside(state: lw.State, step: Array) -> lw.State:
    """With coordinates and speeds of the tree, (nq + nu,), moved."""
    n = len(state.q)
    q, u = (
        JointArray.split(np.concatenate([np.add(of, move), of.cut]), len(of))
        for of, move in ((state.q, step[:n]), (state.u, step[n:]))
    )
    return dataclasses.replace(state, q=q, u=u)


def slopes(system: lw.Model, state: lw.State, h: float = 1e-6, *, tau: Mapping[str, Any] | None = None) -> Array:
    """Derivatives of `system.derivatives` by the states, by central differences of fourth order."""
    n = len(state.q) + len(state.u)
    columns = [
        sum(weight * system.derivatives(beside(state, k * h * unit), tau=tau) for k, weight in STEPS.items()) / (12 * h)
        for unit in np.eye(n)
    ]
    return np.array(columns).reshape(n, n).T


def rate_of_energy(system: lw.Model, state: lw.State, derivative: Array, h: float = 1e-3) -> float:
    """dE/dt along a motion, by central differences of sixth order."""
    n = len(state.q)

    def total(step: float) -> float:
        return sum(system.energy(state.q + step * derivative[:n], state.u + step * derivative[n:]))

    return sum(w * (total(k * h) - total(-k * h)) for k, w in {1: 45, 2: -9, 3: 1}.items()) / (60 * h)
