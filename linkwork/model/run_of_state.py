"""A run of one state, which the simulation above implements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray
from linkwork._util.registered import registered
from linkwork.model.base import State


@registered
def run_of_state(
    state: State, t_end: float, inputs: Mapping[str, ArrayLike], options: Mapping[str, Any]
) -> tuple[FloatArray, State]:
    """Return the states (nt, n) of a run, and the state at its end; arguments and errors are those of `simulate`."""
    raise NotImplementedError
