"""FMI 2.0: inputs that move during a step, by derivatives that the importer gives."""

import math
from ctypes import byref, c_double, c_int, c_uint32

import numpy as np
import pytest

import linkwork as lw
from support.fmi_calls import ERROR, OK
from support.latched import pendulum
from support.unpacked import Unpacked, unpack

# Value and derivatives at a communication point.
CUBIC = (0.3, -2.0, 3.0, 5.0, 0.0)


def polynomial(c, t):
    return sum(value * t**k / math.factorial(k) for k, value in enumerate(c))


def shifted(c, t):
    """The derivatives of the same polynomial at another time."""
    return [polynomial(c[k:], t) for k in range(len(c))]


def give(instance, reference, c) -> None:
    orders = range(1, len(c))
    instance.set([reference], [c[0]])
    assert instance.try_input_rates([reference] * len(orders), list(orders), c[1:]) == OK, instance.last


# ---- against closed forms: a mass on a spring, qdotdot = -q + tau

TIME, TAU, Q, U = 4, 5, 6, 7


@pytest.fixture
def spring(fake_folder):
    """The stand-in core in FMI 2.0, at rest; references as in tests/c/fake_core.c."""
    unpacked = Unpacked(fake_folder, fake_folder, "2.0")
    yield unpacked
    for instance in unpacked.instances:
        instance.free()


def forced(c, t):
    """Position and speed from rest under the polynomial load c."""
    load = np.polynomial.Polynomial([value / math.factorial(k) for k, value in enumerate(c)])
    particular = load - load.deriv(2) + load.deriv(4)
    a, b = -particular(0.0), -particular.deriv()(0.0)
    q = a * math.cos(t) + b * math.sin(t) + particular(t)
    return q, -a * math.sin(t) + b * math.cos(t) + particular.deriv()(t)


def at_rest(spring, tolerance=1e-10):
    instance = spring.new("CS")
    instance.set([2], [0.0])
    instance.initialize(tolerance=tolerance)
    return instance


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_a_polynomial_of_every_order_in_one_step(spring, order):
    c = (1.0, -2.0, 3.0, -4.0, 5.0)[: order + 1]
    instance = at_rest(spring)
    give(instance, TAU, c)
    instance.step(0.0, 0.7)
    assert np.abs(np.subtract(instance.get([Q, U]), forced(c, 0.7))).max() < 1e-9
    assert instance.get([TAU]) == pytest.approx([polynomial(c, 0.7)], rel=1e-14)


@pytest.mark.parametrize("steps", [1, 7, 100])
def test_given_anew_at_each_point(spring, steps):
    instance, time, length = at_rest(spring), 0.0, 1.0 / steps
    for k in range(steps):
        give(instance, TAU, shifted(CUBIC, k * length))
        time = instance.step(time, length)
    assert np.abs(np.subtract(instance.get([Q, U]), forced(CUBIC, time))).max() < 1e-9


def test_derivatives_hold_for_one_step(spring):
    """The value at its end stays."""
    instance, other = at_rest(spring), at_rest(spring)
    give(instance, TAU, (0.5, 2.0))
    give(other, TAU, (0.5, 2.0))
    instance.step(0.0, 0.5)
    other.step(0.0, 0.5)
    assert instance.get([TAU]) == [1.5]
    other.set([TAU], [1.5])
    instance.step(0.5, 0.5)
    other.step(0.5, 0.5)
    assert instance.get([TAU]) == [1.5]
    assert instance.get([Q, U]) == other.get([Q, U])
    q, u = forced((0.5, 2.0), 0.5)
    held = 1.5 + (q - 1.5) * math.cos(0.5) + u * math.sin(0.5)
    assert instance.get([Q])[0] == pytest.approx(held, abs=1e-9)


@pytest.mark.parametrize("before", [True, False])
def test_values_and_derivatives_in_either_order(spring, before):
    instance = at_rest(spring)
    if before:
        instance.set([TAU], [0.5])
    assert instance.try_input_rates([TAU], [1], [2.0]) == OK
    if not before:
        instance.set([TAU], [0.5])
    instance.step(0.0, 0.5)
    assert instance.get([Q])[0] == pytest.approx(forced((0.5, 2.0), 0.5)[0], abs=1e-9)


