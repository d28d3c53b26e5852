"""The discrete state of a run and its changes by transitions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.core.native import Block
from linkwork.model.impacts import Event, impulses_of
from linkwork.model.model import Model


@dataclass(frozen=True, eq=False)
class DiscreteState:
    """Locked joints, open pins, rests on stops and stored signs of triggers, in the order of the core (n_discrete,)."""

    values: FloatArray

    @classmethod
    def of(cls, block: Block) -> DiscreteState:
        """Return the discrete state of a block."""
        return cls(block.discrete_state)

    def enter(self, block: Block) -> None:
        """Bring a block to this discrete state."""
        block.put_discrete_state(self.values)


@dataclass(frozen=True, eq=False)
class Start:
    """Start of a segment: time, states [q; u] and discrete state (None without transitions)."""

    t: float
    y: FloatArray
    discrete: DiscreteState | None


@dataclass(frozen=True, eq=False)
class Change:
    """An event and the states that follow it."""

    event: Event
    y: FloatArray
    discrete: DiscreteState | None


def carry_out(system: Model, block: Block, t: float, y: FloatArray, *, starting: bool = False) -> Change | None:
    """Carry out the due transitions of a block that is at t and y; return the change, None if there is none."""
    nq = system.numbering.nq
    before, energy_lost = block.last_events()[0], float(block["energy_lost"][0])
    if starting:
        block.start_events()
    else:
        block.handle_events()
    now, last = block.last_events()
    if now == before:
        return None
    fired = tuple(name for name, number in zip(system.mechanism.transitions, last, strict=True) if number > before)
    after = np.concatenate([block["q"], block["u"]])
    impulses = impulses_of(system, block)
    energy_lost = float(block["energy_lost"][0]) - energy_lost
    event = Event(t, fired, y[nq:].copy(), after[nq:].copy(), impulses, energy_lost)
    return Change(event, after, DiscreteState.of(block))
