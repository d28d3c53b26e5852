"""State feedback: gains against closed forms, the closed loop, refusals, and the FMU on a plant."""

import math

import numpy as np
import pytest
from scipy.linalg import expm

import linkwork as lw
from linkwork import controllers
from linkwork.errors import MechanismError


def cart(mass: float = 2.0) -> lw.Mechanism:
    mech = lw.Mechanism("cart")
    mech.add_body("cart", mass=mass, com=(0, 0, 0), inertia=lw.inertia.box(mass, size=(1, 1, 1)))
    mech.add_joint("x", lw.Prismatic(axis=(1, 0, 0)), "ground", "cart", at=(0, 0, 0))
    return mech


def pendulum(angle: float = 0.0) -> lw.Mechanism:
    """Upright at zero."""
    mech = lw.Mechanism("pendulum")
    mech.add_body("rod", mass=1.0, com=(0, 0, 0.5), inertia=lw.inertia.rod(1.0, 1.0, axis="z"))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    mech.start(q={"A": angle})
    return mech


@pytest.mark.parametrize(("q1", "q2", "r"), [(1.0, 0.0, 1.0), (4.0, 3.0, 0.5), (100.0, 1.0, 0.01)])
def test_the_gain_of_a_double_integrator_is_its_closed_form(q1, q2, r):
    # m x'' = u:  K = [sqrt(q1/r), sqrt(q2/r + 2 m sqrt(q1/r))]
    mass = 2.0
    K = controllers.gain(lw.linearize(cart(mass)), [q1, q2], r)
    first = math.sqrt(q1 / r)
    assert [[first, math.sqrt(q2 / r + 2 * mass * first)]] == pytest.approx(K, rel=1e-10)


def test_a_closed_loop_has_its_closed_poles_and_costs_least():
    model = lw.linearize(cart(1.0))
    K = controllers.gain(model, [1.0, 0.0], 1.0)
    poles = np.linalg.eigvals(model.A - model.B @ K)
    assert sorted(poles, key=np.imag) == pytest.approx([(-1 - 1j) / math.sqrt(2), (-1 + 1j) / math.sqrt(2)])


def test_the_gain_for_held_inputs_tends_to_the_continuous_one_and_is_stable():
    model = lw.linearize(pendulum())
    continuous = controllers.gain(model, [10.0, 1.0], 0.1)
    apart = []
    for h in (0.02, 0.01, 0.005):
        # The sum of x'Q x + u'R u is the integral over h, so that both weights are alike.
        K = controllers.gain(model, [10.0, 1.0], 0.1, sample_time=h)
        both = expm(h * np.block([[model.A, model.B], [np.zeros((1, 3))]]))
        assert np.abs(np.linalg.eigvals(both[:2, :2] - both[:2, 2:] @ K)).max() < 1
        apart.append(np.abs(K - continuous).max())
    assert apart[0] / apart[1] == pytest.approx(2.0, rel=0.1)
    assert apart[1] / apart[2] == pytest.approx(2.0, rel=0.1)


def test_no_other_gain_near_it_costs_less():
    # Cost from a start x: x'P x with the closed loop's Lyapunov equation
    from scipy.linalg import solve_continuous_lyapunov

    model, Q, R = lw.linearize(pendulum()), np.diag([10.0, 1.0]), np.array([[0.1]])
    K = controllers.gain(model, Q, R)

    def cost(gain):
        loop = model.A - model.B @ gain
        return np.trace(solve_continuous_lyapunov(loop.T, -(Q + gain.T @ R @ gain)))

    for away in ([0.1, 0], [-0.1, 0], [0, 0.1], [0, -0.1]):
        assert cost(K + away) > cost(K)


