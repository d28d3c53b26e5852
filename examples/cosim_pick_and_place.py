"""A five-bar that picks and places: computed torque and two PID controllers, each an FMU, as is the trajectory.

The machine is that of `five_bar` with two motors. Computed torque runs the model of the mechanism within the controller
and so knows its loop, its springs, and what one motor's load does at the other; the PIDs know their own angle alone.
Both have gains for the same inertia of a motor. A third run has tools heavier than those of the model.
"""

import math
from pathlib import Path
from typing import Any

import five_bar
import numpy as np
from drawing import AMBER, BLUE, GREEN, GREY, INK, OUT, PALE, RED, dress, legend, poses, save, save_page, sheet
from five_bar import DISTAL, FEET, MASSES, PROXIMAL, RELAXED, STIFFNESS
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

import linkwork as lw
from linkwork.controllers import computed_torque, pid, trajectory
from linkwork.cosim import Jacobi, Result, System, run

PICK, ABOVE, OVER, PLACE = (-0.22, 0.34), (-0.2, 0.46), (0.2, 0.46), (0.22, 0.34)  # m, of the tool in the plane
WAY = (PICK, ABOVE, OVER, PLACE, OVER, ABOVE, PICK)
MOVES, DWELLS = (0.2, 0.3, 0.2, 0.2, 0.3, 0.2), (0.1, 0, 0, 0.2, 0, 0, 0.1)  # s
BEND = {"l": 1.0, "r": -1.0}  # bending direction of the elbows
KP, KD = 900.0, 60.0  # 1/s2, 1/s: errors die out with e^(-30 t)
KI = 20.0  # 1/s, of the PIDs, times their proportional gain
HEAVIER = 1.5  # factor on the distal links' masses
END, STEP = sum(MOVES) + sum(DWELLS), 0.002  # s
COLOR = {"PID": AMBER, "computed torque": BLUE, "heavier than the model": RED}
ANGLES = [f"{joint}.{part}" for joint in "LR" for part in "qu"]


def elbow(side: str, tool: tuple[float, float]) -> tuple[float, float]:
    """Angles of a motor and its elbow for a place of the tool, rad."""
    x, y = (float(a - b) for a, b in zip(tool, FEET[side], strict=True))
    far = math.hypot(x, y)
    motor = math.atan2(y, x) + BEND[side] * math.acos((PROXIMAL**2 + far**2 - DISTAL**2) / (2 * PROXIMAL * far))
    distal = math.atan2(y - PROXIMAL * math.sin(motor), x - PROXIMAL * math.cos(motor))
    return motor, distal - motor


def mechanism() -> lw.Mechanism:
    """The five-bar where it picks."""
    mech = five_bar.mechanism("lr")
    mech.name = "cosim_pick_and_place"
    for side in "lr":
        motor, bent = elbow(side, PICK)
        mech.start(q={side.upper(): motor, f"elbow_{side}": bent})
    return mech


def machine(out: Path, name: str) -> System:
    """Machine and trajectory, still without a controller."""
    system = System(f"cosim_pick_and_place_{name}", description="A five-bar that picks and places")
    mech = mechanism()
    outputs = [*ANGLES, *poses(mech)]
    system.add("plant", lw.export_fmu(mech, out / "cosim_pick_and_place_plant.fmu", fmi="2.0", outputs=outputs))
    points = [[elbow(side, tool)[0] for side in "lr"] for tool in WAY]
    path = out / "cosim_pick_and_place_trajectory.fmu"
    system.add("wish", trajectory(path, points, names=["L", "R"], move_time=MOVES, dwell_time=DWELLS))
    system.add_parameter_set("heavier", {f"plant.distal_{side}.mass": HEAVIER * MASSES[1] for side in "lr"})
    system.experiment.t_end = END
    return system


def with_model(out: Path) -> System:
    """Both motors by one controller that knows the mechanism."""
    system = machine(out, "computed_torque")
    path = out / "cosim_pick_and_place_computed_torque.fmu"
    system.add("control", computed_torque(path, mechanism(), ["L", "R"], kp=KP, kd=KD))
    for name in ANGLES:
        system.connect(f"plant.{name}", f"control.{name}")
    for joint in "LR":
        for part in "qua":
            system.connect(f"wish.{joint}.{part}_d", f"control.{joint}.{part}_d")
        system.connect(f"control.{joint}.tau", f"plant.{joint}.tau")
    return system


