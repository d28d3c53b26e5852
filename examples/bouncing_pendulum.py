"""A pendulum that falls on an inclined stop, bounces ever lower, comes to rest there, and is lifted off again.

Flights of a pendulum are elliptic integrals, so that the time at which it comes to rest is known. Between the speed w
with which it leaves the stop at angle s from hanging, and the angle a at which it turns back,

    w^2 / 2 = w0^2 (cos s - cos a)       m = sin^2(a / 2),  sin(phi) = sin(s / 2) / sin(a / 2)
    flight  = 2 (K(m) - F(phi, m)) / w0

and each flight begins with half the speed of the one before. Later a motor pulls, more and more: the pendulum leaves
the stop where its torque is that of the weight.
"""

from pathlib import Path

import numpy as np
from drawing import AMBER, BLUE, GREEN, GREY, INK, OUT, RED, dress, legend, mark, save, save_page, sheet
from matplotlib.axes import Axes
from scipy.special import ellipk, ellipkinc

import linkwork as lw

MASS, LENGTH, GRAVITY = 2.0, 0.8, 9.81  # kg, m, m/s^2
START, STOP, RESTITUTION = 1.4, 0.5, 0.5  # rad from hanging, rad, 1
PULL_FROM, PULL, END = 2.0, 8.0, 2.7  # s, N m/s, s
INERTIA, WEIGHT = MASS * LENGTH**2 / 3, MASS * GRAVITY * LENGTH / 2  # kg m^2 about the hinge; N m, of the level rod


def mechanism() -> lw.Mechanism:
    """A rod that hangs at angle zero, and the stop."""
    mech = lw.Mechanism("bouncing_pendulum", gravity=(0, 0, -GRAVITY))
    mech.add_body("rod", mass=MASS, com=(0, 0, -LENGTH / 2), inertia=lw.inertia.rod(MASS, LENGTH, axis="z"))
    mech.add_joint("hinge", lw.Revolute(axis=(0, -1, 0)), "ground", "rod", at=(0, 0, 0))
    mech.add_transition("stop", lw.Stop("hinge", lower=STOP, restitution=RESTITUTION))
    mech.start(q={"hinge": START}, u={"hinge": 0.0})
    return mech


def motor(t: float) -> float:
    """Torque in the hinge, N m."""
    return PULL * max(t - PULL_FROM, 0.0)


def flight(speed: float) -> float:
    """Time from the stop up and back to it, s, by elliptic integrals."""
    own = WEIGHT / INERTIA  # w0^2
    sin2 = np.sin(STOP / 2) ** 2 + speed**2 / (4 * own)  # sin^2(a / 2)
    found: float = 2 * (ellipk(sin2) - ellipkinc(np.arcsin(np.sin(STOP / 2) / np.sqrt(sin2)), sin2)) / np.sqrt(own)
    return found


def impacts(count: int) -> np.ndarray:
    """Times of the first impacts, s; each comes with half the speed of the one before."""
    speed = np.sqrt(2 * WEIGHT / INERTIA * (np.cos(STOP) - np.cos(START)))
    flights = [flight(speed) / 2, *(flight(speed * RESTITUTION ** (k + 1)) for k in range(count - 1))]
    return np.cumsum(flights)


def lift_off() -> float:
    """When the motor carries the weight, s."""
    found: float = PULL_FROM + WEIGHT * np.sin(STOP) / PULL
    return found


def at_rest(result: lw.Result) -> np.ndarray:
    """Times at which it rests on the stop."""
    found: np.ndarray = result.t[(result["hinge.u"] == 0.0) & (result["hinge.q"] < STOP + 1e-6)]
    return found


