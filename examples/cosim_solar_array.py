"""The solar array of `solar_array` with latches that a supervisor commands: events between FMUs.

The satellite's latches have boolean inputs, `latch1.command` and so on. The supervisor sees the angles of the hinges at
communication points and commands a latch where its hinge is nearly straight; the satellite, an FMU of FMI 3.0, goes to
Event Mode there, and its speeds jump. How far from straight a panel is then is a matter of the communication step.
"""

from pathlib import Path
from typing import Any

import numpy as np
from drawing import GREY, INK, OUT, PALE, dress, legend, mark, poses, save, save_page, sheet
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from solar_array import COLOR, END, HINGES, HUB, outline
from solar_array import latches as latches_of
from solar_array import mechanism as satellite

import linkwork as lw
from linkwork.controllers import latch_supervisor
from linkwork.cosim import Jacobi, Result, System, run

STEPS = (0.02, 0.01, 0.005, 0.0025)  # s; the last one is drawn
FASTEST = 3.0  # rad/s, of a hinge
LATCHES = {f"latch{hinge[1:]}": hinge for hinge in HINGES}


def mechanism() -> lw.Mechanism:
    """The satellite, latched on command."""
    mech = satellite(commanded=True)
    mech.name = "cosim_solar_array"
    return mech


def supervised(out: Path) -> System:
    """Satellite and supervisor."""
    system = System("cosim_solar_array", description="A solar array unfolds; a supervisor latches its hinges")
    mech = mechanism()
    outputs = [*(f"{hinge}.{part}" for hinge in HINGES for part in "qu"), *(f"{x}.active" for x in LATCHES), "hub.w"]
    plant = lw.export_fmu(mech, out / "cosim_solar_array_satellite.fmu", fmi="3.0", outputs=outputs + poses(mech))
    system.add("satellite", plant)
    path = out / "cosim_solar_array_supervisor.fmu"
    system.add("supervisor", latch_supervisor(path, LATCHES, max_speed=FASTEST, sequence=False))
    for latch, hinge in LATCHES.items():
        for part in "qu":
            system.connect(f"satellite.{hinge}.{part}", f"supervisor.{hinge}.{part}")
        system.connect(f"supervisor.{latch}.command", f"satellite.{latch}.command")
    system.experiment.t_end = END
    return system


def unfolded(system: System, step: float, models: dict[Path, Any]) -> Result:
    """Run with a window so wide that no hinge passes through it between two communication points."""
    window = {"supervisor.window": 0.5 * FASTEST * step}
    return run(system, master=Jacobi(step), parameters=window, models=models)


def latched(result: Result) -> dict[str, float]:
    """When the latch of each hinge closed, s."""
    return {hinge: float(result.t[np.argmax(result[f"satellite.{latch}.active"])]) for latch, hinge in LATCHES.items()}


class Satellite:
    """Outputs of the satellite, named as in the mechanism."""

    def __init__(self, result: Result) -> None:
        self.result, self.t = result, result.t

    def __getitem__(self, name: str) -> np.ndarray:
        return self.result[f"satellite.{name}"]


def draw_poses(figure: Figure, result: Result, times: list[float]) -> None:
    """The satellite as seen along y, one pose next to the other; hinges that are latched are filled."""
    seen = Satellite(result)
    for axes, t in zip(figure.subplots(1, len(times), sharey=True), times, strict=True):
        row = int(np.searchsorted(seen.t, t, side="right")) - 1  # after an event
        points = outline(seen, row)
        axes.fill(*(np.array(((-1, -1), (1, -1), (1, 1), (-1, 1))) * HUB[0] / 2).T, color=PALE, ec=GREY)
        for k, (latch, hinge) in enumerate(LATCHES.items()):
            axes.plot(*points[k : k + 2].T, color=COLOR[hinge], linewidth=3, solid_capstyle="round")
            filled = INK if seen[f"{latch}.active"][row] else "white"
            axes.plot(*points[k], "o", color=INK, ms=5, mfc=filled, zorder=5)
        dress(axes, f"{t:.2f} s", "x [m]", "z [m]" if t == times[0] else "", aspect="equal")
        axes.set(xlim=(-0.9, 5.8), ylim=(-1.1, 2.1))


