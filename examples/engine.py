"""A piston engine with a flywheel: gas pressure from a table over the crank angle, and rings with dry friction.

The table of the pressure, the friction that sticks and the crank mechanism are one model, in Python as in an FMU. The
run is compared with the equation of the crank angle alone, with the work of gas, friction and load by hand:

    J(q) u' + J'(q) u^2 / 2 = -A (p(q) - p0) x'(q) - R sign(x') |x'(q)| - T
"""

from pathlib import Path
from typing import Any

import numpy as np
from drawing import AMBER, BLUE, OUT, RED, dress, legend, save, save_page, sheet
from scipy.integrate import solve_ivp
from scipy.interpolate import PchipInterpolator

import linkwork as lw

CRANK, ROD, BORE = 0.04, 0.14, 0.08  # m
ROD_MASS, PISTON = 0.5, 0.45  # kg
FLYWHEEL = 0.12  # kg m^2
RINGS, LOAD = 25.0, 12.0  # N, N m
AMBIENT = 1e5  # Pa
AREA = np.pi / 4 * BORE**2
START, SPEED = 0.05, 60.0  # rad, rad/s
ANGLES = np.radians([0, 10, 20, 40, 60, 90, 120, 150, 180, 360, 540, 600, 640, 680, 700, 710, 720])
PRESSURES = 1e5 * np.array([20, 45, 40, 20, 11, 6, 4, 3, 1.5, 1.1, 0.9, 1.0, 1.5, 4, 9, 14, 20])  # Pa


def mechanism() -> lw.Mechanism:
    """Crank, rod and piston along x, without gravity; the crank angle is 0 where the charge is fired."""
    mech = lw.Mechanism("engine", gravity=(0, 0, 0))
    mech.add_body("shaft", mass=9.0, com=(0, 0, 0), inertia=np.diag([FLYWHEEL / 2, FLYWHEEL, FLYWHEEL / 2]))
    mech.add_body("rod", ROD_MASS, (ROD / 2, 0, 0), lw.inertia.rod(ROD_MASS, ROD), origin=(CRANK, 0, 0))
    mech.add_body("piston", PISTON, (0, 0, 0), 1e-3 * np.eye(3), origin=(CRANK + ROD, 0, 0))
    mech.add_joint("crank", lw.Revolute("y"), "ground", "shaft", at=(0, 0, 0))
    mech.add_joint("big_end", lw.Revolute("y"), "shaft", "rod", at=(CRANK, 0, 0))
    mech.add_joint("small_end", lw.Revolute("y"), "rod", "piston", at=(CRANK + ROD, 0, 0))
    mech.add_joint("bore", lw.Prismatic("x"), "ground", "piston", at=(CRANK + ROD, 0, 0))
    cycle = lw.LookupTable(ANGLES, PRESSURES, interpolation="monotone", periodic=True)
    gas = lw.GasPressure({"bore": -1.0}, area=AREA, table=cycle, over="crank.q", ambient=AMBIENT, name="gas")
    mech.add_force(gas)  # -1: it pushes the piston towards the shaft
    mech.add_force(lw.Friction("bore", coulomb=RINGS, name="rings"))
    mech.start(q={"crank": START}, u={"crank": SPEED})
    return mech


def slopes(q: Any) -> tuple[Any, Any]:
    """Rate of the piston and inertia of all parts by the crank's speed."""
    sine, cosine = np.sin(q), np.cos(q)
    rod = np.sqrt(ROD**2 - (CRANK * sine) ** 2)
    turn = CRANK * cosine / rod
    piston = -CRANK * sine * (1 + turn)
    along, across = (piston - CRANK * sine) / 2, CRANK * cosine / 2  # of the rod's centre of mass
    inertia = FLYWHEEL + ROD_MASS * (along**2 + across**2 + (ROD * turn) ** 2 / 12) + PISTON * piston**2
    return piston, inertia


def by_hand(t_end: float) -> np.ndarray:
    """Crank angle and speed at the end, by SciPy, from dead centre to dead centre."""
    angles = np.concatenate([ANGLES[:-1] - 4 * np.pi, ANGLES, ANGLES[1:] + 4 * np.pi])
    pressure = PchipInterpolator(angles, np.concatenate([PRESSURES[:-1], PRESSURES, PRESSURES[1:]]))

    def rates(_: float, y: np.ndarray) -> list[float]:
        q, u = y
        piston, inertia = slopes(q)
        bend = slopes(q + 1e-30j)[1].imag / 1e-30
        load = -AREA * (pressure(q % (4 * np.pi)) - AMBIENT) * piston - RINGS * abs(piston) - LOAD
        return [u, (load - bend * u * u / 2) / inertia]

    t, y = 0.0, np.array([START, SPEED])
    marks = np.unique(np.concatenate([ANGLES[:-1], [np.pi, 3 * np.pi]]))
    for mark in (turn + mark for turn in 4 * np.pi * np.arange(100) for mark in marks if turn + mark > START):

        def passed(_: float, y: np.ndarray, mark: float = mark) -> float:
            return float(y[0] - mark)

        passed.terminal = True  # type: ignore[attr-defined]
        run = solve_ivp(rates, (t, t_end), y, "DOP853", rtol=1e-12, atol=1e-12, events=passed)
        t, y = run.t[-1], run.y[:, -1]
        if t == t_end:
            break
    return y


def plot(result: lw.Result, path: Path) -> None:
    """Draw the indicator diagram, the speed, and the forces on the piston."""
    figure = sheet(13.0, 4.2)
    diagram, speed, forces = figure.subplots(1, 3)
    diagram.plot(1e3 * result["bore.q"], (AMBIENT + result["gas.force"] / AREA) / 1e5, color=RED, linewidth=0.8)
    dress(diagram, "Pressure over the stroke", "piston [mm]", "pressure [bar]")
    speed.plot(result.t, result["crank.u"] * 30 / np.pi, color=BLUE)
    dress(speed, "Run-up", "time [s]", "speed [rpm]")
    last = result[result.t[-1] - 0.1 :]
    forces.plot(last.t, last["big_end.f"][:, 0] / 1e3, color=AMBER, label="bearing, along the bore")
    forces.plot(last.t, last["bore.f"][:, 2] / 1e3, color=BLUE, label="cylinder wall")
    dress(forces, "Reactions", "time [s]", "force [kN]")
    legend(forces)
    save(figure, path, f"Engine under a load of {LOAD} N m from {SPEED:.0f} rad/s; the rings rub with {RINGS} N.")


def main(out: Path = OUT) -> lw.Result:
    """Run the engine up, compare its speed with the equation by hand, export it, and draw."""
    mech = mechanism()
    result = lw.simulate(mech, 1.0, inputs={"crank": -LOAD}, rtol=1e-11)
    print(result)
    difference = result["crank.u"][-1] - by_hand(1.0)[1]
    print(f"speed at the end {result['crank.u'][-1] * 30 / np.pi:.1f} rpm, by hand to {abs(difference):.0e} rad/s")
    plot(result, out / "engine.png")
    lw.export_fmu(mech, out / "engine.fmu", inputs=["crank"], outputs=["crank", "bore", "gas", "rings"])
    save_page(result, out / "engine.html")
    return result


if __name__ == "__main__":
    main()
