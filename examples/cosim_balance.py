"""A pole balanced on a cart that a motor moves by a crank: state feedback and plant are FMUs.

The gain is that of the linear-quadratic regulator for the linear model of `lw.linearize` around the upright pose. It is
sampled: the torque is held from sample to sample. The longest sample time follows from the linear model,
x_next = (exp(A h) + int exp(A s) ds B (-K)) x: all eigenvalues must be within the unit circle. The FMUs agree.
"""

from pathlib import Path
from typing import Any

import numpy as np
from drawing import BLUE, GREEN, GREY, INK, OUT, PALE, RED, dress, legend, mark, poses, save, save_page, sheet
from matplotlib.axes import Axes
from scipy.linalg import expm
from scipy.optimize import brentq

import linkwork as lw
from linkwork.controllers import gain, state_feedback
from linkwork.cosim import Jacobi, Result, System, run

CRANK, ROD, POLE = 0.3, 0.8, 0.8  # m
MASSES = {"crank": 0.5, "rod": 0.4, "cart": 1.0, "pole": 1.0}  # kg
WEIGHTS, COST = (20.0, 40.0, 1.0, 1.0), 1.0  # of the states, and of the torque
STATES = ("A.q", "P.q", "A.u", "P.u")
PUSH, BEGIN, LENGTH = 2.0, 0.2, 0.12  # N at the pole's tip, s, s
TAP = 0.005  # of that push: so small that the model is linear
STRONGEST = 20.0  # N m, of the motor
END, SAMPLE = 2.5, 0.01  # s
NEAR = (0.97, 1.05)  # of the limit: samples that balance the pole, and some that do not
FINE = 4  # communication steps in a sample, for smooth curves


def mechanism() -> lw.Mechanism:
    """The crank stands upright where the cart is in the middle of its way, and the rod is level."""
    mech = lw.Mechanism("cosim_balance")
    ends = {
        "crank": ((0, 0, 0), (0, 0, CRANK)),
        "rod": ((0, 0, CRANK), (ROD, 0, 0)),
        "pole": ((ROD, 0, CRANK), (0, 0, POLE)),
    }
    for name, (origin, way) in ends.items():
        inertia = lw.inertia.rod(MASSES[name], sum(way), axis="x" if name == "rod" else "z")
        mech.add_body(name, mass=MASSES[name], com=np.array(way) / 2, inertia=inertia, origin=origin)
    hinge, place = lw.Revolute(axis=(0, 1, 0)), (ROD, 0, CRANK)
    box = lw.inertia.box(MASSES["cart"], size=(0.14, 0.1, 0.07))
    mech.add_body("cart", mass=MASSES["cart"], com=(0, 0, 0), inertia=box, origin=place)
    mech.add_joint("A", hinge, "ground", "crank", at=(0, 0, 0))
    mech.add_joint("B", hinge, "crank", "rod", at=(0, 0, CRANK))
    mech.add_joint("C", hinge, "rod", "cart", at=place)
    mech.add_joint("S", lw.Prismatic(axis=(1, 0, 0)), "ground", "cart", at=place, cut=True)
    mech.add_joint("P", hinge, "cart", "pole", at=place)
    mech.add_force(lw.Wrench("pole", point=(0, 0, POLE), name="push"))
    mech.start(q={"A": 0.0, "P": 0.0})
    return mech


def plant(out: Path) -> Path:
    """The FMU of the machine: its outputs are the controller's measurements and the drawn quantities."""
    mech = mechanism()
    outputs = [*STATES, *poses(mech)]
    return lw.export_fmu(mech, out / "cosim_balance_plant.fmu", fmi="3.0", outputs=outputs)


def loop(out: Path, model: lw.LinearModel) -> System:
    """Plant and controller, connected by the names of states and torque."""
    path = out / "cosim_balance_controller.fmu"
    controller = state_feedback(
        path, model, WEIGHTS, COST, states=STATES, sample_time=SAMPLE, u_min=-STRONGEST, u_max=STRONGEST
    )
    system = System("cosim_balance", description="A pole on a cart, balanced by a motor through a crank")
    system.add("plant", plant(out))
    system.add("controller", controller)
    for name in STATES:
        system.connect(f"plant.{name}", f"controller.{name}")
    system.connect("controller.A.tau", "plant.A.tau")
    system.experiment.t_end = END
    return system


def push(t: float) -> float:
    """Force on the tip of the pole, N: half a wave of a sine."""
    return PUSH * np.sin(np.pi * (t - BEGIN) / LENGTH) if BEGIN <= t <= BEGIN + LENGTH else 0.0


