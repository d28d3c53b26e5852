"""A quarter car with a multilink suspension on a bump and a rough road: a skyhook damper and a passive one.

Three FMUs: the road as a signal, the car, and the damper's control. The car is the suspension of `quarter_car`, softer
and with a wheel, on a body that moves up and down. The tyre is a spring to the level ground, and the road's height
times its stiffness is a load on the wheel. The passive damper is the same FMU whose coefficient cannot change.
"""

from pathlib import Path
from typing import Any

import numpy as np
from drawing import BLUE, GREEN, GREY, INK, OUT, PALE, RED, dress, legend, poses, save, save_page, seen, sheet
from matplotlib.axes import Axes
from quarter_car import BODIES, LINKS, RIM, SPRING, UPPER, UPPER_AXIS, UPPER_BALL, VIEW, WHEEL, slender
from scipy.signal import welch

import linkwork as lw
from linkwork.controllers import signal, skyhook
from linkwork.cosim import Jacobi, Result, System, run

MASS, WHEEL_MASS, RADIUS = 400.0, 18.0, 0.32  # kg, kg, m
STRUT, TYRE = 45e3, 220e3  # N/m
SPEED, BUMP, BUMP_LENGTH, BUMP_AT = 15.0, 0.06, 2.0, 0.3  # m/s, m, m, s
ROUGH_FROM, ROUGHNESS = 2.0, 256e-6  # s, m3 at 0.1 cycles a metre: a road of class C of ISO 8608
END, STEP = 8.0, 0.002  # s
DAMPERS = {  # N s/m
    "passive": {"skyhook.c_min": 1600.0, "skyhook.c_max": 1600.0},
    "skyhook": {"skyhook.c_min": 800.0, "skyhook.c_max": 4000.0, "skyhook.c_sky": 4000.0},
}
COLOR = {"passive": BLUE, "skyhook": RED}


def mechanism(strut_free: float = 0.4, tyre_free: float = 0.34) -> lw.Mechanism:
    """The car; springs have these lengths when they are free, m."""
    mech = lw.Mechanism("cosim_skyhook")
    mech.add_body("body", mass=MASS, com=(0, 0, 0), inertia=lw.inertia.box(MASS, size=(2.0, 1.0, 0.5)))
    mech.add_joint("Z", lw.Prismatic(axis=(0, 0, 1)), "ground", "body", at=(0, 0, 0))
    for name, (mass, com, moments) in BODIES.items():
        is_link = len(moments) == 2
        inertia = slender(moments[0], moments[1], np.subtract(*LINKS[name][::3])) if is_link else np.diag(moments)
        mech.add_body(name, mass=mass, com=com, inertia=inertia)
    mech.add_joint("upper", lw.Revolute(UPPER_AXIS), "body", "upper_arm", at=UPPER)
    mech.add_joint("upper_ball", lw.Spherical(), "upper_arm", "carrier", at=UPPER_BALL)
    for name, (inner, first, second, outer) in LINKS.items():
        mech.add_joint(f"{name}_inner", lw.Universal(first, second), "body", name, at=inner)
        mech.add_joint(f"{name}_ball", lw.Spherical(), name, "carrier", at=outer, cut=True)
    inertia = lw.inertia.cylinder(WHEEL_MASS, RADIUS, 0.2, axis="y")
    mech.add_body("wheel", mass=WHEEL_MASS, com=(0, 0, 0), inertia=inertia, origin=WHEEL)
    mech.add_joint("hub", lw.Fixed(), "carrier", "wheel", at=WHEEL)
    ends = ("body", "trailing_link")
    mech.add_force(lw.SpringDamper(bodies=ends, points=SPRING, stiffness=STRUT, free=strut_free, name="strut"))
    ends, points = ("ground", "wheel"), np.array([WHEEL - (0, 0, RADIUS), (0, 0, 0)])
    mech.add_force(lw.SpringDamper(bodies=ends, points=points, stiffness=TYRE, free=tyre_free, name="tyre"))
    for name, body in (("on_body", "body"), ("on_wheel", "wheel"), ("road", "wheel")):
        mech.add_force(lw.Wrench(body, point=(0, 0, 0), name=name))
    return mech


def levelled() -> lw.Mechanism:
    """The car, springs so long that it stands still in the pose of the hard points."""

    def starting(strut: float, tyre: float) -> np.ndarray:
        """Accelerations of body and upper arm, which are affine in the lengths."""
        system = lw.compile(mechanism(strut, tyre))
        return np.asarray(system.accelerations(system.assemble()))[:2]

    begin, ahead = starting(0.4, 0.34), 0.1
    slopes = np.column_stack([starting(0.4 + ahead, 0.34) - begin, starting(0.4, 0.34 + ahead) - begin]) / ahead
    strut, tyre = np.array((0.4, 0.34)) - np.linalg.solve(slopes, begin)
    return mechanism(strut, tyre)


