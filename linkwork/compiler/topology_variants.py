"""What the transitions of a mechanism ask of its structure: joints that open and close, and speeds that are locked.

A pin is a joint that is open at first, a joint that is released one that is closed at first; all of them are cut, so
that the tree and the states are the same whatever is open. For every set of them that may be closed there is a
structure, a model of its own; the locks are rows of all models.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from linkwork._util.names import quoted
from linkwork.errors import MechanismError
from linkwork.mechanism import Frame, Joint, Lock, Mechanism, Pin, Release, Stop, Unlock

MOST_SWITCHES = 8  # topology variants are two to the power of it
TAKEN_PARENT, TAKEN_CHILD = 1, 2  # lw_joint.taken


@dataclass(frozen=True)
class Changes:
    """A mechanism with all that may become of it.

    Attributes
    ----------
    mech
        The description, with the pins among its joints, behind all others.
    locks
        Position of the joint and of the speed among its own, of each speed that may be locked, ascending.
    switches
        Positions of the joints that may open, ascending.
    open
        Those that are open at first.
    """

    mech: Mechanism
    locks: tuple[tuple[int, int], ...] = ()
    switches: tuple[int, ...] = ()
    open: frozenset[int] = frozenset()

    @property
    def others(self) -> Iterator[frozenset[int]]:
        """What else may be open together."""
        for count in range(len(self.switches) + 1):
            for chosen in combinations(self.switches, count):
                if frozenset(chosen) != self.open:
                    yield frozenset(chosen)


def changes(mech: Mechanism) -> Changes:
    """Return what the transitions of a mechanism ask of its structure.

    Raises
    ------
    MechanismError
        Where too many joints open and close, or one that does is coupled.
    """
    if not mech.transitions:
        return Changes(mech.copy())
    mech = mech.copy()
    actions = [transition.action for transition in mech.transitions.values()]
    pins = {name: one.action for name, one in mech.transitions.items() if isinstance(one.action, Pin)}
    for name, pin in pins.items():
        mech.joints[name] = _joint(name, pin)
    released = {action.joint for action in actions if isinstance(action, Release)}
    for name in released - pins.keys():
        mech.joints[name] = replace(mech.joints[name], cut=True)
    position = {name: number for number, name in enumerate(mech.joints)}
    switches = sorted(position[name] for name in pins.keys() | released)
    _check(mech, [name for name in mech.joints if position[name] in switches])
    locks = {
        (position[action.joint], element)
        for action in actions
        if isinstance(action, Lock | Unlock | Stop)
        for element in ((action.element,) if isinstance(action, Stop) else action.elements(mech))
    }
    return Changes(mech, tuple(sorted(locks)), tuple(switches), frozenset(position[name] for name in pins))


def _joint(name: str, pin: Pin) -> Joint:
    frames = pin.parent_frame or Frame(), pin.child_frame or Frame()
    none, unlimited = np.zeros(pin.kind.nu), np.full(pin.kind.nu, np.inf)
    return Joint(name, pin.kind, pin.parent, pin.child, *frames, True, none, unlimited)


def taken(pin: Pin) -> int:
    """Which frame of a pin is taken where it is at the event: TAKEN_PARENT, TAKEN_CHILD or 0."""
    if pin.parent_frame is not None and pin.child_frame is not None:
        return 0
    if pin.parent_frame is None and pin.child_frame is None:
        return TAKEN_CHILD if pin.child == "ground" else TAKEN_PARENT
    return TAKEN_PARENT if pin.parent_frame is None else TAKEN_CHILD


def _check(mech: Mechanism, switches: list[str]) -> None:
    if len(switches) > MOST_SWITCHES:
        raise MechanismError(
            f"mechanism {mech.name!r} has {len(switches)} pins and joints that are released, {quoted(switches)}: at "
            f"most {MOST_SWITCHES} are possible, as every set of closed ones is a topology variant; lock joints "
            "instead where that serves"
        )
    for coupling in mech.couplings.values():
        for term in coupling.terms.values():
            if term.joint in switches:
                raise MechanismError(
                    f"coupling {coupling.name!r} names joint {term.joint!r}, which may open: couple a joint that stays"
                )