def test_before_the_start(spring):
    instance = spring.new("CS")
    assert instance.try_input_rates([TAU], [1], [2.0]) == OK
    instance.set([2], [0.0])
    instance.initialize(start=3.0, tolerance=1e-10)
    instance.step(3.0, 0.5)
    assert instance.get([Q])[0] == pytest.approx(forced((0.0, 2.0), 0.5)[0], abs=1e-9)


def test_saved_with_the_state(spring):
    instance = at_rest(spring)
    give(instance, TAU, CUBIC)
    status, state = instance.from_bytes(instance.to_bytes(instance.save()))
    assert status == OK
    instance.step(0.0, 0.3)
    after = instance.get([Q, U, TAU])
    instance.step(0.3, 0.3)
    instance.restore(state)
    instance.step(0.0, 0.3)
    assert instance.get([Q, U, TAU]) == after
    instance.drop(state)


def test_a_discarded_step_keeps_them(spring):
    """The wall at q = 1 is out of reach of a shorter step."""
    instance = spring.new("CS")
    instance.set([1, 2], [1.0, 0.0])
    instance.initialize(tolerance=1e-10)
    give(instance, TAU, (0.0, 40.0))
    assert instance.try_step(0.0, 2.0)[0] == 2
    last = c_double()
    instance.must("GetRealStatus", c_int(2), byref(last))
    assert last.value == 0.0
    assert instance.get([TAU, Q, TIME]) == [0.0, 0.0, 0.0]
    instance.step(0.0, 0.4)
    assert instance.get([Q])[0] == pytest.approx(forced((0.0, 40.0), 0.4)[0], abs=1e-8)


