"""Series of loops that share joints with their neighbours, of any length, each with a closed pose by construction."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

import linkwork as lw

from .poses import Array

X, Y, Z = np.eye(3)
ROD = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": lw.inertia.rod(1.0, 1.0, axis="x")}
Series = tuple[lw.Mechanism, dict[str, Array]]


def ladder(loops: int, kind: str) -> Series:
    """Legs on universal joints, rungs between their tips; loops are cut at balls or at the universal joints."""
    mech, q = lw.Mechanism("ladder"), {}
    swing, tilt = 0.4, -0.3
    for k in range(loops + 1):
        mech.add_body(f"leg{k}", **ROD)
        foot = lw.Frame((float(k), 0, 0))
        cut = kind == "universal" and k > 0
        mech.add_joint(f"H{k}", lw.Universal(X, -Y), "ground", f"leg{k}", parent_frame=foot, cut=cut)
        q[f"H{k}"] = np.array([swing, tilt])
    tip, end = lw.Frame((0, 0, -1.0)), lw.Frame((1.0, 0, 0))
    far = lw.Spherical() if kind == "ball" else lw.Revolute(-Y)
    for k in range(loops):
        mech.add_body(f"rung{k}", **ROD)
        mech.add_joint(f"near{k}", lw.Revolute(-Y), f"leg{k}", f"rung{k}", parent_frame=tip)
        q[f"near{k}"] = np.array(-tilt)
        ends = {"parent_frame": end, "child_frame": tip}
        mech.add_joint(f"far{k}", far, f"rung{k}", f"leg{k + 1}", cut=kind != "universal", **ends)
        if kind == "universal":
            q[f"far{k}"] = np.array(tilt)
    return mech, q


def row_of_four_bars(loops: int) -> Series:
    """Planar four-bars of different sizes on the ground; neighbours share a leg."""
    rng, mech, q = np.random.default_rng(loops), lw.Mechanism("row"), {}
    feet = np.c_[1.2 * np.arange(loops + 1), np.zeros(loops + 1)] + rng.uniform(-0.1, 0.1, (loops + 1, 2))
    angles, lengths = rng.uniform(1.2, 1.9, loops + 1), rng.uniform(0.8, 1.2, loops + 1)
    tips = feet + lengths[:, None] * np.c_[np.cos(angles), np.sin(angles)]
    for k, angle in enumerate(angles):
        mech.add_body(f"leg{k}", **ROD)
        mech.add_joint(f"A{k}", lw.Revolute(Z), "ground", f"leg{k}", parent_frame=_at(*feet[k]), child_frame=_at())
        q[f"A{k}"] = np.array(angle)
    for k in range(loops):
        along = tips[k + 1] - tips[k]
        mech.add_body(f"top{k}", **ROD)
        mech.add_joint(f"B{k}", lw.Revolute(Z), f"leg{k}", f"top{k}", parent_frame=_at(lengths[k]))
        q[f"B{k}"] = np.arctan2(along[1], along[0]) - angles[k]
        ends = {"parent_frame": _at(np.linalg.norm(along)), "child_frame": _at(lengths[k + 1])}
        mech.add_joint(f"C{k}", lw.Revolute(Z), f"top{k}", f"leg{k + 1}", cut=True, **ends)
    return mech, q


def chain_of_four_bars(loops: int, spatial: bool) -> Series:
    """A chain of bars, and a rod from each bar to the next but one: neighbouring loops share a joint of the chain.

    Rods turn on hinges, or in space on a universal joint and a ball.
    """
    rng, mech = np.random.default_rng(loops), lw.Mechanism("chain")
    angles, points, q = [0.3], [np.zeros(2)], {"J0": np.array(0.3)}
    mech.add_body("bar0", **ROD)
    mech.add_joint("J0", lw.Revolute(Z), "ground", "bar0", parent_frame=_at(), child_frame=_at())
    for k in range(1, loops + 1):
        side = (-1.0) ** k
        angle = side * (0.5 + rng.uniform(-0.02, 0.02))
        mech.add_body(f"bar{k}", **ROD)
        mech.add_joint(f"J{k}", lw.Revolute(Z), f"bar{k - 1}", f"bar{k}", parent_frame=_at(1.0), child_frame=_at())
        q[f"J{k}"] = np.array(angle - angles[-1])
        points.append(points[-1] + _turn(angles[-1]) @ X[:2])
        angles.append(angle)
        base, origin, turned = ("ground", points[0], 0.0) if k == 1 else (f"bar{k - 2}", points[k - 2], angles[k - 2])
        foot = np.array([0.3, -0.6]) if k == 1 else np.array([0.5, 0.6 * side])
        end, height = np.array([0.5, -0.5 * side]), rng.uniform(0.1, 0.3) if spatial else 0.0
        along = np.array([*(points[k] + _turn(angle) @ end - origin - _turn(turned) @ foot), height])
        length, heading = np.linalg.norm(along), np.arctan2(along[1], along[0]) - turned
        kinds = (lw.Universal(Z, Y), lw.Spherical()) if spatial else (lw.Revolute(Z), lw.Revolute(Z))
        mech.add_body(f"rod{k}", **ROD)
        mech.add_joint(f"P{k}", kinds[0], base, f"rod{k}", parent_frame=_at(*foot), child_frame=_at())
        q[f"P{k}"] = np.array([heading, -np.arcsin(height / length)] if spatial else heading)
        ends = {"parent_frame": _at(length), "child_frame": _at(*end, height)}
        mech.add_joint(f"E{k}", kinds[1], f"rod{k}", f"bar{k}", cut=True, **ends)
    return mech, q


SERIES: Mapping[str, Callable[[int], Series]] = {
    "ladder, balls": lambda loops: ladder(loops, "ball"),
    "ladder, hinge cuts": lambda loops: ladder(loops, "hinge"),
    "ladder, universal cuts": lambda loops: ladder(loops, "universal"),
    "row of four-bars": row_of_four_bars,
    "chain of planar four-bars": lambda loops: chain_of_four_bars(loops, spatial=False),
    "chain of spatial four-bars": lambda loops: chain_of_four_bars(loops, spatial=True),
}


def rough(q: Mapping[str, Array], size: float) -> dict[str, Array]:
    """Every coordinate off by up to `size`, but those of the first joint, which drive the others."""
    rng = np.random.default_rng(1)
    guess = {name: value + rng.uniform(-size, size, np.shape(value)) for name, value in q.items()}
    first = next(iter(q))
    return guess | {first: q[first]}


def _at(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> lw.Frame:
    return lw.Frame((float(x), float(y), float(z)))


def _turn(angle: float) -> Array:
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
