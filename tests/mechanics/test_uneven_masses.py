"""Masses that differ by up to 1e12: accelerations keep their digits, by every method that solves cluster by cluster."""

from __future__ import annotations

import json
import pathlib
from decimal import Decimal

import numpy as np
import pytest

import linkwork as lw
from support.decimals import constrained, cos_sin, decimals

METHODS = ("auto", "rcr", "embedding", "dca")
RECORDS = json.loads((pathlib.Path(__file__).parents[1] / "data" / "uneven_masses.json").read_text())
GRAVITY = 9.81


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["mechanism"]["name"])
def test_spatial_mechanisms_of_record(record: dict, method: str) -> None:
    """Accelerations of 256 bits: light bodies between heavy ones and the ground, with a loop."""
    model = lw.compile(lw.Mechanism.from_dict(record["mechanism"]), method=method)
    found = model.by_joint(model.accelerations(model.assemble(), tau=record["tau"]))
    tree = {name: value for name, value in record["acc"].items() if name.startswith("T")}
    size = max(np.abs(value).max() for value in tree.values())
    for name, value in tree.items():
        assert np.asarray(found[name]) == pytest.approx(np.asarray(value), abs=1e-13 * size)


class Chain:
    """Bars in a plane, one behind the other; their equations in absolute angles, in decimals."""

    def __init__(self, masses: np.ndarray, rng: np.random.Generator) -> None:
        n = masses.size
        self.masses, self.lengths = masses, rng.uniform(0.5, 1.0, n)
        self.coms, self.gyration = self.lengths * rng.uniform(0.2, 0.8, n), rng.uniform(0.02, 0.1, n)

    def mechanism(self, end: np.ndarray | None = None) -> lw.Mechanism:
        """With its end on the ground at a point, or free."""
        mech = lw.Mechanism("chain", gravity=(0, -GRAVITY, 0))
        for k, mass in enumerate(self.masses):
            mech.add_body(f"b{k}", mass=mass, com=(self.coms[k], 0, 0), inertia=mass * self.gyration[k] * np.eye(3))
            parent, at = (f"b{k - 1}", lw.Frame((self.lengths[k - 1], 0, 0))) if k else ("ground", lw.Frame())
            mech.add_joint(f"J{k}", lw.Revolute((0, 0, 1)), parent, f"b{k}", parent_frame=at)
        if end is not None:
            frames = {"parent_frame": lw.Frame((self.lengths[-1], 0, 0)), "child_frame": lw.Frame(tuple(end))}
            mech.add_joint("C", lw.Revolute((0, 0, 1)), f"b{k}", "ground", cut=True, **frames)
        return mech

    def accelerations(self, q: np.ndarray, u: np.ndarray, tau: np.ndarray, closed: bool) -> np.ndarray:
        """Of the joints, at relative angles, speeds and torques."""
        n = self.masses.size
        angle, speed = ([sum(x[: k + 1], Decimal(0)) for k in range(n)] for x in (decimals(q), decimals(u)))
        torque = [a - b for a, b in zip(decimals(tau), [*decimals(tau[1:]), Decimal(0)], strict=True)]
        m, length, com = decimals(self.masses), decimals(self.lengths), decimals(self.coms)
        arm = [[length[j] if j < k else com[j] if j == k else Decimal(0) for j in range(n)] for k in range(n)]
        c, s = zip(*(cos_sin(a) for a in angle), strict=True)
        A = [[sum((m[k] * arm[k][i] * arm[k][j] for k in range(n)), Decimal(0)) for j in range(n)] for i in range(n)]
        M = [[A[i][j] * (c[i] * c[j] + s[i] * s[j]) for j in range(n)] for i in range(n)]
        load = []
        for i in range(n):
            inertia = Decimal(float(self.masses[i] * self.gyration[i]))
            M[i][i] += inertia
            bias = sum((A[i][j] * (s[i] * c[j] - c[i] * s[j]) * speed[j] ** 2 for j in range(n)), Decimal(0))
            weight = sum((m[k] * arm[k][i] for k in range(n)), Decimal(0)) * Decimal(GRAVITY) * c[i]
            load.append(torque[i] - bias - weight)
        rows, right = [], []
        if closed:
            rows = [[-length[j] * s[j] for j in range(n)], [length[j] * c[j] for j in range(n)]]
            right = [sum((length[j] * speed[j] ** 2 * e[j] for j in range(n)), Decimal(0)) for e in (c, s)]
        return np.diff(constrained(M, rows, load, right), prepend=0.0)


@pytest.mark.filterwarnings("ignore::linkwork.StartValueWarning")
@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
@pytest.mark.parametrize("span", [1e6, 1e12])
def test_chains_of_bars_in_random_order(span: float, closed: bool) -> None:
    errors: dict[str, list[float]] = {method: [] for method in METHODS}
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 10))
        chain = Chain(span ** rng.uniform(-0.5, 0.5, n), rng)
        end = np.array([0.3 * chain.lengths.sum(), 0.2, 0.0]) if closed else None
        tau, start = rng.standard_normal(n), {f"J{k}": value for k, value in enumerate(rng.uniform(-1.0, 1.0, n))}
        for method in METHODS:
            model = lw.compile(chain.mechanism(end), method=method)
            state = model.assemble(q=start, u={"J0": 1.0, "J1": -0.5})
            found = model.accelerations(state, tau={f"J{k}": value for k, value in enumerate(tau)})[:n]
            expected = chain.accelerations(state.q[:n], state.u[:n], tau, closed)
            errors[method].append(np.abs(found - expected).max() / np.abs(expected).max())
    for method in METHODS:
        assert np.median(errors[method]) < 1e-14
        assert max(errors[method]) < 1e-11, method


def test_derivatives_and_motion_keep_them() -> None:
    """By complex steps against differences; energy over time."""
    rng = np.random.default_rng(3)
    chain = Chain(np.array([1e-4, 1e-3, 1e5, 1e-4, 1e3]), rng)
    model = lw.compile(chain.mechanism())
    state = model.assemble(q={f"J{k}": 0.3 * (k + 1) for k in range(5)})
    found = model.linearize(state)
    step = 1e-6
    for k in range(5):
        q = [np.array(state.q) + sign * step * np.eye(5)[k] for sign in (1.0, -1.0)]
        slope = (np.array(model.accelerations(q[0], state.u)) - np.array(model.accelerations(q[1], state.u))) / (
            2 * step
        )
        assert np.asarray(found.A)[5:, k] == pytest.approx(slope, abs=1e-6 * np.abs(found.A).max())
    result = lw.simulate(model, t_end=0.5, state=state, rtol=1e-10)
    energy = result["energy.kinetic"] + result["energy.potential"]
    assert np.ptp(energy) < 1e-7 * np.ptp(result["energy.kinetic"])
