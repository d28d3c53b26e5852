"""Mass, centre of mass and inertia of solids of uniform density, and of several rigidly joined ones."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray
from linkwork.mechanism import Frame


class MassProperties(NamedTuple):
    """Of a rigid body: kg; m, (3,); kg m^2 about the centre of mass, (3, 3)."""

    mass: float
    com: FloatArray
    inertia: FloatArray

    def placed(self, frame: Frame) -> MassProperties:
        """Return them in the axes in which `frame`, to which they belong, is given."""
        rotation = frame.rotation
        return MassProperties(self.mass, frame.apply(self.com), rotation @ self.inertia @ rotation.T)

    def scaled(self, mass: float) -> MassProperties:
        """Return those of a body of the same shape and another mass."""
        return MassProperties(mass, self.com, self.inertia * (mass / self.mass))


def box(size: ArrayLike, density: float) -> MassProperties:
    """Return those of a box with edges `size` (3,), m, centred at the origin."""
    x, y, z = np.asarray(size, dtype=np.float64)
    mass = density * x * y * z
    return _centred(mass, np.array([y * y + z * z, x * x + z * z, x * x + y * y]) * mass / 12.0)


def ellipsoid(radii: ArrayLike, density: float) -> MassProperties:
    """Return those of an ellipsoid with semi-axes `radii` (3,), m, centred at the origin; a sphere has three alike."""
    x, y, z = np.asarray(radii, dtype=np.float64)
    mass = density * 4.0 / 3.0 * math.pi * x * y * z
    return _centred(mass, np.array([y * y + z * z, x * x + z * z, x * x + y * y]) * mass / 5.0)


def cylinder(radius: float, length: float, density: float) -> MassProperties:
    """Return those of a cylinder along z, centred at the origin."""
    mass = density * math.pi * radius**2 * length
    across = mass * (3.0 * radius**2 + length**2) / 12.0
    return _centred(mass, [across, across, mass * radius**2 / 2.0])


def capsule(radius: float, length: float, density: float) -> MassProperties:
    """Return those of a cylinder of this length along z with a half sphere at each end, centred at the origin."""
    tube = cylinder(radius, length, density)
    balls = density * 4.0 / 3.0 * math.pi * radius**3  # both halves
    # A half sphere: its centre of mass is 3/8 r from its flat face, about which it has 2/5 m r^2.
    far = length / 2.0 + 3.0 / 8.0 * radius
    across = balls * (2.0 / 5.0 * radius**2 - (3.0 / 8.0 * radius) ** 2 + far**2)
    return _centred(
        tube.mass + balls, tube.inertia.diagonal() + np.array([across, across, balls * 2.0 / 5.0 * radius**2])
    )


def cone(radius: float, length: float, density: float) -> MassProperties:
    """Return those of a cone along z with its tip at length/2 and its base at -length/2."""
    mass = density * math.pi * radius**2 * length / 3.0
    across = mass * (3.0 / 20.0 * radius**2 + 3.0 / 80.0 * length**2)
    return MassProperties(
        mass, np.array([0.0, 0.0, -length / 4.0]), np.diag([across, across, mass * 3.0 / 10.0 * radius**2])
    )


def joined(parts: Iterable[MassProperties]) -> MassProperties:
    """Return those of parts that make one body; at least one of them has mass."""
    listed = list(parts)
    mass = sum(part.mass for part in listed)
    com = sum((part.mass * part.com for part in listed), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for part in listed:
        away = part.com - com
        inertia += part.inertia + part.mass * (away @ away * np.eye(3) - np.outer(away, away))
    return MassProperties(mass, com, inertia)


def _centred(mass: float, moments: ArrayLike) -> MassProperties:
    return MassProperties(float(mass), np.zeros(3), np.diag(np.asarray(moments, dtype=np.float64)))
