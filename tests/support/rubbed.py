"""Closed machines, and friction by reactions in every joint of them that has one pressing force."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .quarter_car import quarter_car_multilink

SPEEDS = {lw.Revolute: 1, lw.Universal: 2, lw.Prismatic: 1}


def rubbed(mech: lw.Mechanism, mu: float, radius: float, **more: float) -> lw.Mechanism:
    """A copy with friction in each speed of each joint that has one pressing force."""
    mech = mech.copy()
    for joint in list(mech.joints.values()):
        count = SPEEDS.get(type(joint.kind), 0)
        for k in range(count):
            at = joint.name if count == 1 else f"{joint.name}[{k + 1}]"
            size = {} if isinstance(joint.kind, lw.Prismatic) else {"radius": radius}
            mech.add_force(lw.Friction(at, mu=mu, name=f"f_{joint.name}_{k}", **size, **more))
    return mech


def plane_machine(name: str, bars: dict[str, tuple], pins: list[tuple]) -> lw.Mechanism:
    """Bars from one point of the x-z plane to another, 2 kg/m, and pins (name, parent, child, point)."""
    mech = lw.Mechanism(name, gravity=(0, 0, -9.81))
    for bar, (start, end) in bars.items():
        a, b = np.array([start[0], 0, start[1]]), np.array([end[0], 0, end[1]])
        length = float(np.linalg.norm(b - a))
        x = (b - a) / length
        turn = np.stack([x, (0, 1, 0), np.cross(x, (0, 1, 0))], axis=1)
        inertia = lw.inertia.rod(2.0 * length, length) + np.diag([1e-3, 0, 0])
        mech.add_body(bar, mass=2 * length, com=(length / 2, 0, 0), inertia=inertia, origin=tuple(a), rotation=turn)
    for pin, parent, child, point in pins:
        mech.add_joint(pin, lw.Revolute((0, 1, 0)), parent, child, at=(point[0], 0, point[1]))
    return mech


def five_bar() -> lw.Mechanism:
    p = [(0.0, 0.0), (-0.2, 0.5), (0.35, 0.9), (0.9, 0.45), (0.7, 0.0)]
    bars = {f"b{k}": (p[k], p[k + 1]) for k in range(4)}
    names = ["ground", *bars, "ground"]
    return plane_machine("five_bar", bars, [(f"P{k}", names[k], names[k + 1], p[k]) for k in range(5)])


def scissor_lift(stages: int) -> lw.Mechanism:
    """Crossed bars of 1 m; the lower right end is on a slide."""
    w, h = 0.8, 0.6
    at = {(k, side): (w * side, h * k) for k in range(stages + 1) for side in range(2)}
    bars, pins = {}, [("G", "ground", "p0", at[0, 0])]
    for k in range(stages):
        bars[f"p{k}"], bars[f"q{k}"] = (at[k, 0], at[k + 1, 1]), (at[k, 1], at[k + 1, 0])
        pins.append((f"M{k}", f"p{k}", f"q{k}", (w / 2, h * (k + 0.5))))
        if k:
            pins += [(f"L{k}", f"q{k - 1}", f"p{k}", at[k, 0]), (f"R{k}", f"p{k - 1}", f"q{k}", at[k, 1])]
    mech = plane_machine("scissor_lift", bars, pins)
    mech.add_body("slide", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.05), origin=(w, 0, 0))
    mech.add_joint("F", lw.Revolute((0, 1, 0)), "slide", "q0", at=(w, 0, 0))
    mech.add_joint("S", lw.Prismatic((1, 0, 0)), "ground", "slide", at=(w, 0, 0))
    return mech


def chain(links: int) -> lw.Mechanism:
    p = [(float(x), 0.1 * (x % 2)) for x in np.arange(links + 1) * 0.2]
    bars = {f"b{k}": (p[k], p[k + 1]) for k in range(links)}
    names = ["ground", *bars]
    return plane_machine("chain", bars, [(f"P{k}", names[k], names[k + 1], p[k]) for k in range(links)])


def suspension() -> lw.Mechanism:
    """The multilink suspension without its spring: the reference knows none."""
    mech = quarter_car_multilink().mechanism.copy()
    mech.forces = []
    return mech
