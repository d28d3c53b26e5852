"""A gripper takes a box from a table, carries it over, and lets it fall: pins close loops, and are released again.

Two fingers, geared to each other, close by a motor until their tips are as far apart as the box is wide. There both are
pinned to it, and hold it with what the motor gives. Before and after, the box is free to move in the plane, and the
table is a stop. Forces at the tips are compared with statics of the fingers, the fall with that of a stone.
"""

import math
from pathlib import Path

import numpy as np
from drawing import AMBER, BLUE, GREEN, GREY, INK, OUT, RED, dress, legend, mark, save, save_page, sheet
from matplotlib.figure import Figure

import linkwork as lw

FINGER, APART, FINGER_MASS = 0.2, 0.12, 0.15  # m, m between the pivots, kg
BOX, HEIGHT, BOX_MASS, CARRIAGE = 0.06, 0.08, 0.5, 2.0  # m wide, m high, kg, kg
OPEN, CLOSING, BOUNCE = -0.3, 2.0, 0.3  # rad, N m of the motor, restitution of the table
GRIPPED = math.asin((APART - BOX) / 2 / FINGER)  # rad, of a finger where its tip is at the box
ABOVE = FINGER * math.cos(GRIPPED) + HEIGHT / 2  # m, of the pivots over the table
STIFFNESS, DAMPING, FINGER_DAMPING = 4000.0, 160.0, 0.8  # N/m, N s/m, N m s/rad
LEAVE, ARRIVE, RELEASE, END = 0.4, 1.4, 2.0, 2.6  # s
OVER, UP, DROP, GRAVITY = 0.4, 0.2, 0.06, 9.81  # m, m, m, m/s^2
SIDES = {"left": (-1, BLUE), "right": (1, RED)}


def mechanism() -> lw.Mechanism:
    """Slides `across` and `lift` carry the fingers `left` and `right`; `place` is that of the box in the plane x-z."""
    mech = lw.Mechanism("gripper", gravity=(0, 0, -GRAVITY))
    for name, mass in (("bridge", CARRIAGE), ("carriage", CARRIAGE)):
        mech.add_body(name, mass=mass, com=(0, 0, 0), inertia=lw.inertia.box(mass, size=(0.1, 0.1, 0.1)))
    mech.add_joint("across", lw.Prismatic(axis=(1, 0, 0)), "ground", "bridge", parent_frame=lw.Frame((0, 0, ABOVE)))
    mech.add_joint("lift", lw.Prismatic(axis=(0, 0, 1)), "bridge", "carriage", parent_frame=lw.Frame())
    for slide in ("across", "lift"):
        mech.add_force(lw.SpringDamper(slide, stiffness=STIFFNESS, damping=DAMPING))  # of its position control
    for side, (sign, _) in SIDES.items():
        inertia, pivot = lw.inertia.rod(FINGER_MASS, FINGER, axis="z"), lw.Frame((sign * APART / 2, 0, 0))
        mech.add_body(f"finger_{side}", mass=FINGER_MASS, com=(0, 0, -FINGER / 2), inertia=inertia)
        inward = lw.Revolute(axis=(0, sign, 0))
        mech.add_joint(side, inward, "carriage", f"finger_{side}", parent_frame=pivot)
    mech.add_coupling("gear", {"left": 1.0, "right": -1.0})
    mech.add_force(lw.SpringDamper("left", damping=FINGER_DAMPING))
    mech.start(q={"across": 0.0, "lift": 0.0, "left": OPEN})
    mech.add_body("box", mass=BOX_MASS, com=(0, 0, 0), inertia=lw.inertia.box(BOX_MASS, size=(BOX, 0.06, HEIGHT)))
    mech.add_joint("place", lw.Planar(normal=(0, -1, 0)), "ground", "box", parent_frame=lw.Frame((0, 0, HEIGHT / 2)))
    add_grip(mech)
    return mech


