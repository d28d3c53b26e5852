"""Gear trains: ratios in stages count as one pair of their product, whatever the inertias and rotors."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from support.decimals import constrained, decimals
from support.minimal import minimal_of

METHODS = ("rcr", "embedding", "multipliers", "dca")
BY_MULTIPLIERS = 1e-8  # they lose as many digits as S has, up to 1e-3, and as loads cancel
Rows = list[dict[int, float]]  # of each coupling the coefficients by shaft


def shafts(inertia: np.ndarray, rows: Rows) -> lw.Mechanism:
    mech = lw.Mechanism("gears", gravity=(0, 0, 0))
    for k, J in enumerate(inertia):
        mech.add_body(f"s{k}", mass=1.0, com=(0, 0, 0), inertia=J * np.eye(3))
        mech.add_joint(f"G{k}", lw.Revolute((0, 0, 1)), "ground", f"s{k}", parent_frame=lw.Frame((k, 0, 0)))
    for i, row in enumerate(rows):
        mech.add_coupling(f"K{i}", {f"G{k}": value for k, value in row.items()})
    return mech


def in_series(ratios: list[float]) -> Rows:
    return [{k: 1.0, k + 1: -ratio} for k, ratio in enumerate(ratios)]


def accelerations(mech: lw.Mechanism, tau: np.ndarray, method: str) -> np.ndarray:
    model = lw.compile(mech, method=method)
    return np.array(model.accelerations(model.assemble(), tau={f"G{k}": value for k, value in enumerate(tau)}))


def within(method: str, rel: float) -> float:
    return BY_MULTIPLIERS if method == "multipliers" else rel


def by_effective_inertia(inertia: np.ndarray, speeds: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """Of one degree of freedom: the speeds of all shafts by that of one."""
    return speeds * (speeds @ tau) / (speeds**2 @ inertia)


SERIES = {
    "eight shafts of 10:1": [10.0] * 7,
    "forty shafts of 2:1": [2.0] * 39,
    "1e12 in twelve stages": [10.0] * 12,
    "1e-12 in twelve stages": [0.1] * 12,
    "1e12 in three stages": [1e4] * 3,
    "down and up again": [100.0] * 3 + [0.01] * 3,
    "up and down again": [0.01] * 3 + [100.0] * 3,
    "a slow shaft between fast ones": [1e9, 1e-9],
    "a fast shaft between slow ones": [1e-9, 1e9],
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", SERIES)
def test_shafts_in_series(name: str, method: str) -> None:
    rng = np.random.default_rng(4)
    ratios = SERIES[name]
    n = len(ratios) + 1
    inertia, tau = rng.uniform(0.05, 0.5, n), rng.standard_normal(n)
    speeds = 1.0 / np.cumprod([1.0, *ratios])
    found = accelerations(shafts(inertia, in_series(ratios)), tau, method)
    assert found == pytest.approx(by_effective_inertia(inertia, speeds, tau), rel=within(method, 1e-13))


@pytest.mark.parametrize("seed", range(12))
def test_random_trees_of_gears(seed: int) -> None:
    """3 to 40 shafts, ratios from 1e-3 to 1e3 that multiply up to 1e12, in any order and with rows of any size."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 41))
    logs, rows = [0.0], []
    for k in range(1, n):
        parent = int(rng.integers(k)) if seed % 2 else k - 1
        step = rng.uniform(-3, 3)
        step = -step if abs(logs[parent] - step) > 12 else step
        logs.append(logs[parent] - step)
        size = 10.0 ** rng.uniform(-3, 3)
        rows.append({parent: size, k: -size * 10.0**step})
    speeds = np.ones(n)
    for k, row in enumerate(rows, 1):
        (parent, of_parent), (_, own) = row.items()
        speeds[k] = -speeds[parent] * of_parent / own
    inertia, tau = rng.uniform(0.05, 0.5, n), rng.standard_normal(n)
    mech = shafts(inertia, [rows[i] for i in rng.permutation(n - 1)])
    expected = by_effective_inertia(inertia, speeds, tau)
    for method in METHODS:
        assert accelerations(mech, tau, method) == pytest.approx(expected, rel=within(method, 1e-12))


# Chains and trees with loads on some shafts, whose multipliers lost up to all digits: masses weight their equations.
UNEVEN = (20, 25, 44, 45, 59, 66, 87, 1004, 1685, 3128, 3134)


