"""Stiff mechanisms: slow motion next to very stiff or strongly damped parts."""

from __future__ import annotations

import numpy as np

import linkwork as lw


def slug_on_a_rod(stiffness: float = 0.0, damping: float = 0.0) -> lw.Mechanism:
    """A pendulum "A" with a mass on its tip that can slide, "S", against a spring and damper along the rod."""
    mech = lw.Mechanism("slug_on_a_rod")
    mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    mech.add_body("slug", mass=0.5, com=(0, 0, 0), inertia=1e-3 * np.eye(3), origin=(1, 0, 0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    mech.add_joint("S", lw.Prismatic((1, 0, 0)), "rod", "slug", at=(1, 0, 0))
    mech.add_force(lw.SpringDamper("S", stiffness=stiffness, damping=damping))
    return mech


def governor(stiffness: float, damping: float) -> lw.Mechanism:
    """A flyball governor: a spindle that turns, two arms with balls, and links to a sleeve on a spring and damper."""
    mech = lw.Mechanism("governor")
    mech.add_body("spindle", mass=1.0, com=(0, 0, 0), inertia=0.01 * np.eye(3))
    mech.add_body("sleeve", mass=0.5, com=(0, 0, 0), inertia=1e-3 * np.eye(3), origin=(0, 0, -0.3))
    mech.add_joint("spin", lw.Revolute((0, 0, 1)), "ground", "spindle", at=(0, 0, 0))
    mech.add_joint("slide", lw.Prismatic((0, 0, 1)), "spindle", "sleeve", at=(0, 0, -0.3))
    for name, side in (("left", -1.0), ("right", 1.0)):
        knee = np.array([0.2 * side, 0.0, -0.15])
        for part, start in (("arm", np.zeros(3)), ("link", np.array([0.0, 0.0, -0.3]))):
            bar = knee - start
            rod = lw.inertia.rod(0.2, 0.25, axis="x")
            mech.add_body(f"{name}_{part}", mass=0.2, com=bar / 2, inertia=rod + 1e-4 * np.eye(3), origin=start)
        mech.add_body(f"{name}_ball", mass=1.0, com=(0, 0, 0), inertia=1e-3 * np.eye(3), origin=knee)
        mech.add_joint(f"{name}_weld", lw.Fixed(), f"{name}_arm", f"{name}_ball", at=knee)
        mech.add_joint(f"{name}_hip", lw.Revolute((0, 1, 0)), "spindle", f"{name}_arm", at=(0, 0, 0))
        mech.add_joint(f"{name}_foot", lw.Revolute((0, 1, 0)), "sleeve", f"{name}_link", at=(0, 0, -0.3))
        mech.add_joint(f"{name}_knee", lw.Revolute((0, 1, 0)), f"{name}_arm", f"{name}_link", at=knee)
    mech.add_force(lw.SpringDamper("slide", stiffness=stiffness, damping=damping))
    mech.start(q={"slide": 0.0}, u={"spin": 12.0})
    return mech


def arm_with_servos(links: int, stiffness: float = 2000.0, damping: float = 200.0) -> lw.Mechanism:
    """A chain of rods, joints "J0" and so on, with the springs and dampers of position servos."""
    mech = lw.Mechanism("arm_with_servos")
    for k in range(links):
        parent, axis = f"link{k - 1}" if k else "ground", (0, 1, 0) if k % 2 else (1, 0, 0)
        mech.add_body(f"link{k}", mass=1.0, com=(0, 0, 0.1), inertia=lw.inertia.rod(1.0, 0.2, axis="z"))
        frame = lw.Frame((0, 0, 0.2 if k else 0.0))
        mech.add_joint(f"J{k}", lw.Revolute(axis), parent, f"link{k}", parent_frame=frame, child_frame=lw.Frame())
        mech.add_force(lw.SpringDamper(f"J{k}", stiffness=stiffness, damping=damping, free=0.2))
    return mech
