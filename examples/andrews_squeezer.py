"""Andrews' squeezer: seven bodies, three loops, one degree of freedom, a spring between points, a constant torque.

Parameters, start and published end are those of the Test Set for IVP Solvers (Mazzia and Magherini; Hairer and Wanner,
Solving Ordinary Differential Equations II, VII.7). The published end is good to about 10 digits in the angles. A
second reference, computed without Linkwork, is good to 3e-12 rad and 1e-9 rad/s.
"""

from pathlib import Path
from typing import Any

import numpy as np
from drawing import COLORS, GREY, INK, OUT, dress, save, save_page, sheet
from matplotlib.axes import Axes

import linkwork as lw

ORIGIN, A, B, C = (0.0, 0.0), (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)  # m, fixed points of the plane
STIFFNESS, FREE = 4530.0, 0.07785  # N/m, m
TORQUE, END = 0.033, 0.03  # N m on beta, s
BODIES = {  # mass, moment of inertia, centre of mass
    "K1": (0.04325, 2.194e-6, (0.00092, 0.0)),
    "K2": (0.00365, 4.41e-7, (-0.0115, 0.0)),
    "K3": (0.02373, 5.255e-6, (0.01043, -0.01874)),
    "K4": (0.00706, 5.667e-7, (0.0, 0.01421 - 0.02)),
    "K5": (0.0705, 1.169e-5, (0.02308, 0.00916)),
    "K6": (0.00706, 5.667e-7, (0.02 - 0.01421, 0.0)),
    "K7": (0.05498, 1.912e-5, (-0.00449, -0.01228)),
}
JOINTS = {  # parent, point on it, child, whose origin is there; the angle at the start
    "beta": ("ground", ORIGIN, "K1", -0.06171389001427645),
    "theta": ("K1", (0.007, 0.0), "K2", 0.0),
    "gamma": ("ground", B, "K3", 0.45527981916307037),
    "phi": ("K5", (0.04, 0.0), "K4", 0.22266839016588588),
    "delta": ("ground", A, "K5", 0.48736497954384256),
    "omega": ("K7", (0.0, -0.04), "K6", -0.22266839016588588),
    "epsilon": ("ground", A, "K7", 1.2305474445498212),
}
MEET = {"K2": (-0.028, 0.0), "K3": (0.0, -0.035), "K4": (0.0, -0.02), "K6": (0.02, 0.0)}  # point E of four bodies
D = (0.02, -0.018)  # on K3, where the spring acts

END_ANGLES = np.array([
    15.810771195154167, -15.756371058412414, 0.04082224011965022, -0.5347301163420722, 0.5244099658799543,
    0.5347301163420723, 1.048080741041938,
])  # fmt: skip
END_RATES = np.array([
    1139.9203022591225, -1424.3792951775524, 11.0329119107496, 19.293374105261126, 0.5735699148363985,
    -19.293374105261123, 0.32317914925317387,
])  # fmt: skip
PUBLISHED_ANGLES = np.array([
    15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805303,
    0.5347301163226948, 1.048080741042263,
])  # fmt: skip

ASIDE = {  # of labels, points
    "K1": (-4, 7), "K2": (-6, 7), "K3": (10, 6), "K4": (-22, -8), "K5": (-18, 6), "K6": (7, -8), "K7": (-4, 8),
    "A": (-14, 2), "B": (-13, 3), "C": (7, -4), "D": (8, -5), "E": (6, -15), "O": (-4, -15),
}  # fmt: skip
LABEL: dict[str, Any] = {"textcoords": "offset points", "fontsize": 9}
GREEK = dict(zip(JOINTS, "βΘγΦδΩε", strict=True))


def mechanism() -> lw.Mechanism:
    """The seven angles are the coordinates of the tree; three hinges at E close the loops."""
    mech = lw.Mechanism("andrews_squeezer", gravity=(0, 0, 0))
    for name, (mass, moment, (x, y)) in BODIES.items():
        inertia = np.diag([moment / 2, moment / 2, moment])  # a plate in the plane of motion
        mech.add_body(name, mass=mass, com=(x, y, 0), inertia=inertia)
    hinge = lw.Revolute((0, 0, 1))
    for name, (parent, point, child, angle) in JOINTS.items():
        mech.add_joint(name, hinge, parent, child, parent_frame=lw.Frame((*point, 0)))
        mech.start(q={name: angle}, u={name: 0.0})
    frames = {body: lw.Frame((*point, 0)) for body, point in MEET.items()}
    for body in ("K3", "K4", "K6"):
        mech.add_joint(f"E_{body}", hinge, "K2", body, parent_frame=frames["K2"], child_frame=frames[body], cut=True)
    points = ((*C, 0), (*D, 0))
    spring = lw.SpringDamper(bodies=("ground", "K3"), points=points, stiffness=STIFFNESS, free=FREE, name="spring")
    mech.add_force(spring)
    return mech