def inertia() -> np.ndarray:
    """Of each motor by itself where it picks, kg m2: torque for an acceleration."""
    system = lw.compile(mechanism())
    state = system.assemble()
    found = [
        [system.by_joint(system.accelerations(state, tau={joint: load}))[joint] for load in (0.0, 1.0)]
        for joint in "LR"
    ]
    return np.array([1.0 / (loaded - free) for free, loaded in found]).ravel()


def with_pids(out: Path) -> System:
    """One FMU twice, with the gains of each motor; the springs are balanced at the start."""
    system = machine(out, "pid")
    path = pid(out / "cosim_pick_and_place_pid.fmu", measurement_unit="rad", output_unit="N.m")
    for side, its in zip("lr", inertia(), strict=True):
        joint, name = side.upper(), f"pid_{side}"
        held = STIFFNESS * (elbow(side, PICK)[0] - RELAXED[side])
        gains = {"kp": KP * its, "kd": KD * its, "ki": KI * KP * its, "filter_time": STEP, "derivative_weight": 1.0}
        system.add(name, path, parameters={**gains, "integral_start": held})
        system.connect(f"wish.{joint}.q_d", f"{name}.setpoint")
        system.connect(f"plant.{joint}.q", f"{name}.measurement")
        system.connect(f"{name}.u", f"plant.{joint}.tau")
    return system


def tool(result: Result) -> np.ndarray:
    """Path of the tool, (nt, 2), m: from the ends of both proximal links, as far from each as a distal link is long."""
    ends = [np.column_stack([result[f"plant.distal_{side}.r[{k}]"] for k in (1, 2)]) for side in "lr"]
    return _meeting(*ends)


def wished(result: Result) -> np.ndarray:
    """The same of the trajectory, (nt, 2), m."""
    ends = []
    for side in "lr":
        q = result[f"wish.{side.upper()}.q_d"]
        ends.append(np.array(FEET[side]) + PROXIMAL * np.column_stack([np.cos(q), np.sin(q)]))
    return _meeting(*ends)


