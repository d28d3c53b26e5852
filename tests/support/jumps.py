"""Transitions done at once by the system under test, compared with the dense solution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import linkwork as lw
from linkwork.model.impacts import VelocityJump

from .driving import by_joint
from .impulse_oracle import Held, ImpulseOracle
from .impulse_oracle import Jump as Expected
from .placement import vector
from .random_transitions import Transitions, changed_mechanism
from .rows import Array


@dataclass
class Done:
    """Transitions, and what the system made of them."""

    transitions: Transitions
    system: lw.Model
    before: lw.State
    jump: VelocityJump

    @cached_property
    def u(self) -> dict[str, Any]:
        return by_joint(self.system, self.jump.state.u)

    @property
    def speed(self) -> float:
        """The largest, or 1."""
        return max([1.0, *(float(np.abs(u).max()) for u in self.u.values())])

    def acts(self, stop: str) -> bool:
        """Whether a stop threw its joint back as it should."""
        _, h = self.transitions.stops[stop]
        return abs(self.speed_of(h) - h.speed) < 1e-9 * self.speed

    def speed_of(self, h: Held) -> float:
        return float(vector(self.u[h.joint])[h.element])

    @property
    def held(self) -> list[Held]:
        """Joints that lock or rebound."""
        stops = self.transitions.stops
        return [*self.transitions.locked, *(h for name, (_, h) in stops.items() if self.acts(name))]

    @cached_property
    def oracle(self) -> ImpulseOracle:
        """Of the mechanism with what held in this jump."""
        change = self.transitions.change
        mechanism = changed_mechanism(change.mechanism or change.scene.mechanism, change.pins, change.scene.poses)
        return ImpulseOracle(mechanism, change.scene.poses, change.scene.q, held=self.held, rates=change.rates)

    @cached_property
    def expected(self) -> Expected:
        change = self.transitions.change
        return self.oracle.jump(change.before, change.applied)


def done(transitions: Transitions, *method: Any, time: float = 0.0) -> Done:
    system, state = transitions.reached(*method, time=time)
    return Done(transitions, system, state, system.jump(state, transitions.names))


def gaps(system: lw.Model, jump: VelocityJump, oracle: ImpulseOracle, expected: Expected) -> dict[str, float]:
    """Differences from the dense solution, relative to the largest; of impulses as far as they have one value."""
    u = by_joint(system, jump.state.u)
    speed = max([1.0, *(float(np.abs(one).max()) for one in expected.u.values())])
    size = max([1.0, *(float(np.abs(one).max()) for one in expected.impulse.values())])
    seen = oracle.determined()
    lost = expected.kinetic[0] - expected.kinetic[1]
    return {
        "u": _largest(np.abs(u[name] - one).max() for name, one in expected.u.items()) / speed,
        "impulses": _largest(
            np.abs(seen[name] @ (jump.impulses[name] - one)).max() for name, one in expected.impulse.items()
        )
        / size,
        "energy": abs(jump.energy_lost - lost) / max(1.0, *expected.kinetic),
    }


def _largest(values: Any) -> float:
    return max([0.0, *map(float, values)])


def wrong_stops(one: Done) -> list[str]:
    """Stops that pull, and those that were released though their joint does not leave them."""
    size = max([1.0, *(float(np.abs(w).max()) for w in one.expected.impulse.values())])
    unique, wrong = one.oracle.unique_held(), []
    for name, (side, h) in one.transitions.stops.items():
        key = h.joint, h.element
        if one.acts(name):
            pulls = unique[key] and -side * one.expected.held[key] < -1e-9 * size
            wrong += [f"{name} pulls"] * pulls
        elif -side * (one.speed_of(h) - h.speed) < 0.0:
            wrong.append(f"{name} lets through")
    return wrong


def velocities(system: lw.Model, state: lw.State, transitions: Transitions) -> Array:
    """(n, 6) of all bodies at a state in the pose of the scene, [angular; of the centre of mass]."""
    bodies = transitions.change.scene.mechanism.bodies
    result = []
    for name, body in bodies.items():
        w, v = (np.asarray(state[f"{name}.{what}"]) for what in "wv")
        rotation = transitions.change.scene.poses[name].rotation
        result.append([*w, *(v + np.cross(w, rotation @ np.asarray(body.com)))])
    return np.array(result)


def names_of(transitions: Sequence[Transitions]) -> set[str]:
    return {type(t.action).__name__ for one in transitions for t in one.mechanism.transitions.values()}
