"""A five-bar swings up: the motors' torques are found by direct collocation, with CasADi and IPOPT through the FMU.

The five-bar hangs in a vertical plane, with a spring between its elbows. Its two motors bring it upright and to rest
with limited torques, least in the mean square. CasADi reads the FMU as it is: accelerations of the closed loop and
their exact derivatives. A simulation with these torques and feedback of the deviations, without which no mechanism
would stay upright, follows the planned motion.
"""

import math
import zipfile
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from drawing import BLUE, OUT, RED, dress, legend, save, save_page, sheet
from scipy.interpolate import CubicHermiteSpline

import linkwork as lw

BASE, PROXIMAL, DISTAL = 0.1, 0.25, 0.35  # m
MASSES, DAMPING = (0.5, 0.3), 0.02  # kg of proximal and distal links, N m s/rad of the motors
STIFFNESS, RELEASED, SPRING_DAMPING = 150.0, 0.4, 4.0  # N/m, m, N s/m of the spring between the elbows
FEET = {"l": -BASE / 2, "r": BASE / 2}  # m
HANGING, ELBOWS = {"L": math.pi / 2 + 0.7, "R": math.pi / 2 - 0.7}, {"l": -1.1, "r": 1.1}  # rad, guesses; down from x
LIMIT, FASTEST = 4.0, 20.0  # N m and rad/s of each motor
T_END, INTERVALS, DEGREE = 2.0, 40, 3  # s; intervals of constant torque; collocation points in each
MOTORS = ("L", "R")
STEP = T_END / INTERVALS  # s
FEEDBACK, SAMPLE_TIME = (20.0, 1.0), 0.0025  # N m/rad and N m s/rad of each motor; s
SPREAD = 0.7, 2.5  # rad between the proximal links: where the elbows coincide, the loop does not follow the motors
# The states are independent, so that loops are closed wherever collocation looks.
MINIMAL: dict[str, Any] = {"outputs": ["L.q", "R.q"], "states": "minimal", "independents": ["L.q", "R.q"]}


def mechanism() -> lw.Mechanism:
    """Motors L, R turn the proximal links; a joint at the tip connects the others. It hangs as `start` finds it."""
    mech = lw.Mechanism("swing_up")
    hinge, end = lw.Revolute(axis=(0, 1, 0)), lw.Frame((DISTAL, 0, 0))
    for side, x in FEET.items():
        motor, elbow = side.upper(), f"elbow_{side}"
        for kind, mass, length in zip(("proximal", "distal"), MASSES, (PROXIMAL, DISTAL), strict=True):
            inertia = lw.inertia.rod(mass, length)
            mech.add_body(f"{kind}_{side}", mass=mass, com=(length / 2, 0, 0), inertia=inertia)
        mech.add_joint(motor, hinge, "ground", f"proximal_{side}", parent_frame=lw.Frame((x, 0, 0)))
        mech.add_joint(elbow, hinge, f"proximal_{side}", f"distal_{side}", parent_frame=lw.Frame((PROXIMAL, 0, 0)))
        mech.add_force(lw.SpringDamper(motor, damping=DAMPING))
        mech.start(q={motor: HANGING[motor], elbow: ELBOWS[side]})
    mech.add_joint("tip", hinge, "distal_l", "distal_r", parent_frame=end, child_frame=end, cut=True)
    ends = ((PROXIMAL, 0, 0), (PROXIMAL, 0, 0))
    spring = {"stiffness": STIFFNESS, "damping": SPRING_DAMPING, "free": RELEASED}
    mech.add_force(lw.SpringDamper(name="elbows", bodies=("proximal_l", "proximal_r"), points=ends, **spring))
    rest = lw.equilibrium(mech).state
    mech.start(q={joint: rest[f"{joint}.q"] for joint in ("L", "R", "elbow_l", "elbow_r")})
    return mech


@dataclass(frozen=True)
class Plan:
    """What collocation has found: times of the mesh, s, states there by name, torques in the intervals, N m."""

    t: np.ndarray
    states: dict[str, np.ndarray]
    torques: dict[str, np.ndarray]
    iterations: int


def casadi_module() -> Any:
    """CasADi, or an error that names the way to get it."""
    try:
        import casadi
    except ImportError as missing:
        raise ImportError("swing_up.py needs CasADi: pip install 'linkwork[casadi]'") from missing
    return casadi


