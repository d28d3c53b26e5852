"""Motions with joints of several speeds: conserved quantities, equations by hand, other joints and other cuts."""

import csv

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwork as lw
from support.joint_types import (
    LOOP_IDS,
    LOOPS,
    SEVERAL,
    on_carrier,
    on_chain,
    rotation,
    skater,
    spherical_pendulum,
    tumbling,
)

EVERY = pytest.mark.parametrize("name", SEVERAL)
BOTH_WAYS = pytest.mark.parametrize("backwards", [False, True], ids=["forward", "backwards"])
TIMES = np.linspace(0.0, 1.0, 21)


def energy(result):
    return result["energy.kinetic"] + result["energy.potential"]


# ---- one body ----


@pytest.mark.parametrize(("solver", "error"), [("dopri5", 1e-8), ("DOP853", 1e-8), ("Radau", 1e-6)])
def test_a_tumbling_body(solver, error):
    """Spun about its middle axis: its centre of mass goes straight on, its angular momentum stays in world axes."""
    mech = tumbling()
    result = lw.simulate(mech, 5.0, solver=solver, rtol=1e-10 if solver != "Radau" else 1e-7, t_eval=5 * TIMES)
    body, com, momentum = mech.bodies["body"], [], []
    for r, quaternion, v, w in zip(*(result[f"body.{what}"] for what in "rQvw"), strict=True):
        turn = rotation(quaternion)
        com.append(r + turn @ body.com)
        speed = v + np.cross(w, turn @ body.com)
        momentum.append(turn @ body.inertia @ turn.T @ w)
        assert speed == pytest.approx(result["body.v"][0] + np.cross(result["body.w"][0], com[0] - result["body.r"][0]))
    np.testing.assert_allclose(momentum, np.tile(momentum[0], (len(momentum), 1)), atol=error)
    straight = com[0] + np.outer(result.t, (com[-1] - com[0]) / result.t[-1])
    np.testing.assert_allclose(com, straight, atol=error)
    assert np.ptp(result["body.w"], axis=0).max() > 1.0
    assert energy(result) == pytest.approx(energy(result)[0], abs=error)


def pendulum_by_hand(mech, times):
    """Quaternion and angular velocity in body axes (nt, 7) by Euler's equations about the pivot."""
    bob = mech.bodies["bob"]
    about_pivot = bob.inertia + bob.mass * (bob.com @ bob.com * np.eye(3) - np.outer(bob.com, bob.com))

    def derivative(_, y):
        (w, *v), spin = y[:4], y[4:]
        turning = 0.5 * np.concatenate([[-np.dot(v, spin)], w * spin + np.cross(v, spin)])
        weight = rotation(y[:4]).T @ (bob.mass * mech.gravity)
        torque = np.cross(bob.com, weight) - np.cross(spin, about_pivot @ spin)
        return np.concatenate([turning, np.linalg.solve(about_pivot, torque)])

    start = np.concatenate([mech.start_q["S"], mech.start_u["S"]])
    return solve_ivp(derivative, (0.0, times[-1]), start, "DOP853", times, rtol=1e-12, atol=1e-12).y.T


def test_a_spherical_pendulum():
    mech = spherical_pendulum()
    result = lw.simulate(mech, 3.0, rtol=1e-11, t_eval=3 * TIMES)
    expected = pendulum_by_hand(mech, 3 * TIMES)
    np.testing.assert_allclose(result["S.q"], expected[:, :4], atol=1e-8)
    np.testing.assert_allclose(result["S.u"], expected[:, 4:], atol=1e-8)
    assert energy(result) == pytest.approx(energy(result)[0], abs=1e-9)


def test_vertical_angular_momentum_of_a_spherical_pendulum():
    mech = spherical_pendulum()
    result, bob = lw.simulate(mech, 3.0, rtol=1e-11, t_eval=3 * TIMES), mech.bodies["bob"]
    vertical = []
    for quaternion, w in zip(result["bob.Q"], result["bob.w"], strict=True):
        arm = rotation(quaternion) @ bob.com
        spin = rotation(quaternion) @ bob.inertia @ rotation(quaternion).T @ w
        vertical.append((spin + bob.mass * np.cross(arm, np.cross(w, arm)))[2])
    np.testing.assert_allclose(vertical, vertical[0], atol=1e-9)


