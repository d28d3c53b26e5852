"""Frictions that hold more speeds than can move: they rest while loads within their limits hold all of them.

The reference takes the accelerations a of all joints, affine in their loads, from a mechanism without friction:
a = a_0 + W f. Loads with a = 0 are sought by SciPy's linear programmes.
"""

import numpy as np
import pytest
from scipy.optimize import linprog

import linkwork as lw
from support.cases import five_bar_with_three_legs, four_bar

LINKAGES = {"four_bar": four_bar, "three_legs": five_bar_with_three_legs}


def loaded(name: str) -> lw.Mechanism:
    mech = LINKAGES[name]().mechanism
    for joint in mech.joints:
        mech.add_force(lw.Force(joint, "T", inputs={"T": "N.m"}, name=f"on_{joint}"))
    return mech


def affine(mech: lw.Mechanism, state: lw.State) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations of all joints at a state without loads, and by the load of each joint."""
    model, names = lw.compile(mech), list(mech.joints)

    def accelerations(**given: float) -> np.ndarray:
        tau = {f"on_{joint}.T": load for joint, load in given.items()}
        return np.array([model.value(f"{joint}.a", state.q, state.u, tau=tau) for joint in names])

    a_0 = accelerations()
    return a_0, np.column_stack([accelerations(**{joint: 1.0}) - a_0 for joint in names])


def least_use(a_0: np.ndarray, W: np.ndarray, limits: np.ndarray) -> float:
    """The least part of all limits with which loads hold every speed."""
    n, scale = len(limits), np.abs(a_0).max()
    rows = np.linalg.svd(W)[0][:, : np.linalg.matrix_rank(W, tol=1e-9 * np.abs(W).max())].T
    bounds = np.vstack([np.column_stack([np.eye(n), -limits]), np.column_stack([-np.eye(n), -limits])])
    found = linprog(
        np.eye(n + 1)[n], bounds, np.zeros(2 * n), np.column_stack([rows @ W, np.zeros(len(rows))]) / scale,
        -rows @ a_0 / scale, bounds=[(None, None)] * n + [(0, None)],
    )  # fmt: skip
    assert found.success, found.message
    return found.x[n]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("name", LINKAGES)
def test_a_loop_rests_while_loads_within_the_limits_hold_it(name, seed):
    """Static friction above Coulomb's: where others hold a joint it keeps its static load."""
    rng = np.random.default_rng([seed, len(name)])
    mech = loaded(name)
    free = lw.compile(mech)
    at = rng.uniform(-3, 3) if name == "four_bar" else LINKAGES[name]().q["A"] + rng.uniform(-0.2, 0.2)
    state = free.assemble(q={"A": at}, u={"A": 0.0})
    a_0, W = affine(mech, state)
    shape = rng.uniform(0.1, 1.0, len(mech.joints))
    least = least_use(a_0, W, shape)
    for use in (0.5, 0.97, 1.03):
        limits = shape * least / use
        rubbed = LINKAGES[name]().mechanism
        for joint, limit in zip(rubbed.joints, limits, strict=True):
            rubbed.add_force(lw.Friction(joint, coulomb=0.4 * limit, static=limit, name=f"f_{joint}"))
        model = lw.compile(rubbed)
        a, load, kind = (
            np.array([model.value(one.format(joint), state.q, state.u) for joint in rubbed.joints])
            for one in ("{}.a", "f_{}.force", "f_{}.state")
        )
        if use > 1.0:
            assert np.abs(a).max() > 1e-3 * np.abs(a_0).max()
            continue
        assert np.abs(a).max() <= 1e-9 * np.abs(a_0).max()
        assert (np.abs(kind) >= 2.0).all()
        assert (np.abs(load) <= limits * (1 + 1e-9)).all()
        assert a_0 + W @ load == pytest.approx(0.0, abs=1e-9 * np.abs(a_0).max())
        shared = -np.linalg.pinv(W, rcond=1e-9) @ a_0
        if (np.abs(shared) < limits).all():
            assert load == pytest.approx(shared, abs=1e-8 * np.abs(shared).max())
            assert (kind == 2.0).all()


@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_a_four_bar_breaks_away_where_no_loads_hold_it_any_more(direction):
    """By a rising torque, after which it had fallen: first the loads of least norm, then some at their limits."""
    mech = loaded("four_bar")
    mech.gravity = (0, 0, 0)
    state = lw.compile(mech).assemble(q={"A": 0.8})
    limits = np.array([0.3, 2.0, 0.5, 1.1])
    _, W = affine(mech, state)
    breaks = 1.0 / least_use(W[:, 0], W, limits)  # torque on A
    for joint, limit in zip(mech.joints, limits, strict=True):
        mech.add_force(lw.Friction(joint, coulomb=0.5 * limit, static=limit, name=f"f_{joint}"))
    mech.start(q={"A": 0.8})
    torque = ([0.0, 1.0, 2.0, 4.0], np.array([0.0, 0.98, 0.0, 2.0]) * direction * breaks)
    run = lw.simulate(mech, 3.5, inputs={"on_A.T": torque}, rtol=1e-10, atol=1e-12)
    moves = np.abs(run["A.u"]) > 1e-9
    assert run["time"][moves][0] == pytest.approx(3.0, abs=0.02)
    slides = [event for event in run.events if event.t > 2.5]
    assert slides[-1].t == pytest.approx(3.0, abs=1e-6)
    assert len(set(np.array(run["A.q"])[run["time"] < 3.0 - 1e-6])) == 1
    for joint, limit in zip(mech.joints, limits, strict=True):
        rests = run["time"] < 3.0 - 1e-6
        assert (np.abs(run[f"f_{joint}.force"][rests]) <= limit * (1 + 1e-9)).all()


def test_a_bearing_and_a_brake_hold_one_shaft_together():
    """Each by its share of the limit, up to the sum of both."""
    mech = lw.Mechanism("shaft", gravity=(0, 0, 0))
    mech.add_body("rotor", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("axle", lw.Revolute("z"), "ground", "rotor", at=(0, 0, 0))
    mech.add_force(lw.Friction("axle", coulomb=0.2, static=0.5, name="bearing"))
    mech.add_force(lw.Brake("axle", "C", inputs={"C": "N.m"}, name="brake"))
    mech.add_force(lw.Force("axle", "T", inputs={"T": "N.m"}, name="motor"))
    run = lw.simulate(mech, 1.0, inputs={"brake.C": 2.0, "motor.T": lambda t: 5.0 * t}, rtol=1e-10, atol=1e-12)
    assert [one.transitions for one in run.events] == [("bearing", "brake")]
    assert run.events[0].t == pytest.approx(0.5, abs=1e-9)
    t, rests = run["time"], run["time"] < 0.5
    assert run["bearing.force"][rests] == pytest.approx(-t[rests] * 5.0 * 0.5 / 2.5, abs=1e-12)
    assert run["brake.force"][rests] == pytest.approx(-t[rests] * 5.0 * 2.0 / 2.5, abs=1e-12)
    assert run["axle.u"][-1] == pytest.approx(2.5 * (1.0**2 - 0.5**2) - 2.2 * 0.5, abs=1e-8)
