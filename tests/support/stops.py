"""Mechanisms with stops: in most of them several are touched at once."""

from __future__ import annotations

import numpy as np

import linkwork as lw


def hanging_chain(links: int, restitution: float, low: float, latch: float | None = None) -> lw.Mechanism:
    """Links under gravity with a lower bound in each hinge; `latch`: the last hinge is locked from then on."""
    mech = lw.Mechanism("chain", gravity=(0, -9.81, 0))
    parent = "ground"
    for i in range(links):
        mech.add_body(f"b{i}", mass=1.0, com=(0.25, 0, 0), inertia=lw.inertia.box(1.0, (0.5, 0.05, 0.05)))
        frame = lw.Frame((0.5 if i else 0, 0, 0))
        mech.add_joint(f"J{i}", lw.Revolute((0, 0, 1)), parent, f"b{i}", parent_frame=frame, child_frame=lw.Frame())
        mech.add_transition(f"s{i}", lw.Stop(f"J{i}", lower=low, restitution=restitution))
        parent = f"b{i}"
    if latch is not None:
        mech.add_transition("latch", lw.Lock(f"J{links - 1}"), when=lw.Time(latch))
    return mech


def restless_ball(height: float) -> lw.Mechanism:
    """It never comes to rest: its bounces of this height lose nothing."""
    mech = lw.Mechanism("ball")
    mech.add_body("ball", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("fall", lw.Prismatic((0, 0, 1)), "ground", "ball", at=(0, 0, 0))
    mech.add_transition("floor", lw.Stop("fall", lower=-height, restitution=1.0))
    return mech


def _bar(mech: lw.Mechanism, name: str, mass: float, start: tuple, end: tuple) -> None:
    """A rod between two points of the reference pose; its frame is at the first."""
    along = np.subtract(end, start)
    length = float(np.hypot(*along))
    direction = (along[0] / length, along[1] / length, 0.0)
    across = (-direction[1], direction[0], 0.0)
    rotation = np.transpose([direction, across, (0.0, 0.0, 1.0)])
    inertia = lw.inertia.box(mass, (length, 0.01, 0.01))
    mech.add_body(
        name, mass=mass, com=(length / 2, 0, 0), inertia=inertia, origin=(*start, 0.0), rotation=rotation.tolist()
    )


def _limit(mech: lw.Mechanism, joint: str, width: float, restitution: float | None) -> None:
    """A stop at both bounds; none without a restitution."""
    if restitution is not None:
        mech.add_transition(f"{joint}_limit", lw.Stop(joint, lower=-width, upper=width, restitution=restitution))


def gripper(restitution: float | None, width: float = 0.3, latch: float | None = None) -> lw.Mechanism:
    """Two fingers, each a four-bar linkage, coupled as by a gear; a stop in each of the eight hinges of the tree."""
    mech = lw.Mechanism("gripper", gravity=(0.5, -9.81, 0))
    for name, s in (("left", -1.0), ("right", 1.0)):
        base, driver, spring, tip = (0.03 * s, 0.0), (0.06 * s, 0.04), (0.01 * s, 0.02), (0.05 * s, 0.07)
        pad = (0.045 * s, 0.11)
        _bar(mech, f"{name}_driver", 0.05, base, driver)
        _bar(mech, f"{name}_coupler", 0.02, driver, tip)
        _bar(mech, f"{name}_link", 0.03, spring, tip)
        _bar(mech, f"{name}_finger", 0.04, tip, pad)
        hinges = (
            ("driver", "ground", "driver", base),
            ("coupler", f"{name}_driver", "coupler", driver),
            ("link", "ground", "link", spring),
            ("finger", f"{name}_link", "finger", tip),
        )
        for joint, parent, child, at in hinges:
            mech.add_joint(f"{name}_{joint}", lw.Revolute((0, 0, 1)), parent, f"{name}_{child}", at=(*at, 0.0))
        mech.add_joint(
            f"{name}_tip", lw.Revolute((0, 0, 1)), f"{name}_link", f"{name}_coupler", at=(*tip, 0.0), cut=True
        )
        for joint, _, _, _ in hinges:
            _limit(mech, f"{name}_{joint}", width, restitution)
    mech.add_coupling("gear", {"left_driver": 1.0, "right_driver": 1.0})
    if latch is not None:
        mech.add_transition("latch", lw.Lock("right_finger"), when=lw.Time(latch))
    return mech


def biped(restitution: float | None, width: float = 0.3) -> lw.Mechanism:
    """A pelvis with two legs that hang; each has three hip hinges, a knee and an ankle, and two four-bars: 20 stops."""
    mech = lw.Mechanism("biped", gravity=(0, 0, -9.81))
    box = lw.inertia.box
    for side, s in (("left", 1.0), ("right", -1.0)):
        y = 0.1 * s
        parts = (
            # joint, axis, parent, at, mass, com from there
            ("roll", (1, 0, 0), "ground", (0, y, 0.0), 1.8, (0, 0, -0.03)),
            ("yaw", (0, 0, 1), "roll", (0, y, -0.06), 1.2, (0, 0, -0.03)),
            ("pitch", (0, 1, 0), "yaw", (0, y, -0.09), 5.5, (0.06, 0, -0.18)),
            ("knee", (0, 1, 0), "pitch", (0.05, y, -0.45), 0.8, (0.02, 0, -0.05)),
            ("shin", (0, 1, 0), "knee", (0.12, y, -0.50), 0.6, (-0.1, 0, -0.15)),
            ("crank", (0, 1, 0), "shin", (-0.08, y, -0.80), 0.1, (0.03, 0, 0.01)),
            ("rod", (0, 1, 0), "crank", (-0.02, y, -0.78), 0.15, (0.05, 0, -0.08)),
            ("foot", (0, 1, 0), "shin", (-0.10, y, -0.95), 0.2, (0.06, 0, -0.01)),
            ("heel", (0, 1, 0), "shin", (-0.05, y, -0.70), 0.1, (-0.03, 0, 0.05)),
            ("strut", (0, 1, 0), "pitch", (-0.04, y, -0.12), 0.2, (-0.02, 0, -0.25)),
        )
        for name, axis, parent, at, mass, com in parts:
            inertia = box(mass, (0.05 + abs(2 * com[0]), 0.05, 0.05 + abs(2 * com[2])))
            mech.add_body(f"{side}_{name}", mass=mass, com=com, inertia=inertia, origin=at)
            inner = parent if parent == "ground" else f"{side}_{parent}"
            mech.add_joint(f"{side}_{name}_hinge", lw.Revolute(axis), inner, f"{side}_{name}", at=at)
            _limit(mech, f"{side}_{name}_hinge", width, restitution)
        for name, first, second, at in (
            ("toe", "rod", "foot", (0.06, y, -0.94)),
            ("achilles", "strut", "heel", (-0.08, y, -0.60)),
        ):
            first, second = f"{side}_{first}", f"{side}_{second}"
            mech.add_joint(f"{side}_{name}", lw.Spherical(), first, second, at=at, cut=True)
    return mech
