"""A satellite unfolds its solar array: springs open four panels, and each hinge latches when it is straight.

Nothing holds the satellite, so that its momentum and angular momentum stay whatever happens within: they are summed up
here from the motion of all bodies, in numpy. It spins at first; the further the panels are out, the slower it turns.
"""

import math
from pathlib import Path
from typing import Protocol

import numpy as np
from drawing import AMBER, BLUE, GREEN, GREY, INK, OUT, PALE, RED, dress, legend, mark, save, save_page, sheet
from matplotlib.figure import Figure
from scipy.integrate import cumulative_simpson

import linkwork as lw

PANELS, LENGTH, WIDTH, THICK, MASS = 4, 1.2, 2.0, 0.02, 8.0  # m, m, m, kg of each
HUB, HUB_MASS = (1.4, 1.4, 1.4), 150.0  # m, kg
EDGE = (HUB[0] / 2, 0.0, -LENGTH / 2)  # m, of the hub, where the first panel hinges
DAMPING, BEYOND = 0.6, 0.3  # N m s/rad; rad by which springs still press when a hinge is straight
STIFFNESS = (1.2, 1.0, 0.8, 0.6)  # N m/rad, from the hub outward
SPIN, DRIFT, END = 0.05, (0.0, 0.01, 0.0), 10.0  # rad/s, m/s, s
HINGES = [f"H{k + 1}" for k in range(PANELS)]
FOLDED = (math.pi / 2, -math.pi, math.pi, -math.pi)  # rad, as an accordion; straight is zero
COLOR = dict(zip(HINGES, (BLUE, GREEN, AMBER, RED), strict=True))


def mechanism(commanded: bool = False) -> lw.Mechanism:
    """A hub that moves freely, and panels on it in a row; the axes of all hinges are along y.

    Latches close where a hinge is straight, or when they are commanded by their inputs.
    """
    mech = lw.Mechanism("solar_array", gravity=(0, 0, 0))
    mech.add_body("hub", mass=HUB_MASS, com=(0, 0, 0), inertia=lw.inertia.box(HUB_MASS, size=HUB))
    mech.add_joint("float", lw.Free(), "ground", "hub", at=(0, 0, 0))
    mech.start(u={"float": (0, 0, SPIN, *DRIFT)})
    before, edge = "hub", lw.Frame(EDGE)
    for k, (hinge, folded) in enumerate(zip(HINGES, FOLDED, strict=True)):
        panel, opening = f"panel{k + 1}", -math.copysign(1, folded)
        inertia = lw.inertia.box(MASS, size=(LENGTH, WIDTH, THICK))
        mech.add_body(panel, mass=MASS, com=(LENGTH / 2, 0, 0), inertia=inertia)
        mech.add_joint(hinge, lw.Revolute(axis=(0, -1, 0)), before, panel, parent_frame=edge)
        mech.add_force(lw.SpringDamper(hinge, stiffness=STIFFNESS[k], damping=DAMPING, free=opening * BEYOND))
        when = lw.Command() if commanded else lw.Crossing(f"{hinge}.q", 0.0, int(opening))
        mech.add_transition(f"latch{k + 1}", lw.Lock(hinge), when=when)
        mech.start(q={hinge: folded}, u={hinge: 0.0})
        before, edge = panel, lw.Frame((LENGTH, 0, 0))
    mech.add_transition("side", lw.Stop(HINGES[0], upper=FOLDED[0]))  # of the hub, on which the first panel lies
    return mech


def latches(result: lw.Result) -> dict[str, lw.Event]:
    """The event of each latch, by hinge."""
    names = {f"latch{hinge[1:]}": hinge for hinge in HINGES}
    return {names[name]: event for event in result.events for name in event.transitions if name in names}


def rotations(Q: np.ndarray) -> np.ndarray:
    """Matrices, body to world, of quaternions (nt, 4): (nt, 3, 3)."""
    w, x, y, z = Q.T
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return np.moveaxis(np.array(rows), -1, 0)


def momenta(result: lw.Result) -> tuple[np.ndarray, np.ndarray]:
    """Momentum, N s, and angular momentum about the origin of the world, N m s, over time, (nt, 3) each."""
    linear, angular = np.zeros((len(result.t), 3)), np.zeros((len(result.t), 3))
    for name, body in result.model.mechanism.bodies.items():
        turn, spin = rotations(result[f"{name}.Q"]), result[f"{name}.w"]
        arm = turn @ body.com
        push = body.mass * (result[f"{name}.v"] + np.cross(spin, arm))
        linear += push
        own = np.einsum("tij,jk,tlk,tl->ti", turn, body.inertia, turn, spin)
        angular += np.cross(result[f"{name}.r"] + arm, push) + own
    return linear, angular


def rows_after(result: lw.Result, t: float) -> np.ndarray:
    """Which rows are after an event; the first of two rows of its time is still before it."""
    after = result.t >= t
    after[np.searchsorted(result.t, t)] = False
    return after


def damped(result: lw.Result) -> np.ndarray:
    """What the dampers have taken over time, J: integrated from event to event."""
    power = DAMPING * np.sum([result[f"{hinge}.u"] ** 2 for hinge in HINGES], axis=0)
    taken: list[np.ndarray] = []
    total = 0.0
    for rows in np.split(np.arange(len(result.t)), np.flatnonzero(np.diff(result.t) == 0.0) + 1):
        taken.append(total + cumulative_simpson(power[rows], x=result.t[rows], initial=0.0))
        total = taken[-1][-1]
    return np.concatenate(taken)