def _meeting(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    half = (right - left) / 2
    across = np.column_stack([-half[:, 1], half[:, 0]])
    size = (half**2).sum(axis=1, keepdims=True)
    return np.asarray(left + half + across * np.sqrt(DISTAL**2 / size - 1))


def error(result: Result) -> np.ndarray:
    """How far the tool is from where it should be, m."""
    found: np.ndarray = np.linalg.norm(tool(result) - wished(result), axis=1)
    return found


def torques(result: Result) -> np.ndarray:
    """Of both motors, (nt, 2), N m."""
    return np.column_stack([result[f"plant.{joint}.tau"] for joint in "LR"])


def draw_machine(axes: Axes, runs: dict[str, Result]) -> None:
    """The machine where it picks and, pale, between picking and placing; the paths of the tool."""
    dress(
        axes,
        "The tool's path, seen from above",
        "x [m]",
        "y [m]",
        aspect="equal",
        xlim=(-0.47, 0.47),
        ylim=(-0.17, 0.58),
    )
    result = runs["computed torque"]
    tips = tool(result)
    begins = np.concatenate([[0.0], np.cumsum(np.add(MOVES[:3], DWELLS[1:4]))]) + DWELLS[0]
    for t in (begins[3], begins[2], begins[1], 0.0):
        row = int(np.searchsorted(result.t, t))
        for side, color in (("l", GREEN), ("r", GREY)):
            joint = [result[f"plant.distal_{side}.r[{k}]"][row] for k in (1, 2)]
            look: dict[str, Any] = (
                {"linewidth": 3.5, "ms": 5} if t == 0.0 else {"linewidth": 1.2, "ms": 0, "alpha": 0.45}
            )
            axes.plot(*np.array([FEET[side], joint, tips[row]]).T, "o-", color=color, mfc="white", zorder=3, **look)
    for side in "lr":
        axes.plot(FEET[side][0], -0.012, "^", color=INK, ms=10, zorder=2)
    for name in COLOR:
        axes.plot(*tool(runs[name]).T, color=COLOR[name], linewidth=1.6, label=name, zorder=5)
    axes.plot(*wished(result).T, color=INK, linewidth=1.0, linestyle=(0, (4, 3)), label="wished", zorder=6)
    for text, where, offset in (("pick", PICK, (-34, -3)), ("place", PLACE, (9, -3))):
        axes.plot(*where, "s", color=RED, ms=7, mfc="white", zorder=7)
        axes.annotate(text, where, offset, textcoords="offset points", color=RED, fontsize=9, fontweight="bold")
    legend(axes, "lower center", ncols=2, bbox_to_anchor=(0.5, 0.0))


def draw_errors(axes: Axes, runs: dict[str, Result]) -> None:
    """Distance of the tool from where it should be."""
    for name, result in runs.items():
        axes.semilogy(result.t, 1000 * np.maximum(error(result), 1e-8), color=COLOR[name], linewidth=1.6, label=name)
    dress(axes, "How far the tool is from where it should be", "", "distance [mm]", ylim=(1e-3, 1e3))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    legend(axes, "upper right", ncols=3)


def draw_torques(axes: Axes, runs: dict[str, Result]) -> None:
    """Torques of the motors."""
    for name, width in (("PID", 1.2), ("computed torque", 1.6)):
        for k, line in enumerate(("-", (0, (4, 2)))):
            label = f"{name}, motor {'LR'[k]}"
            values = torques(runs[name])[:, k]
            axes.plot(runs[name].t, values, color=COLOR[name], linewidth=width, linestyle=line, label=label)
    dress(axes, "Torques of the motors", "time [s]", "torque [N m]", ylim=(-10, 13))
    legend(axes, "upper right", ncols=2)


def plot(runs: dict[str, Result], path: Path) -> None:
    """Draw the machine, its errors and its torques."""
    figure = sheet(12.5, 5.8)
    grid = figure.add_gridspec(2, 2, width_ratios=(1.0, 1.2))
    draw_machine(figure.add_subplot(grid[:, 0]), runs)
    panels = [figure.add_subplot(grid[k, 1]) for k in (0, 1)]
    draw_errors(panels[0], runs)
    draw_torques(panels[1], runs)
    waits = np.concatenate([[0.0], np.cumsum(np.add(MOVES, DWELLS[:-1]))])
    for axes in panels:
        axes.set_xlim(0, END)
        for begin, wait in zip(waits, DWELLS, strict=True):
            axes.axvspan(begin, begin + wait, color=PALE, linewidth=0, zorder=0)
    panels[0].tick_params(labelbottom=False)
    text = "Plant, trajectory and controllers are FMUs; the tool rests where the background is grey."
    save(figure, path, f"{text} Heavier: distal links 1.5 times as heavy as computed torque believes.")


def main(out: Path = OUT) -> dict[str, Result]:
    """Pick and place by both controllers, print how well the tool follows, and draw."""
    out.mkdir(exist_ok=True)
    systems = {"PID": with_pids(out), "computed torque": with_model(out)}
    models: dict[Path, Any] = {}
    systems["heavier than the model"] = systems["computed torque"]
    runs = {}
    for name, system in systems.items():
        system.save(out / f"{system.name}.ssp", step=STEP)
        sets = "heavier" if name.startswith("heavier") else ()
        runs[name] = run(system, master=Jacobi(STEP), parameter_sets=sets, models=models)
    print(f"{systems['computed torque']}\n{'error of the tool [mm]':26}{'largest':>10}{'rms':>10}{'at the end':>12}")
    for name, result in runs.items():
        away = 1000 * error(result)
        print(f"{name:26}{away.max():10.3f}{np.sqrt(np.mean(away**2)):10.3f}{away[-1]:12.3f}")
    plot(runs, out / "cosim_pick_and_place.png")
    save_page(list(runs.values()), out / "cosim_pick_and_place.html", labels=list(runs))
    return runs


if __name__ == "__main__":
    main()