def columns(result: lw.Result, kind: str) -> np.ndarray:
    """Angles ("q") or rates ("u") in the published order, (nt, 7)."""
    return np.column_stack([result[f"{name}.{kind}"] for name in JOINTS])


def carried(result: lw.Result, body: str, point: tuple[float, float], row: int) -> np.ndarray:
    """Where a point of a body is in the plane, mm."""
    w, _, _, z = result[f"{body}.Q"][row]
    cosine, sine = w * w - z * z, 2 * w * z
    return 1000 * (result[f"{body}.r"][row, :2] + np.array([[cosine, -sine], [sine, cosine]]) @ point)


def draw_linkage(axes: Axes, result: lw.Result) -> None:
    """The bodies as polygons between their joints, at the start."""
    f, g, h = (result[f"{body}.r"][0, :2] * 1000 for body in ("K2", "K4", "K6"))
    a, b, c, o = (1000 * np.array(point) for point in (A, B, C, ORIGIN))
    e, d = carried(result, "K2", MEET["K2"], 0), carried(result, "K3", D, 0)
    bodies = {"K1": (o, f), "K2": (f, e), "K3": (b, e, d, b), "K4": (g, e), "K5": (a, g), "K6": (h, e), "K7": (a, h)}
    for color, (name, corners) in zip(COLORS, bodies.items(), strict=True):
        axes.plot(*np.array(corners).T, "o-", color=color, linewidth=3, ms=4, mfc="white")
        middle = np.mean(corners[:2], axis=0)
        axes.annotate(name, (middle[0], middle[1]), ASIDE[name], **LABEL, color=color, fontweight="bold")
    axes.plot(*np.array([c, d]).T, color=GREY, linestyle=(0, (1, 1)), linewidth=3, zorder=1)
    for name, point in {"A": a, "B": b, "C": c, "D": d, "E": e, "O": o}.items():
        axes.plot(*point, "o", color=INK, ms=5)
        axes.annotate(name, (point[0], point[1]), ASIDE[name], **LABEL, color=INK)
    dress(axes, "At the start; dotted: the spring", "x [mm]", "y [mm]", aspect="equal", xlim=(-77, 22))


def plot(result: lw.Result, path: Path) -> None:
    """Draw the linkage and the seven angles, the two that go round modulo 2π, as they are published."""
    figure = sheet(12.0, 5.4)
    grid = figure.add_gridspec(2, 2, width_ratios=(1.0, 1.5))
    draw_linkage(figure.add_subplot(grid[:, 0]), result)
    turning, rocking = figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
    for color, (name, angle) in zip(COLORS, zip(JOINTS, columns(result, "q").T, strict=True), strict=True):
        if name in ("beta", "theta"):
            wrapped = (angle + np.pi) % (2 * np.pi) - np.pi
            wrapped[1:][np.abs(np.diff(wrapped)) > np.pi] = np.nan
            turning.plot(1000 * result.t, wrapped, color=color, label=GREEK[name])
        else:
            rocking.plot(1000 * result.t, angle, color=color, label=GREEK[name])
    dress(turning, "Crank and rod, modulo 2π", "", "angle [rad]", ylim=(-3.5, 3.5))
    dress(rocking, "The others", "time [ms]", "angle [rad]")
    for axes in (turning, rocking):
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        axes.margins(x=0)
    save(figure, path, "Andrews' squeezer, driven by 0.033 N m at O for 30 ms.")


def main(out: Path = OUT) -> lw.Result:
    """Simulate, compare with both ends, and draw."""
    t = np.linspace(0.0, END, 1201)
    result = lw.simulate(mechanism(), END, t_eval=t, inputs={"beta": TORQUE}, solver="DOP853", rtol=1e-12)
    angles, rates = columns(result, "q")[-1], columns(result, "u")[-1]
    print(result)
    print("at the end    angle [rad]           to the published   to the recomputed")
    for k, name in enumerate(JOINTS):
        apart = angles[k] - PUBLISHED_ANGLES[k], angles[k] - END_ANGLES[k]
        print(f"{name:8} {angles[k]:20.13f} {apart[0]:18.1e} {apart[1]:18.1e}")
    print(f"largest difference of a rate to the recomputed {np.abs(rates - END_RATES).max():.1e} rad/s")
    plot(result, out / "andrews_squeezer.png")
    save_page(result, out / "andrews_squeezer.html")
    return result


if __name__ == "__main__":
    main()