def test_names_and_units_are_those_of_the_plant(run, tmp_path):
    slave = run(controllers.state_feedback(tmp_path / "k.fmu", lw.linearize(pendulum()), 1.0, 1.0))
    shown = {n: (v.causality, v.unit) for n, v in slave.variables.items()}
    assert shown["A.q"] == ("input", "rad")
    assert shown["A.u"] == ("input", "rad/s")
    assert shown["A.tau"] == ("output", "N.m")
    assert shown["K[1,2]"] == ("parameter", "N.m/(rad/s)")
    others = controllers.state_feedback(
        tmp_path / "o.fmu", lw.linearize(pendulum()), 1.0, 1.0, names={"A.q": "angle", "A.tau": "motor"}
    )
    assert {"angle", "A.u", "motor"} <= set(run(others).variables)


def test_the_fmu_holds_a_leaning_pendulum_with_the_torque_it_takes(run, tmp_path):
    angle = 0.4
    model = lw.linearize(pendulum(angle))
    assert abs(model.xdot[1]) > 1.0  # not held by its own
    slave = run(controllers.state_feedback(tmp_path / "k.fmu", model, [50.0, 1.0], 0.1)).start()
    assert slave["A.tau"] == pytest.approx(-9.81 * 0.5 * math.sin(angle), rel=1e-12)
    system = lw.compile(pendulum(angle))
    q, u, h = angle + 0.1, 0.0, 0.002
    for _ in range(4000):
        slave.set({"A.q": q, "A.u": u})
        torque = slave["A.tau"]
        slave.step(h)
        u += h * float(system.accelerations([q], [u], tau={"A": torque})[0])
        q += h * u
    assert q == pytest.approx(angle, abs=1e-6)


def test_outputs_are_the_formula_for_any_numbers(run, tmp_path):
    random = np.random.default_rng(4)
    n, m = 5, 2
    A, B = random.normal(size=(n, n)), random.normal(size=(n, m))
    x0 = random.normal(size=n)
    names = tuple(f"x{k}" for k in range(n))
    model = lw.LinearModel(A, B, np.eye(n), np.zeros((n, m)), names, ("a", "b"), names, x0, np.ones(m), x0, np.zeros(n))
    K = controllers.gain(model, 1.0, 1.0)
    slave, x = run(controllers.state_feedback(tmp_path / "k.fmu", model, 1.0, 1.0)), random.normal(size=n)
    slave.start(dict(zip(names, x, strict=True)))
    assert slave.get(["a", "b"]) == pytest.approx(1.0 - K @ (x - x0), rel=1e-12)


def test_what_no_input_reaches_is_refused_by_name():
    mech = cart()
    mech.add_body("rod", mass=1.0, com=(0, 0, 0.5), inertia=lw.inertia.rod(1.0, 1.0, axis="z"))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(3, 0, 0))
    with pytest.raises(MechanismError, match=r"cannot stabilise .* A\.[qu]: add an input"):
        controllers.gain(lw.linearize(mech, inputs=["x.tau"]), 1.0, 1.0)


@pytest.mark.parametrize(
    ("Q", "R", "options", "text"),
    [
        (1.0, -1.0, {}, "positive definite"),
        ([-1.0, 1.0], 1.0, {}, "semidefinite"),
        ([1.0, 1.0, 1.0], 1.0, {}, r"Q must be a symmetric matrix \(2, 2\)"),
        (0.0, 1.0, {}, "weight in Q"),
        (1.0, 1.0, {"inputs": ["B.tau"]}, "no input 'B.tau'; did you mean 'x.tau'"),
        (1.0, 1.0, {"states": ["x.q"]}, "left out act"),
    ],
)
def test_wrong_weights_and_names_are_refused(Q, R, options, text):
    with pytest.raises(MechanismError, match=text):
        controllers.gain(lw.linearize(cart()), Q, R, **options)


def test_a_point_that_no_input_can_hold_is_refused(tmp_path):
    mech = cart()
    mech.start(u={"x": 1.0})
    with pytest.raises(MechanismError, match=r"der\(x.q\) stays 1"):
        controllers.state_feedback(tmp_path / "k.fmu", lw.linearize(mech), 1.0, 1.0)


