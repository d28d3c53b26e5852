"""A biped's leg from a robot's file: imported with its loops, driven by a controller, and exported as an FMU.

The file is URDF, with the loops of knee and ankle as in URDF+. The same road takes SDF, MJCF and USD files.
"""

from pathlib import Path

import numpy as np
from drawing import AMBER, BLUE, GREEN, INK, OUT, RED, dress, legend, save, save_page, sheet
from scipy.interpolate import CubicSpline

import linkwork as lw

FILE = Path(__file__).with_name("biped_leg.urdf")
MOTORS = {"hip": (0.0, 0.5, 0.0), "knee_motor": (-0.1, 0.4, 1.6), "ankle_motor": (0.0, 0.25, 0.8)}  # rad
STIFFNESS, DAMPING, FREQUENCY = 400.0, 12.0, 1.25  # N m/rad, N m s/rad, Hz
LOSSES = {"hip": (0.2, 120.0), "knee_motor": (0.1, 90.0), "ankle_motor": (0.05, 60.0)}  # N m s/rad and N m, of the file
COLOR = {"hip": RED, "knee_motor": BLUE, "ankle_motor": GREEN}
TOE = (0.14, 0.0, -0.05)  # m, in the foot


def mechanism() -> lw.Mechanism:
    """The leg, hung up by its trunk."""
    mech = lw.load(FILE, base="fixed")
    mech.add_point("toe", "foot", TOE)
    return mech


def stride(motor: str, t: float) -> tuple[float, float]:
    """Angle and speed that a motor shall have, rad and rad/s."""
    middle, amplitude, phase = MOTORS[motor]
    turn = 2 * np.pi * FREQUENCY
    return middle + amplitude * np.sin(turn * t - phase), amplitude * turn * np.cos(turn * t - phase)


def torque(motor: str, t: float, state: lw.RunningState) -> float:
    """Torque of a motor that follows the stride, N m; the file's effort limit holds in addition."""
    angle, speed = stride(motor, t)
    return float(STIFFNESS * (angle - state[f"{motor}.q"]) + DAMPING * (speed - state[f"{motor}.u"]))


def walk(t_end: float = 2.0) -> lw.Result:
    """Drive the leg from where the stride begins."""
    mech = mechanism()
    begin = {motor: stride(motor, 0.0) for motor in MOTORS}
    mech.start(q={motor: angle for motor, (angle, _) in begin.items()}, u={motor: u for motor, (_, u) in begin.items()})
    inputs = {motor: lambda t, state, motor=motor: torque(motor, t, state) for motor in MOTORS}
    return lw.simulate(mech, t_end, inputs=inputs, t_eval=np.linspace(0.0, t_end, 2001), rtol=1e-9)


def energy_gap(result: lw.Result) -> np.ndarray:
    """Energy of the leg less what motors have put in and dampers have taken out since the start, J."""
    power = np.zeros(len(result.t))
    for motor, (damping, effort) in LOSSES.items():
        speed = result[f"{motor}.u"]
        power += (np.clip(result[f"{motor}.tau"], -effort, effort) - damping * speed) * speed
    work = CubicSpline(result.t, power).antiderivative()(result.t)
    energy = result["energy.kinetic"] + result["energy.potential"]
    gap: np.ndarray = energy - energy[0] - work
    return gap


def plot(result: lw.Result, path: Path) -> None:
    """Draw the toe's path, the motors' angles and their torques."""
    figure = sheet(11.0, 4.2)
    grid = figure.add_gridspec(2, 2, width_ratios=(1.0, 2.0))
    place = dress(figure.add_subplot(grid[:, 0]), "Path of the toe", "x [m]", "z [m]", aspect="equal")
    place.plot(result["toe.r"][:, 0], result["toe.r"][:, 2], color=AMBER, linewidth=1.5)
    place.plot(0.0, 0.0, "o", color=INK, markerfacecolor="white")
    place.annotate("hip", (0.0, 0.0), (6, 4), textcoords="offset points", color=INK)
    angles = dress(figure.add_subplot(grid[0, 1]), "Motors follow the stride", "", "angle [rad]")
    loads = dress(figure.add_subplot(grid[1, 1]), "Torques", "time [s]", "torque [N m]")
    for motor, color in COLOR.items():
        angles.plot(result.t, result[f"{motor}.q"], color=color, linewidth=1.6, label=motor)
        angles.plot(result.t, [stride(motor, t)[0] for t in result.t], color=color, linewidth=0.9, linestyle="--")
        loads.plot(result.t, result[f"{motor}.tau"], color=color, linewidth=1.3)
    angles.sharex(loads)
    angles.tick_params(labelbottom=False)
    angles.set_ylim(None, 0.95)
    legend(angles, "upper right", ncols=3)
    save(figure, path, "Imported from biped_leg.urdf; dashed: the stride that the motors shall follow.")


def main(out: Path = OUT) -> tuple[lw.Result, Path]:
    """Import, show what became of the file, drive, draw and export."""
    mech = mechanism()
    print(mech.report)
    result = walk()
    print(result)
    residual = max(result[f"loop.{name}.residual"].max() for name in result.model.loop_names)
    print(f"loop residual at most {residual:.1e} m; energy balance {np.abs(energy_gap(result)).max():.1e} J")
    plot(result, out / "biped_leg.png")
    save_page(result, out / "biped_leg.html")
    fmu = lw.export_fmu(mech, out / "biped_leg.fmu", outputs=["toe", *(f"{motor}.q" for motor in MOTORS)])
    print(f"wrote {fmu}")
    return result, fmu


if __name__ == "__main__":
    main()
