"""A violation within the tolerance of an assembly changes accelerations in proportion to it, in every pose."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import linkwork as lw
from support.methods import METHODS, compiled
from support.published import ladder
from support.quarter_car import quarter_car_multilink

VIOLATION = 1e-9  # rad or m
MOST = 100.0  # times the change by rcr
Start = dict[str, object]


def hooke_cell() -> lw.Mechanism:
    """Two legs on Hooke joints and a rung: upright, a row of the cut joint moves nothing."""
    mech, swing = lw.Mechanism("cell"), lw.Revolute((0, 1, 0))
    hooke, top = lw.Universal((1, 0, 0), (0, 1, 0)), lw.Frame((1, 0, 0))
    for leg in ("left", "right"):
        mech.add_body(leg, mass=1, com=(0, 0.02, -0.7), inertia=lw.inertia.box(1, (0.05, 0.05, 1.5)))
    mech.add_body("rung", mass=0.6, com=(0.5, 0, 0), inertia=lw.inertia.box(0.6, (1, 0.05, 0.05)))
    tip = lw.Frame((0, 0, -1.5))
    mech.add_joint("A", hooke, "ground", "left", parent_frame=lw.Frame())
    mech.add_joint("B", swing, "left", "rung", parent_frame=tip)
    mech.add_joint("C", swing, "rung", "right", parent_frame=top, child_frame=tip)
    mech.add_joint("D", hooke, "ground", "right", parent_frame=top, cut=True)
    return mech


def poses_of_the_cell(rng: np.random.Generator, count: int) -> Iterator[Start]:
    """Some anywhere, others at all distances from upright."""
    for k in range(count):
        near = 10 ** rng.uniform(-9, 0) if k % 2 else rng.uniform(0, 1.2)
        swing = rng.uniform(-0.8, 0.8)
        yield {"A": (near * rng.choice([-1, 1]), swing), "B": -swing, "C": swing}


def suspension() -> lw.Mechanism:
    return quarter_car_multilink().mechanism


def poses_of_the_suspension(rng: np.random.Generator, count: int) -> Iterator[Start]:
    for _ in range(count):
        yield {"J0": rng.uniform(-0.2, 0.2)}


def poses_of_a_ladder(rng: np.random.Generator, count: int) -> Iterator[Start]:
    """All legs alike, some near the plane of their hinges."""
    for k in range(count):
        near = 10 ** rng.uniform(-9, 0) if k % 2 else rng.uniform(0, 1.2)
        swing = rng.uniform(-0.8, 0.8)
        yield {f"H{leg}": (near, swing) for leg in range(4)} | {f"near{rung}": -swing for rung in range(3)}


CASES = {"cell": (hooke_cell, poses_of_the_cell), "suspension": (suspension, poses_of_the_suspension)}
CASES |= {"ladder": (lambda: ladder(3).mechanism, poses_of_a_ladder)}
CASES |= {"ladder, cut at the feet": (lambda: ladder(3, deep=True).mechanism, poses_of_a_ladder)}


def change(model: lw.Model, q: np.ndarray, u: np.ndarray, seeds: int = 3) -> float:
    """The largest of accelerations by random violations."""
    closed, most = np.array(model.accelerations(q, u)), 0.0
    for seed in range(seeds):
        off = VIOLATION * np.random.default_rng(seed).normal(size=len(q))
        most = max(most, float(np.abs(np.array(model.accelerations(q + off, u)) - closed).max()))
    return most


@pytest.mark.parametrize("name", CASES)
def test_accelerations_change_in_proportion(name):
    make, poses = CASES[name]
    models = {method: compiled(make(), method) for method in METHODS}
    rng = np.random.default_rng(5)
    for start in poses(rng, 50):
        first = next(iter(start))
        state = models["rcr"].assemble(q=start, u={first: rng.normal(size=np.size(start[first]))})
        found = {method: change(model, np.array(state.q), np.array(state.u)) for method, model in models.items()}
        for method in METHODS:
            assert found[method] < MOST * found["rcr"], (method, start)
