"""Scenes in which some bodies have no mass."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from .builder import Scene
from .oracle import Oracle

REGULAR = 1e-4  # least by largest inertia along the admissible motions


def with_masses(scene: Scene, names: Collection[str], mass: float = 0.0) -> Scene:
    """The scene with these bodies of a mass, kg, and of an inertia as of balls of 0.1 m."""
    mechanism = scene.mechanism.copy()
    for name in names:
        mechanism.bodies[name] = replace(mechanism.bodies[name], mass=mass, inertia=mass * 0.004 * np.eye(3))
    oracle = Oracle(mechanism, scene.poses, scene.q, gears=scene.gears)
    return replace(scene, mechanism=mechanism, oracle=oracle)


def smallest_inertia(scene: Scene) -> float:
    """Least by largest inertia along the admissible motions; 0: without unique accelerations."""
    z = scene.oracle.motions
    s = np.linalg.svd(z.T @ scene.oracle.bodies.mass_matrix() @ z, compute_uv=False)
    return float(s[-1] / max(s[0], 1e-300)) if s.size else 1.0


def massless_bodies(rng: np.random.Generator, scene: Scene) -> list[str]:
    """As many bodies in random order as may lose their mass while accelerations remain unique."""
    chosen: list[str] = []
    for name in rng.permutation(list(scene.mechanism.bodies)).tolist():
        if smallest_inertia(with_masses(scene, [*chosen, name])) > REGULAR:
            chosen.append(name)
    return chosen