def add_grip(mech: lw.Mechanism) -> None:
    """Pins at both tips where they meet the box, their release, the table, and how far the fingers open."""
    tip = (0.0, 0.0, -FINGER)
    touching = lw.Crossing(lw.PointDistance(("finger_left", "finger_right"), (tip, tip)), BOX, direction=-1)
    for side in SIDES:
        pin = lw.Pin(f"finger_{side}", "box", lw.Revolute((0, 1, 0)), parent_frame=lw.Frame(tip))
        mech.add_transition(f"grip_{side}", pin, when=touching)
        mech.add_transition(f"release_{side}", lw.Release(f"grip_{side}"), when=lw.Time(RELEASE))
    mech.add_transition("table", lw.Stop("place", lower=0.0, restitution=BOUNCE, coordinate=2))
    mech.add_transition("open", lw.Stop("left", lower=OPEN))


def moved(t: float) -> tuple[float, float]:
    """Share of the way that is done, and its rate, 1/s: smooth at both ends."""
    T = ARRIVE - LEAVE
    s = min(max((t - LEAVE) / T, 0.0), 1.0)
    return s**3 * (10 - 15 * s + 6 * s * s), 30 * s * s * (1 - s) ** 2 / T


def across(t: float) -> float:
    """Force of the position control across, N."""
    share, rate = moved(t)
    return OVER * (STIFFNESS * share + DAMPING * rate)


def lift(t: float) -> float:
    """Force of the position control of the lift, N, with what carries the gripper; up, and down but for the drop."""
    share, rate = moved(t)
    z = 4 * UP * share * (1 - share) + DROP * share
    speed = (4 * UP * (1 - 2 * share) + DROP) * rate
    weight = (CARRIAGE + 2 * FINGER_MASS) * GRAVITY
    return STIFFNESS * z + DAMPING * speed + weight


def motor(t: float) -> float:
    """Torque at the left finger, N m: closes, and opens just after the release."""
    return CLOSING if t < RELEASE + 1e-9 else -CLOSING / 4


def event_of(result: lw.Result, transition: str) -> lw.Event:
    """The first event of a transition after the box has been released, or of a grip."""
    after = RELEASE if transition == "table" else 0.0
    return next(event for event in result.events if transition in event.transitions and event.t > after)


def row_at(result: lw.Result, t: float) -> int:
    """The last row that is not after a time: at an event, after it."""
    return int(np.searchsorted(result.t, t, side="right")) - 1


def tip_forces(result: lw.Result) -> dict[str, np.ndarray]:
    """Forces of both tips on the box over time, (nt, 3), N."""
    return {side: result[f"grip_{side}.f"] for side in SIDES}


def statics() -> tuple[float, float]:
    """What a tip exerts on the box at rest, inward and upward, N, by virtual work of the fingers."""
    raised = (BOX_MASS + FINGER_MASS) * GRAVITY * FINGER * math.sin(GRIPPED)
    return (CLOSING - raised) / (2 * FINGER * math.cos(GRIPPED)), BOX_MASS * GRAVITY / 2


def landing(result: lw.Result) -> float:
    """When a stone lands that starts like the box at its release, s."""
    row = row_at(result, RELEASE)
    height, speed = result["place.q"][row, 1], result["place.u"][row, 1]
    found: float = RELEASE + (speed + math.sqrt(speed**2 + 2 * GRAVITY * height)) / GRAVITY
    return found


def draw_poses(figure: Figure, result: lw.Result, times: dict[str, float]) -> None:
    """Gripper and box, one pose next to the other."""
    for axes, (name, t) in zip(figure.subplots(1, len(times), sharey=True), times.items(), strict=True):
        row = row_at(result, t)
        x, z, turn = result["place.q"][row] + (0, HEIGHT / 2, 0)
        edges = np.array(((-1, -1), (1, -1), (1, 1), (-1, 1))) * (BOX / 2, HEIGHT / 2)
        along = np.array(((math.cos(turn), math.sin(turn)), (-math.sin(turn), math.cos(turn))))
        axes.fill(*((x, z) + edges @ along).T, color=AMBER)
        axes.axhline(0.0, color=GREY, linewidth=3)
        for side, (sign, color) in SIDES.items():
            pivot, angle = result[f"finger_{side}.r"][row, ::2], result[f"{side}.q"][row]
            tip = pivot + FINGER * np.array((-sign * math.sin(angle), -math.cos(angle)))
            axes.plot(*np.transpose((pivot, tip)), "o-", color=color, linewidth=4, ms=5, mfc="white")
        pivots = [result[f"finger_{side}.r"][row, ::2] for side in SIDES]
        axes.plot(*np.transpose(pivots), color=INK, linewidth=6, zorder=1.5)
        dress(axes, f"{name}, {t:.2f} s", "x [m]", "z [m]" if row == 0 else "", aspect="equal")
        axes.set(xlim=(-0.15, 0.55), ylim=(-0.02, 0.52))


