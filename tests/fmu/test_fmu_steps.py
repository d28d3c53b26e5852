"""Communication steps of every size: time is what the importer says, the motion does not notice."""

import math

import pytest

TIME, Q = 4, 6


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
