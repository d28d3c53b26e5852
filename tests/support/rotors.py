"""Random mechanisms whose joints are driven by rotors: reflected inertias of all sizes, some of them zero."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np

import linkwork as lw

from .builder import Scene
from .oracle import Oracle


def give_rotors(mechanism: lw.Mechanism, rng: np.random.Generator, share: float = 0.8) -> None:
    """To so many of the joints; one in four speeds of these has none all the same."""
    for name, joint in mechanism.joints.items():
        nu = joint.kind.nu
        if nu and rng.random() < share:
            inertia = 10.0 ** rng.uniform(-2.5, 0.7, nu) * (rng.random(nu) < 0.75)
            mechanism.joints[name] = dataclasses.replace(joint, reflected_inertia=inertia)


def with_rotors(scene: Scene, seed: int = 0, share: float = 0.8) -> Scene:
    """The same scene, driven by rotors."""
    mechanism = copy.deepcopy(scene.mechanism)
    give_rotors(mechanism, np.random.default_rng([seed, 77]), share)
    oracle = Oracle(mechanism, scene.poses, scene.q, gears=scene.gears)
    return dataclasses.replace(scene, mechanism=mechanism, oracle=oracle)
