"""Accelerations by divide and conquer of thin bodies, and of bodies of very different sizes and masses."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from support.differences import relative
from support.methods import compiled
from support.uneven import uneven

THICKNESS = [0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-4, 1.0]  # inertia about the axis over that across it
AGREEMENT = 1e-9
AMONG_MANY = 1e-7  # rounding of a heavy rod's inertia may exceed the whole inertia of a small body on it
ROUNDING = 1e-16
TIMES_ROUNDING = 100.0  # how much more than by rounding of q accelerations of two methods may differ


def chain_of_rods(thickness: float, seed: int, rods: int = 6, mass: float = 1.0) -> lw.Mechanism:
    rng = np.random.default_rng(seed)
    mech = lw.Mechanism("rods")
    for k in range(rods):
        axis = lw.Revolute(rng.normal(size=3))
        mech.add_body(f"rod{k}", mass=mass, com=(0.5, 0, 0), inertia=mass * np.diag([thickness, 1, 1]) / 12)
        frame = lw.Frame((1 if k else 0, 0, 0))
        mech.add_joint(f"J{k}", axis, f"rod{k - 1}" if k else "ground", f"rod{k}", parent_frame=frame)
        mech.start(q={f"J{k}": 0.5 * rng.normal()}, u={f"J{k}": rng.normal()})
    return mech


@pytest.mark.parametrize("thickness", THICKNESS)
def test_rods_in_a_chain(thickness):
    for seed in range(5):
        mech = chain_of_rods(thickness, seed)
        rcr, dca = (compiled(mech, method) for method in ("rcr", "dca"))
        state = rcr.assemble()
        q, u = np.array(state.q), np.array(state.u)
        assert relative(dca.accelerations(q, u), rcr.accelerations(q, u)) < 1e-12
        assert relative(dca.jacobian(q, u), rcr.jacobian(q, u)) < 1e-11


def test_a_run_takes_no_more_steps():
    mech = chain_of_rods(0.0, 2)
    steps = [len(lw.simulate(compiled(mech, method), 1.0, rtol=1e-8).t) for method in ("rcr", "dca")]
    assert steps[1] == pytest.approx(steps[0], rel=0.1)


def uncertainty(model: lw.Model, q: np.ndarray, u: np.ndarray, found: np.ndarray) -> float:
    """The largest change of accelerations by rounding of the coordinates."""
    most = 0.0
    for seed in range(3):
        off = ROUNDING * np.random.default_rng(seed).normal(size=len(q)) * np.maximum(np.abs(q), 1.0)
        most = max(most, relative(model.accelerations(q + off, u), found))
    return most


def check_uneven(seed: int, agreement: float) -> str:
    """Whether both methods agree as far as rounding determines accelerations; what kind of mechanism it was."""
    scene = uneven(np.random.default_rng(seed))
    rcr, dca = (compiled(scene.mechanism, method) for method in ("rcr", "dca"))
    state = rcr.assemble(q=scene.q, u=scene.u)
    q, u = np.array(state.q), np.array(state.u)
    expected, found = np.array(rcr.accelerations(q, u)), np.array(dca.accelerations(q, u))
    rounding = uncertainty(rcr, q, u, expected)
    if rounding > 1e-3:
        return "without inertia"  # a rod that turns about its axis, or a point about itself: no motion is determined
    assert relative(found, expected) < max(agreement, TIMES_ROUNDING * rounding), seed
    return "determined"


def test_uneven_mechanisms():
    kinds = [check_uneven(seed, AGREEMENT) for seed in range(20)]
    assert kinds.count("determined") > 15


@pytest.mark.slow
def test_many_uneven_mechanisms():
    kinds = [check_uneven(seed, AMONG_MANY) for seed in range(1000, 1100)]
    assert kinds.count("determined") > 80
