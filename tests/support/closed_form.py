"""Mechanisms whose motion has a closed form."""

from __future__ import annotations

import numpy as np

import linkwork as lw

STIFFNESS, MASS, SWING = 30.0, 2.0, 3.0  # N/m, kg, m


def oscillator(damping: float = 0.0) -> lw.Mechanism:
    """A mass on a slide "X" and a spring, released at SWING."""
    mech = lw.Mechanism("oscillator")
    mech.add_body("mass", mass=MASS, com=(0, 0, 0), inertia=lw.inertia.sphere(MASS, 0.1))
    mech.add_joint("X", lw.Prismatic((1, 0, 0)), "ground", "mass", at=(0, 0, 0))
    mech.add_force(lw.SpringDamper("X", stiffness=STIFFNESS, damping=damping))
    mech.start(q={"X": SWING})
    return mech


def oscillation(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Displacement and speed of the oscillator without damping."""
    rate = np.sqrt(STIFFNESS / MASS)
    return SWING * np.cos(rate * t), -SWING * rate * np.sin(rate * t)


def tumbler(spin: float) -> lw.Mechanism:
    """A free ball "F" without weight that turns steadily about the z axis."""
    mech = lw.Mechanism("tumbler", gravity=(0, 0, 0))
    mech.add_body("ball", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.5))
    mech.add_joint("F", lw.Free(), "ground", "ball", at=(0, 0, 0))
    mech.start(u={"F": (0, 0, spin, 0, 0, 0)})
    return mech


def bouncing_ball(height: float) -> lw.Mechanism:
    """A ball that falls from a height on a floor, with half the speed after it."""
    mech = lw.Mechanism("bouncing")
    mech.add_body("ball", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("Z", lw.Prismatic((0, 0, 1)), "ground", "ball", at=(0, 0, 0))
    mech.start(q={"Z": height})
    mech.add_transition("floor", lw.Stop("Z", lower=0.0, restitution=0.5))
    return mech
