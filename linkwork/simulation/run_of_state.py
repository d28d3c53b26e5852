"""A run of one state by itself, for the rows of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.simulation.simulate import simulate


def run_of_state(
    state: State, t_end: float, inputs: Mapping[str, ArrayLike], options: Mapping[str, Any]
) -> tuple[FloatArray, State]:
    """Return the states (nt, n) of a run, and the state at its end; arguments and errors are those of `simulate`."""
    assert isinstance(state.model, Model)
    result = simulate(state.model, t_end, state, inputs=inputs, progress=False, **options)
    return result.y, result.final_state
