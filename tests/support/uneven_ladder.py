"""Ladders hung from the ground by universal joints, whose cells are parallelograms of uneven masses."""

from __future__ import annotations

import numpy as np

import linkwork as lw

LEG, RUNG = 1.5, 1.0
HANGER, HINGE = lw.Universal((1, 0, 0), (0, 1, 0)), lw.Revolute((0, 1, 0))


def uneven_ladder(cells: int, rng: np.random.Generator) -> lw.Mechanism:
    """Return a ladder in motion; it swings sideways through the pose in which some rows of its loops vanish."""
    mech = lw.Mechanism("uneven_ladder")
    add_body(mech, "leg0", (0, 0, -LEG), rng)
    mech.add_joint("hanger0", HANGER, "ground", "leg0", at=(0, 0, 0))
    sway, side, rate, turn = 0.35, 0.5, -1.2, 0.7
    q, u = {"hanger0": (side, sway)}, {"hanger0": (turn, rate)}
    for k in range(1, cells + 1):
        rung, leg = f"rung{k}", f"leg{k}"
        add_body(mech, rung, (RUNG, 0, 0), rng)
        add_body(mech, leg, (0, 0, -LEG), rng)
        near, far, origin = lw.Frame((0, 0, -LEG)), lw.Frame((RUNG, 0, 0)), lw.Frame((0, 0, 0))
        mech.add_joint(f"near{k}", HINGE, f"leg{k - 1}", rung, parent_frame=near, child_frame=origin)
        mech.add_joint(f"far{k}", HINGE, rung, leg, parent_frame=far, child_frame=near)
        top = lw.Frame((k * RUNG, 0, 0))
        mech.add_joint(f"hanger{k}", HANGER, "ground", leg, parent_frame=top, child_frame=origin, cut=True)
        q |= {f"near{k}": -sway, f"far{k}": sway}
        u |= {f"near{k}": -rate, f"far{k}": rate}
    mech.start(q=q, u=u)
    return mech


def add_body(mech: lw.Mechanism, name: str, along: tuple[float, float, float], rng: np.random.Generator) -> None:
    mass, centre = rng.uniform(0.5, 1.5), 0.5 * np.array(along)
    centre += rng.uniform(-0.025, 0.025, 3) * (np.array(along) == 0.0)
    size = np.abs(along) + 0.05
    mech.add_body(name, mass=mass, com=centre, inertia=lw.inertia.box(mass, size))
