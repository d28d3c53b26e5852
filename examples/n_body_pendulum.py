"""Bodies in a row on spherical joints, solved as an implicit system by SUNDIALS IDA in the four schemes of Chou.

J. C. K. Chou, "A Nearly-Linear Computational-Cost Scheme for the Forward Dynamics of an N-Body Pendulum", leaves the
equations of motion implicit, 14 unknowns a body, and makes Newton's iteration cheap instead. This repeats his study:
one to ten bodies, 100 points of 0.01 s, tolerance 1e-7; calls counted, CPU time per call, the best of three runs. The
motion is held against the explicit equations in joint coordinates, solved by DOP853.
"""

import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from drawing import AMBER, BLUE, GREEN, INK, OUT, RED, dress, legend, save, save_page, sheet
from matplotlib.animation import FuncAnimation, PillowWriter
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from mpl_toolkits.mplot3d import Axes3D
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

import linkwork as lw

LENGTH, WIDTH, THICK, MASS = 0.3, 0.12, 0.05, 1.2  # m, m, m, kg of each body
END, POINTS, TOLERANCE = 1.0, 100, 1e-7  # s, times of output, accuracy asked for
MOST = 10  # bodies
REPEAT = 3  # runs of which the fastest counts: others are slowed down by other processes
SCHEMES = {
    1: "1: full system, differences",
    2: "2: full system, exact Jacobian",
    3: "3: reduced system",
    4: "4: linear cost",
}
COLOR = dict(zip(SCHEMES, (RED, AMBER, GREEN, BLUE), strict=True))
MULTIPLICATIONS = {  # of one Newton iteration with the exact Jacobian, Table 1 of the paper
    2: lambda n: 915 * n**3 + 196 * n**2 - 5 * n,
    3: lambda n: 33 * n**3 + 129 * n**2 + 50 * n,
    4: lambda n: 657 * n - 324,
}
FACES = ((0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5))  # of a box


class Run(NamedTuple):
    """What a scheme took for a number of bodies."""

    n: int
    scheme: int
    residuals: int
    jacobians: int
    cpu: float  # s
    error: float  # rad


def mechanism(n: int = 3) -> lw.Mechanism:
    """Slabs that hang in a row, stretched out horizontally, each turned about its length and spinning."""
    mech = lw.Mechanism("n_body_pendulum")
    before, joint = "ground", lw.Frame()
    for k in range(n):
        body = f"body{k + 1}"
        inertia = lw.inertia.box(MASS, size=(LENGTH, WIDTH, THICK))
        mech.add_body(body, mass=MASS, com=(LENGTH / 2, 0, 0), inertia=inertia)
        mech.add_joint(f"J{k + 1}", lw.Spherical(), before, body, parent_frame=joint, child_frame=lw.Frame())
        turn = np.radians(20.0) * (-1) ** k
        mech.start(q={f"J{k + 1}": (np.cos(turn / 2), np.sin(turn / 2), 0, 0)}, u={f"J{k + 1}": (2.0, 0.5, 1.0)})
        before, joint = body, lw.Frame((LENGTH, 0, 0))
    return mech


def orientations(result: lw.Result) -> np.ndarray:
    """Quaternions of the bodies, body to world, (bodies, nt, 4)."""
    return np.array([result[f"{body}.Q"] for body in result.model.mechanism.bodies])


def turned(a: np.ndarray, b: np.ndarray) -> float:
    """The largest angle between orientations (..., 4), rad."""
    sign = np.sign(np.sum(a * b, axis=-1, keepdims=True))
    return float(4 * np.arcsin(np.linalg.norm(a - sign * b, axis=-1) / 2).max())


def study(bodies: range) -> list[Run]:
    """Run all schemes."""
    times = np.linspace(0.0, END, POINTS + 1)
    runs = []
    for n in bodies:
        system = lw.compile(mechanism(n))
        reference = orientations(lw.simulate(system, END, solver="DOP853", rtol=1e-12, t_eval=times))
        for scheme in SCHEMES:
            cpu = np.inf
            for _ in range(REPEAT):
                begin = time.process_time()
                result = lw.simulate(
                    system, END, solver="ida", formulation="chou", scheme=scheme, rtol=TOLERANCE, t_eval=times
                )
                cpu = min(cpu, time.process_time() - begin)
            cost = result.statistics
            error = turned(orientations(result), reference)
            runs.append(Run(n, scheme, cost.evaluations, cost.jacobian_evaluations, cpu, error))
    return runs


def table(runs: list[Run]) -> str:
    """Calls, time and error of each run."""
    lines = ["bodies  scheme  residual calls  Jacobian calls  CPU [ms]  per residual call [us]  error [rad]"]
    for run in runs:
        lines.append(
            f"{run.n:6d}  {run.scheme:6d}  {run.residuals:14d}  {run.jacobians:14d}  {1e3 * run.cpu:8.1f}  "
            f"{1e6 * run.cpu / run.residuals:22.1f}  {run.error:11.1e}"
        )
    return "\n".join(lines)