def road(t: np.ndarray) -> np.ndarray:
    """Height of the road under the wheel, m: a bump, then waves of a spectrum that falls with the square."""
    x, x_bump = SPEED * t, SPEED * (t - BUMP_AT)
    bump = np.where(
        (x_bump >= 0) & (x_bump <= BUMP_LENGTH), BUMP / 2 * (1 - np.cos(2 * np.pi * x_bump / BUMP_LENGTH)), 0.0
    )
    waves = np.geomspace(0.02, 2.0, 80)  # cycles a metre
    widths, phases = np.gradient(waves), 2 * np.pi * np.random.default_rng(5).random(len(waves))
    sizes = np.sqrt(2 * ROUGHNESS * (0.1 / waves) ** 2 * widths)
    rough = np.sin(2 * np.pi * np.outer(x, waves) + phases) @ sizes
    risen = np.clip((t - ROUGH_FROM) / 0.5, 0.0, 1.0)
    return np.asarray(bump + risen**2 * (3 - 2 * risen) * rough)


def drive(out: Path) -> System:
    """Road, car and damper, connected."""
    system = System("cosim_skyhook", description="A quarter car on a rough road with a skyhook damper")
    mech = levelled()
    outputs = [*poses(mech), "body.v[3]", "wheel.v[3]", "Z.a", "strut.length"]
    system.add("car", lw.export_fmu(mech, out / "cosim_skyhook_car.fmu", fmi="3.0", outputs=outputs))
    t = np.arange(0.0, END + 0.01, 0.01)
    system.add(
        "road", signal(out / "cosim_skyhook_road.fmu", t, {"z": road(t)}, interpolation="cubic", units={"z": "m"})
    )
    system.add("skyhook", skyhook(out / "cosim_skyhook_damper.fmu"))
    system.connect("road.z", "car.road.F[3]", factor=TYRE, convert_units=False)
    for point in ("body", "wheel"):
        system.connect(f"car.{point}.v[3]", f"skyhook.v_{point}")
    system.connect("skyhook.force", "car.on_body.F[3]")
    system.connect("skyhook.force_wheel", "car.on_wheel.F[3]")
    for name, values in DAMPERS.items():
        system.add_parameter_set(name, values)
    system.experiment.t_end = END
    return system


def travel(result: Result) -> np.ndarray:
    """Of the wheel towards the body, m."""
    way = result["car.wheel.r[3]"] - result["car.body.r[3]"]
    found: np.ndarray = way - way[0]
    return found


def tyre_load(result: Result) -> np.ndarray:
    """Change of the load on the tyre, N."""
    found: np.ndarray = TYRE * (result["road.z"] - result["car.wheel.r[3]"] + result["car.wheel.r[3]"][0])
    return found


def rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def facts(result: Result) -> dict[str, float]:
    """Compared quantities: on the bump the peak, on the rough road root mean squares."""
    rough = result.t >= ROUGH_FROM
    return {
        "body's acceleration, rms [m/s²]": rms(result["car.Z.a"][rough]),
        "body's height, rms [mm]": 1000 * rms(result["car.body.r[3]"][rough]),
        "wheel travel, rms [mm]": 1000 * rms(travel(result)[rough]),
        "tyre's load, rms of its change [N]": rms(tyre_load(result)[rough]),
        "body's height after the bump [mm]": 1000 * float(np.ptp(result["car.body.r[3]"][(result.t > 0.7) & ~rough])),
    }


def draw_car(axes: Axes) -> None:
    """The suspension at rest, the body as a box above it, road and sky; seen from ahead."""
    look: dict[str, Any] = {"linewidth": 3, "ms": 5, "mfc": "white", "zorder": 4}
    hinge, ball = np.add(UPPER, UPPER_AXIS), np.array(UPPER_BALL)
    axes.plot(*seen(np.array([hinge, ball, UPPER]), **VIEW), "o-", color=BLUE, **look)
    for inner, *_, outer in LINKS.values():
        axes.plot(*seen([inner, outer], **VIEW), "o-", color=BLUE, **look)
        axes.plot(*seen(np.array([outer, WHEEL]), **VIEW), color=GREY, linewidth=2, zorder=3)
    axes.plot(*seen([ball, WHEEL], **VIEW), color=GREY, linewidth=2, zorder=3)
    axes.plot(*seen(SPRING, **VIEW), "o-", color=GREEN, **look)
    spin = np.radians(np.arange(0, 361, 5))[:, None]
    for radius, width in ((RADIUS, 5.0), (RIM, 1.5)):
        circle = WHEEL + radius * (np.cos(spin) * (1, 0, 0) + np.sin(spin) * (0, 0, 1))
        axes.plot(*seen(circle, **VIEW), color=INK, linewidth=width, alpha=0.85, zorder=2)
    patch = WHEEL + np.array([(x, y, -RADIUS) for x, y in ((-0.5, -0.25), (0.5, -0.25), (0.5, 0.25), (-0.5, 0.25))])
    axes.fill(*seen(patch, **VIEW), color=PALE, zorder=0)
    top = np.array([(x, y, 0.42) for x, y in ((-0.35, 0.25), (0.75, 0.25), (0.75, 0.62), (-0.35, 0.62))])
    axes.fill(*seen(top, **VIEW), color=PALE, ec=GREY, zorder=1)
    for held in (hinge, np.array(UPPER), *(np.array(link[0]) for link in LINKS.values()), np.array(SPRING[0])):
        axes.plot(
            *seen(np.array([held, (*held[:2], 0.42)]), **VIEW),
            color=GREY,
            linewidth=0.8,
            linestyle=(0, (4, 3)),
            zorder=1,
        )
    for point, text, color, offset in (
        (WHEEL - (0, 0, RADIUS), "road.fmu: z(t)", INK, (-30, -14)),
        ((0.2, 0.43, 0.42), f"body, {MASS:g} kg", INK, (-30, -3)),
        (SPRING[1], "strut", GREEN, (-32, 12)),
        (LINKS["trailing_link"][0], "five links", BLUE, (-12, -16)),
    ):
        right, up = seen(np.array([point]), **VIEW)[:, 0]
        axes.annotate(text, (right, up), offset, textcoords="offset points", color=color, fontsize=9, zorder=9)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_title("car.fmu: three loops, a wheel, a body", fontsize=10.5, color=INK, loc="left")


