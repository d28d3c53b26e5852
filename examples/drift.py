"""Drift of loops without constraint stabilisation: constraints on accelerations or on speeds.

After Anderson and Critchley, Multibody System Dynamics 9, 2003, figures 5 and 6: a four-bar by the Runge-Kutta method
of order 4 with a fixed step of 0.01 s, from a start that is exact to nine digits.

    multipliers    close the loop for the accelerations only; what errors leave in speeds stays, so that the gap grows
                   about as the square of the time
    reduction      takes the nearest speeds that the loop allows; the gap keeps its size but for the integrator's errors
    with feedback  the default of Linkwork: the gap closes
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from drawing import BLUE, GREEN, INK, OUT, RED, dress, legend, save, sheet
from four_bar import BASE, COUPLER, CRANK, ROCKER
from four_bar import mechanism as four_bar
from planar_rods import Rods

import linkwork as lw

Array = np.ndarray
Rates = Callable[[Array], Array]
STEP, END, DIGITS = 0.01, 20.0, 9  # s, s, of the start
MASSES, LENGTHS = (1.0, 2.0, 1.5), (CRANK, COUPLER, ROCKER)  # kg, m
COLORS = {"multipliers": RED, "reduction": BLUE, "reduction with feedback": GREEN}


def mechanism() -> lw.Mechanism:
    """The four-bar lying flat: without gravity its crank goes round and round."""
    mech = four_bar()
    mech.name, mech.gravity = "drift", (0.0, 0.0, 0.0)
    return mech


def rates_of(system: lw.Model, feedback: bool) -> Rates:
    """d[q, u]/dt as a solver sees it, with or without the feedback that closes loops."""
    block, nq, loads = system.block(), system.numbering.nq, np.zeros(system.numbering.n_inputs)
    if not feedback:
        block.put("correction_gain", 0.0)  # the parameters loop_gain.position and loop_gain.speed

    def rates(y: Array) -> Array:
        block.enter(y[:nq], y[nq:], loads)
        return np.concatenate([block["qdot"], block["udot"]])

    return rates


def lagrange(y: Array) -> Array:
    """The same by planar equations with multipliers in numpy; joints turn about y, from x away from z."""
    rods = Rods(MASSES, LENGTHS, chains=((0, 1, 2),), gravity=(0.0, 0.0))
    turning = rods.accelerations(-np.cumsum(y[:3]), -np.cumsum(y[3:]), np.zeros(3))
    return np.concatenate([y[3:], -np.diff(turning, prepend=0.0)])


def runge_kutta(rates: Rates, y: Array) -> Array:
    """States at all steps, (nt, n)."""
    steps = [y]
    for _ in range(round(END / STEP)):
        k1 = rates(y)
        k2 = rates(y + STEP / 2 * k1)
        k3 = rates(y + STEP / 2 * k2)
        k4 = rates(y + STEP * k3)
        y = y + STEP / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        steps.append(y)
    return np.array(steps)


def gaps(y: Array) -> Array:
    """Distance between the end of the rocker and its foot, (nt,), m."""
    angle = np.cumsum(y[:, :3], axis=1).T
    end = np.array(LENGTHS) @ np.array([np.cos(angle), np.sin(angle)])
    found: np.ndarray = np.hypot(end[0] - BASE, end[1])
    return found


def runs() -> dict[str, Array]:
    """States over time by name."""
    reduction, multipliers = (lw.compile(mechanism(), method=method) for method in ("rcr", "multipliers"))
    state = reduction.assemble()
    start = np.round(np.concatenate([state.q, state.u]), DIGITS)
    cases = {
        "multipliers": rates_of(multipliers, feedback=False),
        "multipliers in numpy": lagrange,
        "reduction": rates_of(reduction, feedback=False),
        "reduction with feedback": rates_of(reduction, feedback=True),
    }
    return {name: runge_kutta(rates, start) for name, rates in cases.items()}


def plot(states: dict[str, Array], path: Path) -> None:
    """As figures 5 and 6: the trajectories lie on one another, the gaps do not."""
    figure = sheet(12.0, 4.6)
    angles, drift = figure.subplots(1, 2)
    t = STEP * np.arange(len(states["reduction"]))
    for (name, color), width in zip(COLORS.items(), (5, 3, 1), strict=True):
        angles.plot(t, states[name][:, 1:3], color=color, linewidth=width, label=[name, "_"])
        drift.semilogy(t, gaps(states[name]), color=color, linewidth=1.3, label=name)
    numpy = gaps(states["multipliers in numpy"])
    drift.semilogy(t[::100], numpy[::100], "o", color=RED, ms=4, mfc="white", label="multipliers in numpy")
    drift.semilogy(t, numpy[-1] * (t / t[-1]) ** 2, "--", color=INK, linewidth=1, label="square of the time")
    dress(angles, "Angles of the coupler and the rocker", "time [s]", "angle [rad]")
    dress(drift, "Gap of the loop", "time [s]", "gap [m]", ylim=(1e-12, 1e-3))
    legend(angles, "upper left")
    legend(drift, "lower right")
    save(figure, path, "Four-bar, Runge-Kutta of order 4 with steps of 0.01 s (after Anderson and Critchley 2003).")


def main(out: Path = OUT) -> dict[str, Array]:
    """Integrate, print the gaps, and draw."""
    states = runs()
    times = (0.0, 5.0, 10.0, END)
    print("gap of the loop, m, after        " + "".join(f"{t:9g} s" for t in times))
    for name, y in states.items():
        print(f"{name:33}" + "".join(f"{gaps(y)[round(t / STEP)]:11.1e}" for t in times))
    plot(states, out / "drift.png")
    return states


if __name__ == "__main__":
    main()
