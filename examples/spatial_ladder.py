"""The spatial ladder of Anderson and Critchley: legs on Hooke joints, rungs on hinges, two degrees of freedom.

Multibody System Dynamics 9, 2003, section 4.3. Whatever its number of cells, the ladder moves like one pendulum with
two degrees of freedom when masses are distributed suitably; masses and sizes are our own, as the paper gives none.

    T = ((A cos^2 q2 + C sin^2 q2 + D) q1'^2 + A q2'^2) / 2      V = -G cos q1 cos q2
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from cpu_time import cpu_time
from drawing import OUT, save_page
from ladder_picture import draw
from scipy.integrate import solve_ivp

import linkwork as lw

LEG, WIDTH, SIDE = 1.0, 0.5, 0.05  # m: length of a leg, of a rung, width of their square sections
LEGS, RUNGS = 3.0, 2.0  # kg, of all legs and of all rungs together
GRAVITY = 9.81  # m/s^2
ANGLES, RATES = (0.5, 0.3), (0.7, -0.4)  # rad, rad/s, at the start
TURN, SWING = (1, 0, 0), (0, -1, 0)  # axes of the Hooke joints; the rungs' hinges have the second


def mechanism(cells: int = 3, closed: bool = True) -> lw.Mechanism:
    """Legs hang from Hooke joints H0, H1...; a rung leads from `near` on one leg to `far` on the next."""
    mech = lw.Mechanism("spatial_ladder", gravity=(0, 0, -GRAVITY))
    leg, rung = LEGS / (cells + 1), RUNGS / cells
    tip, end = lw.Frame((0, 0, -LEG)), lw.Frame((WIDTH, 0, 0))
    for k in range(cells + 1):
        mech.add_body(f"leg{k}", mass=leg, com=(0, 0, -LEG / 2), inertia=lw.inertia.box(leg, (SIDE, SIDE, LEG)))
        foot = lw.Frame((WIDTH * k, 0, 0))
        mech.add_joint(f"H{k}", lw.Universal(TURN, SWING), "ground", f"leg{k}", parent_frame=foot)
        mech.start(q={f"H{k}": ANGLES}, u={f"H{k}": RATES})
    for k in range(cells):
        mech.add_body(f"rung{k}", mass=rung, com=(WIDTH / 2, 0, 0), inertia=lw.inertia.box(rung, (WIDTH, SIDE, SIDE)))
        hinge = lw.Revolute(SWING)
        mech.add_joint(f"near{k}", hinge, f"leg{k}", f"rung{k}", parent_frame=tip)
        mech.start(q={f"near{k}": -ANGLES[1]}, u={f"near{k}": -RATES[1]})
        if closed:
            mech.add_joint(f"far{k}", hinge, f"rung{k}", f"leg{k + 1}", parent_frame=end, child_frame=tip, cut=True)
    return mech


def pendulum(t: np.ndarray) -> np.ndarray:
    """Coordinates [q1, q2] of the pendulum with two degrees of freedom, (nt, 2), rad."""
    thin = SIDE**2 / 6  # moment of a section about its middle, by unit of mass
    a = LEGS * (LEG**2 / 3 + thin / 2) + RUNGS * LEG**2
    c, d = LEGS * thin, RUNGS * thin
    g = GRAVITY * LEG * (LEGS / 2 + RUNGS)

    def rates(_t: float, y: np.ndarray) -> list[float]:
        (s1, s2), (c1, c2), (u1, u2) = np.sin(y[:2]), np.cos(y[:2]), y[2:]
        slope = 2 * (c - a) * s2 * c2  # of the moment of inertia about the first axis, by q2
        turn = -(g * s1 * c2 + slope * u1 * u2) / (a * c2**2 + c * s2**2 + d)
        return [u1, u2, turn, (slope * u1**2 / 2 - g * c1 * s2) / a]

    return solve_ivp(rates, (t[0], t[-1]), (*ANGLES, *RATES), "DOP853", t, rtol=1e-12, atol=1e-13).y[:2].T


def cpu_times(cells: Sequence[int]) -> dict[str, dict[int, float]]:
    """The curves of figure 11, s by number of cells."""
    cases = {
        "recursive coordinate reduction": ("rcr", True),
        "multipliers": ("multipliers", True),
        "constraints left out": ("auto", False),
    }
    return {
        name: {n: cpu_time(lw.compile(mechanism(n, closed), method)) for n in cells}
        for name, (method, closed) in cases.items()
    }


Study = tuple[dict[int, lw.Result], np.ndarray, dict[str, dict[int, float]]]  # runs by cells, reference, CPU times


def main(out: Path = OUT, cells: Sequence[int] = (1, 3, 10), timed: Sequence[int] = (1, 2, 4, 8, 16, 32)) -> Study:
    """Simulate ladders and the pendulum, measure what an evaluation costs, and draw both."""
    t = np.linspace(0.0, 5.0, 501)
    reference = pendulum(t)
    runs = {n: lw.simulate(mechanism(n), t[-1], t_eval=t, solver="DOP853", rtol=1e-11) for n in cells}
    for n, result in runs.items():
        error = np.abs(result[f"H{n}.q"] - reference).max()
        print(f"{n:3} cells, {result.model.sizes.bodies:3} bodies: largest difference to the pendulum {error:.1e} rad")
    costs = cpu_times(timed)
    print(f"\nCPU time of one evaluation, µs, by cells:\n{'':32}" + "".join(f"{n:>9}" for n in timed))
    for name, times in costs.items():
        print(f"{name:32}" + "".join(f"{1e6 * spent:9.3g}" for spent in times.values()))
    draw(out / "spatial_ladder.png", runs, reference, costs)
    save_page(runs[cells[-1]], out / "spatial_ladder.html")
    return runs, reference, costs


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, nargs="+", default=[1, 3, 10], help="ladders to simulate")
    parser.add_argument("--timed", type=int, nargs="+", default=[1, 2, 4, 8, 16, 32, 64], help="ladders to time")
    main(**vars(parser.parse_args()))