def plot(result: lw.Result, path: Path) -> None:
    """Draw poses, the place of the box, and the forces on it."""
    figure = sheet(13.0, 6.8)
    above, below = np.asarray(figure.subfigures(2, 1, height_ratios=(1.0, 1.5)), object)
    grip, fall = event_of(result, "grip_left").t, event_of(result, "table").t
    times = {
        "open": 0.0,
        "gripped": grip,
        "carried": 0.5 * (LEAVE + ARRIVE),
        "released": RELEASE,
        "on the table": END,
    }
    draw_poses(above, result, times)
    place, inward, upward = below.subplots(1, 3)
    for k, (name, color) in enumerate((("across", GREEN), ("up", AMBER))):
        place.plot(result.t, result["place.q"][:, k], color=color, label=name)
    for side, (sign, color) in SIDES.items():
        force = tip_forces(result)[side]
        inward.plot(result.t, -sign * force[:, 0], color=color, label=f"{side} tip")
        upward.plot(result.t, force[:, 2], color=color, label=f"{side} tip")
    upward.plot(result.t, result["place.f"][:, 2], color=AMBER, label="table")
    for axes, load in zip((inward, upward), statics(), strict=True):
        axes.plot(RELEASE - 0.05, load, "o", color=INK, mfc="white", ms=5, label="statics")
    dress(place, "Where the box is", "time [s]", "displacement [m]")
    dress(inward, "The tips hold the box", "time [s]", "force inward [N]")
    dress(upward, "The tips and the table carry it", "time [s]", "force upward [N]")
    for axes in (place, inward, upward):
        axes.set_xlim(0, END)
        for t, name in ((grip, "pins"), (RELEASE, "release"), (fall, "")):
            mark(axes, t, name, height=0.6)
    for axes, where in ((place, "upper left"), (inward, "lower center"), (upward, "upper center")):
        legend(axes, where)
    save(
        figure, path, "Two geared fingers pin a box, carry it and release it; dashed: pins, release, the first impact."
    )


def main(out: Path = OUT) -> lw.Result:
    """Carry the box over, compare forces with statics and the fall with that of a stone, and draw."""
    inputs = {"across": across, "lift": lift, "left": motor}
    result = lw.simulate(mechanism(), END, inputs=inputs, rtol=1e-9, max_step=0.005)
    print(result)
    grip = event_of(result, "grip_left")
    blow = np.linalg.norm(grip.impulses["grip_left"][3:])
    print(f"gripped at {grip.t:.4f} s: {blow:.4f} N s at each tip, {1e3 * grip.energy_lost:.2f} mJ lost")
    held = row_at(result, RELEASE - 0.01)
    ours = [abs(tip_forces(result)["left"][held, k]) for k in (0, 2)]
    print("a tip holds with {:.3f} N and carries {:.3f} N, ".format(*ours), end="")
    print("by statics {:.3f} N and {:.3f} N".format(*statics()))
    lifted = next(event.t for event in result.events if event.t > LEAVE)
    print(f"off the table at {lifted:.4f} s, back on it at {event_of(result, 'table').t:.6f} s, ", end="")
    print(f"a stone would be at {landing(result):.6f} s")
    x, z, turn = result["place.q"][-1]
    print(f"the box rests {x:.4f} m further, {abs(z):.0e} m above the table, turned by {abs(turn):.0e} rad")
    plot(result, out / "gripper.png")
    save_page(result, out / "gripper.html")
    return result


if __name__ == "__main__":
    main()
