"""Springs between points and applied wrenches, for the oracle: from poses and velocities of whole bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .placement import Values
from .poses import Array

if TYPE_CHECKING:
    from .oracle import Oracle

Loads = Mapping[str, Any]  # numbers by joint, (3,) by "push.F" and "push.T"


def of_type(mechanism: Any, type_name: str) -> list[Any]:
    return [force for force in mechanism.forces if force.type_name == type_name]


def _point(oracle: Oracle, body: str, point: Array, v: Array) -> tuple[Array, Array]:
    """Position and velocity in the world of a point given in a body's frame; `v` (n, 6) as the oracle has it."""
    pose = oracle.poses[body]
    position = pose.position + pose.rotation @ point
    if body == "ground":
        return position, np.zeros(3)
    i = oracle.index[body]
    return position, v[i, 3:] + np.cross(v[i, :3], position - oracle.com[i])


def springs(oracle: Oracle, u: Values) -> dict[str, tuple[float, float, float]]:
    """Length, its rate, and the force of each spring between points."""
    found, v = {}, oracle.velocities(u)
    for spring in of_type(oracle.mechanism, "point_spring_damper"):
        start, end = (_point(oracle, *end, v) for end in zip(spring.bodies, spring.points, strict=True))
        length = float(np.linalg.norm(end[0] - start[0]))
        rate = float((end[0] - start[0]) @ (end[1] - start[1])) / length
        found[spring.name] = (length, rate, spring.stiffness * (length - spring.free) + spring.damping * rate)
    return found


def stored(oracle: Oracle, u: Values) -> float:
    """Energy in the springs between points."""
    lengths = {name: length for name, (length, _, _) in springs(oracle, u).items()}
    every = of_type(oracle.mechanism, "point_spring_damper")
    return sum(spring.stiffness * (lengths[spring.name] - spring.free) ** 2 / 2 for spring in every)


def on_bodies(oracle: Oracle, u: Values, tau: Loads) -> Array:
    """Forces of springs and applied wrenches, (n, 6) [torque about the centre of mass; force]."""
    total, v, stretched = np.zeros((len(oracle.bodies), 6)), oracle.velocities(u), springs(oracle, u)

    def push(body: str, point: Array, force: Array) -> None:
        if body != "ground":
            i = oracle.index[body]
            total[i] += np.r_[np.cross(point - oracle.com[i], force), force]

    for spring in of_type(oracle.mechanism, "point_spring_damper"):
        ends = [_point(oracle, *end, v)[0] for end in zip(spring.bodies, spring.points, strict=True)]
        length, _, pull = stretched[spring.name]
        force = pull * (ends[1] - ends[0]) / length
        push(spring.bodies[0], ends[0], force)
        push(spring.bodies[1], ends[1], -force)
    for wrench in of_type(oracle.mechanism, "wrench"):
        point = _point(oracle, wrench.body, wrench.point, v)[0]
        push(wrench.body, point, tau.get(f"{wrench.name}.F", np.zeros(3)))
        total[oracle.index[wrench.body], :3] += tau.get(f"{wrench.name}.T", np.zeros(3))
    return total


def power(oracle: Oracle, u: Values, tau: Loads) -> float:
    """What loads and applied wrenches put in, less what the dampers take."""
    v, stretched = oracle.velocities(u), springs(oracle, u)
    total = sum(tau.get(name, 0.0) * speed for name, speed in u.items())
    total -= sum(force.damping * u[force.joint] ** 2 for force in of_type(oracle.mechanism, "spring_damper"))
    for spring in of_type(oracle.mechanism, "point_spring_damper"):
        total -= spring.damping * stretched[spring.name][1] ** 2
    for wrench in of_type(oracle.mechanism, "wrench"):
        velocity = _point(oracle, wrench.body, wrench.point, v)[1]
        total += velocity @ tau.get(f"{wrench.name}.F", np.zeros(3))
        total += v[oracle.index[wrench.body], :3] @ tau.get(f"{wrench.name}.T", np.zeros(3))
    return float(total)
