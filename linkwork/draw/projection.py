"""The plane in which a mechanism is drawn: that in which it moves, else the one over which its points spread most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.mechanism.frames import unit

_FLAT = 0.12  # spread across a plane by that along it, below which a mechanism is seen face on
_ASIDE, _ABOVE = 0.5, 0.4  # a mechanism that is not flat is seen obliquely, by these tangents
_PREFERRED = np.array([0.2, -0.5, 0.3])  # of two opposite directions the one that shows the world's axes as usual


@dataclass(frozen=True)
class View:
    """Unit vectors in the world: to the right and up in the picture, and towards who looks at it."""

    right: FloatArray
    up: FloatArray
    toward: FloatArray

    def __call__(self, points: FloatArray) -> FloatArray:
        """Return points or directions (..., 3) in the picture (..., 2), the second coordinate upwards."""
        return points @ np.stack([self.right, self.up], axis=1)


def view_of(points: FloatArray, axes: Sequence[FloatArray], gravity: FloatArray) -> View:
    """Return how to look at points (n, 3) of a mechanism whose joints turn about some axes."""
    _, spread, directions = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    spread = np.concatenate([spread, np.zeros(3 - len(spread))])
    if len(directions) < 3:
        directions = np.eye(3)
    common = _common(axes)
    flat = spread[2] <= _FLAT * spread[1]
    if common is not None:
        along = np.linalg.norm((points - points.mean(axis=0)) @ common)
        if along <= max(_FLAT * spread[0], 1e-9) or spread[1] <= 1e-6 * spread[0]:
            return _facing(common, gravity)
    if spread[1] <= 1e-6 * spread[0]:  # all on one line
        return _facing(_across(directions[0]), gravity)
    view = _facing(directions[2], gravity)
    if flat:
        return view
    return _facing(unit(view.toward + _ASIDE * view.right + _ABOVE * view.up), gravity)


def _common(axes: Sequence[FloatArray]) -> FloatArray | None:
    """The axis that all have in common."""
    if not axes:
        return None
    first = np.asarray(axes[0])
    return first if np.abs(np.asarray(axes) @ first).min() > 1.0 - 1e-6 else None


def _across(line: FloatArray) -> FloatArray:
    """The world's axis y, x or z, whichever comes first far from a line, made perpendicular to it."""
    for axis in np.eye(3)[[1, 0, 2]]:
        if abs(axis @ line) < 0.8:
            break
    return unit(axis - (axis @ line) * line)


def _facing(normal: FloatArray, gravity: FloatArray) -> View:
    toward = np.asarray(normal if normal @ _PREFERRED > 0 else -normal)
    wanted = (-gravity, np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0]))
    for up in wanted:
        length = np.linalg.norm(up)
        if length > 0 and abs(up @ toward) < 0.9 * length:
            break
    up = unit(up - (up @ toward) * toward)
    return View(np.cross(up, toward), up, toward)
