"""The structures of a mechanism whose joints open and close: which one a state is in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linkwork.model.model import System
    from linkwork.model.state import State


def open_joints(system: System, state: State) -> frozenset[int]:
    """Return the positions of the joints that are open at a state."""
    if not system.changes.switches:
        return frozenset()
    closed = state.modes[: len(system.mechanism.joints)]  # the first of the modes
    return frozenset(joint for joint in system.changes.switches if not closed[joint])


def structure_of(system: System, state: State) -> tuple[System, State]:
    """Return the structure that a state is in, as a system by itself, and the state there."""
    opened = open_joints(system, state)
    if opened == system.changes.open:
        return system, state
    from linkwork.compiler.compile import structure

    alone = structure(system.changes, opened, system.method, system.reference)
    return alone, replace(state, system=alone)
