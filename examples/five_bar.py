"""A planar five-bar with two motors: two degrees of freedom, driven by torques that are functions of time."""

import math
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import linkwork as lw

OUT = Path(__file__).resolve().parent.parent / "out"
BASE, PROXIMAL, DISTAL = 0.2, 0.25, 0.35  # m
LEFT, RIGHT = 2.2, 0.94  # rad, where the motors' springs are free


def mechanism() -> lw.Mechanism:
    """Motors L and R turn the proximal links; the distal links meet in joint tip. All axes are vertical."""
    mech = lw.Mechanism("five_bar")
    hinge = lw.Revolute(axis=(0, 0, 1))
    for side, foot, free in (("l", -BASE / 2, LEFT), ("r", BASE / 2, RIGHT)):
        motor, elbow = side.upper(), f"elbow_{side}"
        for name, mass, length in ((f"proximal_{side}", 0.5, PROXIMAL), (f"distal_{side}", 0.3, DISTAL)):
            mech.add_body(name, mass=mass, com=(length / 2, 0, 0), inertia=lw.inertia.rod(mass, length))
        mech.add_joint(motor, hinge, "ground", f"proximal_{side}", parent_frame=lw.Frame((foot, 0, 0)))
        mech.add_joint(elbow, hinge, f"proximal_{side}", f"distal_{side}", parent_frame=lw.Frame((PROXIMAL, 0, 0)))
        mech.add_force(lw.SpringDamper(motor, stiffness=8.0, damping=0.1, free=free))
    end = lw.Frame((DISTAL, 0, 0))
    mech.add_joint("tip", hinge, "distal_l", "distal_r", parent_frame=end, child_frame=end)
    mech.start(q={"L": LEFT, "R": RIGHT, "elbow_l": -1.2, "elbow_r": 1.2})
    return mech


def torque_left(t: float) -> float:
    """Torque of the left motor, N.m."""
    return 1.6 * math.sin(2 * math.pi * 1.0 * t)


def torque_right(t: float) -> float:
    """Torque of the right motor, N.m."""
    return 1.6 * math.sin(2 * math.pi * 1.5 * t)


def tip_path(result: lw.Result) -> np.ndarray:
    """Place of the joint tip in the plane, (nt, 2), m."""
    angle = result["L.q"] + result["elbow_l.q"]
    return result["distal_l.r"][:, :2] + DISTAL * np.column_stack([np.cos(angle), np.sin(angle)])


def main(out: Path = OUT) -> lw.Result:
    """Simulate, and plot the path that the tip draws."""
    result = lw.simulate(mechanism(), t_end=8.0, inputs={"L": torque_left, "R": torque_right})
    print(result)
    print(f"loop residual at most {result['loop.tip.residual'].max():.1e} m")
    tip, left, right = tip_path(result), result["distal_l.r"], result["distal_r.r"]
    figure = Figure(figsize=(5.0, 4.6), layout="constrained")
    axes = figure.subplots()
    axes.plot(*tip.T, color="#e09f3e", linewidth=1.8, label="path of the tip")
    chain = [(-BASE / 2, 0.0), left[0, :2], tip[0], right[0, :2], (BASE / 2, 0.0)]
    axes.plot(*np.array(chain).T, "o-", color="#2e6f95", linewidth=3, markerfacecolor="white", label="at the start")
    axes.set(aspect="equal", xlabel="x [m]", ylabel="y [m]", title="Five-bar, driven at 1 Hz and 1.5 Hz")
    axes.legend(frameon=False)
    out.mkdir(exist_ok=True)
    figure.savefig(out / "five_bar.png", dpi=130)
    return result


if __name__ == "__main__":
    main()
