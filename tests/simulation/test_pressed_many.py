"""Dry friction by reactions in every joint of five machines, against maximal coordinates with all multipliers.

Up to eight frictions are found by the method of Newton, and more by loads in turn or GMRES: both are here. At rest the
four-bar's hinges are decided together.
"""

import numpy as np
import pytest
from scipy.optimize import root

import linkwork as lw
from linkwork.errors import SingularityError
from support.cases import four_bar
from support.delta import delta_robot
from support.pressed import Pressed
from support.rubbed import chain, five_bar, rubbed, scissor_lift, suspension


def random_four_bar(rng: np.random.Generator) -> tuple[dict, dict]:
    return {"A": rng.uniform(-3.1, 3.1)}, {"A": 5 * rng.normal()}


def random_five_bar(rng: np.random.Generator) -> tuple[dict, dict]:
    return {"P0": rng.uniform(-0.3, 0.3), "P1": rng.uniform(-0.3, 0.3)}, {"P0": rng.normal(), "P1": rng.normal()}


def random_delta(rng: np.random.Generator) -> tuple[dict, dict]:
    return {f"H{k}": rng.uniform(-0.3, 0.3) for k in (1, 2, 3)}, {f"H{k}": 2 * rng.normal() for k in (1, 2, 3)}


def random_suspension(rng: np.random.Generator) -> tuple[dict, dict]:
    return {"J0": rng.uniform(-0.1, 0.1)}, {"J0": rng.normal()}


def random_lift(rng: np.random.Generator) -> tuple[dict, dict]:
    return {"S": rng.uniform(-0.4, 0.1)}, {"S": rng.normal()}


def random_chain(links: int):
    def state(rng: np.random.Generator) -> tuple[dict, dict]:
        names = [f"P{k}" for k in range(links)]
        return dict(zip(names, rng.normal(size=links) * 0.3, strict=True)), dict(
            zip(names, rng.normal(size=links), strict=True)
        )

    return state


MACHINES = {
    "four_bar": (lambda: four_bar().mechanism, random_four_bar, 0.3, 0.03, 50),
    "five_bar": (five_bar, random_five_bar, 0.3, 0.03, 50),
    "suspension": (suspension, random_suspension, 0.3, 0.02, 50),
    "delta": (delta_robot, random_delta, 0.3, 0.02, 50),
    "lift_of_3": (lambda: scissor_lift(3), random_lift, 0.2, 0.02, 50),
    "lift_of_20": (lambda: scissor_lift(20), random_lift, 0.1, 0.01, 5),
    "chain_of_12": (lambda: chain(12), random_chain(12), 0.4, 0.04, 30),
    "chain_of_100": (lambda: chain(100), random_chain(100), 0.3, 0.02, 2),
}


def compare(name: str, states: int, seed: int, kept: list[int] | None = None) -> None:
    build, random_state, mu, radius, _ = MACHINES[name]
    rng = np.random.default_rng(seed)
    mech = rubbed(build(), mu, radius)
    if kept is not None:
        mech.forces = [mech.forces[k] for k in kept]
    model = lw.compile(mech)
    frictions = [force for force in mech.forces if isinstance(force, lw.Friction)]
    sizes = np.array([mu * (1.0 if force.radius is None else force.radius) for force in frictions])
    for _ in range(states):
        q, u = random_state(rng)
        state = model.assemble(q=q, u=u)
        model.accelerations(state)
        reference = Pressed(mech, state)
        loads, pressing, a = reference.solve(sizes * np.sign([one.slip for one in reference.surfaces]))
        expected = reference.slip_accelerations(a)
        found = []
        for force in frictions:
            joint, _, number = force.joint.partition("[")
            found.append(np.atleast_1d(state[f"{joint}.a"])[int(number[:-1]) - 1 if number else 0])
        assert found == pytest.approx(expected, abs=1e-9 * np.abs(expected).max())
        assert [state[f"{force.name}.pressing"] for force in frictions] == pytest.approx(
            pressing, abs=1e-9 * pressing.max()
        )
        assert [state[f"{force.name}.force"] for force in frictions] == pytest.approx(
            loads, abs=1e-9 * np.abs(loads).max()
        )