@pytest.mark.parametrize("seed", UNEVEN)
def test_uneven_inertias(seed: int) -> None:
    """3 to 12 shafts with inertias over 1e6, against one equivalent shaft in decimals."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 13))
    inertia = 10.0 ** rng.uniform(-3, 3, n)
    steps = rng.uniform(-3, 3, n - 1)
    size = [10.0 ** rng.uniform(-2, 2) if seed % 2 else 1.0 for _ in range(n - 1)]
    parents = [int(rng.integers(k)) if seed % 4 >= 2 else k - 1 for k in range(1, n)]
    ratios = [10.0**step * (1 if rng.random() < 0.5 else -1) for step in steps]
    tau = np.zeros(n)
    loaded = rng.choice(n, size=int(rng.integers(1, n + 1)), replace=False)
    tau[loaded] = rng.standard_normal(len(loaded)) * 10.0 ** rng.uniform(-2, 2, len(loaded))
    rows: Rows = [{p: c, k: -c * ratio} for k, (p, c, ratio) in enumerate(zip(parents, size, ratios, strict=True), 1)]
    speeds = [decimals([1.0])[0]]
    for k, row in enumerate(rows, 1):
        of_parent, own = decimals(row.values())
        speeds.append(-speeds[parents[k - 1]] * of_parent / own)
    load = sum(s * t for s, t in zip(speeds, decimals(tau), strict=True))
    effective = sum(s * s * J for s, J in zip(speeds, decimals(inertia), strict=True))
    mech = shafts(inertia, [rows[i] for i in rng.permutation(n - 1)])
    for method in METHODS:
        expected = [float(s * load / effective) for s in speeds]
        assert accelerations(mech, tau, method) == pytest.approx(expected, rel=within(method, 1e-11), abs=0.0)


ROTORS = (15, 75, 87, 123, 144, 153, 159, 180, 225)


@pytest.mark.parametrize("seed", ROTORS)
def test_heavy_rotors_behind_gears(seed: int) -> None:
    """Rotors up to 1e15 of their bodies hide no row of a coupling, of coaxial shafts on each other neither."""
    rng = np.random.default_rng(seed)
    n, on_each_other, top = int(rng.integers(2, 8)), bool(seed % 2), 15 if seed % 3 == 0 else 6
    inertia = 10.0 ** rng.uniform(-3, 3, n)
    rotors = np.where(rng.random(n) < 0.6, 10.0 ** rng.uniform(-6, top, n), 0.0)
    most, rows = int(rng.integers(1, n)), []
    for k in range(1, n):
        if len(rows) < most and rng.random() < 0.8:
            rows.append({int(rng.integers(k)): 1.0, k: -float(10.0 ** rng.uniform(-3, 3))})
    tau = rng.standard_normal(n) * 10.0 ** rng.uniform(-2, 2, n)
    mech = lw.Mechanism("gears", gravity=(0, 0, 0))
    for k, (J, rotor) in enumerate(zip(inertia, rotors, strict=True)):
        mech.add_body(f"s{k}", mass=1.0, com=(0, 0, 0), inertia=J * np.eye(3))
        parent = f"s{k - 1}" if on_each_other and k else "ground"
        mech.add_joint(f"G{k}", lw.Revolute((0, 0, 1)), parent, f"s{k}", reflected_inertia=float(rotor))
    for i, row in enumerate(rows):
        mech.add_coupling(f"K{i}", {f"G{k}": value for k, value in row.items()})
    J, rotor = decimals(inertia), decimals(rotors)
    M = [[sum(J[max(i, j) :]) if on_each_other else J[i] * (i == j) for j in range(n)] for i in range(n)]
    for i in range(n):
        M[i][i] += rotor[i]
    C = [decimals([row.get(k, 0.0) for k in range(n)]) for row in rows]
    expected = np.array(constrained(M, C, decimals(tau), decimals(np.zeros(len(rows)))))
    for method in METHODS:
        found = accelerations(mech, tau, method)
        assert found == pytest.approx(expected, rel=1e-8, abs=1e-11 * np.abs(expected).max())


PLANETARY = {
    "sun, carrier and ring, then a slow pair": [{0: 1.0, 1: -1e4, 2: -3.0}, {2: 1e5, 3: 1.0}],
    "two differentials": [{0: 1.0, 1: 1.0, 2: -2e6}, {2: 1e4, 3: -1.0, 4: 3.0}, {4: 1e3, 5: -1.0}],
    "a slow carrier of seven": [{0: -1e7, k: 1.0} for k in range(1, 8)],
    "a fast sun of seven": [{0: 1.0, k: -1e7} for k in range(1, 8)],
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", PLANETARY)
def test_branches_and_planetary_gears(name: str, method: str) -> None:
    rng = np.random.default_rng(7)
    rows = PLANETARY[name]
    n = 1 + max(k for row in rows for k in row)
    inertia, tau = rng.uniform(0.05, 0.5, n), rng.standard_normal(n)
    M = [decimals(row) for row in np.diag(inertia)]
    C = [decimals([row.get(k, 0.0) for k in range(n)]) for row in rows]
    expected = np.array(constrained(M, C, decimals(tau), decimals(np.zeros(len(rows)))))
    assert accelerations(shafts(inertia, rows), tau, method) == pytest.approx(expected, rel=within(method, 1e-13))


CRANKS = ("0J0", "1J0")


def four_bars(reflected: float = 0.0) -> lw.Mechanism:
    """Two four-bars beside each other, the first crank with a rotor."""
    mech = lw.Mechanism("bars")
    for i, x in enumerate((0.0, 5.0)):
        points = np.array([(x, 0, 0), (x + 0.3, 0, 1), (x + 2, 0, 1.5), (x + 2.5, 0, 0)])
        bodies = ["ground", f"{i}b0", f"{i}b1", f"{i}b2", "ground"]
        for k in range(3):
            com = (points[k] + points[k + 1]) / 2
            mech.add_body(f"{i}b{k}", mass=1.0 + k, com=com, inertia=0.1 * np.eye(3))
        for k in range(4):
            rotor = reflected if f"{i}J{k}" == CRANKS[0] else 0.0
            mech.add_joint(
                f"{i}J{k}", lw.Revolute((0, 1, 0)), bodies[k], bodies[k + 1], at=points[k], reflected_inertia=rotor
            )
    return mech


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("stages", "ratio"), [(9, 0.1), (9, 10.0), (4, 1000.0), (13, 0.1)])
def test_a_train_between_loops_is_one_pair_with_a_rotor(stages: int, ratio: float, method: str) -> None:
    J = 0.1
    train, pair = four_bars(), four_bars(reflected=J * sum(ratio ** (-2.0 * k) for k in range(1, stages)))
    names = [CRANKS[0], *(f"G{k}" for k in range(1, stages)), CRANKS[1]]
    for name in names[1:-1]:
        train.add_body(name, mass=1.0, com=(0, 0, 0), inertia=J * np.eye(3))
        train.add_joint(name, lw.Revolute((0, 1, 0)), "ground", name, at=(0, 0, 0))
    for k in range(stages):
        train.add_coupling(f"K{k}", {names[k]: 1.0, names[k + 1]: -ratio})
    pair.add_coupling("K", {CRANKS[0]: 1.0, CRANKS[1]: -(ratio**stages)})
    found = []
    for mech, by in ((train, method), (pair, "rcr")):
        model = lw.compile(mech, method=by)
        state = model.assemble(u={CRANKS[1] if ratio < 1.0 else CRANKS[0]: 0.1})
        found.append(model.by_joint(model.accelerations(state)))
    for name in pair.joints:
        assert found[0][name] == pytest.approx(found[1][name], rel=1e-9)


def test_start_values_of_a_train_and_its_motion() -> None:
    """One degree of freedom: all follow from the shaft that is given, and turn evenly without loads."""
    ratios = np.full(9, 10.0)
    speeds = 1.0 / np.cumprod([1.0, *ratios])
    mech = shafts(np.full(10, 0.1), in_series(list(ratios)))
    model = lw.compile(mech)
    for given in (0, 4, 9):
        state = model.assemble(q={f"G{given}": 2.0 * speeds[given]}, u={f"G{given}": 3.0 * speeds[given]})
        assert state.q == pytest.approx(2.0 * speeds, rel=1e-9)
        assert state.u == pytest.approx(3.0 * speeds, rel=1e-9)
        assert not state.changed_start_values
    for options in ({}, {"solver": "ida", "formulation": "ggl"}):
        if options:
            pytest.importorskip("sksundae")
        result = lw.simulate(model, t_end=2.0, state=state, rtol=1e-8, **options)
        assert [result[f"G{k}.q"][-1] for k in range(10)] == pytest.approx(8.0 * speeds, rel=1e-6)
    block, minimal, _, _ = minimal_of(model, state, ["G0"])
    minimal.put(np.array([0.5, -1.0]))
    assert block["q"] == pytest.approx(0.5 * speeds, rel=1e-12)
    assert block["u"] == pytest.approx(-speeds, rel=1e-12)


LOOPS = {
    "a stage given twice": ({0: 1.0, 7: -1e7}, "repeat or contradict"),
    "a stage that contradicts": ({0: 1.0, 7: -1.01e7}, "can move"),
    "a stage given again": ({3: 2.0, 4: -20.0}, "repeat or contradict"),
}


@pytest.mark.parametrize("name", LOOPS)
def test_rank_that_is_lost_is_found(name: str) -> None:
    row, said = LOOPS[name]
    with pytest.raises(lw.AssemblyError, match=said):
        lw.compile(shafts(np.full(8, 0.1), [*in_series([10.0] * 7), row])).assemble()
