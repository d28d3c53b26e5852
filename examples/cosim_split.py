"""Two four-bars coupled by a spring, cut at the spring into two FMUs and run together: what each master's step costs.

The spring is between the tips p of both rockers and free at length zero, so that it pulls each with k (p_other - p).
Each half has k (anchor - p) as a spring to a point on the ground, and takes the rest, k (p_other - anchor), as an
input: the output of the other half, times a factor, plus an offset. A run of the undivided mechanism gives the error.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from drawing import AMBER, BLUE, GREEN, GREY, INK, OUT, PALE, RED, dress, legend, save, sheet
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator

import linkwork as lw
from linkwork.cosim import Adaptive, GaussSeidel, Jacobi, Result, System, run

CRANK, COUPLER, ROCKER, BASE = 0.4, 1.0, 0.8, 0.9  # m
MASSES = {"l": (1.0, 2.0, 1.5), "r": (0.6, 1.2, 2.5)}  # kg of crank, coupler, rocker
FEET = {"l": 0.0, "r": 2.9}  # m, x of the cranks' joints; the rockers stand within
TURNED = {"l": np.eye(3), "r": np.diag((-1.0, -1.0, 1.0))}  # the right one half round z: its mirror image in the plane
START = {"l": 2.2, "r": 1.5}  # rad, of the cranks, at rest
BENT = {"l": (-1.74, 4.56), "r": (-1.09, 4.24)}  # rad, guesses of joints B and C
ANCHOR = (1.45, 0.0, -0.7)  # m, where each half ends its spring
STIFFNESS, END = 40.0, 2.0  # N/m, s
STEPS = (100, 200, 400, 800, 1600)  # of a run
COARSE = STEPS[0]  # of the run that is drawn over time
SIDES = {"l": "left", "r": "right"}
OTHER = {"l": "r", "r": "l"}
COLOR = (RED, AMBER, BLUE)  # by order of extrapolation
LOOK = {"Jacobi": ("-", "o"), "GaussSeidel": ((0, (4, 2)), "s")}
TOLERANCE = 1e-10  # of the FMUs
DEMANDS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)  # tolerances of the adaptive master

Errors = dict[tuple[str, int], np.ndarray]
Adapted = dict[float, tuple[float, float]]  # by tolerance: mean step, s, and error, m


def add_linkage(mech: lw.Mechanism, side: str) -> None:
    """A four-bar: joints A and D are on the ground."""
    names = [f"{body}_{side}" for body in ("crank", "coupler", "rocker")]
    lengths = (CRANK, COUPLER, ROCKER)
    for name, mass, length in zip(names, MASSES[side], lengths, strict=True):
        mech.add_body(name, mass=mass, com=(length / 2, 0, 0), inertia=lw.inertia.rod(mass, length))
    crank, coupler, rocker = names
    hinge, turned = lw.Revolute(axis=(0, 1, 0)), TURNED[side]
    foot = FEET[side] + turned[0, 0] * BASE
    mech.add_joint(f"A_{side}", hinge, "ground", crank, parent_frame=lw.Frame((FEET[side], 0, 0), turned))
    mech.add_joint(f"B_{side}", hinge, crank, coupler, parent_frame=lw.Frame((CRANK, 0, 0)))
    mech.add_joint(f"C_{side}", hinge, coupler, rocker, parent_frame=lw.Frame((COUPLER, 0, 0)))
    ends = lw.Frame((foot, 0, 0), turned), lw.Frame((ROCKER, 0, 0))
    mech.add_joint(f"D_{side}", hinge, "ground", rocker, parent_frame=ends[0], child_frame=ends[1])
    b, c = BENT[side]
    mech.start(q={f"A_{side}": START[side], f"B_{side}": b, f"C_{side}": c})


def mechanism() -> lw.Mechanism:
    """The whole: both linkages, and the spring between joints C, where the frames of the rockers are."""
    mech = lw.Mechanism("cosim_split")
    for side in SIDES:
        add_linkage(mech, side)
    tips = ((0, 0, 0), (0, 0, 0))
    mech.add_force(
        lw.SpringDamper(bodies=("rocker_l", "rocker_r"), points=tips, stiffness=STIFFNESS, free=0.0, name="spring")
    )
    return mech


def half(side: str) -> lw.Mechanism:
    """One linkage, its spring to the anchor, and the input `pull`."""
    mech, rocker = lw.Mechanism(SIDES[side]), f"rocker_{side}"
    add_linkage(mech, side)
    points = ((0, 0, 0), ANCHOR)
    mech.add_force(
        lw.SpringDamper(bodies=(rocker, "ground"), points=points, stiffness=STIFFNESS, free=0.0, name="spring")
    )
    mech.add_force(lw.Wrench(rocker, point=(0, 0, 0), name="pull"))
    return mech


def split(out: Path) -> System:
    """Both halves as FMUs, connected."""
    system = System("cosim_split", description="Two four-bars coupled by a spring")
    for side, name in SIDES.items():
        outputs = [f"{body}_{side}.r" for body in ("crank", "coupler", "rocker")]
        system.add(name, lw.export_fmu(half(side), out / f"cosim_split_{name}.fmu", fmi="2.0", outputs=outputs))
    for side, other in OTHER.items():
        for k in (1, 3):
            source, target = f"{SIDES[other]}.rocker_{other}.r[{k}]", f"{SIDES[side]}.pull.F[{k}]"
            offset = -STIFFNESS * ANCHOR[k - 1]
            system.connect(source, target, factor=STIFFNESS, offset=offset, convert_units=False)
    system.experiment.t_end = END
    return system


def tips(result: Result) -> np.ndarray:
    """Both tips over time, (nt, 4), m."""
    return np.column_stack([result[f"{SIDES[side]}.rocker_{side}.r[{k}]"] for side in SIDES for k in (1, 3)])


def whole(t: np.ndarray) -> np.ndarray:
    """The same of the mechanism in one piece."""
    result = lw.simulate(mechanism(), END, t_eval=t, rtol=1e-11)
    return np.column_stack([result[f"rocker_{side}.r"][:, k] for side in SIDES for k in (0, 2)])


def errors_of(once: Callable[..., Result]) -> Errors:
    """Largest error of a tip's coordinate, m, by master and order of extrapolation, for each number of steps."""
    exact = whole(np.linspace(0.0, END, STEPS[-1] + 1))
    return {
        (kind.__name__, order): np.array(
            [np.abs(tips(once(kind(END / n, order))) - exact[:: STEPS[-1] // n]).max() for n in STEPS]
        )
        for kind in (Jacobi, GaussSeidel)
        for order in (0, 1, 2)
    }


def adapted(once: Callable[..., Result]) -> Adapted:
    """The same of the adaptive master, which chooses its steps."""
    found = {}
    for demand in DEMANDS:
        result = once(Adaptive(demand, extrapolation=2))
        error = np.abs(tips(result) - whole(result.t)).max()
        assert result.statistics is not None  # of a result that is read from a file there are none
        found[demand] = (END / result.statistics.steps, float(error))
    return found


def slopes(errors: Errors) -> dict[tuple[str, int], float]:
    """Measured order of each master: the slope over the three finest steps."""
    return {name: float(np.log2(e[-3] / e[-1])) / 2 for name, e in errors.items()}


def joints_of(result: lw.Result, side: str, row: int) -> np.ndarray:
    """Joints A, B, C, D of a linkage, (4, 2), m."""
    feet = [(FEET[side] + TURNED[side][0, 0] * x, 0.0) for x in (0.0, BASE)]
    moving = [result[f"{body}_{side}.r"][row, ::2] for body in ("coupler", "rocker")]
    return np.array([feet[0], *moving, feet[1]])


def draw_linkages(axes: Axes, result: lw.Result) -> None:
    """Both linkages with their spring at the start, some poses after it, and the paths of the tips."""
    dress(
        axes, "Two four-bars, cut at the spring", "x [m]", "z [m]", aspect="equal", xlim=(-0.55, 3.45), ylim=(-1.0, 0.3)
    )
    rows = np.linspace(0, len(result.t) - 1, 9).astype(int)
    for side, color in zip(SIDES, (BLUE, GREEN), strict=True):
        axes.plot(*result[f"rocker_{side}.r"][:, ::2].T, color=color, linewidth=1.4, zorder=3)
        for row in rows[:0:-1]:
            axes.plot(*joints_of(result, side, row).T, color=color, linewidth=1.0, alpha=0.25)
        pose = joints_of(result, side, 0)
        axes.plot(*pose.T, "o-", color=color, linewidth=3, ms=5, mfc="white", zorder=4)
        for k in (0, -1):
            axes.plot(*pose[k], "^", color=INK, ms=8, zorder=2)
        middle = (pose[0, 0] + pose[-1, 0]) / 2
        axes.annotate(f"{SIDES[side]}.fmu", (middle, 0.12), color=color, fontsize=9, fontweight="bold", ha="center")
    ends = np.array([joints_of(result, side, 0)[2] for side in SIDES])
    axes.plot(*coil(*ends).T, color=RED, linewidth=1.3, zorder=3)
    axes.annotate("spring", ends.mean(axis=0), (0, -16), textcoords="offset points", color=RED, fontsize=9, ha="center")


def coil(begin: np.ndarray, end: np.ndarray, turns: int = 12, width: float = 0.05) -> np.ndarray:
    """A zigzag from point to point, (n, 2)."""
    along = np.concatenate([[0.0], np.linspace(0.15, 0.85, 2 * turns + 1), [1.0]])
    aside = np.concatenate([[0.0, 0.0], np.resize((1.0, -1.0), 2 * turns - 1), [0.0, 0.0]])
    way = end - begin
    across = width * np.array([-way[1], way[0]]) / np.linalg.norm(way)
    return np.asarray(begin + np.outer(along, way) + np.outer(aside, across))


def draw_motion(axes: Axes, coarse: Result) -> None:
    """The tips' heights of the whole and of one coarse run."""
    t = np.linspace(0.0, END, 401)
    exact, found = whole(t), tips(coarse)
    for k, (side, color) in enumerate(zip(SIDES, (BLUE, GREEN), strict=True)):
        axes.plot(t, exact[:, 2 * k], color=color, label=f"{SIDES[side]}, whole")
        axes.plot(coarse.t, found[:, 2 * k], ".", color=color, ms=4, label=f"{SIDES[side]}, FMUs")
    step = f"{1000 * END / COARSE:g} ms"
    dress(axes, f"Held inputs, step {step}", "time [s]", "x of the tip [m]", xlim=(0, END))
    legend(axes, "upper center", ncols=4, bbox_to_anchor=(0.5, 0.62), columnspacing=1.2)


def draw_errors(axes: Axes, errors: Errors, chosen: Adapted) -> None:
    """Error by step, of all masters."""
    steps = 1000 * END / np.array(STEPS)
    for (name, order), error in errors.items():
        line, marker = LOOK[name]
        color, label = COLOR[order], f"{name}, {('held', 'linear', 'quadratic')[order]}"
        axes.loglog(steps, error, marker, linestyle=line, color=color, ms=5, mfc="white", linewidth=1.5, label=label)
    mean, error = np.array(list(chosen.values())).T
    look = {"color": GREEN, "linestyle": (0, (1, 1.5)), "ms": 6, "mfc": "white", "linewidth": 1.5}
    axes.loglog(1000 * mean, error, "D", **look, label="Adaptive, quadratic; mean step")
    for demand, (step, its) in chosen.items():
        text = f"$10^{{{np.log10(demand):.0f}}}$"
        axes.annotate(text, (1000 * step, its), (7, -9), textcoords="offset points", color=GREEN, fontsize=8)
    for order, color in enumerate(COLOR, start=1):
        ends, low = steps[[-2, -1]], min(errors[name, order - 1][-1] for name in LOOK)
        axes.loglog(ends, 0.45 * low * (ends / ends[1]) ** order, color=GREY, linewidth=1.0)
        axes.annotate(
            f"slope {order}", (ends[0], 0.45 * low * 2**order), (5, -4), textcoords="offset points", color=color, size=9
        )
    dress(axes, "Largest error of a tip by master", "communication step [ms]", "error [m]", xlim=(1.1, 30.0))
    axes.xaxis.set_major_locator(FixedLocator(list(steps)))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_locator(NullLocator())
    axes.grid(color=PALE, linewidth=0.8)
    legend(axes, "lower right")


def plot(errors: Errors, chosen: Adapted, coarse: Result, path: Path) -> None:
    """Draw the linkages, one run over time, and errors by step."""
    figure = sheet(12.0, 5.8)
    grid = figure.add_gridspec(2, 2, width_ratios=(1.0, 1.05), height_ratios=(1.2, 1.0))
    draw_linkages(figure.add_subplot(grid[0, 0]), lw.simulate(mechanism(), END, t_eval=np.linspace(0.0, END, 201)))
    draw_motion(figure.add_subplot(grid[1, 0]), coarse)
    draw_errors(figure.add_subplot(grid[:, 1]), errors, chosen)
    save(
        figure,
        path,
        "Two FMUs exchange places of tips at communication points. Held, linear, quadratic: inputs during a step; "
        "at diamonds: tolerances; error: to the mechanism in one piece.",
    )


def main(out: Path = OUT) -> tuple[Errors, Adapted]:
    """Run the halves by all masters and steps, print errors and orders, and draw."""
    out.mkdir(exist_ok=True)
    system = split(out)
    system.save(out / "cosim_split.ssp", step=END / STEPS[-1])
    models: dict[Path, Any] = {}  # each FMU is unpacked once

    def once(master: Jacobi | GaussSeidel | Adaptive) -> Result:
        return run(system, master=master, tolerance=TOLERANCE, models=models)

    errors = errors_of(once)
    print(f"{system}\n\nerror [m] by step [ms]" + "".join(f"{1000 * END / n:9g}" for n in STEPS) + "    order")
    for (name, order), slope in slopes(errors).items():
        row = "".join(f"{error:9.1e}" for error in errors[name, order])
        print(f"{name + ',':12} order {order}   {row}    {slope:5.2f}")
    chosen = adapted(once)
    for demand, (step, error) in chosen.items():
        print(f"Adaptive,    tolerance {demand:g}: error {error:.1e} m with steps of {1000 * step:.2f} ms on average")
    plot(errors, chosen, once(Jacobi(END / COARSE)), out / "cosim_split.png")
    return errors, chosen


if __name__ == "__main__":
    main()
