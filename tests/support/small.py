"""Mechanisms of a few parts: a pendulum, a fast four-bar, bodies welded together."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .builder import cut_at
from .cases import four_bar

PENDULUM_INERTIA = 1.0 / 12.0 + 0.25  # about its hinge


def pendulum(damping: float = 0.0, gravity: float = -9.81) -> lw.Mechanism:
    """A rod of 1 kg and 1 m on hinge "A"."""
    mech = lw.Mechanism("pendulum", gravity=(0, 0, gravity))
    mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    if damping:
        mech.add_force(lw.SpringDamper("A", damping=damping))
    return mech


def spinning_crank(cut: str) -> lw.Mechanism:
    """A four-bar without weight whose crank turns fast; joint `cut` closes the loop."""
    case = four_bar()
    mech = cut_at(case.mechanism, cut)
    mech.gravity = (0, 0, 0)
    mech.start(q=case.q, u={name: 5.0 * value for name, value in case.u.items()})
    return mech


def welded(closed: bool) -> lw.Mechanism:
    """Two bodies that cannot move, with or without a redundant third weld."""
    mech = lw.Mechanism("welded")
    for name, x in (("left", 0.0), ("right", 1.0)):
        mech.add_body(name, mass=2.0, com=(0.1, 0, 0), inertia=np.eye(3), origin=(x, 0, 0))
    mech.add_joint("F", lw.Fixed(), "ground", "left", at=(0, 0, 0))
    mech.add_joint("G", lw.Fixed(), "left", "right", at=(1, 0, 0))
    if closed:
        mech.add_joint("H", lw.Fixed(), "ground", "right", at=(2, 0, 0))
    return mech