def plan(mech: lw.Mechanism) -> Plan:
    """Find torques, least in the mean square, that bring the mechanism upright and to rest at the end."""
    casadi = casadi_module()
    model = lw.compile(mech)
    with TemporaryDirectory() as folder:
        path = lw.export_fmu(model, f"{folder}/swing_up.fmu", inputs=["L", "R"], **MINIMAL)
        with zipfile.ZipFile(path) as archive:
            archive.extractall(f"{folder}/fmu")
        builder = casadi.DaeBuilder("swing_up", f"{folder}/fmu")
        return solve(casadi, builder)


def solve(casadi: Any, builder: Any) -> Plan:
    """The states at collocation points make the derivatives of their polynomials those of the FMU."""
    names, n, points = builder.x(), builder.nx(), INTERVALS * DEGREE
    tau = casadi.collocation_points(DEGREE, "legendre")
    rates, ends, _ = (np.array(matrix) for matrix in casadi.collocation_coeff(tau))
    mesh = STEP * np.arange(INTERVALS + 1)
    starts, loads = casadi.MX.sym("starts", n, INTERVALS + 1), casadi.MX.sym("loads", 2, INTERVALS)
    inner = casadi.MX.sym("inner", n, points)
    derivative = builder.create("derivative", ["x", "u"], ["ode"]).map(points)
    held = casadi.horzcat(*(loads[:, k] for k in range(INTERVALS) for _ in tau))
    xdot, defects = derivative(inner, held), []
    for k in range(INTERVALS):
        here = slice(DEGREE * k, DEGREE * (k + 1))
        polynomial = casadi.horzcat(starts[:, k], inner[:, here])
        defects += [polynomial @ rates - STEP * xdot[:, here], polynomial @ ends - starts[:, k + 1]]
    inside = (mesh[:-1, None] + STEP * np.array(tau)).ravel()
    begin, at = np.array(builder.start(names)), {name: i for i, name in enumerate(names)}

    def guessed(times: np.ndarray) -> np.ndarray:
        """From hanging to upright, after a swing in the opposite direction."""
        phase, values = 2 * math.pi * times / T_END, np.tile(begin[:, None], times.size)
        for motor in MOTORS:
            values[at[f"{motor}.q"]] += np.sin(phase) - phase / 2
            values[at[f"{motor}.u"]] = 2 * math.pi / T_END * (np.cos(phase) - 0.5)
        return values

    low, high = np.full((n, INTERVALS + 1), -np.inf), np.full((n, INTERVALS + 1), np.inf)
    for name, i in at.items():
        if name.endswith(".u"):
            low[i], high[i] = -FASTEST, FASTEST
    low[:, 0] = high[:, 0] = begin
    for motor in MOTORS:
        low[at[f"{motor}.u"], -1] = high[at[f"{motor}.u"], -1] = 0.0
    low_inner, high_inner = np.repeat(low[:, 1:2], points, axis=1), np.repeat(high[:, 1:2], points, axis=1)
    spread = [states[at["L.q"], :] - states[at["R.q"], :] for states in (starts, inner)]
    mean = (starts[at["L.q"], -1] + starts[at["R.q"], -1]) / 2  # upright: half a turn from hanging
    n_defects, n_spread = n * (points + INTERVALS), INTERVALS + 1 + points
    problem = {
        "x": casadi.veccat(starts, inner, loads),
        "f": STEP * casadi.sumsqr(loads) / LIMIT**2,
        "g": casadi.veccat(*defects, *spread, mean),
    }
    settings = {
        "hessian_approximation": "limited-memory",
        "limited_memory_max_history": 30,
        "mu_strategy": "adaptive",
        "nlp_scaling_method": "none",
        "acceptable_iter": 0,
        "tol": 1e-6,
        "print_level": 0,
        "sb": "yes",
    }
    solver = casadi.nlpsol("solver", "ipopt", problem, {"print_time": False, "ipopt": settings})
    numbers = np.concatenate([guessed(mesh).ravel("F"), guessed(inside).ravel("F"), np.zeros(2 * INTERVALS)])
    limit = np.full(2 * INTERVALS, LIMIT)
    found = solver(
        x0=numbers,
        lbx=np.concatenate([low.ravel("F"), low_inner.ravel("F"), -limit]),
        ubx=np.concatenate([high.ravel("F"), high_inner.ravel("F"), limit]),
        lbg=np.repeat([0.0, SPREAD[0], -math.pi / 2], [n_defects, n_spread, 1]),
        ubg=np.repeat([0.0, SPREAD[1], -math.pi / 2], [n_defects, n_spread, 1]),
    )
    if not solver.stats()["success"]:
        raise RuntimeError(f"IPOPT found no motion: {solver.stats()['return_status']}")
    numbers = np.array(found["x"]).ravel()
    states = numbers[: low.size].reshape(INTERVALS + 1, n).T
    torques = dict(zip(builder.u(), numbers[-2 * INTERVALS :].reshape(INTERVALS, 2).T, strict=True))
    return Plan(mesh, dict(zip(names, states, strict=True)), torques, solver.stats()["iter_count"])


