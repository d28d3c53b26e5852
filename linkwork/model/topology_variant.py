"""Topology variants of a mechanism whose joints open and close, and the variant of a state."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from linkwork.model.compiled import compile_variant

if TYPE_CHECKING:
    from linkwork.model.base import ModelBase
    from linkwork.model.state import State


def open_joints(system: ModelBase, state: State) -> frozenset[int]:
    """Return the positions of the joints that are open at a state."""
    if not system.removable_joints:
        return frozenset()
    closed = state.discrete_state[: len(system.mechanism.joints)]  # its first numbers
    return frozenset(joint for joint in system.removable_joints if not closed[joint])


def structure_of(system: ModelBase, state: State) -> tuple[ModelBase, State]:
    """Return the structure that a state is in, as a system by itself, and the state there."""
    opened = open_joints(system, state)
    if opened == system.open_joints:
        return system, state
    alone = type(system)(compile_variant(system._compiled, opened)).with_parameters(system.parameters)
    return alone, replace(state, model=alone)
