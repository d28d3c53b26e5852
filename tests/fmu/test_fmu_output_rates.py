"""Derivatives of outputs by time."""

import math

import pytest

import linkwork as lw
from support.fmi_calls import ERROR
from support.latched import pendulum
from support.unpacked import Unpacked, unpack

STIFFNESS, TIME, TAU, Q, U, QDOT, UDOT, ENERGY, STEPS = 0, 4, 5, 6, 7, 8, 9, 10, 11


def test_of_states_they_are_the_derivatives(fmu):
    instance = fmu.new("CS")
    instance.initialize()
    instance.step(0.0, 0.37)
    rates = instance.rates(fmu.references("state"))
    assert rates == pytest.approx(instance.get(fmu.references("derivative")), rel=1e-12, abs=1e-12)


def test_against_differences(fmu):
    """Of all outputs, on both far ends of a point that the steps share."""
    h, at = 1e-4, 0.3
    references = [
        fmu.reference(name) for name in ("A.a", "D.q", "coupler.r[1]", "energy.kinetic", "der(A.u)", "A.f[1]")
    ]
    values = []
    for time in (at - h, at, at + h):
        instance = fmu.new("CS")
        instance.initialize(tolerance=1e-12)
        instance.step(0.0, time)
        values.append(instance.get(references))
        if time == at:
            rates = instance.rates(references)
    for rate, before, after in zip(rates, values[0], values[2], strict=True):
        assert rate == pytest.approx((after - before) / (2 * h), rel=1e-5, abs=1e-5)


def test_of_a_closed_form(fake):
    instance = fake.new("CS")
    instance.initialize()
    instance.set([TAU], [0.5])
    instance.step(0.0, 0.4)
    q, u = instance.get([Q, U])
    expected = [u, 0.5 - q, 0.5 - q, -u, u * 0.5]
    assert instance.rates([Q, U, QDOT, UDOT, ENERGY]) == pytest.approx(expected, rel=1e-14)


def test_inputs_that_move_count(fake_folder):
    """With their rates at the end of the step, or those that are given for the next one."""
    spring = Unpacked(fake_folder, fake_folder, "2.0")
    instance = spring.new("CS")
    instance.initialize()
    instance.try_input_rates([TAU, TAU], [1, 2], [3.0, 4.0])
    assert instance.rates([UDOT]) == [3.0 - instance.get([U])[0]]
    instance.step(0.0, 0.25)
    assert instance.rates([UDOT]) == pytest.approx([4.0 - instance.get([U])[0]], rel=1e-14)
    instance.step(0.25, 0.25)
    assert instance.rates([UDOT]) == pytest.approx([-instance.get([U])[0]], rel=1e-14)
    instance.free()


def test_time_itself_counts(tmp_path):
    """Of a coordinate that follows a sine of time no state has the information."""
    mech = pendulum()
    mech.prescribe("hinge", lw.Motion(amplitude=0.3, frequency=0.5))
    path = lw.export_fmu(mech, tmp_path / "driven.fmu", "3.0")
    fmu = Unpacked(path, unpack(path), "3.0", lw.compile(mech))
    instance = fmu.new("CS")
    instance.initialize(tolerance=1e-10)
    instance.step(0.0, 0.37)
    w, phase = math.pi, 0.37 * math.pi
    expected = [0.3 * w * math.cos(phase), -0.3 * w**2 * math.sin(phase), -0.3 * w**3 * math.cos(phase)]
    assert instance.rates([fmu.reference(f"hinge.{what}") for what in "qua"]) == pytest.approx(expected, abs=1e-6)
    instance.free()


@pytest.mark.parametrize(
    ("reference", "order", "words"),
    [
        (Q, 0, "order 1"),
        (Q, 2, "order 1"),
        (STIFFNESS, 1, "not a continuous output"),
        (TAU, 1, "not a continuous output"),
        (TIME, 1, "not a continuous output"),
        (STEPS, 1, "not a continuous output"),
        (99, 1, "not a continuous output"),
    ],
)
def test_what_has_none_is_refused_by_name(fake, reference, order, words):
    instance = fake.new("CS")
    instance.initialize()
    status, _ = instance.try_rates([Q, reference], [1, order])
    assert status == ERROR
    assert words in instance.last
    assert f"value reference {reference})" in instance.last
    assert instance.rates([]) == []


def test_discrete_outputs_have_none(tmp_path):
    mech = pendulum(latch=(lw.Lock("hinge"), lw.Command()))
    path = lw.export_fmu(mech, tmp_path / "latched.fmu", "3.0")
    fmu = Unpacked(path, unpack(path), "3.0", lw.compile(mech))
    instance = fmu.new("CS")
    instance.initialize()
    for name in ("energy.lost", "latch.active", "hinge.impulse.f[1]"):
        assert instance.try_rates([fmu.reference(name)])[0] == ERROR
        assert "not a continuous output" in instance.last
    assert all(map(math.isfinite, instance.rates([fmu.reference("energy.kinetic")])))
    instance.free()
