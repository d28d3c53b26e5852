"""A quarter car: five links, a wheel carrier, a fixed chassis, three loops, one degree of freedom.

Hard points, masses and spring are those of the generic multilink suspension of Project Chrono (BSD-3,
data/vehicle/generic/suspension/MultiLink.json); the model has the size of that in Kang and Yoon, KSME International
Journal, 2003, figure 3: ten joint coordinates, three spherical cut joints. The reference motion was computed with
absolute coordinates and multipliers, without Linkwork.
"""

from pathlib import Path
from typing import Any

import numpy as np
from cpu_time import cpu_time
from drawing import BLUE, GREEN, GREY, INK, OUT, RED, dress, legend, save, save_page, seen, sheet
from matplotlib.axes import Axes

import linkwork as lw

Point = tuple[float, float, float]

# x forward, y outboard, z up, m; the design position is the reference pose
UPPER, UPPER_AXIS, UPPER_BALL = (0.06, 0.547, 0.082), (-0.217, -0.039, -0.02), (0.056, 0.864, 0.151)
# a link's universal joint on the chassis, its axes on chassis and link, and its ball joint on the carrier
LINKS: dict[str, tuple[Point, Point, Point, Point]] = {
    "lateral_link": (
        (0.036, 0.338, -0.133),
        (-0.021990002342759996, -0.10547201123672498, 0.9941791059173621),
        (-0.978950234259249, 0.2040990907466716, -3.7855570067176e-07),
        (0.029, 0.842, -0.093),
    ),
    "trailing_link": (
        (0.723, 0.599, -0.072),
        (-0.27207782538868364, 0.9622752500879178, 0.0),
        (0.0, 0.0, 1.0),
        (0.0, 0.864, -0.156),
    ),
    "tie_rod": (
        (-0.257, 0.32, -0.116),
        (0.9789503561733311, -0.2040985059918569, 0.0),
        (0.02198958767174302, 0.10547218157597092, -0.9941790970180534),
        (-0.144, 0.862, -0.056),
    ),
}
BODIES = {  # mass, centre of mass, moments of inertia about it
    "upper_arm": (4.744, (-0.014, 0.64, 0.098), (0.0237, 0.0294, 0.00612)),
    "carrier": (4.304, (0.0, 0.9202509293680297, 0.0), (0.026790528996282523, 0.007008, 0.030208528996282524)),
    "lateral_link": (1.91, (0.033, 0.59, -0.113), (0.0543, 0.0541, 0.000279)),
    "trailing_link": (15.204, (0.279, 0.693, -0.132), (0.0762, 0.527, 0.567)),
    "tie_rod": (1.0, (-0.2005, 0.591, -0.086), (0.02594441666666667, 0.0002)),  # across and along it
}
SPRING = ((0.181, 0.641, 0.11), (0.181, 0.669, -0.164))  # on chassis and trailing link
STIFFNESS, DAMPING, FREE = 167062.0, 60068.0, 0.339  # N/m, N s/m, m
WHEEL, RIM = np.array([0.0, 0.95, 0.0]), 0.2  # m: its middle, radius of the rim as it is drawn
REFERENCE = np.array([  # t, wheel's x, y, z, length of the spring; s, m
    (0.0, 0.0, 0.95, 0.0, 0.275426941311),
    (0.1, 0.0018471431847, 0.952062970904, -0.0203561333952, 0.291131331891),
    (0.2, 0.00342986569293, 0.953018247725, -0.0357712529684, 0.303069677287),
    (0.3, 0.00472911756498, 0.953389614644, -0.0474091270622, 0.312107143355),
    (0.4, 0.00577015246873, 0.953468556339, -0.0562020004155, 0.318948593841),
    (0.5, 0.006591025406, 0.953411953994, -0.06284882413, 0.324127621524),
    (0.6, 0.00723118340144, 0.953302128523, -0.0678752227333, 0.328048169484),
    (0.7, 0.0077265178105, 0.953180454194, -0.0716772442289, 0.331016033088),
    (0.8, 0.00810763292606, 0.953066187597, -0.0745536907188, 0.333262706424),
    (0.9, 0.00839965788016, 0.952966953864, -0.0767301986435, 0.334963434795),
    (1.0, 0.00862273758797, 0.952884520469, -0.0783772630564, 0.336250881334),
])  # fmt: skip

VIEW = {"aside": 140.0, "above": 22.0}  # degrees
LABELS = (  # where, aside by so many points
    (UPPER, (-66, 6), "upper arm", RED),
    (LINKS["trailing_link"][0], (-4, 9), "trailing link", BLUE),
    (LINKS["lateral_link"][0], (-72, -2), "lateral link", BLUE),
    (LINKS["tie_rod"][3], (2, 8), "tie rod", BLUE),
    (SPRING[0], (-36, -4), "strut", GREEN),
)


def mechanism() -> lw.Mechanism:
    """Every joint is given by its hard point."""
    mech = lw.Mechanism("quarter_car")
    for name, (mass, com, moments) in BODIES.items():
        is_link = len(moments) == 2
        inertia = slender(moments[0], moments[1], np.subtract(*LINKS[name][::3])) if is_link else np.diag(moments)
        mech.add_body(name, mass=mass, com=com, inertia=inertia)
    mech.add_joint("upper", lw.Revolute(UPPER_AXIS), "ground", "upper_arm", at=UPPER)
    mech.add_joint("upper_ball", lw.Spherical(), "upper_arm", "carrier", at=UPPER_BALL)
    for name, (inner, first, second, outer) in LINKS.items():
        mech.add_joint(f"{name}_inner", lw.Universal(first, second), "ground", name, at=inner)
        mech.add_joint(f"{name}_ball", lw.Spherical(), name, "carrier", at=outer, cut=True)
    spring = lw.SpringDamper(
        bodies=("ground", "trailing_link"), points=SPRING, stiffness=STIFFNESS, damping=DAMPING, free=FREE, name="strut"
    )
    mech.add_force(spring)
    return mech