def balanced(system: System, K: np.ndarray, h: float, models: dict[Path, Any], share: float = 1.0) -> Result:
    """Run with a gain, a time between samples, and a share of the push."""
    gains = {f"controller.K[1,{k}]": float(value) for k, value in enumerate(K[0], start=1)}
    inputs = {"plant.push.F[1]": lambda t: share * push(t)}
    parameters = {"controller.sample_time": h, **gains}
    return run(system, master=Jacobi(h / FINE), parameters=parameters, inputs=inputs, tolerance=1e-9, models=models)


def growth(model: lw.LinearModel, K: np.ndarray, h: float) -> float:
    """The largest factor from sample to sample by the linear model: below 1 the machine balances."""
    n, m = model.B.shape
    both = expm(h * np.block([[model.A, model.B], [np.zeros((m, n + m))]]))
    order = [model.states.index(name) for name in STATES]
    closed = both[:n, :n].copy()
    closed[:, order] -= both[:n, n:] @ K
    return float(np.abs(np.linalg.eigvals(closed)).max())


def longest(model: lw.LinearModel, K: np.ndarray) -> float:
    """The time between samples at which the linear model begins to fall, s."""
    return float(brentq(lambda h: growth(model, K, h) - 1.0, 0.02, 0.5))


def grown(result: Result, h: float) -> float:
    """The same as the FMUs have it: of the matrix that fits a dozen samples after the push best."""
    first = (int((BEGIN + LENGTH) / h) + 1) * FINE
    x = np.column_stack([result[f"plant.{name}"] for name in STATES])[first::FINE][:12]
    return float(np.abs(np.linalg.eigvals(np.linalg.lstsq(x[:-1], x[1:])[0])).max())


def machine(result: Result, row: int) -> dict[str, np.ndarray]:
    """Points of the machine by part, (2, n), m."""
    top = np.array([result[f"plant.rod.r[{k}]"][row] for k in (1, 3)])
    cart = np.array([result[f"plant.cart.r[{k}]"][row] for k in (1, 3)])
    angle = result["plant.P.q"][row]
    tip = cart + POLE * np.array([np.sin(angle), np.cos(angle)])
    return {"crank": np.array([(0, 0), top]).T, "rod": np.array([top, cart]).T, "pole": np.array([cart, tip]).T}


def draw_machine(axes: Axes, result: Result) -> None:
    """The machine before the push, and poses after it."""
    dress(axes, "The machine; pale: 0.1, 0.2 ... 0.8 s after the push", "x [m]", "z [m]", aspect="equal")
    axes.plot((0.42, 1.18), (CRANK - 0.035,) * 2, color=GREY, linewidth=2, zorder=1)
    times = BEGIN + np.linspace(0.0, 0.8, 9)
    for t in times[::-1]:
        row, now = int(np.searchsorted(result.t, t - 1e-9)), t == times[0]
        for (part, line), color in zip(machine(result, row).items(), (GREEN, GREY, BLUE), strict=True):
            axes.plot(
                *line,
                "o-",
                color=color,
                linewidth=4 if now else 1.2,
                ms=5 if now else 0,
                mfc="white",
                alpha=1 if now else 0.35,
            )
            if now and part == "pole":
                cart, tip = line.T
    axes.fill(
        *(cart[:, None] + np.array(((-0.07, 0.07, 0.07, -0.07), (-0.035, -0.035, 0.035, 0.035)))),
        color=PALE,
        ec=INK,
        zorder=5,
    )
    axes.plot(*cart, "o", color=BLUE, ms=5, mfc="white", zorder=6)
    axes.plot(0, -0.02, "^", color=INK, ms=11, zorder=1)
    axes.annotate(
        "", tip, (-52, 0), textcoords="offset points", arrowprops={"arrowstyle": "-|>", "color": RED, "linewidth": 2}
    )
    axes.annotate(f"{PUSH:g} N", tip, (-50, 7), textcoords="offset points", color=RED, fontsize=9, fontweight="bold")
    axes.set(xlim=(-0.3, 1.4), ylim=(-0.1, 1.25))


def draw_runs(angles: Axes, torques: Axes, runs: dict[str, Result]) -> None:
    """Angle of the pole and torque over time."""
    looks = zip(runs.items(), (INK, GREEN, RED, BLUE), (1.8, 1.5, 1.5, 1.5), strict=True)
    for (label, result), color, width in looks:
        angles.plot(result.t, np.degrees(result["plant.P.q"]), color=color, linewidth=width, label=label)
        torques.plot(result.t, result["controller.A.tau"], color=color, linewidth=width, drawstyle="steps-post")
    dress(angles, "Angle of the pole, by time between samples", "", "angle [°]", xlim=(0, END), ylim=(-20, 24))
    title = f"Torque of the motor, at most {STRONGEST:g} N m"
    dress(torques, title, "time [s]", "torque [N m]", xlim=(0, END), ylim=(-22, 22))
    angles.tick_params(labelbottom=False)
    legend(angles, "upper right", ncols=2)
    for axes in (angles, torques):
        axes.axvspan(BEGIN, BEGIN + LENGTH, color=PALE, zorder=0)
    angles.annotate("push", (BEGIN + LENGTH / 2, -18), color=INK, fontsize=8.5, ha="center")


