"""Discontinuous changes of a state: what transitions do at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import suggest
from linkwork.errors import MechanismError, MechanismNameError

if TYPE_CHECKING:
    from linkwork.model.base import ModelBase
    from linkwork.model.state import State


@dataclass(frozen=True, eq=False)
class VelocityJump:
    """Result of applying transitions instantaneously.

    Attributes
    ----------
    state
        Afterwards: the same pose, other speeds.
    impulses
        Of every joint on its child, by name: [angular impulse; impulse], (6,), N m s and N s, world axes, about the
        child's joint frame, as `Model.reactions` has loads. What locks and stops hold is part of it.
    energy_lost
        Kinetic energy before less that after, J.
    """

    state: State
    impulses: dict[str, FloatArray]
    energy_lost: float


@dataclass(frozen=True, eq=False)
class Event:
    """What happened at an instant of a run.

    Attributes
    ----------
    t
        s.
    transitions
        Names of those that were carried out, in the order of the description.
    u_before, u_after
        Speeds of the tree joints, (nu,).
    impulses
        Of every joint on its child, by name: [angular impulse; impulse], (6,), as of a `VelocityJump`.
    energy_lost
        Kinetic energy before less that after, J.
    functions
        Names of the event functions of the user that changed their sign; then there are no transitions.
    """

    t: float
    transitions: tuple[str, ...]
    u_before: FloatArray
    u_after: FloatArray
    impulses: dict[str, FloatArray]
    energy_lost: float
    functions: tuple[str, ...] = ()

    def __repr__(self) -> str:
        names = ", ".join([*self.transitions, *self.functions])
        return f"Event(t={self.t:.9g}, {names}, energy_lost={self.energy_lost:.6g})"


def jump(system: ModelBase, state: State, transitions: Sequence[str]) -> VelocityJump:
    """Return the result of transitions, by name, carried out together at a state."""
    known = list(system.mechanism.transitions)
    if not isinstance(transitions, Iterable):
        raise MechanismError(f"jump: give names of transitions such as ['latch'], not {transitions!r}")
    names = [transitions] if isinstance(transitions, str) else list(transitions)
    for name in names:
        if name not in known:
            raise MechanismNameError(f"there is no transition {name!r}: {suggest(name, known)}")
    if not names:
        raise MechanismError("jump: name at least one transition, as in jump(state, ['latch'])")
    block = system.block()
    system.enter(block, state)
    before = float(block["energy_lost"][0])
    block.make_transitions([known.index(name) for name in names])
    return VelocityJump(
        system.state_of(block), impulses_in(system, block.discrete_state), float(block["energy_lost"][0]) - before
    )


def impulses_in(system: ModelBase, discrete: FloatArray) -> dict[str, FloatArray]:
    """Return the impulses of the last event in a discrete state (n_discrete,), by joint, [angular; linear]."""
    return dict(zip(system.joint_names, impulses_of_each(system, discrete[None])[0], strict=True))


def impulses_of_each(system: ModelBase, discrete: FloatArray) -> FloatArray:
    """Return those in discrete states (n, n_discrete) as an array (n, joints, 6)."""
    n, first = system.sizes.joints, system.fields["joint_closed"].first
    spans = [system.fields[f"impulse_{what}"].span for what in ("torque", "force")]
    both = [discrete[:, span.start - first : span.stop - first].reshape(-1, n, 3) for span in spans]
    return np.concatenate(both, axis=2)
