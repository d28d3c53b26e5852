"""Random changes of random mechanisms as transitions of these, and the changes that remain to be undone.

A speed that is held is a lock, or a stop that its joint has just come to; of the frames of a pin one or both may be
left out. All that was done can be undone, and one loop of the mechanism, if it has any, can be opened.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import linkwork as lw

from .impulse_oracle import Held, ImpulseOracle, Pin
from .oracle import Oracle
from .placement import vector
from .poses import Array
from .random_changes import GROUND, Change
from .rows import Gear

BOUNDED = ("revolute", "prismatic", "universal", "cylindrical", "planar", "screw", "pin_in_slot")


@dataclass(repr=False)
class Transitions:
    """A change as transitions of `mechanism`: `names` make it, `undoing` lists by name the reverse transitions.

    Attributes
    ----------
    stops
        Sign of each stop, +1 of an upper bound, and its contact.
    opens
        A joint of the mechanism that the transition `open` releases, if any.
    """

    change: Change
    mechanism: lw.Mechanism
    names: list[str]
    undoing: dict[str, str]
    stops: dict[str, tuple[float, Held]]
    opens: str | None

    def __repr__(self) -> str:
        return f"transitions {self.names} of {self.change!r}"

    @property
    def locked(self) -> list[Held]:
        stopped = {(h.joint, h.element) for _, h in self.stops.values()}
        return [h for h in self.change.held if (h.joint, h.element) not in stopped]

    def reached(self, *method: Any, time: float = 0.0) -> tuple[lw.Model, lw.State]:
        """Before the change; pins are open and have no start."""
        system = lw.compile(self.mechanism, *method)
        return system, system.assemble(q=self.change.scene.q, u=self.change.scene.u, time=time)


def as_transitions(change: Change) -> Transitions:
    """Draws what of the change is done how."""
    rng = np.random.default_rng([change.plan.seed, 2])
    change = _with_stops(rng, _without_frames(rng, change))
    mechanism = copy.deepcopy(change.mechanism or change.scene.mechanism)
    names, undoing, stops = [], {}, {}

    def add(name: str, action: Any, undo: Any = None) -> None:
        mechanism.add_transition(name, action, when=None if isinstance(action, lw.Stop) else lw.Command())
        names.append(name)
        if undo is not None:
            mechanism.add_transition(f"un{name}", undo, when=lw.Command())
            undoing[name] = f"un{name}"

    for k, h in enumerate(change.held):
        if h.speed != 0.0 or (rng.random() < 0.4 and _bounded(change, h)):
            stop, stops[f"stop{k}"] = _stop(rng, change, h)
            add(f"stop{k}", stop)
    stopped = {(h.joint, h.element) for _, h in stops.values()}
    locked: dict[str, list[int]] = {}
    for h in change.held:
        if (h.joint, h.element) not in stopped:
            locked.setdefault(h.joint, []).append(h.element)
    for joint, elements in locked.items():
        speeds = None if len(elements) == _speeds(change, joint) else [k + 1 for k in elements]
        add(f"lock_{joint}", lw.Lock(joint, speeds), lw.Unlock(joint, speeds))
    for pin in change.pins:
        mechanism.add_transition(pin.name, _pin_action(pin), when=lw.Command())
        names.append(pin.name)
        mechanism.add_transition(f"un{pin.name}", lw.Release(pin.name), when=lw.Command())
        undoing[pin.name] = f"un{pin.name}"
    for k, (body, push) in enumerate(zip(mechanism.bodies.values(), change.applied, strict=True)):
        if np.any(push):
            add(f"kick{k}", _blow(rng, change, body, push))
    opens = _opened(rng, change, mechanism)
    return Transitions(change, mechanism, names, undoing, stops, opens)


def _speeds(change: Change, joint: str) -> int:
    return int(np.size(change.scene.u[joint]))


def _bounded(change: Change, h: Held) -> bool:
    return change.scene.mechanism.joints[h.joint].kind.type_name in BOUNDED


def _without_frames(rng: np.random.Generator, change: Change) -> Change:
    """With some frames of pins left out; without both a pin is at the child's origin, or the parent's."""
    pins = [_with_fewer(rng, pin) for pin in change.pins]
    try:
        found = replace(change, pins=pins)
    except AssertionError:
        return change
    return found if found.oracle.conditioning > 1e-3 else change


def _with_fewer(rng: np.random.Generator, pin: Pin) -> Pin:
    which = rng.integers(4)
    if which == 1:
        return replace(pin, child_frame=None)
    if which == 2:
        return replace(pin, parent_frame=None)
    if which == 3:
        return _Frameless(pin.name, pin.kind, pin.parent, pin.child, *_at_origin(pin))
    return pin


class _Frameless(Pin):
    """At the origin of the child, or of the parent where the child is the ground, by default."""


def _at_origin(pin: Pin) -> tuple[Any, Any]:
    return (lw.Frame(), None) if pin.child == GROUND else (None, lw.Frame())


def _pin_action(pin: Pin) -> lw.Pin:
    frames = (None, None) if isinstance(pin, _Frameless) else (pin.parent_frame, pin.child_frame)
    return lw.Pin(pin.parent, pin.child, pin.kind, *frames)


def _with_stops(rng: np.random.Generator, change: Change) -> Change:
    """Only joints with bounds rebound; none does where that would be contradictory."""
    held = [h if _bounded(change, h) else h._replace(speed=0.0) for h in change.held]
    try:
        return replace(change, held=held)
    except AssertionError:
        return replace(change, held=[h._replace(speed=0.0) for h in held])


def _stop(rng: np.random.Generator, change: Change, h: Held) -> tuple[lw.Stop, tuple[float, Held]]:
    """The coordinate is at the bound towards which it moves."""
    q, u = (float(vector(of[h.joint])[h.element]) for of in (change.scene.q, change.scene.u))
    e = -h.speed / u if u else 0.0
    side = 1.0 if u > 0 else -1.0
    bounds = {"upper" if side > 0 else "lower": q}
    if rng.random() < 0.5 or u == 0.0:
        bounds["lower" if side > 0 else "upper"] = q - side
    coordinate = h.element + 1 if _speeds(change, h.joint) > 1 else None
    return lw.Stop(h.joint, **bounds, restitution=min(1.0, max(0.0, e)), coordinate=coordinate), (side, h)


def _blow(rng: np.random.Generator, change: Change, body: Any, push: Array) -> lw.Impulse:
    """An impulse about the centre of mass as an impulse at another point."""
    point = rng.normal(size=3)
    arm = change.scene.poses[body.name].rotation @ (point - np.asarray(body.com))
    return lw.Impulse(body.name, point, force=push[3:], torque=push[:3] - np.cross(arm, push[3:]))


def _opened(rng: np.random.Generator, change: Change, mechanism: lw.Mechanism) -> str | None:
    """Adds the transition `open` of a joint that closes a loop and is not coupled."""
    coupled = {term.joint for coupling in mechanism.couplings.values() for term in coupling.terms.values()}
    able = [name for name in lw.compile(change.scene.mechanism).loop_names if name not in coupled]
    able = [name for name in able if name not in {h.joint for h in change.held}]
    if not able:
        return None
    opens = str(rng.choice(able))
    mechanism.add_transition("open", lw.Release(opens), when=lw.Command())
    return opens


# -- the mechanism as it is after changes


def changed_mechanism(given: lw.Mechanism, pins: Iterable[Pin], poses: Any, without: str | None = None) -> lw.Mechanism:
    """With pins as ordinary joints at frames as they are found in the pose, and without a joint and its springs."""
    mechanism = copy.deepcopy(given)
    for pin in pins:
        placed = pin.placed(poses)
        frames = [lw.Frame(f.position, f.rotation) for f in (placed.parent_frame, placed.child_frame)]
        mechanism.add_joint(
            pin.name, pin.kind, pin.parent, pin.child, parent_frame=frames[0], child_frame=frames[1], cut=True
        )
    if without is not None:
        del mechanism.joints[without]
        mechanism.forces = [force for force in mechanism.forces if getattr(force, "joint", None) != without]
    return mechanism


def lock_gears(mechanism: lw.Mechanism, held: Sequence[Held]) -> dict[str, Gear]:
    """Locked speeds as couplings of one term."""
    return {f"{h.joint}:{h.element}": Gear({_coordinate(mechanism, h): 1.0}) for h in held}


def _coordinate(mechanism: lw.Mechanism, h: Held) -> str:
    return h.joint if mechanism.joints[h.joint].kind.nu == 1 else f"{h.joint}[{h.element + 1}]"


def dynamics_after(
    change: Change, mechanism: lw.Mechanism, held: Sequence[Held], q: dict[str, Any], given: dict[str, Any]
) -> Oracle:
    """The dense solution of a mechanism in the pose of the change, in which speeds are locked and others driven."""
    gears = change.scene.gears | lock_gears(mechanism, held)
    return Oracle(mechanism, change.scene.poses, q, gears=gears, driven=list(given))


def impulses_at(
    mechanism: lw.Mechanism, change: Change, held: Sequence[Held], rates: dict[str, float] | None = None
) -> ImpulseOracle:
    return ImpulseOracle(
        mechanism, change.scene.poses, change.scene.q, held=held, rates=change.rates if rates is None else rates
    )
