"""The chain that Mukherjee and Anderson let fall: four slender links, 60 degrees between them, released from rest.

Multibody System Dynamics 18, 2007, sections 5.1 and 5.2. The events of its fall are in `joint_lock.py` and
`pin.py`; both draw it with the functions here, and compare its jump with the momentum of the rods in `planar_rods.py`.
"""

import math
from pathlib import Path

import numpy as np
from drawing import AMBER, BLUE, GREEN, GREY, INK, RED, dress, legend, mark, save, sheet
from matplotlib.axes import Axes
from planar_rods import Rods

import linkwork as lw

LINKS, LENGTH, MASS = 4, 1.0, 0.00786  # m, kg
GRAVITY = (0.0, -9.81, 0.0)  # m/s^2, in the plane x-y
JOINTS = [f"J{k + 1}" for k in range(LINKS)]
COLOR = dict(zip(JOINTS, (BLUE, GREEN, RED, AMBER), strict=True))


def chain(name: str) -> lw.Mechanism:
    """Joint J1 is on the ground, J2 to J4 join the links; angles are relative, counter-clockwise."""
    mech = lw.Mechanism(name, gravity=GRAVITY)
    before, end = "ground", lw.Frame()
    for k, joint in enumerate(JOINTS):
        link = f"link{k + 1}"
        mech.add_body(link, mass=MASS, com=(LENGTH / 2, 0, 0), inertia=lw.inertia.rod(MASS, LENGTH))
        mech.add_joint(joint, lw.Revolute(axis=(0, 0, 1)), before, link, parent_frame=end)
        mech.start(q={joint: math.pi / 3}, u={joint: 0.0})
        before, end = link, lw.Frame((LENGTH, 0, 0))
    return mech


def rods() -> Rods:
    """The same in numpy; its Jacobian is that of the tip."""
    return Rods([MASS] * LINKS, [LENGTH] * LINKS, [range(LINKS)], GRAVITY[:2])


def angles_at(result: lw.Result, t: float) -> np.ndarray:
    """Angles of the links to the x axis at the first row from t on, rad."""
    row = np.searchsorted(result.t, t)
    return np.cumsum([result[f"{joint}.q"][row] for joint in JOINTS])


def corners(angles: np.ndarray) -> np.ndarray:
    """Places of all ends of links, (links + 1, 2), m."""
    steps = LENGTH * np.column_stack([np.cos(angles), np.sin(angles)])
    return np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])


def energies(result: lw.Result) -> tuple[np.ndarray, np.ndarray]:
    """Kinetic and potential energy over time, J."""
    return result["energy.kinetic"], result["energy.potential"]


def tell_rates(event: lw.Event) -> None:
    """Print the event, and the rates of the joints before and after it."""
    print(event)
    for joint, before, after in zip(JOINTS, event.u_before, event.u_after, strict=True):
        print(f"{joint} {before:9.4f} -> {after:8.4f} rad/s")


def tell_energy(result: lw.Result) -> None:
    """Print the energy at both ends of a run, losses included."""
    total = np.add(*energies(result))
    lost = result.events[0].energy_lost
    print(f"energy: {total[0]:.6f} J at the start, {total[-1] + lost:.6f} J at the end with losses")


def draw_poses(axes: Axes, result: lw.Result, event: float) -> None:
    """The chain at the start, at the event and at the end, and pale ones at other times."""
    for t in np.arange(0.1, result.t[-1], 0.1):
        axes.plot(*corners(angles_at(result, t)).T, color=GREY, alpha=0.35, linewidth=1.2, zorder=1)
    shown = ((0.0, GREY, "released"), (event, RED, f"{event:.4g} s"), (result.t[-1], BLUE, f"{result.t[-1]:g} s"))
    for t, color, label in shown:
        points = corners(angles_at(result, t))
        axes.plot(*points.T, "o-", color=color, linewidth=2.5, ms=5, mfc="white", label=label)
    axes.plot(0, 0, "^", color=INK, ms=9, zorder=5)
    dress(axes, "The chain, every tenth of a second", "x [m]", "y [m]", aspect="equal", xlim=(-1.9, 2.1))
    legend(axes, "upper right")


def plot(result: lw.Result, what: str, path: Path, caption: str) -> None:
    """Draw poses, rates, angles and energies, with the event."""
    event = result.events[0]
    figure = sheet(12.0, 6.6)
    grid = figure.add_gridspec(3, 2, width_ratios=(1.0, 1.7), height_ratios=(1.3, 1.0, 1.0))
    draw_poses(figure.add_subplot(grid[:, 0]), result, event.t)
    rates, angles, energy = (figure.add_subplot(grid[row, 1]) for row in range(3))
    for joint, color in COLOR.items():
        rates.plot(result.t, result[f"{joint}.u"], color=color, label=joint)
        angles.plot(result.t, result[f"{joint}.q"], color=color, label=joint)
    kinetic, potential = energies(result)
    parts = {"kinetic": (kinetic, RED), "potential": (potential, BLUE), "sum": (kinetic + potential, INK)}
    for name, (part, color) in parts.items():
        energy.plot(result.t, part, color=color, label=name)
    dress(rates, "Rates of the joints jump", "", "rate [rad/s]")
    dress(angles, "Their angles do not", "", "angle [rad]")
    dress(energy, f"Energy: {1e3 * event.energy_lost:.1f} mJ are lost", "time [s]", "energy [J]")
    for axes in (rates, angles, energy):
        axes.set_xlim(0, result.t[-1])
        mark(axes, event.t, what if axes is rates else "", height=0.08)
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8.5, labelcolor=INK)
    save(figure, path, caption)
