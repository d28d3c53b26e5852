"""Scenes with motions of some joints prescribed, which have the scene's coordinates and speeds at TIME."""

from __future__ import annotations

import copy
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

import linkwork as lw

from .builder import Scene
from .oracle import Oracle
from .placement import Values, plain, vector

TIME = 0.7


@dataclass
class Driven:
    """The scene with drives, the oracle that knows of them, and the accelerations that they ask for."""

    mechanism: lw.Mechanism
    scene: Scene
    oracle: Oracle
    given: Values

    @property
    def drives(self) -> dict[str, list[str]]:
        """Names of the drives of each driven joint, element by element."""
        return {name: [drive for drive, _ in elements(self.mechanism, name)] for name in self.given}


def elements(mechanism: lw.Mechanism, joint: str) -> list[tuple[str, str]]:
    """Name of the drive, and coordinate, of each element of a joint."""
    count = mechanism.joints[joint].kind.nq
    if count == 1:
        return [(f"{joint}_drive", joint)]
    return [(f"{joint}_{k + 1}_drive", f"{joint}[{k + 1}]") for k in range(count)]


def driven(scene: Scene, rng: np.random.Generator, joints: Collection[str]) -> Driven:
    mechanism, given = copy.deepcopy(scene.mechanism), {}
    for joint in joints:
        q, u = vector(scene.q[joint]), vector(scene.u[joint])
        a = rng.normal(scale=4.0, size=q.size)
        given[joint] = plain(a)
        for k, (_, coordinate) in enumerate(elements(mechanism, joint)):
            mechanism.prescribe(coordinate, through(rng, q[k], u[k], a[k]))
    oracle = Oracle(mechanism, scene.poses, scene.q, gears=scene.gears, driven=list(joints))
    return Driven(mechanism, scene, oracle, given)


def through(rng: np.random.Generator, q: float, u: float, a: float) -> lw.Motion:
    """A motion of all terms with a value, rate and acceleration at TIME."""
    t, amplitude, frequency, phase, c3 = TIME, *rng.uniform(0.1, 2.0, 4)
    rate = 2 * np.pi * frequency
    angle = rate * t + phase
    q -= amplitude * np.sin(angle) + c3 * t**3
    u -= rate * amplitude * np.cos(angle) + 3 * c3 * t**2
    a -= -(rate**2) * amplitude * np.sin(angle) + 6 * c3 * t
    polynomial = (q - u * t + a * t**2 / 2, u - a * t, a / 2, c3)
    return lw.Motion(tuple(map(float, polynomial)), float(amplitude), float(frequency), float(phase))


def movable(scene: Scene) -> list[str]:
    """Joints that can be driven and do move in the scene."""
    kinds = scene.mechanism.joints
    return [n for n, u in scene.u.items() if kinds[n].kind.quaternion is None and np.abs(u).max() > 0.05]
