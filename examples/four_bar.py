"""A planar four-bar linkage, a crank-rocker under gravity."""

from pathlib import Path

import linkwork as lw

AXIS = (0, 1, 0)  # the plane of motion is x-z
CRANK, COUPLER, ROCKER, BASE = 0.4, 1.0, 0.8, 0.9  # m


def mechanism() -> lw.Mechanism:
    """Crank A-B, coupler B-C, rocker C-D; joints A and D are on the ground."""
    mech = lw.Mechanism("four_bar")
    for name, mass, length in (("crank", 1.0, CRANK), ("coupler", 2.0, COUPLER), ("rocker", 1.5, ROCKER)):
        mech.add_body(name, mass=mass, com=(length / 2, 0, 0), inertia=lw.inertia.rod(mass, length))
    hinge = lw.Revolute(axis=AXIS)
    mech.add_joint("A", hinge, "ground", "crank", parent_frame=lw.Frame())
    mech.add_joint("B", hinge, "crank", "coupler", parent_frame=lw.Frame((CRANK, 0, 0)))
    mech.add_joint("C", hinge, "coupler", "rocker", parent_frame=lw.Frame((COUPLER, 0, 0)))
    foot, tip = lw.Frame((BASE, 0, 0)), lw.Frame((ROCKER, 0, 0))
    mech.add_joint("D", hinge, "ground", "rocker", parent_frame=foot, child_frame=tip)  # closes the loop
    mech.start(q={"A": -1.0, "B": 0.6, "C": 1.9}, u={"A": -2.0})
    return mech


def main(out: Path = Path("out")) -> lw.Result:
    """Simulate five seconds and print where the crank ends."""
    result = lw.simulate(mechanism(), t_end=5.0)
    print(result)
    print(f"crank angle at the end: {result['A.q'][-1]:.6f} rad")
    out.mkdir(exist_ok=True)
    print(f"saved {result.page(out / 'four_bar.html')}")
    return result


if __name__ == "__main__":
    main()
