"""States of a model taken over by one with other values of its parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from linkwork.errors import LinkworkError, MechanismError
from linkwork.model.state import State

if TYPE_CHECKING:
    from linkwork.model.base import ModelBase

CLOSED = 1e-12  # m; a smaller gap is rounding


def _largest_gap(model: ModelBase, state: State) -> float:
    """Return the largest residual at a state; infinite where it cannot be computed."""
    try:
        gaps = [model.loop_residual(state), model.coupling_residual(state), model.distance_residual(state)]
    except LinkworkError:
        return np.inf
    return max(float(np.abs(gap).max(initial=0.0)) for gap in gaps)


def adopt(model: ModelBase, state: State) -> State:
    """Return a state as one of another model of the same structure, its loops closed."""
    if state.model.mechanism is not model.mechanism or state.model.numbering != model.numbering:
        raise MechanismError(
            f"the state belongs to another mechanism, {state.model.mechanism.name!r}, not to "
            f"{model.mechanism.name!r} with other parameters"
        )
    here = replace(state, model=model)
    if _largest_gap(model, here) <= CLOSED:
        return here
    tree = set(model.numbering.tree)
    q, u = ({n: v for n, v in model.by_joint(x).items() if n in tree and np.size(v)} for x in (state.q, state.u))
    motion = {name: state.motion[span] for name, span in model.numbering.motions.items()}
    closed = model._closed_state(q, u, time=state.time, motion=motion)
    return replace(closed, discrete_state=state.discrete_state)
