"""Mechanisms that pass dead points, where a lock or a stop acts on a rate of zero."""

from __future__ import annotations

import numpy as np

import linkwork as lw

CRANK, ROD = 0.1, 0.3


def slider_crank(speed: float, *, driven: bool, start: float = 0.3, gravity: float = 0.0) -> lw.Mechanism:
    """The slider S stands still where the crank A is at 0 and at pi: at 0 and at -2 CRANK."""
    mech = lw.Mechanism("slider_crank", gravity=(0, 0, -gravity))
    mech.add_body("crank", mass=1, com=(CRANK / 2, 0, 0), inertia=lw.inertia.rod(1, CRANK))
    mech.add_body("rod", mass=1, com=(ROD / 2, 0, 0), inertia=lw.inertia.rod(1, ROD), origin=(CRANK, 0, 0))
    mech.add_body("piston", mass=1, com=(0, 0, 0), inertia=np.eye(3) * 1e-3, origin=(CRANK + ROD, 0, 0))
    hinge = lw.Revolute((0, 1, 0))
    mech.add_joint("A", hinge, "ground", "crank", at=(0, 0, 0))
    mech.add_joint("B", hinge, "crank", "rod", at=(CRANK, 0, 0))
    mech.add_joint("C", hinge, "rod", "piston", at=(CRANK + ROD, 0, 0))
    mech.add_joint("S", lw.Prismatic((1, 0, 0)), "ground", "piston", at=(CRANK + ROD, 0, 0))
    near = {"S": slider(start), "B": -start - float(np.arcsin(CRANK / ROD * np.sin(start)))}
    if driven:
        mech.prescribe("A", lw.Motion((start, speed)))
        mech.start(q=near)
    else:
        mech.start(q={"A": start, **near}, u={"A": speed})
    return mech


def slider(angle: float) -> float:
    """Displacement of the slider of `slider_crank` by the angle of its crank."""
    return CRANK * float(np.cos(angle)) + float(np.sqrt(ROD**2 - (CRANK * np.sin(angle)) ** 2)) - CRANK - ROD


def cam(coefficients: tuple[float, ...], speed: float, *, driven: bool, start: float = -1.0) -> lw.Mechanism:
    """b = c1 a + c2 a^2 + ...: of the parabola (0, c) the dead point is a = 0."""
    mech = lw.Mechanism("cam", gravity=(0, 0, 0))
    for name in "ab":
        mech.add_body(name, mass=1, com=(0, 0, 0), inertia=np.eye(3) * 0.01)
        mech.add_joint(name, lw.Prismatic((1, 0, 0)), "ground", name, at=(0, 0, 0))
    mech.add_coupling("cam", {"b": 1.0, "a": tuple(-c for c in coefficients)})
    if driven:
        mech.prescribe("a", lw.Motion((start, speed)))
    else:
        mech.start(q={"a": start}, u={"a": speed})
    return mech