def draw_pendulum(axes: Axes) -> None:
    """The rod at the start and on its stop, and the arc of its tip."""
    arc = np.linspace(STOP, START, 50)
    axes.plot(LENGTH * np.sin(arc), -LENGTH * np.cos(arc), color=GREY, linestyle="dotted")
    for angle, color, label in ((START, GREY, "released"), (STOP, RED, "on the stop")):
        axes.plot((0, LENGTH * np.sin(angle)), (0, -LENGTH * np.cos(angle)), color=color, lw=5, label=label)
    along, aside = np.array((np.sin(STOP), -np.cos(STOP))), np.array((-np.cos(STOP), -np.sin(STOP)))
    wall = [0.75 * LENGTH * along + 0.025 * aside, LENGTH * along + 0.025 * aside]
    axes.plot(*np.transpose(wall), color=INK, linewidth=4)
    axes.plot(0, 0, "o", color=INK, ms=8, mfc="white", zorder=5)
    dress(axes, "Pendulum and stop", "x [m]", "z [m]", aspect="equal", xlim=(-0.1, 0.95), ylim=(-0.85, 0.15))
    legend(axes, "upper right")


def plot(result: lw.Result, path: Path) -> None:
    """Draw the pendulum, its angle and speed, and what the stop and the motor bear."""
    figure = sheet(12.0, 5.6)
    grid = figure.add_gridspec(3, 2, width_ratios=(1.0, 1.6))
    draw_pendulum(figure.add_subplot(grid[:, 0]))
    angle, speed, torque = (figure.add_subplot(grid[row, 1]) for row in range(3))
    angle.plot(result.t, result["hinge.q"], color=BLUE)
    angle.axhline(STOP, color=RED, linewidth=0.8)
    speed.plot(result.t, result["hinge.u"], color=BLUE)
    pressing = result["hinge.t"] @ (0, -1, 0) - [motor(t) for t in result.t]
    torque.plot(result.t, pressing, color=RED, label="stop")
    torque.plot(result.t, [motor(t) for t in result.t], color=GREEN, label="motor")
    dress(angle, "It comes to rest on the stop", "", "angle [rad]")
    dress(speed, "Each impact leaves half the speed", "", "rate [rad/s]")
    dress(torque, "Load in the hinge", "time [s]", "torque [N m]")
    legend(torque, "upper left")
    marks = ((impacts(60)[-1], "at rest, by elliptic integrals"), (lift_off(), "lifted off"))
    for axes in (angle, speed, torque):
        axes.set_xlim(0, END)
        for t, label in marks:
            mark(axes, t, label if axes is angle else "")
    first = impacts(5)
    angle.plot(first, np.full(5, STOP), "o", color=AMBER, ms=4, mfc="white", label="impacts, by elliptic integrals")
    legend(angle, "center right", bbox_to_anchor=(0.9, 0.5))
    caption = f"Rod of {LENGTH} m that falls from {START} rad on a stop at {STOP} rad, restitution {RESTITUTION}."
    save(figure, path, caption)


def main(out: Path = OUT) -> lw.Result:
    """Let it bounce, rest and leave; print times and their known values, and draw."""
    result = lw.simulate(mechanism(), END, inputs={"hinge": motor}, rtol=1e-10, max_step=0.005)
    bounces = [event for event in result.events if event.u_before[0] < 0]
    times = np.array([event.t for event in bounces])
    print(result)
    print(
        f"{len(bounces)} impacts, times within {np.abs(times - impacts(len(times))).max():.1e} s of elliptic integrals"
    )
    speeds = np.array([event.u_before[0] for event in bounces])
    angular = np.array([event.impulses["hinge"] @ (0, -1, 0, 0, 0, 0) for event in bounces])
    expected = -(1 + RESTITUTION) * INERTIA * speeds
    print(f"first angular impulse {angular[0]:.6f} N m s, by (1 + e) I w {expected[0]:.6f}")
    rest = at_rest(result)
    print(f"at rest from {rest[0]:.6f} s, by elliptic integrals {impacts(60)[-1]:.6f}")
    print(f"lifted off at {result.events[-1].t:.6f} s, where the motor carries the weight {lift_off():.6f}")
    plot(result, out / "bouncing_pendulum.png")
    save_page(result, out / "bouncing_pendulum.html")
    return result


if __name__ == "__main__":
    main()
