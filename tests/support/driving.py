"""The system under test, asked in the terms of the helpers: everything by joint name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import linkwork as lw

from .builder import Scene
from .placement import Values
from .poses import Array

# The functions of a System that take one state and nothing else that is required.
OF_STATES = ("accelerations", "derivatives", "energy", "loop_residual", "reactions", "mass_matrix", "jacobian")


def reached(scene: Scene) -> tuple[lw.System, lw.State]:
    """The compiled scene in its closed pose. All coordinates and speeds are given: assembly has nothing to find."""
    system = lw.compile(scene.mechanism)
    return system, system.assemble(q=scene.q, u=scene.u)


def by_joint(system: lw.System, array: Array) -> dict[str, float]:
    """One number for each joint that has one coordinate."""
    return {name: float(value) for name, value in system.by_joint(array).items()}


def random_loads(rng: np.random.Generator, scene: Scene, size: float = 3.0) -> dict[str, Any]:
    """Numbers for the joints, (3,) for applied forces and torques."""
    loads: dict[str, Any] = {name: float(rng.normal(scale=size)) for name in scene.q}
    for force in scene.mechanism.forces:
        if force.type_name == "wrench":
            loads |= {f"{force.name}.{what}": rng.normal(scale=size, size=3) for what in "FT"}
    return loads


def largest_difference(found: Values, expected: Values) -> float:
    """Relative to the largest expected value."""
    assert set(found) == set(expected)
    scale = max(map(abs, expected.values()), default=0.0) or 1.0
    return max((abs(found[name] - value) for name, value in expected.items()), default=0.0) / scale


def tree_only(system: lw.System, values: Mapping[str, float]) -> dict[str, float]:
    """Without the joints that close loops."""
    joints = list(system.mechanism.joints)
    tree = {joints[link.joint] for link in system.topology.links}
    return {name: value for name, value in values.items() if name in tree}


def wrenches(system: lw.System, state: lw.State, tau: Mapping[str, Any]) -> dict[str, Array]:
    """Of each joint on its child, (6,) [torque; force] at the child frame's origin in world axes, loads included."""
    return dict(system.by_joint(system.reactions(state, tau=tau)))
