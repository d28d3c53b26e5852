"""A crank-rocker with a coupler point, and the path of this point in closed form."""

from __future__ import annotations

import numpy as np

import linkwork as lw

LENGTHS = {"crank": 0.4, "coupler": 1.0, "rocker": 0.8, "base": 0.9, "px": 0.5, "pz": 0.3}
MEMBERS = {
    "crank": {"B.parent_frame.position[1]": 1.0, "crank.com[1]": 0.5},
    "coupler": {"C.parent_frame.position[1]": 1.0, "coupler.com[1]": 0.5},
    "rocker": {"D.child_frame.position[1]": 1.0, "rocker.com[1]": 0.5},
    "base": {"D.parent_frame.position[1]": 1.0},
    "px": {"tip.point[1]": 1.0},
    "pz": {"tip.point[3]": 1.0},
}
STEP = 1e-30


def four_bar() -> lw.Mechanism:
    mech = lw.Mechanism("four_bar")
    for name, mass, length in (("crank", 1.0, 0.4), ("coupler", 2.0, 1.0), ("rocker", 1.5, 0.8)):
        mech.add_body(name, mass=mass, com=(length / 2, 0, 0), inertia=lw.inertia.rod(mass, length))
    hinge = lw.Revolute((0, 1, 0))
    mech.add_joint("A", hinge, "ground", "crank", parent_frame=lw.Frame())
    mech.add_joint("B", hinge, "crank", "coupler", parent_frame=lw.Frame((0.4, 0, 0)))
    mech.add_joint("C", hinge, "coupler", "rocker", parent_frame=lw.Frame((1.0, 0, 0)))
    mech.add_joint(
        "D", hinge, "ground", "rocker", parent_frame=lw.Frame((0.9, 0, 0)), child_frame=lw.Frame((0.8, 0, 0))
    )
    mech.add_point("tip", "coupler", (0.5, 0.0, 0.3))
    mech.start(q={"A": -1.0, "B": 0.6, "C": 1.9})
    return mech


def tip_of_four_bar(angle, rate, crank, coupler, rocker, base, px, pz):
    """Position and velocity (4,) of the coupler point in x, z, for complex numbers, by the law of cosines."""
    joint = crank * np.array([np.cos(angle), -np.sin(angle)])
    joint_rate = -crank * rate * np.array([np.sin(angle), np.cos(angle)])
    along = np.array([base, 0.0]) - joint
    square = along @ along
    distance = np.sqrt(square)
    cosine = (square + coupler**2 - rocker**2) / (2 * distance * coupler)
    distance_rate = -(along @ joint_rate) / distance
    cosine_rate = distance_rate * (1 / coupler - cosine / distance)
    turn = -np.arctan(along[1] / along[0]) - np.arccos(cosine)
    direction_rate = (along[0] * joint_rate[1] - along[1] * joint_rate[0]) / square
    turn_rate = direction_rate + cosine_rate / np.sqrt(1 - cosine**2)
    c, s = np.cos(turn), np.sin(turn)
    tip = joint + px * np.array([c, -s]) + pz * np.array([s, c])
    return np.concatenate([tip, joint_rate + turn_rate * (px * np.array([-s, -c]) + pz * np.array([c, -s]))])