def draw_growth(axes: Axes, model: lw.LinearModel, found: dict[str, dict[float, float]]) -> None:
    """By what the motion grows from sample to sample: linear model and FMUs."""
    once, most = gain_for(model, 0.0), max(found["held"])
    fine, coarse = np.linspace(0.002, most, 50), np.linspace(0.002, most, 12)  # a curve with a kink, and a smooth one
    curves = {
        "continuous": (fine, [growth(model, once, x) for x in fine], RED, "gain for continuous time"),
        "held": (coarse, [growth(model, gain_for(model, x), x) for x in coarse], BLUE, "gain for these samples"),
    }
    for name, (h, factors, color, label) in curves.items():
        axes.plot(1000 * h, factors, color=color, label=label)
        axes.plot([1000 * x for x in found[name]], list(found[name].values()), "o", color=color, ms=4.5, mfc="white")
    axes.axhline(1.0, color=INK, linewidth=1.0)
    axes.plot([], [], "o", color=GREY, ms=4.5, mfc="white", label="measured on the FMUs")
    dress(axes, "Growth from sample to sample", "time between samples [ms]", "factor", ylim=(0.5, 1.4), xlim=(0, None))
    axes.annotate("falls", (30, 1.02), color=INK, fontsize=8.5)
    axes.annotate("balances", (30, 0.985), color=INK, fontsize=8.5, va="top")
    mark(axes, 1000 * longest(model, once), "limit")
    legend(axes, "lower left")


def plot(model: lw.LinearModel, runs: dict[str, Result], found: dict[str, dict[float, float]], path: Path) -> None:
    """Draw the machine, its runs, and where balance ends."""
    figure = sheet(12.0, 6.2)
    grid = figure.add_gridspec(2, 2, width_ratios=(1.0, 1.25))
    draw_machine(figure.add_subplot(grid[0, 0]), next(iter(runs.values())))
    draw_growth(figure.add_subplot(grid[1, 0]), model, found)
    draw_runs(figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1]), runs)
    save(figure, path, "An inverted pole on a cart that a crank moves: plant and controller are FMUs.")


def gain_for(model: lw.LinearModel, h: float) -> np.ndarray:
    """The regulator's gain for a sample time, s; 0: for continuous time."""
    return gain(model, WEIGHTS, COST, states=STATES, sample_time=h)


def main(out: Path = OUT) -> tuple[dict[str, Result], dict[str, dict[float, float]], lw.LinearModel]:
    """Balance the pole at several sampling times, print where it falls, and draw."""
    out.mkdir(exist_ok=True)
    model = lw.linearize(mechanism(), inputs=["A.tau"])
    system = loop(out, model)
    models: dict[Path, Any] = {}
    system.save(out / "cosim_balance.ssp", step=SAMPLE / FINE)
    K = gain_for(model, 0.0)
    limit = longest(model, K)
    print(f"{system}\nunstable: {', '.join(f'{x:.3f}' for x in model.eigenvalues.real if x > 0)} 1/s")
    print(f"by the linear model it balances with samples less than {1000 * limit:.1f} ms apart")
    cases = {SAMPLE: K, NEAR[0] * limit: K, NEAR[1] * limit: K}
    runs = {f"{1000 * h:.0f} ms": balanced(system, K, h, models) for h, K in cases.items()}
    late = NEAR[1] * limit
    runs[f"{1000 * late:.0f} ms, its own gain"] = balanced(system, gain_for(model, late), late, models)
    for name, result in runs.items():
        angle = np.degrees(np.abs(result["plant.P.q"]))
        print(f"samples {name + ':':22} pole at most {angle.max():5.2f}°, at the end {angle[-1]:8.4f}°")
    found: dict[str, dict[float, float]] = {"continuous": {}, "held": {}}
    for h in limit * np.array((0.3, 0.5, 0.7, 0.9, 0.97, 1.03, 1.08)):
        for name, its in (("continuous", K), ("held", gain_for(model, h))):
            found[name][h] = grown(balanced(system, its, h, models, TAP), h)
    error = max(
        abs(value - growth(model, K if name == "continuous" else gain_for(model, h), h))
        for name, values in found.items()
        for h, value in values.items()
    )
    print(f"growth from sample to sample: FMUs and linear model differ by {error:.1e} at most")
    plot(model, runs, found, out / "cosim_balance.png")
    save_page(list(runs.values()), out / "cosim_balance.html", labels=list(runs))
    return runs, found, model


if __name__ == "__main__":
    main()
