"""The system under test, asked in the terms of the helpers: everything by joint name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

import linkwork as lw

from .builder import Scene
from .joint_shapes import shape_of
from .placement import Value, Values, plain, vector
from .poses import Array, unit

# The functions of a System that take one state and nothing else that is required.
OF_STATES = ("accelerations", "derivatives", "energy", "loop_residual", "reactions", "mass_matrix", "jacobian")


def reached(scene: Scene, *method: str) -> tuple[lw.Model, lw.State]:
    """The compiled scene in its closed pose. All coordinates and speeds are given: assembly has nothing to find."""
    system = lw.compile(scene.mechanism, *method)
    return system, system.assemble(q=scene.q, u=scene.u)


def by_joint(system: lw.Model, array: Array) -> dict[str, Any]:
    """Values of each joint that has any: a number for one, an array for several."""
    return {name: plain(vector(value)) for name, value in system.by_joint(array).items() if np.size(value)}


def random_loads(rng: np.random.Generator, scene: Scene, size: float = 3.0) -> dict[str, Any]:
    return {name: plain(rng.normal(scale=size, size=np.size(u))) for name, u in scene.u.items()}


def random_wrenches(rng: np.random.Generator, scene: Scene, size: float = 3.0) -> dict[str, Array]:
    """Forces and torques (3,) of the applied wrenches, by name."""
    names = [force.name for force in scene.mechanism.forces if hasattr(force, "body")]
    return {f"{name}.{what}": rng.normal(scale=size, size=3) for name in names for what in "FT"}


def largest_difference(found: Values, expected: Values) -> float:
    """Relative to the largest expected value."""
    assert set(found) == set(expected)
    scale = max((float(np.abs(value).max()) for value in expected.values()), default=0.0) or 1.0
    return max((_difference(found[name], value) for name, value in expected.items()), default=0.0) / scale


def _difference(found: Value, expected: Value) -> float:
    assert np.shape(found) == np.shape(expected)
    return float(np.abs(np.subtract(found, expected)).max())


def coordinate_difference(mechanism: lw.Mechanism, found: Values, expected: Values) -> float:
    """Largest difference of coordinates; full turns and the sign and length of a quaternion do not count."""
    assert set(found) == set(expected)
    return max((_pose_difference(mechanism.joints[n].kind, q, expected[n]) for n, q in found.items()), default=0.0)


def _pose_difference(kind: Any, found: Value, expected: Value) -> float:
    shape, q, wanted = shape_of(kind), np.array(vector(found)), np.array(vector(expected))
    assert q.shape == wanted.shape == (shape.nq,)
    difference = q - wanted
    for k in shape.angles:
        difference[k] -= 2 * np.pi * np.round(difference[k] / (2 * np.pi))
    if shape.nq > shape.nu:
        one, other = unit(q[-4:]), unit(wanted[-4:])
        difference[-4:] = one - np.copysign(1.0, one @ other) * other
    return float(np.abs(difference).max())


def names_of(variables: Iterable[str]) -> list[str]:
    """Joints that own these variables, such as u_names, each once and in their order."""
    return list(dict.fromkeys(name.split(".")[0] for name in variables))


def rates(scene: Scene, u: Values) -> dict[str, Value]:
    """Rates of the coordinates of joints that have these speeds in the scene's pose."""
    return {name: plain(scene.oracle.moving[name].shape.rates(vector(scene.q[name]), vector(u[name]))) for name in u}


def lengths(scene: Scene, size: float) -> tuple[dict[str, Array], dict[str, Array]]:
    """Factors of coordinates and of speeds when all lengths, pitches of screws among them, are times `size`."""
    of_q, of_u = {}, {}
    for name, row in scene.oracle.moving.items():
        slides = np.abs(row.shape.motion(row.q)[:3]).max(axis=0) == 0
        of_u[name] = np.where(slides, size, 1.0)
        loose = row.shape.nq > row.shape.nu
        of_q[name] = np.where(np.arange(row.shape.nq) < row.shape.nq - 4, size, 1.0) if loose else of_u[name]
    return of_q, of_u


def power(loads: Values, u: Values) -> float:
    """Of loads at the speeds of their joints."""
    return float(sum(np.dot(load, u[name]) for name, load in loads.items()))


def energy_drift(result: lw.Result) -> float:
    """Largest change of the energy over time, in parts of the larger of both kinds."""
    kinds = np.array([result["energy.kinetic"], result["energy.potential"]])
    total = kinds.sum(axis=0)
    return float(np.abs(total - total[0]).max() / np.abs(kinds).max())


def tree_joints(system: lw.Model) -> list[str]:
    """Those of the spanning tree, outward."""
    joints = list(system.mechanism.joints)
    return [joints[link.joint] for link in system.topology.links]


def tree_only(system: lw.Model, values: Mapping[str, Any]) -> dict[str, Any]:
    """Without the joints that close loops."""
    tree = tree_joints(system)
    return {name: value for name, value in values.items() if name in tree}


def wrenches(system: lw.Model, state: lw.State, tau: Mapping[str, Any]) -> dict[str, Array]:
    """Of each joint on its child, (6,) [torque; force] at the child frame's origin in world axes, loads included."""
    return dict(system.by_joint(system.reactions(state, tau=tau)))