def test_a_plate_on_an_inclined_plane():
    """It slides down as a point does and spins on at its rate, its centre of mass being above the joint's point."""
    mech = lw.Mechanism("slope")
    normal = np.array([0.6, 0, 0.8])
    mech.add_body("plate", mass=2.0, com=0.1 * normal, inertia=np.diag([0.1, 0.2, 0.3]))
    mech.add_joint("P", lw.Planar(normal), "ground", "plate", at=(0, 0, 0))
    mech.start(u={"P": [0.5, 0.3, 2.0]})
    result = lw.simulate(mech, 1.0, t_eval=TIMES)
    down = -9.81 * -0.6  # x is (0.8, 0, -0.6)
    np.testing.assert_allclose(result["P.q[1]"], 0.5 * TIMES + 0.5 * down * TIMES**2, atol=1e-8)
    np.testing.assert_allclose(result["P.q[2]"], 0.3 * TIMES, atol=1e-8)
    np.testing.assert_allclose(result["P.q[3]"], 2.0 * TIMES, atol=1e-8)
    np.testing.assert_allclose(result["plate.r"][:, 2], -0.6 * result["P.q[1]"], atol=1e-8)


# ---- the same motion by other means ----


@EVERY
def test_a_chain_of_hinges_and_slides_moves_alike(name):
    several, chain = (lw.simulate(make(name), 1.0, rtol=1e-10, t_eval=TIMES) for make in (on_carrier, on_chain))
    for body in ("carrier", "body"):
        for what in "rvw":
            np.testing.assert_allclose(several[f"{body}.{what}"], chain[f"{body}.{what}"], atol=3e-6)
    assert energy(several) == pytest.approx(energy(several)[0], abs=1e-8)


@pytest.mark.parametrize("name", sorted(SEVERAL.keys() - {"pin_in_slot"}))  # a slot is fixed in the parent
def test_a_joint_taken_backwards_moves_alike(name):
    """Started from the same poses and velocities, with parent and child exchanged."""
    forward = lw.compile(on_carrier(name))
    state = forward.assemble()
    back = on_carrier(name, backwards=True)
    back.start_q.pop("S")
    back.start_u.pop("S")
    result = lw.simulate(forward, 1.0, state=state, rtol=1e-10, t_eval=TIMES)
    system = lw.compile(back)
    q, u = inverse(system, state)
    mirrored = lw.simulate(system, 1.0, state=system.assemble(q={"S": q}, u={"S": u}), rtol=1e-10, t_eval=TIMES)
    for what in "rvw":
        np.testing.assert_allclose(mirrored[f"body.{what}"], result[f"body.{what}"], atol=1e-7)


def inverse(system, state):
    """Coordinates and speeds of the exchanged joint by a least-squares fit of the body's pose and velocity."""
    from scipy.optimize import least_squares

    kind = system.mechanism.joints["S"].kind
    nq, nu = kind.nq, kind.nu

    def off(x):
        trial = system.assemble(q={"S": x[:nq]}, u={"S": x[nq:]})
        pose = [trial["body.r"] - state["body.r"], (rotation(trial["body.Q"]) - rotation(state["body.Q"])).ravel()]
        return np.concatenate([*pose, trial["body.v"] - state["body.v"], trial["body.w"] - state["body.w"]])

    guess = np.concatenate([kind.neutral, np.zeros(nu)])
    found = least_squares(off, guess, xtol=1e-15, ftol=1e-15, gtol=1e-15)
    assert np.abs(found.fun).max() < 1e-9
    return found.x[:nq], found.x[nq:]