def follow(mech: lw.Mechanism, found: Plan) -> lw.Result:
    """Simulate with the torques that were found, and feedback of the deviations from the motion that was found."""
    angle, speed = FEEDBACK
    planned = {
        motor: CubicHermiteSpline(found.t, found.states[f"{motor}.q"], found.states[f"{motor}.u"]) for motor in MOTORS
    }

    def torques(t: float, state: lw.RunningState) -> dict[str, float]:
        k = min(int(t / STEP + 1e-9), INTERVALS - 1)
        loads = {}
        for motor, q in planned.items():
            back = angle * (q(t) - state[f"{motor}.q"]) + speed * (q(t, 1) - state[f"{motor}.u"])
            loads[motor] = float(found.torques[f"{motor}.tau"][k] + back)
        return loads

    return lw.simulate(mech, T_END, controller=torques, sample_time=SAMPLE_TIME, rtol=1e-10)


def deviations(found: Plan, result: lw.Result) -> np.ndarray:
    """Largest deviation of a motor's angle from the plan at the points of the mesh, rad."""
    angles = [f"{motor}.q" for motor in MOTORS]
    reached = result.at(found.t, angles)
    return np.asarray(np.max([np.abs(reached[name] - found.states[name]) for name in angles], axis=0))


def plot(found: Plan, result: lw.Result, path: Path) -> None:
    """Draw poses, angles of both motors and their torques."""
    figure = sheet(11.0, 4.4)
    grid = figure.add_gridspec(2, 2, width_ratios=(1.0, 1.6))
    poses = dress(figure.add_subplot(grid[:, 0]), "Poses every 0.25 s", "x [m]", "z [m]", aspect="equal")
    for t in np.arange(0.0, T_END + 0.1, 0.25):
        row = min(int(np.searchsorted(result.t, t)), result.t.size - 1)
        shade = 0.25 + 0.75 * t / T_END
        for side, color in (("l", BLUE), ("r", RED)):
            elbow, angle = (
                result[f"distal_{side}.r"][row],
                result[f"{side.upper()}.q"][row] + result[f"elbow_{side}.q"][row],
            )
            tip = elbow + DISTAL * np.array((math.cos(angle), 0.0, -math.sin(angle)))
            leg = np.array([(FEET[side], 0.0, 0.0), elbow, tip])
            poses.plot(leg[:, 0], leg[:, 2], "o-", color=color, alpha=shade, linewidth=2, markersize=3)
    angles, torques = figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
    dress(angles, "Motors: planned (circles) and simulated (lines)", "", "angle [rad]")
    dress(torques, f"Torques, at most {LIMIT:g} N m", "time [s]", "torque [N m]")
    for motor, color in (("L", BLUE), ("R", RED)):
        angles.plot(result.t, result[f"{motor}.q"], color=color, label=f"motor {motor}")
        angles.plot(found.t, found.states[f"{motor}.q"], "o", color=color, markersize=3, markerfacecolor="white")
        torques.stairs(found.torques[f"{motor}.tau"], found.t, color=color, label=f"motor {motor}")
    legend(angles)
    legend(torques)
    save(figure, path, "Torques by IPOPT through the FMU; angles by a simulation with these torques and feedback.")


def main(out: Path = OUT) -> tuple[Plan, lw.Result]:
    """Find the torques, simulate, print the deviations and draw."""
    mech = mechanism()
    found = plan(mech)
    result = follow(mech, found)
    print(f"IPOPT: {found.iterations} iterations, {INTERVALS} intervals of {1e3 * STEP:.0f} ms")
    print(f"deviation of an angle from the plan: at most {deviations(found, result).max():.1e} rad")
    plot(found, result, out / "swing_up.png")
    save_page(result, out / "swing_up.html")
    return found, result


if __name__ == "__main__":
    main()
