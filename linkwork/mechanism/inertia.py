"""Inertias of homogeneous bodies: each returns the matrix (3, 3) in kg m^2 about the centre of mass, in body axes.

Masses are in kg and may be anything here: `Mechanism.add_body` judges them, because it knows the body's name.
Axes without a direction and sizes that are not positive are a `MechanismError`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray, numbers
from linkwork._util.keywords import checks_keywords
from linkwork.errors import MechanismError
from linkwork.mechanism.frames import direction

__all__ = ["box", "cylinder", "disk", "rod", "sphere"]


@checks_keywords
def rod(mass: float, length: float, axis: ArrayLike = "x") -> FloatArray:
    """Slender rod.

    Parameters
    ----------
    mass
        kg.
    length
        m.
    axis
        Its direction: a vector (3,) of any length, or "x", "y" or "z".

    Returns
    -------
    ndarray
        (3, 3), kg m^2, about the centre of mass in body axes.

    Examples
    --------
    >>> rod(12.0, 1.0).diagonal()
    array([0., 1., 1.])
    >>> rod(12.0, 1.0, axis=(1, 1, 0)).round(12)
    array([[ 0.5, -0.5,  0. ],
           [-0.5,  0.5,  0. ],
           [ 0. ,  0. ,  1. ]])
    """
    _check_length(length, "rod: length")
    return _about(axis, 0.0, mass * length**2 / 12, "rod")


@checks_keywords
def disk(mass: float, radius: float, axis: ArrayLike = "z") -> FloatArray:
    """Thin disk.

    Parameters
    ----------
    mass
        kg.
    radius
        m.
    axis
        Its normal: a vector (3,) of any length, or "x", "y" or "z".

    Returns
    -------
    ndarray
        (3, 3), kg m^2, about the centre of mass in body axes.

    Examples
    --------
    >>> disk(2.0, 1.0).diagonal()
    array([0.5, 0.5, 1. ])
    """
    _check_length(radius, "disk: radius")
    return _about(axis, mass * radius**2 / 2, mass * radius**2 / 4, "disk")


@checks_keywords
def cylinder(mass: float, radius: float, length: float, axis: ArrayLike = "z") -> FloatArray:
    """Solid cylinder.

    Parameters
    ----------
    mass
        kg.
    radius, length
        m.
    axis
        Its direction: a vector (3,) of any length, or "x", "y" or "z".

    Returns
    -------
    ndarray
        (3, 3), kg m^2, about the centre of mass in body axes.

    Examples
    --------
    >>> cylinder(12.0, 1.0, 3.0).diagonal()
    array([12., 12.,  6.])
    """
    _check_length(radius, "cylinder: radius")
    _check_length(length, "cylinder: length")
    return _about(axis, mass * radius**2 / 2, mass * (3 * radius**2 + length**2) / 12, "cylinder")


@checks_keywords
def sphere(mass: float, radius: float) -> FloatArray:
    """Solid sphere.

    Parameters
    ----------
    mass
        kg.
    radius
        m.

    Returns
    -------
    ndarray
        (3, 3), kg m^2, about the centre of mass in body axes.

    Examples
    --------
    >>> sphere(5.0, 1.0).diagonal()
    array([2., 2., 2.])
    """
    _check_length(radius, "sphere: radius")
    return np.eye(3) * (0.4 * mass * radius**2)


@checks_keywords
def box(mass: float, size: Sequence[float]) -> FloatArray:
    """Solid box; a size of zero makes it a plate.

    Parameters
    ----------
    mass
        kg.
    size
        Lengths along x, y and z, (3,), m.

    Returns
    -------
    ndarray
        (3, 3), kg m^2, about the centre of mass in body axes.

    Examples
    --------
    >>> box(12.0, (1, 2, 3)).diagonal()
    array([13., 10., 5.])
    """
    sides = numbers(size, (3,), "inertia.box: size")
    if (sides < 0).any():
        raise MechanismError(f"inertia.box: size must not be negative, not {tuple(sides.tolist())}")
    squares = sides**2
    return np.diag(mass * (squares.sum() - squares) / 12)


def _about(axis: ArrayLike, along: float, across: float, what: str) -> FloatArray:
    """Return the inertia with the moment `along` about an axis and `across` about all lines across it."""
    e = direction(axis, f"inertia.{what}: axis")
    square = np.outer(e, e)
    return along * square + across * (np.eye(3) - square)


def _check_length(value: float, what: str) -> None:
    if value <= 0:  # NaN passes: add_body refuses the result and names the body
        raise MechanismError(f"inertia.{what} must be positive, not {value!r} m")