def draw_commands(axes: Axes, result: Result) -> None:
    """Commands of the supervisor over time."""
    for k, (latch, hinge) in enumerate(reversed(LATCHES.items())):
        command = result[f"supervisor.{latch}.command"].astype(float)
        axes.fill_between(result.t, k, k + 0.7 * command, step="post", color=COLOR[hinge], alpha=0.85, linewidth=0)
        t = latched(result)[hinge]
        axes.plot((0, t), (k, k), color=COLOR[hinge], linewidth=1.5)
        axes.annotate(f"{t:.3f} s", (t, k + 0.35), (-4, 0), textcoords="offset points", ha="right", va="center", size=9)
    dress(axes, "Commands of the supervisor", "time [s]", "", xlim=(0, END), ylim=(-0.2, 4.0))
    axes.set_yticks([k + 0.35 for k in range(len(LATCHES))], [f"{latch}.command" for latch in reversed(LATCHES)])


def draw_left(axes: Axes, runs: dict[float, Result]) -> None:
    """By how much the panels are not straight, by step."""
    steps = 1000 * np.array(list(runs))
    for hinge in HINGES:
        left = [abs(np.degrees(result[f"satellite.{hinge}.q"][-1])) for result in runs.values()]
        axes.loglog(steps, left, "o", color=COLOR[hinge], ms=6, mfc="white", mew=1.6, label=hinge)
    axes.loglog(steps, np.degrees(0.5 * FASTEST * steps / 1000), color=INK, linewidth=1.0)
    at = (steps[1], np.degrees(0.5 * FASTEST * steps[1] / 1000))
    axes.annotate("the window", at, (-6, 5), textcoords="offset points", color=INK, fontsize=8.5, ha="right")
    dress(axes, "How far from straight they latched", "communication step [ms]", "angle [°]", ylim=(0.02, 4))
    axes.set_xticks(steps, [f"{step:g}" for step in steps])
    axes.set_xticks([], minor=True)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    legend(axes, "lower right", ncols=2)


def plot(runs: dict[float, Result], path: Path) -> None:
    """Draw poses, angles, commands, and how far from straight the hinges latched."""
    result = runs[STEPS[-1]]
    times = latched(result)
    figure = sheet(13.0, 6.4)
    above, below = np.asarray(figure.subfigures(2, 1, height_ratios=(1.0, 2.0)), object)
    first = min(times.values())
    draw_poses(above, result, [0.0, 0.6 * first, *sorted(times.values())])
    angles, commands, left = below.subplots(1, 3, width_ratios=(1.2, 1.2, 1.0))
    for hinge, color in COLOR.items():
        angles.plot(result.t, np.degrees(result[f"satellite.{hinge}.q"]), color=color, label=hinge)
        mark(angles, times[hinge], hinge[1:])
    dress(angles, "Angles of the hinges; dashed: when a latch closes", "time [s]", "angle [°]", xlim=(0, END))
    legend(angles, "lower right")
    draw_commands(commands, result)
    draw_left(left, runs)
    text = (
        "An FMU, the supervisor, commands latches of another one, the satellite, which jumps at events. Black: latched."
    )
    save(figure, path, text)


def main(out: Path = OUT) -> dict[float, Result]:
    """Unfold under supervision with several steps, print how late and how straight the panels latch, and draw."""
    out.mkdir(exist_ok=True)
    system = supervised(out)
    models: dict[Path, Any] = {}
    system.save(out / "cosim_solar_array.ssp", step=STEPS[-1])
    runs = {step: unfolded(system, step, models) for step in STEPS}
    crossed = {hinge: event.t for hinge, event in latches_of(lw.simulate(satellite(), END, rtol=1e-10)).items()}
    print(f"{system}\nlatch times [s]" + "".join(f"{hinge:>10}" for hinge in crossed))
    for step, result in runs.items():
        times = latched(result)
        print(f"step {1000 * step:5.1f} ms  " + "".join(f"{times[hinge]:10.4f}" for hinge in crossed))
    print("where straight " + "".join(f"{t:10.4f}" for t in crossed.values()))
    final = runs[STEPS[-1]]
    print("angles left [°]" + "".join(f"{np.degrees(final[f'satellite.{hinge}.q'][-1]):10.4f}" for hinge in crossed))
    plot(runs, out / "cosim_solar_array.png")
    save_page(final, out / "cosim_solar_array.html")
    return runs


if __name__ == "__main__":
    main()