@pytest.mark.parametrize(("make", "cut"), LOOPS, ids=LOOP_IDS)
def test_a_loop_moves_alike_wherever_it_is_cut(make, cut):
    result, other = (lw.simulate(make(joint), 2.0, rtol=1e-10, t_eval=2 * TIMES) for joint in (cut, "U"))
    assert result[f"loop.{cut}.residual"].max() < 1e-8
    assert energy(result) == pytest.approx(energy(result)[0], abs=1e-7)
    for body in result.model.mechanism.bodies:
        for what in "rvw":
            np.testing.assert_allclose(result[f"{body}.{what}"], other[f"{body}.{what}"], atol=1e-6)
    for joint in result.model.joint_names:
        np.testing.assert_allclose(result[f"{joint}.u"], other[f"{joint}.u"], atol=1e-5)


# ---- loads ----


@EVERY
@BOTH_WAYS
def test_work_of_loads_and_dampers_is_the_change_of_energy(name, backwards):
    mech, nu = on_carrier(name, backwards=backwards), SEVERAL[name].kind.nu
    damping = np.linspace(0.02, 0.06, nu)
    mech.add_force(lw.SpringDamper("S", damping=damping))
    t = np.linspace(0.0, 0.5, 2001)
    phases = np.arange(nu)
    inputs = {"A": 0.2, "S": lambda t: 0.3 * np.sin(9.0 * t + phases)}
    result = lw.simulate(mech, 0.5, inputs=inputs, rtol=1e-10, t_eval=t)
    np.testing.assert_array_equal(result["S.tau"], 0.3 * np.sin(9.0 * t[:, None] + phases))
    power = 0.2 * result["A.u"] + ((result["S.tau"] - damping * result["S.u"]) * result["S.u"]).sum(axis=1)
    assert energy(result)[-1] - energy(result)[0] == pytest.approx(np.trapezoid(power, t), rel=1e-5, abs=1e-7)


def test_ways_to_give_the_loads_of_several_speeds():
    system = lw.compile(on_carrier("spherical"))
    loads = [0.3, -0.2, 0.1]
    ways = (
        {"S": loads},
        {"S": lambda t: loads},
        {"S[1]": 0.3, "S[3]": np.float64(0.1), "S[2]": lambda t: -0.2},
        {"S": np.array(loads)},
    )
    results = [lw.simulate(system, 0.3, inputs=inputs, rtol=1e-9) for inputs in ways]
    for other in results[1:]:
        np.testing.assert_array_equal(results[0].y, other.y)
    assert np.abs(lw.simulate(system, 0.3, rtol=1e-9).y[-1] - results[0].y[-1]).max() > 1e-3


@pytest.mark.parametrize("bad", [1.0, [1.0, 2.0], [1.0, 2.0, "3"], None, [[1.0, 2.0, 3.0]], [1.0, 2.0, 3j]], ids=str)
def test_loads_of_the_wrong_size(bad):
    system = lw.compile(on_carrier("spherical"))
    with pytest.raises(lw.MechanismError, match="load of joint 'S' must be 3 finite numbers or a function"):
        lw.simulate(system, 1.0, inputs={"S": bad})
    with pytest.raises(lw.MechanismError, match=r"load of joint 'S' at t = 0 s must be 3 numbers"):
        lw.simulate(system, 1.0, inputs={"S": lambda t: bad})


@pytest.mark.parametrize(
    ("inputs", "text"),
    [
        ({"S": [0.0, np.nan, 0.0]}, "3 finite numbers"),
        ({"S": [1.0] * 3, "S[2]": 1.0}, r"'S' and 'S\[2\]' drive the same speed"),
        ({"S[2]": 1.0, "S": [1.0] * 3}, r"'S\[2\]' and 'S' drive the same speed"),
        ({"S[4]": 1.0}, r"no driven joint 'S\[4\]'"),
        ({"A[1]": 1.0}, r"no driven joint 'A\[1\]'"),
    ],
)
def test_loads_that_are_refused(inputs, text):
    with pytest.raises(lw.MechanismError, match=text):
        lw.simulate(on_carrier("spherical"), 1.0, inputs=inputs)


