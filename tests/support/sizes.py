"""Mechanisms of other sizes: the same motion in other units."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np

import linkwork as lw

SCALES = [
    (1e-9, 1e-12),
    (1e-6, 1e-6),
    (1e-3, 1e-3),
    (1e3, 1e3),
    (1e6, 1e9),
]  # factors of lengths and gravity, and of masses


def heavier(mech: lw.Mechanism, factor: float) -> lw.Mechanism:
    other = copy.deepcopy(mech)
    for name, body in mech.bodies.items():
        other.bodies[name] = dataclasses.replace(body, mass=body.mass * factor, inertia=body.inertia * factor)
    return other


def sized(mech: lw.Mechanism, values: dict, length: float) -> dict:
    """Coordinates or speeds with their displacements times a length."""
    factors = {"Prismatic": length, "Cylindrical": [length, 1.0]}
    kinds = {name: type(joint.kind).__name__ for name, joint in mech.joints.items()}
    return {name: np.asarray(value) * factors.get(kinds[name], 1.0) for name, value in values.items()}
