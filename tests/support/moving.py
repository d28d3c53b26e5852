"""States of compiled mechanisms in terms of their bodies, for comparison with `Maximal`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

import linkwork as lw

from .maximal import Array, Maximal, Moving

_POINTS = np.vstack([np.zeros(3), np.eye(3)])


def moving(model: lw.Model, state: lw.State, name: str, mass: float, com: Array, inertia: Array) -> Moving:
    """A body in a state, with mass properties of the test's own."""
    pose = model.pose(state, name)
    twist = model.body_jacobian(state, name) @ state.u
    return Moving(mass, com, inertia, pose.position, pose.rotation, twist[3:], twist[:3])


def largest_difference(model: lw.Model, state: lw.State, system: Maximal, names: Mapping[str, str]) -> float:
    """Between accelerations of four points of each body, m/s^2, divided by the largest acceleration of them."""
    found = system.solve()
    largest, size = 0.0, 1.0
    for link, body in names.items():
        moving, (alpha, origin) = system.bodies[link], found[link]
        for point in _POINTS:
            arm = moving.R @ point
            expected = origin + np.cross(alpha, arm) + np.cross(moving.w, np.cross(moving.w, arm))
            got = model.point_acceleration(state, body, point)
            largest = max(largest, float(abs(got - expected).max()))
            size = max(size, float(abs(expected).max()))
    return largest / size