def test_a_load_that_becomes_not_finite():
    with pytest.raises(lw.SolverError, match=r"There, tau\[2\] of joint 'S' is not finite") as raised:
        lw.simulate(on_carrier("spherical"), 1.0, inputs={"S": lambda t: [0.0, np.inf if t > 0.2 else 0.0, 0.0]})
    assert raised.value.result["S.q"].shape == (len(raised.value.result.t), 4)


# ---- columns ----


@pytest.fixture(scope="module")
def result():
    return lw.simulate(on_carrier("free"), 0.5, t_eval=np.linspace(0.0, 0.5, 6), inputs={"S": [1.0, 2, 3, 4, 5, 6]})


def test_columns(result):
    assert result["S.q"].shape == (6, 7)
    assert result["S.u"].shape == result["S.tau"].shape == result["S.a"].shape == (6, 6)
    for i in range(7):
        np.testing.assert_array_equal(result[f"S.q[{i + 1}]"], result["S.q"][:, i])
        np.testing.assert_array_equal(result[f"S.q[{i + 1}]"], result.y[:, 1 + i])
    np.testing.assert_array_equal(result["der(S.q)"][:, 6], result["der(S.q[7])"])
    np.testing.assert_array_equal(result["S.tau"], np.tile([1.0, 2, 3, 4, 5, 6], (6, 1)))
    np.testing.assert_allclose(np.linalg.norm(result["S.q"][:, 3:], axis=1), 1.0, atol=1e-8)


def test_rows_are_what_the_system_computes_there(result):
    nq = result.model.sizes.nq
    for i in (0, 3, 5):
        for name in ("S.a", "der(S.q)", "S.f", "body.w", "energy.kinetic"):
            expected = result.model.value(name, result.y[i, :nq], result.y[i, nq:], tau={"S": [1.0, 2, 3, 4, 5, 6]})
            np.testing.assert_array_equal(result[name][i], expected)


def test_files_and_tables(result, tmp_path):
    result.to_csv(tmp_path / "run.csv", ["S.q", "A.q", "S.u[2]"])
    with (tmp_path / "run.csv").open() as file:
        header, *rows = csv.reader(file)
    assert header == ["time", *(f"S.q[{i}]" for i in range(1, 8)), "A.q", "S.u[2]"]
    np.testing.assert_array_equal(np.array(rows, dtype=float)[:, 1:8], result["S.q"])
    result.to_csv(tmp_path / "all.csv")
    with (tmp_path / "all.csv").open() as file:
        assert next(csv.reader(file)) == ["time", *result.names]


def test_table_and_plot(result, tmp_path):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    assert list(result.to_dataframe(["S.q"])) == [f"S.q[{i}]" for i in range(1, 8)]
    figure = result.plot(path=tmp_path / "run.png")
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels == ["angle [rad]", "length [m]", "value", "angular speed [rad/s]", "speed [m/s]", "energy [J]"]
    shown = {line.get_label() for axes in figure.axes for line in axes.lines}
    assert shown == {*result.model.q_names, *result.model.u_names, "energy.kinetic", "energy.potential"}


def test_the_quaternion_of_a_cut_joint_is_followed():
    """Over more than a turn, also where rows are far apart: its sign is that of the same joint in the tree."""
    times = np.linspace(0.0, 6.0, 7)
    cut, tree = (lw.simulate(skater(joint), 6.0, rtol=1e-9, t_eval=times) for joint in "SP")
    assert cut["S.q"][:, 0].min() < -0.3
    np.testing.assert_allclose(cut["S.q"], tree["S.q"], atol=1e-5)


def test_a_run_goes_on_where_another_ended():
    whole = lw.simulate(skater("S"), 1.0, rtol=1e-11, t_eval=[0.5, 1.0])
    system, n = whole.model, whole.model.sizes.nq
    rest = lw.simulate(system, 1.0, t_start=0.5, state=system.state(whole.y[0, :n], whole.y[0, n:]), rtol=1e-11)
    np.testing.assert_allclose(rest.y[-1], whole.y[-1], atol=1e-8)
