"""A chain of slabs whose motion is about the same at any length: every fourth body begins as the one four before it.

In a horizontal zigzag, the bodies turn such that the distance of the ends of each four is constant at first.
Free fall carries them, so the pull of the support does not add up along the chain; a hanging chain has waves the
faster, the more bodies it has, and its steps grow shorter with it.
"""

from __future__ import annotations

import numpy as np

import linkwork as lw

LENGTH, WIDTH, THICK, MASS = 0.3, 0.12, 0.05, 1.2  # m, m, m, kg
BEND = np.radians(20.0) * np.array([1, 1, -1, -1])
SWING, SPIN = np.array([1.0, -1.0, -1.0, 1.0]), np.array([1.0, -1.0, 1.0, -1.0])  # rad/s, across and along a body


def mechanism(n: int) -> lw.Mechanism:
    """Bodies b0, b1, ... on joints J0, J1, ..., the first on the ground."""
    mech = lw.Mechanism("zigzag")
    before, place, angle, w = "ground", lw.Frame(), 0.0, np.zeros(3)
    inertia = lw.inertia.box(MASS, size=(LENGTH, WIDTH, THICK))
    for k in range(n):
        mech.add_body(f"b{k}", mass=MASS, com=(LENGTH / 2, 0, 0), inertia=inertia)
        mech.add_joint(f"J{k}", lw.Spherical(), before, f"b{k}", parent_frame=place)
        own, turn = np.array([SPIN[k % 4], SWING[k % 4], 0.0]), BEND[k % 4] - angle
        q = (np.cos(turn / 2), 0, np.sin(turn / 2), 0)
        mech.start(q={f"J{k}": q}, u={f"J{k}": own - _in_child(turn) @ w})
        before, place, angle, w = f"b{k}", lw.Frame((LENGTH, 0, 0)), BEND[k % 4], own
    return mech


def _in_child(turn: float) -> np.ndarray:
    """Matrix from the axes of a body to those of the next, which is turned about y."""
    c, s = np.cos(turn), np.sin(turn)
    return np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])
