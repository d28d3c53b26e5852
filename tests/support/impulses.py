"""Random changes done by the system under test."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import numpy as np

import linkwork as lw
from linkwork.core.native import Block, Jump

from .placement import Values, vector
from .poses import Array, Pose
from .random_changes import Change


def changed(change: Change, method: str = "auto") -> lw.Model:
    """The mechanism with the pins of a change as joints that close loops."""
    mechanism = copy.deepcopy(change.mechanism or change.scene.mechanism)
    for pin in change.pins:
        frames = {"parent_frame": pin.parent_frame, "child_frame": pin.child_frame}
        mechanism.add_joint(pin.name, pin.kind, pin.parent, pin.child, **frames, cut=True)
    return lw.compile(mechanism, method=method)


def entered(system: lw.Model, q: Values, u: Values, time: float = 0.0) -> Block:
    """A block at a state, as it is: violations of the loops' closures remain."""
    numbering, block = system.numbering, system.block()
    for field, slices, values in (("q", numbering.q, q), ("u", numbering.u, u)):
        numbers = block.reals[system.fields[field].span].copy()
        for name, span in slices.items():
            if span.start < span.stop <= numbers.size:
                numbers[span] = vector(values[name])
        block.put(field, numbers)
    block.put("time", time)
    return block


def origin_velocities(mechanism: lw.Mechanism, poses: Mapping[str, Pose], v: Array) -> Array:
    """From [angular; of the centre of mass], in the order of the bodies, to those of the frames' origins."""
    result = np.array(v, float).reshape(-1, 6)
    for velocity, (name, body) in zip(result, mechanism.bodies.items(), strict=True):
        velocity[3:] -= np.cross(velocity[:3], poses[name].rotation @ np.asarray(body.com, float))
    return result


def speed_number(system: lw.Model, joint: str, element: int = 0) -> int:
    return system.numbering.u[joint].start + element


def jump_of(change: Change, system: lw.Model, *, by_velocities: bool = False, time: float = 0.0) -> Jump:
    """By the speeds of the tree, or by the velocities of all bodies."""
    block = entered(system, change.scene.q, change.scene.u, time)
    changes = {
        speed_number(system, h.joint, h.element): h.speed - float(vector(change.scene.u[h.joint])[h.element])
        for h in change.held
    }
    before = origin_velocities(system.mechanism, change.scene.poses, change.before) if by_velocities else None
    return block.jump(changes, change.applied, before)


def gap_of_jump(
    change: Change, method: str = "auto", *, by_velocities: bool = False, time: float = 0.0
) -> dict[str, float]:
    """Differences from the dense solution, relative to the largest."""
    system, expected, oracle = changed(change, method), change.expected, change.oracle
    jump = jump_of(change, system, by_velocities=by_velocities, time=time)
    after = {name: jump.after[span] for name, span in system.numbering.u.items() if span.stop > span.start}
    speed = max([1.0, *(float(np.abs(u).max()) for u in expected.u.values())])
    gaps = {"u": max([0.0, *(float(np.abs(after[n] - u).max()) for n, u in expected.u.items())]) / speed}
    size = max([1.0, *(float(np.abs(w).max()) for w in expected.impulse.values())])
    found = dict(zip(system.mechanism.joints, jump.reaction, strict=True))
    seen = oracle.determined()
    gaps["joints"] = max(float(np.abs(seen[n] @ (found[n] - w)).max()) for n, w in expected.impulse.items()) / size
    names = [*system.mechanism.couplings, *system.mechanism.distances]
    load = dict(zip(names, jump.coupling, strict=True))
    tension = {name: -load[name] for name in expected.tension}
    alike = expected.gear | {name: -value for name, value in expected.tension.items()}
    unique_loads = oracle.unique()
    gaps["couplings"] = max([0.0, *(abs(load[n] - x) for n, x in alike.items() if unique_loads[n])]) / size
    gaps["balance"] = float(np.abs(oracle.imbalance(expected, found, tension, change.applied)).max())
    unique = oracle.unique_held()
    for h in change.held:
        if unique[h.joint, h.element]:
            off = jump.held[speed_number(system, h.joint, h.element)] - expected.held[h.joint, h.element]
            gaps["held"] = max(gaps.get("held", 0.0), abs(off) / size)
    gaps["lack"] = jump.lack / speed
    return gaps
