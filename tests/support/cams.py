"""A cam by a table and one by a formula."""

import numpy as np

import linkwork as lw


def cam_by_formulas() -> lw.Mechanism:
    """A driven disc lifts a follower by a table, and turns a second one by a formula."""
    mech = lw.Mechanism("cam")
    for name in ("disc", "follower", "wheel"):
        mech.add_body(name, mass=1.0, com=(0, 0, -0.1), inertia=0.01 * np.eye(3))
    mech.add_joint("cam", lw.Revolute((0, 1, 0)), "ground", "disc", at=(0, 0, 0))
    mech.add_joint("slide", lw.Prismatic("z"), "ground", "follower", at=(0, 0, 1))
    mech.add_joint("turn", lw.Revolute((0, 1, 0)), "ground", "wheel", at=(0, 0, 2))
    x, values = np.linspace(0, 2 * np.pi, 9), [0, 0.02, 0.05, 0.09, 0.1, 0.08, 0.05, 0.01, 0]
    lift = lw.LookupTable(x, values, interpolation="monotone", periodic=True)
    mech.add_coupling("lifts", formula="slide.q - lift(cam.q)", tables={"lift": lift})
    mech.add_coupling("turns", {"turn": 1.0}, formula="-a*sin(2*cam.q)*(1 + h*time)", parameters={"a": 0.4, "h": 0.3})
    mech.start(q={"cam": 0.4}, u={"cam": 5.0})
    return mech
