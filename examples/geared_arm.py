"""A robot arm with a geared motor, and a cam that balances its weight: couplings between coordinates.

The rotor of the motor turns 50 times as fast as the arm. A cam on the arm's shaft lifts a follower by a polynomial of
the arm's angle q, and presses it against a spring, such that spring and weight together hardly change their energy:

    lift s(q) = s0 + c1 q + c2 q^2 + c3 q^3 + c4 q^4      k (s0 + s)^2 / 2 + m g l sin q  nearly constant
"""

from pathlib import Path

import numpy as np
from drawing import AMBER, BLUE, GREEN, OUT, RED, dress, legend, save, save_page, sheet
from scipy.integrate import cumulative_simpson

import linkwork as lw

RATIO = 50.0
MASS, LENGTH, GRAVITY = 6.0, 0.8, 9.81  # kg, m, m/s^2: arm
ROTOR, ROTOR_RADIUS = 0.5, 0.03  # kg, m
FOLLOWER, STIFFNESS = 0.2, 12000.0  # kg, N/m
ARM_DAMPING, ROTOR_DAMPING = 0.5, 2e-4  # N m s/rad
RANGE = 1.4  # rad, of the arm above and below level
STEP = 0.08  # N m, torque of the motor
LOWEST = 0.02  # m, press of the spring with the arm upright


def cam() -> np.ndarray:
    """Coefficients s0, c1 to c4 of the lift: the least squares fit of what balances the weight."""
    q = np.linspace(-RANGE, RANGE, 201)
    weight = MASS * GRAVITY * LENGTH / 2
    press = np.sqrt(LOWEST**2 + 2 * weight * (1 - np.sin(q)) / STIFFNESS)
    return np.polynomial.Polynomial.fit(q, press, 4).convert().coef


def mechanism() -> lw.Mechanism:
    """Arm on `shoulder`, rotor on `motor`, follower on `lift`, all on the ground; `gear` and `cam` couple them."""
    mech = lw.Mechanism("geared_arm", gravity=(0, 0, -GRAVITY))
    mech.add_body("arm", mass=MASS, com=(LENGTH / 2, 0, 0), inertia=lw.inertia.rod(MASS, LENGTH))
    mech.add_body("rotor", mass=ROTOR, com=(0, 0, 0), inertia=lw.inertia.disk(ROTOR, ROTOR_RADIUS, axis="y"))
    mech.add_body("follower", mass=FOLLOWER, com=(0, 0, 0), inertia=np.eye(3) * 1e-4)
    mech.add_joint("shoulder", lw.Revolute((0, -1, 0)), "ground", "arm", at=(0, 0, 0))  # upward is positive
    mech.add_joint("motor", lw.Revolute((0, -1, 0)), "ground", "rotor", at=(0, 0, 0))
    mech.add_joint("lift", lw.Prismatic((1, 0, 0)), "ground", "follower", at=(-0.1, 0, 0))
    mech.add_force(lw.SpringDamper("shoulder", damping=ARM_DAMPING))
    mech.add_force(lw.SpringDamper("motor", damping=ROTOR_DAMPING))
    mech.add_force(lw.SpringDamper("lift", stiffness=STIFFNESS))
    level, *slopes = cam().tolist()
    mech.add_coupling("gear", {"motor": 1.0, "shoulder": -RATIO})
    mech.add_coupling("cam", {"lift": 1.0, "shoulder": [-slope for slope in slopes]}, offset=level)
    mech.start(q={"shoulder": -1.0}, u={"shoulder": 0.0})
    return mech


def balance(result: lw.Result) -> dict[str, np.ndarray]:
    """Where the motor's work goes, J over time."""
    lost = ARM_DAMPING * result["shoulder.u"] ** 2 + ROTOR_DAMPING * result["motor.u"] ** 2
    return {
        "work of the motor": STEP * (result["motor.q"] - result["motor.q"][0]),
        "kinetic energy": result["energy.kinetic"] - result["energy.kinetic"][0],
        "weight and spring": result["energy.potential"] - result["energy.potential"][0],
        "lost in dampers": cumulative_simpson(lost, x=result.t, initial=0.0),
    }


def remainder(parts: dict[str, np.ndarray]) -> np.ndarray:
    """Error of the energy balance, J; zero but for the errors of integration."""
    work, *uses = parts.values()
    return work - sum(uses)


def plot(result: lw.Result, path: Path) -> None:
    """Draw the angles, how spring and weight balance, and where the motor's work goes."""
    figure = sheet(13.0, 4.2)
    angles, stored, flow = figure.subplots(1, 3)
    q = np.degrees(result["shoulder.q"])
    angles.plot(result.t, q, color=BLUE, linewidth=3, label="arm")
    angles.plot(result.t, np.degrees(result["motor.q"]) / RATIO, ":", color=RED, linewidth=3, label="motor / 50")
    dress(angles, "Gear", "time [s]", "angle [°]")
    weight = MASS * GRAVITY * LENGTH / 2 * np.sin(result["shoulder.q"])
    spring = STIFFNESS * result["lift.q"] ** 2 / 2
    for part, color, label in ((weight, BLUE, "weight"), (spring, GREEN, "spring"), (weight + spring, RED, "both")):
        stored.plot(q, part, color=color, label=label)
    dress(stored, "Cam", "angle of the arm [°]", "potential energy [J]")
    for (name, part), color in zip(balance(result).items(), (RED, BLUE, GREEN, AMBER), strict=True):
        flow.plot(result.t, part, color=color, label=name)
    dress(flow, "Balance of energy", "time [s]", "energy [J]")
    for axes in (angles, stored, flow):
        legend(axes)
    save(figure, path, f"Arm under a step of {STEP} N m at its geared motor; a spring behind a cam carries its weight.")


def main(out: Path = OUT) -> lw.Result:
    """Switch the motor on, check gear, cam and energy, and draw."""
    t = np.linspace(0.0, 1.2, 2401)
    result = lw.simulate(mechanism(), t[-1], inputs={"motor": STEP}, t_eval=t, solver="DOP853", rtol=1e-13)
    lift = np.polynomial.Polynomial(cam())(result["shoulder.q"])
    print(result)
    print(f"arm from {np.degrees(result['shoulder.q'][0]):.1f}° to {np.degrees(result['shoulder.q'][-1]):.1f}°")
    print(f"gear kept to {np.abs(result['motor.q'] / RATIO - result['shoulder.q']).max():.1e} rad, ", end="")
    print(f"cam to {np.abs(result['lift.q'] - lift).max():.1e} m")
    print(f"balance of energy kept to {np.abs(remainder(balance(result))).max():.1e} J")
    plot(result, out / "geared_arm.png")
    save_page(result, out / "geared_arm.html")
    return result


if __name__ == "__main__":
    main()
