"""Systems that are chains of bodies on spherical joints."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .poses import Array, random_rotation


def random_inertia(rng: np.random.Generator) -> Array:
    """Of a box of three edge lengths, in axes anywhere."""
    turn = random_rotation(rng)
    sides = rng.uniform(0.2, 1.0, 3)
    return np.asarray(turn @ np.diag(sides.sum() - sides) @ turn.T)


def hung(rng: np.random.Generator, n: int, reverse: bool = False) -> lw.Model:
    """A chain with joint frames anywhere, its bodies and joints added in any order; some joints go inwards."""
    mech = lw.Mechanism("chain", gravity=rng.normal(size=3) * 5)
    for i in rng.permutation(n):
        mech.add_body(f"b{i}", mass=rng.uniform(0.5, 3), com=rng.normal(size=3), inertia=random_inertia(rng))
    for i in rng.permutation(n):
        ends = ["ground" if i == 0 else f"b{i - 1}", f"b{i}"]
        if reverse and rng.random() < 0.5:
            ends.reverse()
        frames = {side: lw.Frame(rng.normal(size=3), random_rotation(rng)) for side in ("parent_frame", "child_frame")}
        mech.add_joint(f"j{i}", lw.Spherical(), *ends, **frames)
    return lw.compile(mech)


def random_state(rng: np.random.Generator, system: lw.Model) -> tuple[Array, Array]:
    """Coordinates and speeds of such a chain."""
    q = rng.normal(size=(system.numbering.nq // 4, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    return q.ravel(), rng.normal(size=system.numbering.nu) * 3


def row_of_rods(n: int) -> lw.Mechanism:
    """Rods `rod1` .. on balls `S1` .., stretched out level and at rest."""
    mech = lw.Mechanism("row", gravity=(0, 0, -9.81))
    before = "ground"
    for k in range(1, n + 1):
        inertia = lw.inertia.rod(1.0, 0.5) + 0.01 * np.eye(3)
        mech.add_body(f"rod{k}", mass=1.0, com=(0.25, 0, 0), inertia=inertia, origin=(0.5 * (k - 1), 0, 0))
        mech.add_joint(f"S{k}", lw.Spherical(), before, f"rod{k}", at=(0.5 * (k - 1), 0, 0))
        before = f"rod{k}"
    return mech