@pytest.mark.parametrize("name", MACHINES)
def test_accelerations(name):
    """At random states, accelerations, pressing forces and loads of every friction."""
    compare(name, max(1, MACHINES[name][4] // 10), 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", MACHINES)
def test_accelerations_at_200_states(name):
    compare(name, 200 if MACHINES[name][4] > 5 else 20, 2)


@pytest.mark.parametrize(("name", "kept"), [("four_bar", [3]), ("four_bar", [0, 2]), ("five_bar", [4, 1, 0])])
def test_some_joints_alone(name, kept):
    """Where other joints of the loop have no friction."""
    compare(name, 20, 6, kept)


def test_many_follow_no_earlier_solution():
    """The same bits, whatever was evaluated before."""
    model = lw.compile(rubbed(chain(12), 0.4, 0.04))
    rng = np.random.default_rng(4)
    states = [(rng.normal(size=12) * 0.3, rng.normal(size=12)) for _ in range(6)]
    first = [model.accelerations(q, u) for q, u in states]
    for k in (3, 0, 5, 1, 4, 2):
        assert (model.accelerations(*states[k]) == first[k]).all()


def solutions(reference: Pressed, slope: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """Different loads that satisfy the law, from many starts."""
    found: list[np.ndarray] = []
    size = reference.pressing(np.zeros(len(slope))).max()
    scales = [0.0] + [1.0] * 10 + [10.0] * 10 + [1e3] * 20
    for scale in scales:
        start = scale * size * abs(slope) * rng.normal(size=len(slope))
        one = root(lambda f: f + slope * reference.pressing(f), start, method="hybr", options={"xtol": 1e-12})
        misses = np.abs(one.x + slope * reference.pressing(one.x)).max()
        if misses < 1e-9 * size and all(np.abs(one.x - other).max() > 1e-6 * np.abs(other).max() for other in found):
            found.append(one.x)
    return found


def test_large_gains_of_many():
    """Wide bearings: rows of |R b| reach 3.6, so that loads in turn do not contract, and no acceleration satisfies the
    law, or two do. SciPy seeks all solutions."""
    radius, cases = 0.1, {"one": 0, "none": 0, "two": 0}
    mech, free = rubbed(chain(10), 0.5, radius), lw.compile(chain(10))
    model, rng = lw.compile(mech), np.random.default_rng(5)
    for _ in range(30):
        q, u = rng.normal(size=10) * 0.3, rng.normal(size=10)
        reference, slope = Pressed(mech, free.state(q, u)), 0.5 * radius * np.sign(u)
        try:
            a, case = model.accelerations(q, u), "one"
        except SingularityError as error:
            a, case = None, "two" if "may jam or slide" in str(error) else "none"
        cases[case] += 1
        found = solutions(reference, slope, np.random.default_rng(1))
        assert {"none": len(found) == 0, "one": len(found) == 1, "two": len(found) > 1}[case], (case, len(found))
        if case == "one":
            expected = reference.slip_accelerations(reference.accelerations @ np.concatenate([[1.0], found[0]]))
            assert a == pytest.approx(expected, abs=1e-7 * np.abs(expected).max())
    assert min(cases.values()) > 0


@pytest.mark.parametrize(("mu", "radius", "seed"), [(0.3, 0.02, 6), (0.5, 0.08, 5)])
def test_derivatives_of_many(mu, radius, seed):
    """Linear models by loads in turn, and through GMRES where rows of |R b| reach 1.9, against central differences."""
    mech = rubbed(chain(10), mu, radius)
    model, rng, h = lw.compile(mech), np.random.default_rng(seed), 1e-6
    q, u = rng.normal(size=10) * 0.3, rng.normal(size=10)
    A = lw.linearize(mech, model.state(q, u)).A[10:]
    for k in range(10):
        step = h * np.eye(10)[k]
        by_q = (model.accelerations(q + step, u) - model.accelerations(q - step, u)) / (2 * h)
        by_u = (model.accelerations(q, u + step) - model.accelerations(q, u - step)) / (2 * h)
        assert A[:, k] == pytest.approx(by_q, abs=1e-6 * np.abs(A).max())
        assert A[:, 10 + k] == pytest.approx(by_u, abs=1e-6 * np.abs(A).max())


@pytest.mark.parametrize("pose", [-1.38327453, *np.linspace(-3.0, 3.0, 13)])
def test_four_bar_rests_or_slides_by_wide_bearings(pose):
    """At rest each set of hinges that stick leads to other limits: the decision ends, and obeys the law."""
    mu, radius = 0.388, 0.245
    mech = rubbed(four_bar().mechanism, mu, radius)
    model = lw.compile(mech)
    state = model.assemble(q={"A": pose})
    a = np.array([state[f"{name}.a"] for name in "ABCD"])
    for k, name in enumerate("ABCD"):
        load, limit = state[f"f_{name}_0.force"], state[f"f_{name}_0.limit"]
        assert abs(load) <= limit * (1 + 1e-9)
        if state[f"f_{name}_0.state"] != 2.0:
            assert abs(load) == pytest.approx(limit, rel=1e-10)
            assert load * a[k] <= 1e-9


RUNS = {
    "four_bar": ({"A": -0.7}, {"A": -8.0}, 3.0),
    "five_bar": ({"P0": 0.1}, {"P0": 3.0, "P1": -2.0}, 2.0),
    "suspension": ({}, {"J0": 3.0}, 1.0),
    "delta": ({"H1": 0.1}, {"H1": 2.0, "H2": -1.0}, 1.0),
    "lift_of_3": ({"S": -0.1}, {"S": -0.5}, 0.5),
    "lift_of_20": ({"S": -0.1}, {"S": -0.5}, 0.3),
}


@pytest.mark.parametrize("name", RUNS)
def test_runs(name):
    """The law at every row, slipping and sticking, and the energy with what friction takes, a state of its own."""
    q, u, t_end = RUNS[name]
    build, _, mu, radius, _ = MACHINES[name]
    mech = rubbed(build(), mu, radius)
    frictions = [force for force in mech.forces if isinstance(force, lw.Friction)]
    speeds = {}
    for force in frictions:
        joint, bracket, number = force.joint.partition("[")
        speeds[force.name] = f"{joint}.u{bracket}{number}"
    power = " + ".join(f"-{name}.force*{speed}" for name, speed in speeds.items())
    mech.add_state("lost", power, unit="N.m.rad")
    mech.start(q=q, u=u)
    run = lw.simulate(mech, t_end, rtol=1e-11, atol=1e-13)
    energy = run["energy.kinetic"] + run["energy.potential"] + run["lost"]
    assert np.ptp(energy) <= 1e-8 * run["energy.kinetic"].max()
    assert run["lost"][-1] > 0
    sticking = 0
    for force in frictions:
        load, size, state = (run[f"{force.name}.{what}"] for what in ("force", "pressing", "state"))
        joint, _, number = force.joint.partition("[")
        slip = run[f"{joint}.u"]
        slip = slip[:, int(number[:-1]) - 1] if number else slip
        limit = mu * (1.0 if force.radius is None else force.radius) * size
        slides, at_limit = np.abs(state) == 1.0, np.abs(state) != 2.0
        sticking += (~slides).sum()
        assert load[at_limit] == pytest.approx(-np.sign(state[at_limit]) * limit[at_limit], abs=1e-10 * limit.max())
        assert (state[slides] * slip[slides] >= -1e-9).all()
        assert (np.abs(load[~slides]) <= limit[~slides] + 1e-10 * limit.max()).all()
        assert (np.abs(slip[~slides]) < 1e-9).all()
    assert sticking > 0 or name != "delta"