def plot_costs(runs: list[Run], path: Path) -> None:
    """Draw the time per residual call, as Fig. 2 of the paper does, the calls, and the operations of its Table 1."""
    figure = sheet(13.0, 4.4)
    per_call, calls, operations = figure.subplots(1, 3)
    for scheme, name in SCHEMES.items():
        own = [run for run in runs if run.scheme == scheme]
        n = np.array([run.n for run in own])
        per_call.plot(n, [1e6 * run.cpu / run.residuals for run in own], "o-", color=COLOR[scheme], label=name)
        calls.semilogy(n, [run.residuals for run in own], "o-", color=COLOR[scheme])
        calls.semilogy(n, [run.jacobians for run in own], ":", color=COLOR[scheme])
        if scheme in MULTIPLICATIONS:
            operations.semilogy(n, MULTIPLICATIONS[scheme](n), "o-", color=COLOR[scheme], label=name)
    calls.plot([], [], "o-", color=INK, label="of the residual")
    calls.plot([], [], ":", color=INK, label="of the Jacobian (3 and 4: nearly as many)")
    dress(per_call, "CPU time per residual call", "bodies", "time [µs]", ylim=(0, None))
    dress(calls, "Calls in a run", "bodies", "calls", ylim=(10, None))
    dress(operations, "Multiplications of a Newton iteration (Table 1)", "bodies", "multiplications")
    legend(per_call, "upper left")
    legend(calls, "lower right")
    legend(operations, "upper left")
    save(figure, path, "Four schemes for the implicit equations of an n-body pendulum, solved by IDA at 1e-7 for 1 s.")


def boxes(result: lw.Result, row: int) -> list[np.ndarray]:
    """Corners of each body in the world, (8, 3) each, m."""
    found = []
    for body in result.model.mechanism.bodies:
        w, v = result[f"{body}.Q"][row, 0], result[f"{body}.Q"][row, 1:]
        x, y, z = np.meshgrid((0, LENGTH), (-WIDTH / 2, WIDTH / 2), (-THICK / 2, THICK / 2), indexing="ij")
        corners = np.column_stack([x.ravel(), y.ravel(), z.ravel()])
        turned_corners = corners + 2 * np.cross(v, np.cross(v, corners) + w * corners)
        found.append(result[f"{body}.r"][row] + turned_corners)
    return found


def draw_bodies(axes: Axes3D, result: lw.Result, row: int, strength: float = 1.0) -> None:
    """Draw all bodies at one time as polyhedra in perspective."""
    for corners, color in zip(boxes(result, row), (BLUE, AMBER, RED), strict=False):
        sides = [corners[list(face)] for face in FACES]
        axes.add_collection3d(
            Poly3DCollection(sides, facecolor=color, edgecolor=INK, linewidth=0.4, alpha=0.1 + 0.85 * strength**2)
        )


def frame(axes: Axes) -> Axes3D:
    """Axes in space that hold the whole motion, in perspective."""
    assert isinstance(axes, Axes3D)
    axes.set(xlim=(-1.0, 1.0), ylim=(-0.5, 0.5), zlim=(-0.9, 0.3), xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    axes.set(xticks=(-0.8, -0.4, 0, 0.4, 0.8), yticks=(-0.4, 0, 0.4), zticks=(-0.8, -0.4, 0))
    axes.set_box_aspect((2.0, 1.0, 1.2), zoom=1.2)
    axes.set_proj_type("persp", focal_length=0.7)
    axes.view_init(elev=14, azim=-70)
    axes.tick_params(labelsize=8)
    return axes


def plot_poses(result: lw.Result, path: Path, count: int = 10) -> None:
    """Draw ten poses, the later the stronger, as Fig. 1 of the paper shows."""
    figure = sheet(8.0, 5.2)
    axes = frame(figure.add_subplot(projection="3d"))
    for k, row in enumerate(np.linspace(0, len(result.t) - 1, count).astype(int)):
        draw_bodies(axes, result, row, strength=k / (count - 1))
        end = boxes(result, row)[-1][4:].mean(axis=0)
        side = "left" if end[0] > 0 else "right"
        axes.text(*(1.08 * end), f"{result.t[row]:.2f} s", ha=side, va="center", fontsize=7.5, color=INK, zorder=100)
    save(figure, path, "A pendulum of three bodies on spherical joints at ten times.")


def animate(result: lw.Result, path: Path, frames: int = 50) -> None:
    """Save the motion as a film."""
    figure = sheet(6.0, 4.4)
    FigureCanvasAgg(figure)
    axes = frame(figure.add_subplot(projection="3d"))

    def show(k: int) -> None:
        for old in list(axes.collections):
            old.remove()
        row = k * (len(result.t) - 1) // (frames - 1)
        draw_bodies(axes, result, row)
        axes.set_title(f"{result.t[row]:.2f} s", fontsize=10.5, color=INK, loc="left")

    FuncAnimation(figure, show, frames=frames).save(path, PillowWriter(fps=round(frames / END / 2)), dpi=80)
    print(f"saved {path.parent.name}/{path.name}")


def main(out: Path = OUT, most: int = MOST) -> list[Run]:
    """Repeat the study, print its table, and draw costs, poses and the film."""
    runs = study(range(1, most + 1))
    print(table(runs))
    result = lw.simulate(
        mechanism(), END, solver="ida", formulation="chou", rtol=TOLERANCE, t_eval=np.linspace(0, END, POINTS + 1)
    )
    out.mkdir(exist_ok=True)
    plot_costs(runs, out / "n_body_pendulum.png")
    plot_poses(result, out / "n_body_pendulum_poses.png")
    animate(result, out / "n_body_pendulum.gif")
    save_page(result, out / "n_body_pendulum.html")
    return runs


if __name__ == "__main__":
    main()