def test_outputs_are_held_within_their_limits(run, tmp_path):
    random = np.random.default_rng(7)
    names = ("x", "v")
    model = lw.LinearModel(
        random.normal(size=(2, 2)), np.eye(2), np.eye(2), np.zeros((2, 2)), names, ("a", "b"), names, *np.zeros((4, 2))
    )
    K = controllers.gain(model, 1.0, 1.0)
    fmu = controllers.state_feedback(tmp_path / "k.fmu", model, 1.0, 1.0, u_min=[-0.5, -np.inf], u_max=[np.inf, 0.25])
    slave = run(fmu).start()
    met = set()
    for x in random.normal(scale=2.0, size=(50, 2)):
        slave.set(dict(zip(names, x, strict=True)))
        a, b = -K @ x
        assert slave.get(["a", "b"]) == pytest.approx([max(a, -0.5), min(b, 0.25)], rel=1e-12)
        met.add((a < -0.5, b > 0.25))
    assert len(met) == 4, "each limit and none"
    slave.set({"u_max[1]": 0.125, "x": 0.0, "v": 0.0, "u0[1]": 3.0})
    assert slave["a"] == 0.125


def test_a_pole_that_falls_asks_for_no_more_than_the_limit(run, tmp_path):
    # Samples too far apart: without limits the torque grows with each of them.
    mech, torques = pendulum(), {}
    K = controllers.gain(lw.linearize(mech), [100.0, 1.0], 0.01)
    system, h = lw.compile(mech), 0.5
    for limits in ({}, {"u_min": -20.0, "u_max": 20.0}):
        fmu = controllers.state_feedback(tmp_path / "k.fmu", lw.linearize(mech), [100.0, 1.0], 0.01, **limits)
        slave, q, u, found = run(fmu).start(), 0.01, 0.0, []
        for _ in range(8):
            slave.set({"A.q": q, "A.u": u})
            found.append(slave["A.tau"])
            for _ in range(100):
                u += h / 100 * float(system.accelerations([q], [u], tau={"A": found[-1]})[0])
                q += h / 100 * u
            slave.step(h)
        torques[bool(limits)] = np.array(found)
    assert np.abs(torques[False]).max() > 1e4
    assert torques[True][0] == torques[False][0] == pytest.approx(-K[0, 0] * 0.01)
    assert np.abs(torques[True]).max() == 20.0


def test_units_of_limits_are_those_of_the_inputs(run, tmp_path):
    slave = run(controllers.state_feedback(tmp_path / "k.fmu", lw.linearize(cart()), 1.0, 1.0, u_max=4.0))
    assert [slave.variables[name].unit for name in ("u_min[1]", "u_max[1]")] == ["N", "N"]
    assert [float(slave.variables[name].start) for name in ("u_min[1]", "u_max[1]")] == [-1e30, 4.0]


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        ({"u_min": [1.0, 2.0]}, "u_min must be one number, or one for each of A.tau"),
        ({"u_max": np.nan}, "u_max must be one number"),
        ({"u_max": -3.0}, r"A.tau holds the operating point at -2.\d+, .* u_max = -3: widen"),
        ({"u_min": 3.0, "u_max": 2.0}, "not between u_min = 3 and u_max = 2"),
    ],
)
def test_limits_that_do_not_do_are_refused(tmp_path, limits, text):
    with pytest.raises(MechanismError, match=text):
        controllers.state_feedback(tmp_path / "k.fmu", lw.linearize(pendulum(0.5)), 1.0, 1.0, **limits)


def test_limits_that_cross_are_refused_at_initialisation(run, tmp_path, capfd):
    slave = run(controllers.state_feedback(tmp_path / "k.fmu", lw.linearize(cart()), 1.0, 1.0, u_max=4.0))
    slave.enter({"u_min[1]": 5.0})
    with pytest.raises(Exception, match="fmi2ExitInitializationMode"):
        slave.fmu.exitInitializationMode()
    assert "u_min[1] = 5 is above u_max[1] = 4, the limits of x.tau" in capfd.readouterr().err
