"""A planar parallel robot: three legs with motors, three degrees of freedom. Its loops share joints."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import linkwork as lw

OUT = Path(__file__).resolve().parent.parent / "out"
FEET, PLATFORM, LINK = 0.5, 0.15, 0.3  # m: radius of the feet, of the platform, length of a link
MASS = 0.4  # kg, of a link


def on_circle(radius: float, leg: int) -> np.ndarray:
    """Point of a leg on a circle about the middle of the robot, in its reference pose."""
    angle = math.pi / 2 + leg * 2 * math.pi / 3
    return np.array([radius * math.cos(angle), radius * math.sin(angle), 0.0])


def add_link(mech: lw.Mechanism, name: str, start: np.ndarray, end: np.ndarray) -> None:
    """A rod between two points of the world, its x axis along it."""
    x = (end - start) / LINK
    rotation = np.column_stack([x, np.cross((0, 0, 1), x), (0, 0, 1)])
    inertia = lw.inertia.rod(MASS, LINK)
    mech.add_body(name, mass=MASS, com=(LINK / 2, 0, 0), inertia=inertia, origin=start, rotation=rotation)


def mechanism() -> lw.Mechanism:
    """Motors M0 to M2 are on the ground, elbows E and wrists W follow. All axes are vertical."""
    mech = lw.Mechanism("planar_robot")
    hinge = lw.Revolute(axis=(0, 0, 1))
    mech.add_body("platform", mass=0.6, com=(0, 0, 0), inertia=lw.inertia.disk(0.6, PLATFORM))
    for leg in range(3):
        foot, wrist = on_circle(FEET, leg), on_circle(PLATFORM, leg)
        half = (wrist - foot) / 2
        aside = np.cross((0, 0, 1), half / np.linalg.norm(half)) * math.sqrt(LINK**2 - half @ half)
        elbow = foot + half + aside
        add_link(mech, f"upper{leg}", foot, elbow)
        add_link(mech, f"lower{leg}", elbow, wrist)
        mech.add_joint(f"M{leg}", hinge, "ground", f"upper{leg}", at=foot)
        mech.add_joint(f"E{leg}", hinge, f"upper{leg}", f"lower{leg}", at=elbow)
        mech.add_joint(f"W{leg}", hinge, f"lower{leg}", "platform", at=wrist)
        mech.add_force(lw.SpringDamper(f"M{leg}", stiffness=4.0, damping=0.05))
    return mech


def torque(leg: int) -> Callable[[float], float]:
    """Torque of a motor over time, N.m: each leg a third of a period behind the one before."""
    return lambda t: 0.5 * math.sin(2 * math.pi * (0.8 * t - leg / 3))


def plot(result: lw.Result, path: Path) -> None:
    """Draw the way of the platform and its turn over time."""
    figure = Figure(figsize=(8.0, 3.6), layout="constrained")
    way, turn = figure.subplots(1, 2)
    centre = 1000 * result["platform.r"]
    way.plot(centre[:, 0], centre[:, 1], color="#2e6f95", linewidth=1.2)
    way.plot(*centre[0, :2], "o", color="#e09f3e", label="start")
    way.set(xlabel="x [mm]", ylabel="y [mm]", title="Middle of the platform", aspect="equal")
    way.legend(frameon=False)
    angle = 2 * np.degrees(np.arctan2(result["platform.Q[4]"], result["platform.Q[1]"]))
    turn.plot(result.t, angle, color="#c8553d", linewidth=1.2)
    turn.set(xlabel="time [s]", ylabel="angle [°]", title="Turn of the platform")
    for axes in (way, turn):
        axes.grid(alpha=0.3)
    figure.savefig(path, dpi=130)


def main(out: Path = OUT) -> lw.Result:
    """Simulate ten seconds, print how well the loops stay closed, and draw."""
    motors = {f"M{leg}": torque(leg) for leg in range(3)}
    result = lw.simulate(mechanism(), t_end=10.0, inputs=motors, t_eval=np.linspace(0.0, 10.0, 1001))
    gap = max(result[f"loop.{joint}.residual"].max() for joint in result.model.loop_names)
    print(result)
    print(f"loops closed by {', '.join(result.model.loop_names)}: largest gap {gap:.1e} m")
    out.mkdir(exist_ok=True)
    plot(result, out / "planar_robot.png")
    print(f"saved {out.name}/planar_robot.png")
    print(f"saved {result.page(out / 'planar_robot.html')}")
    return result


if __name__ == "__main__":
    main()