def energies(result: lw.Result) -> dict[str, np.ndarray]:
    """Where the energy is or has gone over time, J; the sum stays."""
    latched = np.sum([event.energy_lost * rows_after(result, event.t) for event in result.events], axis=0)
    parts = {"in springs": result["energy.potential"], "in motion": result["energy.kinetic"]}
    return parts | {"lost in dampers": damped(result), "lost in latches": latched}


class Columns(Protocol):
    """Values over time by name."""

    def __getitem__(self, name: str) -> np.ndarray: ...


def outline(result: Columns, row: int) -> np.ndarray:
    """Edges of the panels relative to the hub, in its axes x and z, (panels + 1, 2), m."""
    angles = np.cumsum([result[f"{hinge}.q"][row] for hinge in HINGES])
    steps = LENGTH * np.column_stack([np.cos(angles), np.sin(angles)])
    found: np.ndarray = np.array(EDGE)[::2] + np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])
    return found


def draw_poses(figure: Figure, result: lw.Result, times: list[float]) -> None:
    """The satellite as seen along y, one pose next to the other."""
    for axes, t in zip(figure.subplots(1, len(times), sharey=True), times, strict=True):
        row = min(int(np.searchsorted(result.t, t, side="right")), len(result.t) - 1)
        points = outline(result, row)
        axes.fill(*(np.array(((-1, -1), (1, -1), (1, 1), (-1, 1))) * HUB[0] / 2).T, color=PALE, ec=GREY)
        for k, hinge in enumerate(HINGES):
            axes.plot(*points[k : k + 2].T, color=COLOR[hinge], linewidth=3, solid_capstyle="round")
            latched = abs(result[f"{hinge}.q"][row]) < 1e-6
            axes.plot(*points[k], "o", color=INK, ms=5, mfc=INK if latched else "white", zorder=5)
        dress(axes, f"{t:.1f} s", "x [m]", "z [m]" if t == times[0] else "", aspect="equal")
        axes.set(xlim=(-0.9, 5.8), ylim=(-1.1, 2.1))


def plot(result: lw.Result, path: Path) -> None:
    """Draw poses, angles, the spin of the hub, and where the energy goes."""
    figure = sheet(13.0, 6.4)
    above, below = np.asarray(figure.subfigures(2, 1, height_ratios=(1.0, 2.0)), object)
    times = {hinge: event.t for hinge, event in latches(result).items()}
    draw_poses(above, result, [0.0, 0.6 * min(times.values()), *times.values()])
    angles, spin, energy = below.subplots(1, 3)
    for hinge, color in COLOR.items():
        angles.plot(result.t, np.degrees(result[f"{hinge}.q"]), color=color, label=hinge)
    for k, axis in enumerate("xyz"):
        spin.plot(result.t, np.degrees(result["hub.w"][:, k]), color=(GREEN, RED, BLUE)[k], label=f"about {axis}")
    parts = energies(result)
    for (name, part), color in zip(parts.items(), (GREEN, BLUE, AMBER, RED), strict=True):
        energy.plot(result.t, part, color=color, label=name)
    energy.plot(result.t, sum(parts.values()), color=INK, label="sum")
    dress(angles, "Angles of the hinges, latches by number", "time [s]", "angle [°]")
    dress(spin, "Angular velocity of the hub", "time [s]", "angular velocity [°/s]")
    dress(energy, "Energy", "time [s]", "energy [J]")
    for axes in (angles, spin, energy):
        axes.set_xlim(0, END)
        for hinge, t in times.items():
            mark(axes, t, hinge[1:] if axes is angles else "")
    legend(angles, "upper right", bbox_to_anchor=(1.0, 0.9))
    legend(spin, "lower right")
    legend(energy, "upper right", bbox_to_anchor=(1.0, 0.93))
    save(
        figure,
        path,
        "A free satellite unfolds four panels by springs; each hinge latches where it is straight (dots filled).",
    )


def main(out: Path = OUT) -> lw.Result:
    """Unfold the array, print the latches and what stays, and draw."""
    result = lw.simulate(mechanism(), END, rtol=1e-10, max_step=0.05)
    print(result)
    for hinge, event in latches(result).items():
        blow = np.linalg.norm(event.impulses[hinge][:3])
        print(f"{event.t:7.3f} s {hinge} latches: {blow:.2f} N m s, {event.energy_lost:.3f} J lost")
    for name, values, unit in zip(("momentum", "angular momentum"), momenta(result), ("N s", "N m s"), strict=True):
        before, after = ("({:.6f}, {:.6f}, {:.6f})".format(*(values[row] + 0.0)) for row in (0, -1))
        print(f"{name} {before} {unit} before and {after} after, changed by {np.abs(values - values[0]).max():.1e}")
    total = np.sum(list(energies(result).values()), axis=0)
    print(f"energy {total[0]:.6f} J before and {total[-1]:.6f} J after, with what dampers and latches took")
    plot(result, out / "solar_array.png")
    save_page(result, out / "solar_array.html")
    return result


if __name__ == "__main__":
    main()
