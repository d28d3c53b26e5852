"""Inputs of actuators over time: constant, functions of time and of the state, controllers; joints that open."""

import numpy as np
import pytest

import linkwork as lw

MASS, GAIN, STIFFNESS, DAMPING = 2.0, 3.0, 8.0, 0.6


def slider(**more):
    """A mass on a guide without gravity: x'' = F / m."""
    mech = lw.Mechanism("slider", gravity=(0, 0, 0))
    mech.add_body("block", mass=MASS, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("X", lw.Prismatic((1, 0, 0)), "ground", "block", at=(0, 0, 0))
    mech.add_force(lw.Actuator("servo", {"X": 1.0}, gain=GAIN, **more))
    return mech


def test_a_constant_force():
    t = np.linspace(0.0, 2.0, 5)
    run = lw.simulate(slider(), 2.0, inputs={"servo.input": 0.5}, t_eval=t)
    np.testing.assert_allclose(run["X.q"], 0.5 * GAIN * 0.5 / MASS * t**2, atol=1e-9)
    assert run["servo.input"].tolist() == [0.5] * 5
    np.testing.assert_allclose(run["servo.force"], GAIN * 0.5, rtol=1e-15)


def test_a_damped_servo_moves_as_its_equation():
    """m x'' + d x' + k x = gain input, in closed form."""
    t, level = np.linspace(0.0, 5.0, 21), 2.0
    run = lw.simulate(
        slider(stiffness=STIFFNESS, damping=DAMPING), 5.0, inputs={"servo.input": level}, t_eval=t, rtol=1e-10
    )
    decay, rest = DAMPING / (2 * MASS), GAIN * level / STIFFNESS
    omega = np.sqrt(STIFFNESS / MASS - decay**2)
    expected = rest * (1 - np.exp(-decay * t) * (np.cos(omega * t) + decay / omega * np.sin(omega * t)))
    np.testing.assert_allclose(run["X.q"], expected, atol=1e-7)
    np.testing.assert_allclose(run["servo.length"], run["X.q"], atol=1e-15)
    assert not run["energy.potential"].any()


def test_functions_of_the_state_and_controllers_are_the_same():
    """A servo whose law is in the input; lengths and rates of actuators are known to it, forces are not."""
    t = np.linspace(0.0, 3.0, 13)
    kept = lw.simulate(slider(stiffness=STIFFNESS, damping=DAMPING, offset=1.0), 3.0, t_eval=t, rtol=1e-10)

    def law(_, state):
        return (1.0 - STIFFNESS * state["servo.length"] - DAMPING * state["servo.rate"]) / GAIN

    by_state = lw.simulate(slider(), 3.0, inputs={"servo.input": law}, t_eval=t, rtol=1e-10)
    by_controller = lw.simulate(
        slider(), 3.0, controller=lambda t, state: {"servo.input": law(t, state)}, t_eval=t, rtol=1e-10
    )
    for run in (by_state, by_controller):
        np.testing.assert_allclose(run["X.q"], kept["X.q"], atol=1e-8)
    with pytest.raises(lw.MechanismError, match=r"'servo.force' follows from the loads"):
        lw.simulate(slider(), 1.0, inputs={"servo.input": lambda t, state: state["servo.force"]})


def test_limits_over_time():
    """A ramp is cut where the limits are: the force is that of the definition at every time."""
    t = np.linspace(-0.0, 4.0, 81)
    mech = slider(offset=0.25, input_range=(-1.0, 1.0), force_range=(-2.0, 3.1))
    run = lw.simulate(mech, 4.0, inputs={"servo.input": lambda t: 2.0 * np.cos(2.0 * t)}, t_eval=t, rtol=1e-9)
    expected = np.clip(GAIN * np.clip(2.0 * np.cos(2.0 * t), -1.0, 1.0) + 0.25, -2.0, 3.1)
    np.testing.assert_allclose(run["servo.force"], expected, atol=1e-12)
    fine = np.linspace(0.0, 4.0, 400001)
    force = np.clip(GAIN * np.clip(2.0 * np.cos(2.0 * fine), -1.0, 1.0) + 0.25, -2.0, 3.1)
    speed = np.concatenate([[0.0], np.cumsum((force[1:] + force[:-1]) / 2 * np.diff(fine))]) / MASS
    assert run["X.u"][-1] == pytest.approx(speed[-1], abs=1e-6)


@pytest.mark.parametrize(
    ("inputs", "text"),
    [
        ({"servo": 1.0}, "there is no driven joint or actuator's input 'servo'.*did you mean 'servo.input'"),
        ({"servo.u": 1.0}, "there is no driven joint or actuator's input 'servo.u'"),
        ({"servo.input": (1.0, 2.0)}, "the actuator's input 'servo.input' must be a finite number"),
        ({"servo.input": np.nan}, "the actuator's input 'servo.input' must be a finite number"),
    ],
)
def test_wrong_inputs(inputs, text):
    with pytest.raises(lw.MechanismError, match=text):
        lw.simulate(slider(), 0.1, inputs=inputs)


def test_input_that_is_not_finite_is_named():
    with pytest.raises(lw.SolverError, match="actuator_input of actuator 'servo' is not finite"):
        lw.simulate(slider(), 1.0, inputs={"servo.input": lambda t: 1.0 if t < 0.5 else np.inf})


def test_a_joint_that_opens_takes_no_load():
    """A rod held to the ground by the cut joint: the actuator on it pulls no more once it is released."""
    mech = lw.Mechanism("gate", gravity=(0, 0, 0))
    for name in ("left", "right"):
        mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
        mech.add_joint(f"on_{name}", lw.Revolute((0, 0, 1)), "ground", name, at=(0, 0, 0))
    mech.add_joint("between", lw.Revolute((0, 0, 1)), "left", "right", at=(0, 0, 0))
    mech.add_force(lw.Actuator("motor", {"between": 2.0}, gain=1.0, offset=0.5))
    mech.add_transition("open", lw.Release("between"), lw.Time(1.0))
    t = np.array([0.0, 0.5, 0.9, 1.5, 2.0])
    run = lw.simulate(mech, 2.0, inputs={"motor.input": 0.25}, t_eval=t, rtol=1e-10)
    held = t < 1.0
    relative = run["on_right.u"] - run["on_left.u"]
    np.testing.assert_allclose(relative[held], 2 * 2.0 * 0.75 * t[held], atol=1e-7)
    np.testing.assert_allclose(relative[~held], 2 * 2.0 * 0.75, atol=1e-7)
    np.testing.assert_allclose(run["motor.length"], np.where(held, 2.0 * 2.0 * 0.75 * t**2, 0.0), atol=1e-7)
