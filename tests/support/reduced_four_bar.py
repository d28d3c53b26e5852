"""The planar four-bar of support.cases as one equation in the crank angle, derived by hand: no loop to drift."""

import json

import numpy as np

from .cases import DATA
from .poses import Array

FACTS = json.loads((DATA / "fourbar_planar.json").read_text())
CRANK, COUPLER, ROCKER = FACTS["link_lengths"]
MASSES = FACTS["link_masses"]
BASE, GRAVITY = FACTS["last_tip_pinned_at"][0], FACTS["g"]


def _along(angle: float) -> Array:
    return np.array([np.cos(angle), np.sin(angle)])


def _across(angle: float) -> Array:
    return np.array([-np.sin(angle), np.cos(angle)])


def _pose(crank: float) -> tuple[float, float]:
    """Angles of coupler and rocker, the rocker's from its foot."""
    elbow = CRANK * _along(crank)
    to_foot = np.array([BASE, 0.0]) - elbow
    reach = np.hypot(*to_foot)
    coupler = np.arctan2(to_foot[1], to_foot[0]) + np.arccos(
        (COUPLER**2 + reach**2 - ROCKER**2) / (2 * COUPLER * reach)
    )
    tip = elbow + COUPLER * _along(coupler)
    return coupler, np.arctan2(tip[1], tip[0] - BASE)


def derivative(y: Array) -> Array:
    """Rates of [crank angle, its speed], by virtual power of the three links."""
    crank, speed = y
    coupler, rocker = _pose(crank)
    sides = np.column_stack([COUPLER * _across(coupler), -ROCKER * _across(rocker)])
    ratio = np.linalg.solve(sides, -CRANK * _across(crank))  # of the speeds of coupler and rocker to the crank's
    a, b, c = CRANK, COUPLER, ROCKER
    squares = a * _along(crank) + b * _along(coupler) * ratio[0] ** 2 - c * _along(rocker) * ratio[1] ** 2
    bias = np.linalg.solve(sides, squares) * speed**2
    inertias = [m * length**2 / 12 for m, length in zip(MASSES, (a, b, c), strict=True)]
    middle = a * _across(crank) + b / 2 * _across(coupler) * ratio[0]
    middle_bias = -a * _along(crank) * speed**2 + b / 2 * (
        _across(coupler) * bias[0] - _along(coupler) * (ratio[0] * speed) ** 2
    )
    pivots = inertias[0] + MASSES[0] * a**2 / 4, inertias[2] + MASSES[2] * c**2 / 4
    mass = pivots[0] + inertias[1] * ratio[0] ** 2 + MASSES[1] * middle @ middle + pivots[1] * ratio[1] ** 2
    weight = -GRAVITY * (MASSES[0] * a / 2 * np.cos(crank) + MASSES[1] * middle[1])
    weight -= GRAVITY * MASSES[2] * c / 2 * np.cos(rocker) * ratio[1]
    gyroscopic = inertias[1] * ratio[0] * bias[0] + MASSES[1] * middle @ middle_bias + pivots[1] * ratio[1] * bias[1]
    return np.array([speed, (weight - gyroscopic) / mass])