def draw_spectrum(axes: Axes, runs: dict[str, Result]) -> None:
    """Of the body's acceleration on the rough road."""
    for name, result in runs.items():
        values = result["car.Z.a"][result.t >= ROUGH_FROM]
        f, power = welch(values, 1 / STEP, nperseg=768)
        axes.loglog(f[1:], np.sqrt(power[1:]), color=COLOR[name], linewidth=1.5, label=name)
    dress(
        axes,
        "Spectrum of the body's acceleration",
        "frequency [Hz]",
        "density [m/s²/√Hz]",
        xlim=(0.7, 30),
        ylim=(0.01, 2),
    )
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    legend(axes, "lower left")


def draw_runs(panels: np.ndarray, runs: dict[str, Result]) -> None:
    """Road and body, acceleration, wheel travel and coefficient over time."""
    height, shaken, way, damper = panels
    for name, result in runs.items():
        look = {"color": COLOR[name], "linewidth": 1.3, "label": name}
        height.plot(result.t, 1000 * result["car.body.r[3]"], **look)
        shaken.plot(result.t, result["car.Z.a"], **look)
        way.plot(result.t, 1000 * travel(result), **look)
        damper.plot(result.t, result["skyhook.c"] / 1000, **look)
    height.fill_between(result.t, -60, 1000 * result["road.z"], color=PALE, linewidth=0, zorder=0)
    height.plot(result.t, 1000 * result["road.z"], color=GREY, linewidth=0.8, label="road")
    dress(height, f"Height of the body on a bump and a rough road, {SPEED:g} m/s", "", "height [mm]", ylim=(-60, 85))
    dress(shaken, "Acceleration of the body", "", "[m/s²]")
    dress(way, "Travel of the wheel", "", "travel [mm]")
    dress(damper, "Coefficient of the damper", "time [s]", "[kN s/m]")
    legend(height, "upper right", ncols=3)
    for axes in panels:
        axes.set_xlim(0, END)
        axes.tick_params(labelbottom=axes is damper)


def plot(runs: dict[str, Result], path: Path) -> None:
    """Draw the car, the runs over time, and spectra."""
    figure = sheet(13.0, 7.6)
    grid = figure.add_gridspec(4, 2, width_ratios=(1.0, 1.5), height_ratios=(1.5, 1.0, 1.0, 0.8))
    draw_car(figure.add_subplot(grid[:2, 0]))
    draw_spectrum(figure.add_subplot(grid[2:, 0]), runs)
    draw_runs(np.array([figure.add_subplot(grid[k, 1]) for k in range(4)]), runs)
    save(
        figure,
        path,
        "Road, car and damper are FMUs; the passive damper is the skyhook's FMU with a coefficient that cannot change.",
    )


def main(out: Path = OUT) -> dict[str, Result]:
    """Drive with both dampers, print what they do, and draw."""
    out.mkdir(exist_ok=True)
    system = drive(out)
    models: dict[Path, Any] = {}
    system.save(out / "cosim_skyhook.ssp", step=STEP)
    runs = {name: run(system, master=Jacobi(STEP), parameter_sets=name, models=models) for name in DAMPERS}
    print(f"{system}\n{'':36}" + "".join(f"{name:>10}" for name in runs))
    for name, passive in facts(runs["passive"]).items():
        better = facts(runs["skyhook"])[name]
        print(f"{name:36}{passive:10.4g}{better:10.4g}   {100 * (better / passive - 1):+.0f} %")
    plot(runs, out / "cosim_skyhook.png")
    save_page(list(runs.values()), out / "cosim_skyhook.html", labels=list(runs), max_rows=1000)
    return runs


if __name__ == "__main__":
    main()
