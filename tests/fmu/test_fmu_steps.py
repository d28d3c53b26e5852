"""Communication steps of every size: time is that of the importer, the motion is unaffected."""

import math

import pytest

from support.fmi_calls import DISCARD

STIFFNESS, TIME, Q = 0, 4, 6


def test_many_tiny_steps_do_not_drift(fake):
    instance, length = fake.new("CS"), 1e-6
    instance.initialize(tolerance=1e-9)
    for k in range(20000):
        assert instance.try_step(k * length, length)[0] == 0
    assert instance.get([TIME]) == [19999 * length + length]
    assert instance.get([Q])[0] == pytest.approx(math.cos(0.02), abs=1e-9)


def test_steps_of_every_size(fake):
    instance, time = fake.new("CS"), 0.0
    instance.initialize(tolerance=1e-9)
    for length in (0.1, 0.2, 1e-12, math.pi, 1e-15, 40.0, math.sqrt(2) / 1000):
        time = instance.step(time, length)
        assert instance.get([TIME]) == [time]
        assert instance.get([Q])[0] == pytest.approx(math.cos(time), abs=1e-6)


def test_a_step_that_would_never_end_is_given_up(fake):
    """A spring of 1e22 N/m swings 1e10 times in a step; a shorter one succeeds."""
    instance = fake.new("CS")
    instance.set([STIFFNESS], [1e22])
    instance.initialize(tolerance=1e-6)
    assert instance.try_step(0.0, 1.0)[0] == DISCARD
    assert "rodas5p" in instance.last
    assert instance.get([TIME, Q]) == [0.0, 1.0]
    time = instance.step(0.0, 1e-9)
    assert instance.get([TIME]) == [time] == [1e-9]
    assert instance.get([Q])[0] == pytest.approx(math.cos(100.0), abs=1e-2)