def slender(across: float, along: float, direction: np.ndarray) -> np.ndarray:
    """Inertia of a rod in a direction."""
    line = np.outer(direction, direction) / (direction @ direction)
    found: np.ndarray = across * (np.eye(3) - line) + along * line
    return found


def carried(result: lw.Result, body: str, point: Point | np.ndarray) -> np.ndarray:
    """Where a point of a body is over time, (nt, 3), m."""
    w, v = result[f"{body}.Q"][:, :1], result[f"{body}.Q"][:, 1:]
    aside = np.cross(v, point)
    found: np.ndarray = result[f"{body}.r"] + point + 2 * (w * aside + np.cross(v, aside))
    return found


def cpu_times(mech: lw.Mechanism) -> dict[str, float]:
    """As table 5 of Kang and Yoon: CPU time of one evaluation by method and point of reference, s."""
    choices = {"coordinate reduction": ("rcr", "auto")}
    choices |= {f"multipliers, {point}": ("multipliers", point) for point in ("centroid", "joint", "origin")}
    return {name: cpu_time(lw.compile(mech, *choice)) for name, choice in choices.items()}


def draw_suspension(axes: Axes, result: lw.Result) -> None:
    """The links in space at the start and, pale, at the end."""
    spin = np.radians(np.arange(0, 361, 5))[:, None]
    rim = WHEEL + RIM * (np.cos(spin) * (1, 0, 0) + np.sin(spin) * (0, 0, 1))
    for row, alpha in ((-1, 0.3), (0, 1.0)):
        look: dict[str, Any] = {"alpha": alpha, "linewidth": 3, "ms": 5, "mfc": "white", "zorder": 3 + alpha}
        upper, hinge = carried(result, "upper_arm", UPPER_BALL)[row], np.array([UPPER, np.add(UPPER, UPPER_AXIS)])
        axes.plot(*seen([hinge[0], upper, hinge[1]], **VIEW), "o-", color=RED, **look)
        balls = [carried(result, name, outer)[row] for name, (*_, outer) in LINKS.items()]
        for (inner, *_), ball in zip(LINKS.values(), balls, strict=True):
            axes.plot(*seen([inner, ball], **VIEW), "o-", color=BLUE, **look)
        strut = [SPRING[0], carried(result, "trailing_link", SPRING[1])[row]]
        axes.plot(*seen(strut, **VIEW), "o-", color=GREEN, **look)
        centre = carried(result, "carrier", WHEEL)[row]
        for ball in (upper, *balls):
            axes.plot(*seen([ball, centre], **VIEW), color=GREY, alpha=alpha, linewidth=2)
        axes.plot(*seen(rim + centre - WHEEL, **VIEW), color=INK, alpha=alpha, linewidth=1.5)
    for point, offset, text, color in LABELS:
        right, up = seen([point], **VIEW)[:, 0]
        axes.annotate(text, (right, up), offset, textcoords="offset points", color=color, fontsize=9, fontweight="bold")
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_title("Links, wheel and strut at the start; pale: after 1 s", fontsize=10.5, color=INK)


def plot(result: lw.Result, path: Path) -> None:
    """Draw the suspension, the wheel and the spring over time, and how the wheel turns while it travels."""
    figure = sheet(12.0, 5.6)
    grid = figure.add_gridspec(2, 2, width_ratios=(1.0, 1.0))
    draw_suspension(figure.add_subplot(grid[:, 0]), result)
    motion, turn = figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
    height = 1000 * carried(result, "carrier", WHEEL)[:, 2]
    t, (wheel, strut) = REFERENCE[:, 0], 1000 * (REFERENCE - REFERENCE[0]).T[3:]
    motion.plot(result.t, height, color=BLUE, label="height of the wheel's centre")
    motion.plot(
        result.t, 1000 * (result["strut.length"] - result["strut.length"][0]), color=GREEN, label="length of the strut"
    )
    motion.plot(np.tile(t, 2), np.append(wheel, strut), "o", color=INK, ms=4, mfc="white", label="reference")
    dress(motion, "Released at rest", "time [s]", "change [mm]")
    legend(motion, "center right")
    angles = np.degrees(2 * result["carrier.Q"])
    for k, name, color in ((2, "about x (camber)", BLUE), (4, "about z (toe)", RED)):
        turn.plot(height, angles[:, k - 1], color=color, label=name)
    dress(turn, "How the wheel turns while it travels", "height of the wheel's centre [mm]", "angle [°]")
    legend(turn, "lower right")
    save(
        figure,
        path,
        "Multilink suspension on a fixed chassis: the spring of the strut pushes the wheel down against its damper.",
    )


def main(out: Path = OUT) -> tuple[lw.Result, dict[str, float]]:
    """Simulate a second, compare with the reference, measure, and draw."""
    mech = mechanism()
    result = lw.simulate(mech, 1.0, t_eval=np.linspace(0.0, 1.0, 101), rtol=1e-10)
    wheel = carried(result, "carrier", WHEEL)
    error = np.abs(wheel[::10] - REFERENCE[:, 1:4]).max()
    print(result)
    print(f"wheel's centre {-1000 * wheel[-1, 2]:.2f} mm lower; largest difference to the reference {error:.1e} m\n")
    costs = cpu_times(mech)
    print("CPU time of one evaluation     µs")
    for name, spent in costs.items():
        print(f"{name:26}{1e6 * spent:7.2f}")
    plot(result, out / "quarter_car.png")
    save_page(result, out / "quarter_car.html")
    return result, costs


if __name__ == "__main__":
    main()
