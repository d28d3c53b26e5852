"""A planar five-bar driven by motors: two degrees of freedom, torques that are functions of time.

A third leg with a third motor makes it redundantly actuated, as the manipulator of Anderson and Critchley (Multibody
System Dynamics 9, 2003, figures 7 and 8). Its motion is compared with Lagrange's equations of the plane.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np
from drawing import AMBER, BLUE, GREEN, GREY, INK, OUT, RED, dress, legend, save, save_page, sheet
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator
from planar_rods import Rods
from scipy.integrate import solve_ivp

import linkwork as lw

BASE, PROXIMAL, DISTAL = 0.2, 0.25, 0.35  # m
FEET = {"l": (-BASE / 2, 0.0), "r": (BASE / 2, 0.0), "m": (0.05, 0.9)}  # m
RELAXED = {"l": 2.2, "r": 0.94, "m": -0.6}  # rad, where the motors' springs are free
ELBOWS = {"l": -1.2, "r": 1.2, "m": -1.9}  # rad, guesses
AMPLITUDE = 1.6  # N m, of the motors' torques
COLOR = {"l": BLUE, "r": RED, "m": GREEN}
FREQUENCY = {"l": 1.0, "r": 1.5, "m": 0.7}  # Hz
MASSES, STIFFNESS, DAMPING = (0.5, 0.3), 8.0, 0.1  # kg of proximal and distal links, N m/rad, N m s/rad


def mechanism(legs: str = "lr") -> lw.Mechanism:
    """Motors L, R (and M) turn the proximal links; a joint at the tip connects the others. All axes are vertical."""
    mech = lw.Mechanism("five_bar")
    hinge, end = lw.Revolute(axis=(0, 0, 1)), lw.Frame((DISTAL, 0, 0))
    for side in legs:
        motor, elbow = side.upper(), f"elbow_{side}"
        for kind, mass, length in zip(("proximal", "distal"), MASSES, (PROXIMAL, DISTAL), strict=True):
            inertia = lw.inertia.rod(mass, length)
            mech.add_body(f"{kind}_{side}", mass=mass, com=(length / 2, 0, 0), inertia=inertia)
        mech.add_joint(motor, hinge, "ground", f"proximal_{side}", parent_frame=lw.Frame((*FEET[side], 0)))
        mech.add_joint(elbow, hinge, f"proximal_{side}", f"distal_{side}", parent_frame=lw.Frame((PROXIMAL, 0, 0)))
        mech.add_force(lw.SpringDamper(motor, stiffness=STIFFNESS, damping=DAMPING, free=RELAXED[side]))
        mech.start(q={motor: RELAXED[side], elbow: ELBOWS[side]})
    mech.add_joint("tip", hinge, "distal_l", "distal_r", parent_frame=end, child_frame=end)
    if "m" in legs:
        mech.add_joint("tip_m", hinge, "distal_l", "distal_m", parent_frame=end, child_frame=end)
    return mech


def torque(side: str, t: float) -> float:
    """Torque of a motor, N m."""
    return AMPLITUDE * math.sin(2 * math.pi * FREQUENCY[side] * t)


def driven(legs: str, t_end: float, **options: Any) -> lw.Result:
    """Simulate with all motors running."""
    inputs = {side.upper(): lambda t, side=side: torque(side, t) for side in legs}
    return lw.simulate(mechanism(legs), t_end, inputs=inputs, t_eval=np.linspace(0.0, t_end, 801), **options)


def tip_path(result: lw.Result) -> np.ndarray:
    """Place of the joint tip in the plane, (nt, 2), m."""
    angle = result["L.q"] + result["elbow_l.q"]
    return result["distal_l.r"][:, :2] + DISTAL * np.column_stack([np.cos(angle), np.sin(angle)])


def link_angles(result: lw.Result) -> np.ndarray:
    """Angles of all links of the three legs to the x axis, (nt, 6), rad."""
    pairs = [(result[f"{side.upper()}.q"], result[f"elbow_{side}.q"]) for side in "lrm"]
    return np.column_stack([angle for motor, elbow in pairs for angle in (motor, motor + elbow)])


def by_lagrange(t: np.ndarray, phi: np.ndarray) -> np.ndarray:
    """The same six angles over time from rest, by the equations of `planar_rods`."""
    rods = Rods(MASSES * 3, (PROXIMAL, DISTAL) * 3, ((0, 1), (2, 3), (4, 5)), gravity=(0, 0))
    relaxed = np.array(list(RELAXED.values()))

    def rates(time: float, y: np.ndarray) -> np.ndarray:
        loads = np.zeros(6)
        loads[::2] = [torque(side, time) for side in "lrm"] - STIFFNESS * (y[:6:2] - relaxed) - DAMPING * y[6::2]
        return np.concatenate([y[6:], rods.accelerations(y[:6], y[6:], loads)])

    start = np.concatenate([phi, np.zeros(6)])
    return solve_ivp(rates, (t[0], t[-1]), start, "DOP853", t, rtol=1e-12, atol=1e-13).y[:6].T


def draw_machine(axes: Axes, result: lw.Result, legs: str, title: str) -> None:
    """The path of the tip, and the legs as they stand at the start."""
    dress(axes, title, "x [m]", "y [m]", aspect="equal", xlim=(-0.3, 0.38), ylim=(-0.08, 0.98))
    tip = tip_path(result)
    axes.plot(*tip.T, color=AMBER, linewidth=1.2)
    for side in legs:
        leg = np.array([FEET[side], result[f"distal_{side}.r"][0, :2], tip[0]])
        axes.plot(*leg.T, "o-", color=COLOR[side], linewidth=3, markersize=5, markerfacecolor="white")
        axes.annotate(side.upper(), leg[0], (8, 3), textcoords="offset points", color=COLOR[side], fontweight="bold")


def plot(two: lw.Result, three: lw.Result, reference: np.ndarray, path: Path) -> None:
    """Draw both machines, the trajectories of the second and their difference to Lagrange's."""
    figure = sheet(12.0, 4.6)
    grid = figure.add_gridspec(2, 3, width_ratios=(1.0, 1.0, 2.2), height_ratios=(2.0, 1.0))
    draw_machine(figure.add_subplot(grid[:, 0]), two, "lr", "Two motors")
    draw_machine(figure.add_subplot(grid[:, 1]), three, "lrm", "Three motors")
    angles, apart = figure.add_subplot(grid[0, 2]), figure.add_subplot(grid[1, 2])
    dress(angles, "Three motors, two degrees of freedom", "", "angle of a motor [rad]")
    ours = link_angles(three)
    for k, side in enumerate("lrm"):
        angles.plot(three.t, ours[:, 2 * k], color=COLOR[side], linewidth=1.6, label=f"motor {side.upper()}")
        angles.plot(three.t[::16], reference[::16, 2 * k], "o", color=COLOR[side], ms=3.5, mfc="white")
    angles.plot([], [], "o", color=GREY, ms=3.5, mfc="white", label="Lagrange")
    angles.sharex(apart)
    angles.tick_params(labelbottom=False)
    angles.set_ylim(None, 3.0)
    legend(angles, "upper right", ncols=4)
    apart.semilogy(three.t[1:], np.abs(ours - reference).max(axis=1)[1:], color=INK, linewidth=1.0)
    dress(apart, "Largest difference of a link's angle to Lagrange's equations", "time [s]", "difference [rad]")
    apart.yaxis.set_minor_locator(NullLocator())
    caption = "Path of the tip and legs at the start; Linkwork (lines) and Lagrange's equations in numpy (circles)."
    save(figure, path, caption)


def main(out: Path = OUT) -> tuple[lw.Result, lw.Result, np.ndarray]:
    """Simulate both machines, print the error of the second to Lagrange's equations, and draw."""
    two = driven("lr", 8.0)
    print(two)
    print(f"loop residual at most {two['loop.tip.residual'].max():.1e} m")
    three = driven("lrm", 4.0, solver="DOP853", rtol=1e-12)
    reference = by_lagrange(three.t, link_angles(three)[0])
    print(f"three motors, {three.model}")
    print(f"largest difference to Lagrange's equations {np.abs(link_angles(three) - reference).max():.1e} rad")
    plot(two, three, reference, out / "five_bar.png")
    save_page(two, out / "five_bar.html")
    return two, three, reference


if __name__ == "__main__":
    main()
