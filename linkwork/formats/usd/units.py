"""Units and transforms of USD stages: lengths, masses and scales as SI values and frames."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.errors import MechanismError
from linkwork.mechanism import Frame

_SHEAR = 1e-5  # cosine between axes of a transform, typed in single precision, that are perpendicular
_DEGREE = math.pi / 180.0


@dataclass(frozen=True)
class Units:
    """Of a stage: m of its unit of length, kg of its unit of mass."""

    length: float
    mass: float

    @property
    def force(self) -> float:
        """N of the stage's unit of force."""
        return self.mass * self.length

    @property
    def torque(self) -> float:
        """N m of the stage's unit of torque, and kg m^2 of that of inertia."""
        return self.mass * self.length**2


class Placed:
    """A prim in the world: its frame without scale, and the scale along its axes."""

    def __init__(self, matrix: Any, units: Units, what: str) -> None:
        values = np.array(matrix, dtype=np.float64)  # points are rows, and multiply it from the left
        if not np.isfinite(values).all():
            raise MechanismError(f"{what}: its transform is not finite: correct its xformOps")
        axes = values[:3, :3].T
        self.scale: FloatArray = np.linalg.norm(axes, axis=0)  # stage units of the world for one of the prim, (3,)
        if (self.scale < 1e-12).any():
            raise MechanismError(f"{what}: it is scaled to zero: correct its scale")
        rotation = axes / self.scale
        if abs(rotation.T @ rotation - np.eye(3)).max() > _SHEAR:
            raise MechanismError(
                f"{what}: it is sheared, by a scale above it that is not the same in all directions: apply "
                "that scale to the points"
            )
        if np.linalg.det(rotation) < 0.0:
            raise MechanismError(f"{what}: it is mirrored by a negative scale: apply the scale to the points")
        left, _, right = np.linalg.svd(rotation)
        self.frame = Frame(values[3, :3] * units.length, left @ right)  # position in m


def rotation_of(quaternion: Any, what: str) -> FloatArray:
    """Return a quaternion of USD as a unit quaternion [w, x, y, z]; that of length zero is none at all."""
    values = np.array([quaternion.GetReal(), *quaternion.GetImaginary()], dtype=np.float64)
    size = float(np.linalg.norm(values))
    if not math.isfinite(size):
        raise MechanismError(f"{what} is not finite: give a quaternion (w, x, y, z)")
    return values / size if size else np.array([1.0, 0.0, 0.0, 0.0])


def radians(degrees: float) -> float:
    """Return an angle of USD in rad."""
    return degrees * _DEGREE
