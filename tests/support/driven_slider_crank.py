"""A slider-crank whose crank moves as prescribed."""

import numpy as np

import linkwork as lw


def driven_slider_crank() -> lw.Mechanism:
    """The piston's joints are at one point."""
    mech = lw.Mechanism("driven_slider_crank")
    for name, length in (("crank", 0.3), ("rod", 0.8)):
        mech.add_body(name, mass=1.0, com=(length / 2, 0, 0), inertia=lw.inertia.rod(1.0, length))
    mech.add_body("piston", mass=2.0, com=(0, 0, 0), inertia=0.01 * np.eye(3))
    hinge = lw.Revolute((0, 1, 0))
    mech.add_joint("crank", hinge, "ground", "crank", parent_frame=lw.Frame())
    mech.add_joint("big_end", hinge, "crank", "rod", parent_frame=lw.Frame((0.3, 0, 0)))
    mech.add_joint("small_end", hinge, "rod", "piston", parent_frame=lw.Frame((0.8, 0, 0)))
    mech.add_joint("guide", lw.Prismatic((1, 0, 0)), "ground", "piston", parent_frame=lw.Frame())
    mech.prescribe("crank", lw.Motion((0.4, 1.5, 0.3), 0.2, 0.7, 0.1))
    return mech
