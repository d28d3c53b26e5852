"""Linear models without idle spins, which affect nothing else and cannot be seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import quoted
from linkwork.core.native import OffsetArray
from linkwork.errors import MechanismError
from linkwork.model.arguments import one
from linkwork.model.idle_spins import SpinningBody, idle_speeds
from linkwork.model.independent_coordinates import admissible_speeds

if TYPE_CHECKING:
    from linkwork.model.base import ModelBase
    from linkwork.model.linear_model import LinearModel
    from linkwork.model.state import State

LOADED = 1e-9  # rad/s2 by an input of one: more is no rounding
_REMEDY = "{} has no inertia about its line; leave the load out, or give the body an inertia about the line"
Derivative = Callable[[OffsetArray, OffsetArray, FloatArray], FloatArray]
TOLERANCE = 1e-7  # of what idle spins may change, by the largest number of the same matrix


def without_idle_spins(
    system: ModelBase,
    state: State,
    model: LinearModel,
    derivative: Derivative,
    inputs: Sequence[str] | None,
    outputs: Sequence[str] | None,
) -> LinearModel:
    """Return the linear model of all but the idle spins, or the same where outputs show these.

    With V the directions of the idle spins in x, A V lies in the span of V and C V is zero: x - V V_I^-1 x_I, where I
    are as many of the states, obeys equations of its own.

    Parameters
    ----------
    derivative
        Of variables along a seed in others.
    inputs, outputs
        As they were asked for.

    Raises
    ------
    MechanismError
        Where an input or a damper loads a spin that has no inertia.
    """
    chosen = model.independents
    assert chosen is not None
    idle, bodies = idle_speeds(system, state, admissible_speeds(system, state))
    if not idle.shape[1]:
        return model
    speed_of = _speeds_of_coordinates(system)
    order = [*(speed_of[i] for i in chosen.q), *chosen.local]
    V = np.zeros((len(model.states), 2 * idle.shape[1]))
    V[: len(order), : idle.shape[1]], V[len(order) :, idle.shape[1] :] = idle[order], idle[list(chosen.u)]
    thin = [body for body in bodies if not body.has_inertia]
    if thin:
        _refuse_dampers(system, state, idle, thin)
        model = _without_loads(system, state, model, derivative, thin, inputs)
    shown = outputs is not None and np.abs(model.C @ V).max(initial=0.0) > TOLERANCE * np.abs(model.C).max(initial=1.0)
    out = _pivots(V)
    left = [i for i in range(len(V)) if i not in out]
    G = np.linalg.solve(V[out].T, V[left].T).T
    moved = model.A @ V
    remains = moved[left] - G @ moved[out]
    if shown or np.abs(remains).max(initial=0.0) > TOLERANCE * max(1.0, np.abs(model.A).max(initial=0.0)):
        return model
    C, D, y, names = model.C[:, left], model.D, model.y, model.outputs
    if outputs is None:
        C, D = np.eye(len(left)), model.D[left]
        y, names = model.x[left] - G @ model.x[out], tuple(model.states[i] for i in left)
    return replace(
        model,
        A=np.ascontiguousarray(model.A[np.ix_(left, left)] - G @ model.A[np.ix_(out, left)]),
        B=model.B[left] - G @ model.B[out],
        C=np.ascontiguousarray(C),
        D=D,
        states=tuple(model.states[i] for i in left),
        outputs=names,
        x=model.x[left] - G @ model.x[out],
        y=y,
        xdot=model.xdot[left] - G @ model.xdot[out],
        independents=replace(chosen, idle=tuple(map(str, bodies))),
    )


def _speeds_of_coordinates(system: ModelBase) -> dict[int, int]:
    numbering = system.numbering
    pairs: dict[int, int] = {}
    for name in numbering.tree:
        q, u = numbering.q[name], numbering.u[name]
        if q.stop - q.start == u.stop - u.start:
            pairs |= dict(zip(range(q.start, q.stop), range(u.start, u.stop), strict=True))
    return pairs


def _pivots(V: FloatArray) -> list[int]:
    """As many rows as columns, the most independent ones; of the same coordinates and speeds."""
    half = V.shape[1] // 2
    first = len(V) // 2
    left, found = V[first:, half:].copy(), []
    for _ in range(half):
        best = int(np.argmax(np.linalg.norm(left, axis=1)))
        found.append(best)
        row = left[best] / np.linalg.norm(left[best])
        left -= np.outer(left @ row, row)
    return sorted([*found, *(first + k for k in found)])


def _refuse_dampers(system: ModelBase, state: State, idle: FloatArray, bodies: Sequence[SpinningBody]) -> None:
    """At rest, where accelerations along spins depend on their speeds by dampers alone."""
    block = system.block()
    system.enter(block, state)
    no_loads = one(system.arguments.with_motions(state, system.arguments.loads(None)), "tau")
    block.enter(state.q, np.zeros_like(state.u), no_loads, state.time)
    reference = {variable.name: variable.reference for variable in system.variables}
    speeds = np.array([reference[name] for name in system.u_names], dtype=np.uint32)
    rates = np.array([reference[f"der({name})"] for name in system.u_names], dtype=np.uint32)
    changes = [block.directional_derivative(rates, speeds, np.ascontiguousarray(spin)) for spin in idle.T]
    if np.abs(idle.T @ np.transpose(changes)).max(initial=0.0) > TOLERANCE:
        raise MechanismError(f"a damper acts on an idle spin: {_REMEDY.format(_listed(bodies))}")


def _without_loads(
    system: ModelBase,
    state: State,
    model: LinearModel,
    derivative: Derivative,
    bodies: Sequence[SpinningBody],
    inputs: Sequence[str] | None,
) -> LinearModel:
    """Refuse inputs that load spins without inertia; those that were not asked for are left out."""
    reference = {variable.name: variable.reference for variable in system.variables}
    rows = np.array([reference[f"der({name})"] for name in system.u_names], dtype=np.uint32)
    block = system.block()
    system.enter(block, state)
    turn = [
        along @ block.body_jacobian(system.body_numbers[one.body], np.zeros(3))[:3]
        for one in bodies
        for along in (np.eye(3) if one.direction is None else [one.direction])
    ]
    loaded = []
    for name in model.inputs:
        changes = np.array(turn) @ derivative(rows, np.array([reference[name]], dtype=np.uint32), np.ones(1))
        if np.abs(changes).max(initial=0.0) > 0.0:
            loaded.append((name, float(np.abs(changes).max())))
    most = max((size for _, size in loaded), default=0.0)
    loads = [name for name, size in loaded if size > TOLERANCE * most and size > LOADED]
    if loads and inputs is not None:
        raise MechanismError(f"input {loads[0]!r} acts on an idle spin: {_REMEDY.format(_listed(bodies))}")
    kept = [i for i, name in enumerate(model.inputs) if name not in loads]
    return replace(
        model, B=model.B[:, kept], D=model.D[:, kept], u=model.u[kept], inputs=tuple(model.inputs[i] for i in kept)
    )


def _listed(bodies: Sequence[SpinningBody]) -> str:
    return quoted([one.body for one in bodies])