@pytest.mark.parametrize(
    ("reference", "order", "value", "words"),
    [
        (TAU, 0, 1.0, "orders 1 to 4"),
        (TAU, 5, 1.0, "orders 1 to 4"),
        (TAU, -1, 1.0, "orders 1 to 4"),
        (TAU, 1, math.nan, "not finite"),
        (TAU, 2, math.inf, "not finite"),
        (Q, 1, 1.0, "not a continuous input"),
        (TIME, 1, 1.0, "not a continuous input"),
        (0, 1, 1.0, "not a continuous input"),
        (4711, 1, 1.0, "not a continuous input"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(spring, reference, order, value, words):
    instance = at_rest(spring)
    assert instance.try_input_rates([TAU, reference], [1, order], [2.0, value]) == ERROR
    assert words in instance.last
    assert f"value reference {reference})" in instance.last
    assert instance.call("SetRealInputDerivatives", None, c_uint32(1), None, None) == ERROR
    instance.step(0.0, 0.5)
    assert instance.get([Q, TAU]) == [0.0, 0.0]


def test_discrete_inputs_have_no_derivatives(tmp_path):
    kick = lw.Impulse("arm", (1, 0, 0), force=(0, 0, 1))
    mech = pendulum(kick=(kick, lw.Command()))
    path = lw.export_fmu(mech, tmp_path / "kicked.fmu", "2.0")
    fmu = Unpacked(path, unpack(path), "2.0", lw.compile(mech))
    instance = fmu.new("CS")
    instance.initialize()
    for name in ("kick.impulse.f[3]", "kick.command"):
        assert instance.try_input_rates([fmu.reference(name)], [1], [1.0]) == ERROR
        assert "not a continuous input" in instance.last
    instance.free()


# ---- mechanisms against Python


def load(t):
    return 2.0 * math.sin(3.0 * t)


def test_a_ramp_on_the_four_bar(built, four_bar):
    fmu = built("2.0")
    instance = fmu.new("CS")
    instance.initialize(tolerance=1e-9)
    torque, time = fmu.reference("A.tau"), 0.0
    for k in range(4):
        give(instance, torque, (0.5 - 3.0 * 0.25 * k, -3.0))
        time = instance.step(time, 0.25)
    exact = lw.simulate(four_bar, 1.0, rtol=1e-11, t_eval=[1.0], inputs={"A": lambda t: 0.5 - 3.0 * t})
    for name in ("A.q", "C.q", "A.u"):
        assert instance.get([fmu.reference(name)])[0] == pytest.approx(exact[name][-1], abs=1e-8)
    instance.free()


def test_the_order_of_the_steps_is_that_of_the_polynomials(built, four_bar):
    """Held inputs give errors of order 1 in the communication step; each derivative raises it by one."""
    fmu = built("2.0")
    exact = lw.simulate(four_bar, 1.0, rtol=1e-12, t_eval=[1.0], inputs={"A": load})["A.q"][-1]
    for order in range(4):
        errors = []
        for steps in (10, 20):
            instance, time = fmu.new("CS"), 0.0
            instance.initialize(tolerance=1e-12)
            for k in range(steps):
                t = k / steps
                derivatives = [2.0 * 3.0**j * math.sin(3.0 * t + j * math.pi / 2) for j in range(order + 1)]
                give(instance, fmu.reference("A.tau"), derivatives)
                time = instance.step(time, 1.0 / steps)
            errors.append(abs(instance.get([fmu.reference("A.q")])[0] - exact))
        assert math.log2(errors[0] / errors[1]) == pytest.approx(order + 1, abs=0.35)


def excited():
    mech = pendulum()
    mech.add_body("carriage", mass=1.0, com=(0, 0, 0), inertia=0.01 * np.eye(3))
    mech.add_joint("rails", lw.Prismatic((1, 0, 0)), "ground", "carriage", at=(0, 0, 0))
    mech.add_body("second", mass=1.0, com=(0, 0, 0), inertia=0.01 * np.eye(3))
    mech.add_joint("lift", lw.Prismatic((0, 0, 1)), "ground", "second", at=(0, 0, 0))
    mech.add_body("bob", mass=2.0, com=(0, 0, -0.4), inertia=0.01 * np.eye(3))
    mech.add_joint("swing", lw.Revolute((0, 1, 0)), "carriage", "bob", at=(0, 0, 0))
    mech.prescribe("rails", lw.Motion())
    mech.prescribe("lift", lw.Motion())
    return mech


def test_prescribed_motions(tmp_path):
    """One is a quartic by derivatives, the other continues with the rates that it was given."""
    mech = excited()
    path = lw.export_fmu(mech, tmp_path / "excited.fmu", "2.0")
    fmu = Unpacked(path, unpack(path), "2.0", lw.compile(mech))
    instance, c, time = fmu.new("CS"), (0.0, 0.2, -1.0, 4.0, 3.0), 0.0
    inputs = [fmu.reference(f"rails_drive.{what}_in") for what in "qua"]
    other = [fmu.reference(f"lift_drive.{what}_in") for what in "qua"]
    instance.set([*inputs, *other], [*c[:3], 0.0, 0.5, -1.0])
    instance.initialize(tolerance=1e-10)
    for k in range(5):
        now = shifted(c, 0.2 * k)
        for i, reference in enumerate(inputs):
            give(instance, reference, [*now[i:]])
        time = instance.step(time, 0.2)
    exact = lw.simulate(
        fmu.system,
        1.0,
        rtol=1e-11,
        t_eval=[1.0],
        inputs={
            "rails_drive": lambda t: tuple(shifted(c, t)[:3]),
            "lift_drive": lambda t: (0.5 * t - 0.5 * t * t, 0.5 - t, -1.0),
        },
    )
    for name in ("rails.q", "rails.u", "swing.q", "swing.u", "lift.q", "lift.u"):
        assert instance.get([fmu.reference(name)])[0] == pytest.approx(exact[name][-1], abs=1e-8), name
    assert instance.get(inputs) == pytest.approx(shifted(c, 1.0)[:3], abs=1e-12)
    instance.free()


def test_from_fmpy(built, four_bar, needs):
    """A ramp, and the derivatives at its end."""
    needs("fmpy")
    from fmpy.fmi2 import FMU2Slave

    fmu = built("2.0")
    slave = FMU2Slave(
        guid=fmu.token, unzipDirectory=str(fmu.folder), modelIdentifier=fmu.library.stem, instanceName="unit"
    )
    slave.instantiate()
    slave.setupExperiment(tolerance=1e-9)
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    slave.setRealInputDerivatives([fmu.reference("A.tau")], [1], [3.0])
    slave.doStep(0.0, 0.5)
    exact = lw.simulate(four_bar, 0.5, rtol=1e-11, t_eval=[0.5], inputs={"A": lambda t: 3.0 * t})
    assert slave.getReal([fmu.reference("A.q")])[0] == pytest.approx(exact["A.q"][-1], abs=1e-8)
    assert slave.getRealOutputDerivatives([fmu.reference("A.q")], [1])[0] == pytest.approx(exact["A.u"][-1], abs=1e-8)
    slave.terminate()
    slave.freeInstance()
