"""State feedback: gains against closed forms, the closed loop, what is refused, and the FMU on a plant."""

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
    slave = run(controllers.state_feedback(lw.linearize(pendulum()), 1.0, 1.0, tmp_path / "k.fmu"))
    shown = {n: (v.causality, v.unit) for n, v in slave.variables.items()}
    assert shown["A.q"] == ("input", "rad")
    assert shown["A.u"] == ("input", "rad/s")
    assert shown["A.tau"] == ("output", "N.m")
    assert shown["K[1,2]"] == ("parameter", "N.m/(rad/s)")
    others = controllers.state_feedback(
        lw.linearize(pendulum()), 1.0, 1.0, tmp_path / "o.fmu", names={"A.q": "angle", "A.tau": "motor"}
    )
    assert {"angle", "A.u", "motor"} <= set(run(others).variables)


def test_the_fmu_holds_a_leaning_pendulum_with_the_torque_it_takes(run, tmp_path):
    angle = 0.4
    model = lw.linearize(pendulum(angle))
    assert abs(model.xdot[1]) > 1.0  # not held by its own
    slave = run(controllers.state_feedback(model, [50.0, 1.0], 0.1, tmp_path / "k.fmu")).start()
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
    slave, x = run(controllers.state_feedback(model, 1.0, 1.0, tmp_path / "k.fmu")), random.normal(size=n)
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
        (1.0, 1.0, {"inputs": ["B.tau"]}, "no input 'B.tau'; it has x.tau"),
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
        controllers.state_feedback(lw.linearize(mech), 1.0, 1.0, tmp_path / "k.fmu")
