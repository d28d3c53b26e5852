"""A double rocker that swings through all it can: no joint could drive it all the time.

Its shortest and longest bars are longer together than the other two, so that no link turns fully. Wherever
a link turns back, its joint is at a standstill and must not be chosen as independent.
"""

from pathlib import Path

import numpy as np
from drawing import AMBER, BLUE, GREEN, GREY, INK, OUT, RED, dress, save, save_page, sheet
from matplotlib.axes import Axes

import linkwork as lw

LENGTHS, BASE, MASS = {"left": 1.0, "coupler": 0.9, "right": 0.8}, 1.5, 1.2  # m, m, kg for 1 m
END, SHOWN = 30.0, 6.0  # s


def mechanism() -> lw.Mechanism:
    """Joints A to D from the left foot over the coupler to the right foot; the plane of motion is x-z."""
    mech = lw.Mechanism("double_rocker")
    for name, length in LENGTHS.items():
        inertia = lw.inertia.rod(MASS * length, length)
        mech.add_body(name, mass=MASS * length, com=(length / 2, 0, 0), inertia=inertia)
    left, coupler, right = LENGTHS.values()
    hinge = lw.Revolute(axis=(0, 1, 0))
    mech.add_joint("A", hinge, "ground", "left", parent_frame=lw.Frame())
    mech.add_joint("B", hinge, "left", "coupler", parent_frame=lw.Frame((left, 0, 0)))
    mech.add_joint("C", hinge, "coupler", "right", parent_frame=lw.Frame((coupler, 0, 0)))
    foot, tip = lw.Frame((BASE, 0, 0)), lw.Frame((right, 0, 0))
    mech.add_joint("D", hinge, "ground", "right", parent_frame=foot, child_frame=tip)
    mech.start(q={"A": -1.2, "B": 1.3, "C": 1.2}, u={"A": 1.0})
    return mech


def standstills(result: lw.Result) -> dict[str, int]:
    """How often each joint turns back."""
    return {name: int(np.count_nonzero(np.diff(np.sign(result[f"{name}.u"])))) for name in "ABCD"}


def energy_error(result: lw.Result) -> np.ndarray:
    """Change of the energy since the start, J."""
    energy = result["energy.kinetic"] + result["energy.potential"]
    found: np.ndarray = energy - energy[0]
    return found


def draw_motion(axes: Axes, result: lw.Result) -> None:
    """The ways of the joints, and poses over the first swing."""
    places = [np.zeros((len(result.t), 2)), result["coupler.r"][:, ::2], result["right.r"][:, ::2]]
    places.append(np.tile((BASE, 0.0), (len(result.t), 1)))
    chain = np.stack(places, axis=1)  # times, joints, x and z
    for row in np.searchsorted(result.t, np.arange(0.0, 1.0, 0.12))[1:]:
        axes.plot(*chain[row].T, color=GREY, linewidth=1, alpha=0.5)
    axes.plot(*chain[:, 1].T, color=RED, linewidth=1.2)
    axes.plot(*chain[:, 2].T, color=GREEN, linewidth=1.2)
    for k, color in enumerate((RED, AMBER, GREEN)):
        axes.plot(*chain[0, k : k + 2].T, color=color, linewidth=4, solid_capstyle="round")
    axes.plot(*chain[0].T, "o", color=INK, ms=7, mfc="white", zorder=5)
    for name, place in zip("ABCD", chain[0], strict=True):
        axes.annotate(name, place, (8, 5), textcoords="offset points", color=INK, fontweight="bold")
    dress(axes, "At the start, and during the motion", "x [m]", "z [m]", aspect="equal")


def plot(result: lw.Result, path: Path) -> None:
    """Draw the motion, each joint's share in it, and the error of the energy."""
    figure = sheet(12.0, 5.6)
    grid = figure.add_gridspec(3, 2, width_ratios=(1.0, 1.3))
    draw_motion(figure.add_subplot(grid[:, 0]), result)
    angles, shares, energy = (figure.add_subplot(grid[row, 1]) for row in range(3))
    first = result.t < SHOWN
    speed = np.sqrt(sum(result[f"{name}.u"] ** 2 for name in "ABC"))
    for name, color in zip("ABC", (RED, AMBER, GREEN), strict=True):
        angles.plot(result.t[first], result[f"{name}.q"][first], color=color, label=name)
        shares.plot(result.t[first], (np.abs(result[f"{name}.u"]) / speed)[first], color=color, label=name)
    energy.plot(result.t, 1e6 * energy_error(result), color=BLUE, linewidth=1)
    dress(angles, "Angles of the tree's joints", "", "angle [rad]")
    dress(shares, "Share of each in the speed: zero where it could not drive", "", "|u| / norm [1]", ylim=(0, 1))
    dress(energy, "Change of the energy, all 30 s", "time [s]", "change [µJ]")
    for axes in (angles, shares):
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    save(figure, path, f"Double rocker under gravity, {END:g} s at a relative accuracy of 1e-8 (dopri5).")


def main(out: Path = OUT) -> lw.Result:
    """Simulate, print how often each joint turns back and how well the energy is kept, and draw."""
    result = lw.simulate(mechanism(), END, rtol=1e-8)
    print(result)
    print("joints turn back: " + ", ".join(f"{name} {count} times" for name, count in standstills(result).items()))
    total = result["energy.kinetic"][0] + result["energy.potential"][0]
    print(f"energy {total:.4f} J, largest change {np.abs(energy_error(result)).max():.1e} J")
    print(f"largest gap of the loop {result['loop.D.residual'].max():.1e} m")
    plot(result, out / "double_rocker.png")
    save_page(result, out / "double_rocker.html")
    return result


if __name__ == "__main__":
    main()
