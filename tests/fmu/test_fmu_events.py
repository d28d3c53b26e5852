"""The wrapper over the stand-in core, which has an event, a wall and start values that cannot be assembled."""

import math

import pytest

from support.fmi_calls import DISCARD, ERROR

STIFFNESS, LIMIT, Q_START, U_START, TIME, TAU, Q, U, QDOT, UDOT, ENERGY, STEPS = range(12)


def test_co_simulation_of_the_closed_form(fake):
    instance = fake.new("CS")
    instance.initialize(tolerance=1e-9)
    time = 0.0
    while time < 20.0:
        time = instance.step(time, math.pi / 7)
    q, u, energy = instance.get([Q, U, ENERGY])
    assert abs(q - math.cos(time)) < 1e-8
    assert abs(u + math.sin(time)) < 1e-8
    assert abs(energy - 0.5) < 1e-8


def test_events_are_met_inside_a_step_when_the_importer_does_not_want_them(fake):
    instance = fake.new("CS", event_mode=False)
    instance.initialize(tolerance=1e-9)
    status, done = instance.try_step(0.0, 10.0)
    assert status == 0
    assert done in ({}, {"event": False, "early": False, "last": 10.0})
    assert abs(instance.get([Q])[0] - math.cos(10.0)) < 1e-8


def test_early_return_at_events(fake_folder, fake):
    if fake.version == "2.0":
        fake.version = "3.0"
    instance = fake.new("CS", event_mode=True, early_return=True)
    instance.set_up(tolerance=1e-9)
    instance.must("ExitInitializationMode")
    instance.must("EnterStepMode")
    time, events = 0.0, []
    while time < 10.0:
        status, done = instance.try_step(time, min(0.75, 10.0 - time))
        assert status == 0
        assert done["early"] == (done["last"] < time + min(0.75, 10.0 - time))
        time = done["last"]
        if done["event"]:
            events.append(time)
            assert instance.get([TIME]) == [time]
            instance.must("EnterEventMode")
            instance.must("EnterStepMode")
    assert [round(t / math.pi - 0.5, 6) for t in events] == [0.0, 1.0, 2.0]


def test_event_mode_without_early_return(fake):
    fake.version = "3.0"
    instance = fake.new("CS", event_mode=True)
    instance.set_up()
    instance.must("ExitInitializationMode")
    instance.must("EnterStepMode")
    status, done = instance.try_step(0.0, 2.0)
    assert (status, done) == (0, {"event": False, "early": False, "last": 2.0})


def test_behind_the_wall_is_discarded_and_a_shorter_step_works(fake):
    instance = fake.new("CS")
    instance.set([LIMIT, Q_START, U_START], [1.0, 0.0, 2.0])
    instance.initialize()
    instance.step(0.0, 0.1)  # after which the integrator is ahead
    before = instance.get([TIME, Q, U, STEPS])
    status, _ = instance.try_step(0.1, 1.0)  # q = 2 sin t reaches the wall at t = pi/6
    assert status == DISCARD
    assert "behind the wall" in instance.last
    assert instance.messages[-1][1] == "logStatusDiscard"
    assert instance.get([TIME, Q, U, STEPS]) == before
    instance.step(0.1, 0.4)
    assert abs(instance.get([Q])[0] - 2 * math.sin(0.5)) < 1e-6


def test_behind_the_wall_in_model_exchange(fake):
    instance = fake.new("ME")
    instance.set([LIMIT], [1.5])
    instance.initialize()
    assert instance.set_states([2.0, 0.0]) == 0
    name = "GetDerivatives" if fake.version == "2.0" else "GetContinuousStateDerivatives"
    assert instance.try_array(name, 2)[0] == DISCARD
    assert instance.try_get([ENERGY])[0] == DISCARD
    instance.set_states([1.0, 0.0])
    assert instance.derivatives(2) == [0.0, -1.0]


def test_indicators(fake):
    instance = fake.new("ME")
    instance.initialize()
    instance.set_states([-0.25, 1.0])
    assert instance.array("GetEventIndicators", 1) == [-0.25]
    assert instance.try_array("GetEventIndicators", 2)[0] == ERROR


def test_start_values_out_of_reach_are_an_error(fake):
    instance = fake.new("CS")
    instance.set([Q_START], [1e4])
    instance.set_up()
    assert instance.call("ExitInitializationMode") == ERROR
    assert "out of reach" in instance.last
    assert instance.messages[-1][1] == "logStatusError"


def test_a_new_start_value_is_assembled_again(fake):
    instance = fake.new("ME")
    instance.set_up()
    for start in (0.5, 0.25):
        instance.set([Q_START], [start])
        assert instance.get([Q, UDOT]) == [start, -start]


def test_the_integrator_starts_again_only_when_something_changed(fake):
    def steps(values) -> float:
        instance = fake.new("CS")
        instance.initialize(tolerance=1e-8)
        time = 0.0
        for value in values:
            instance.set([TAU], [value])
            time = instance.step(time, 0.001)
        return instance.get([STEPS])[0]

    assert steps([0.0] * 100) < 20
    assert steps([0.1 * (k % 2) for k in range(100)]) >= 99


@pytest.mark.parametrize("step", [0.1, 0.37])
def test_the_restart_after_an_input_keeps_the_tolerance(fake, step):
    instance = fake.new("CS")
    instance.initialize(tolerance=1e-9)
    time, q, u = 0.0, 1.0, 0.0
    for k in range(50):
        tau = math.sin(3.0 * k)
        instance.set([TAU], [tau])
        end = instance.step(time, step)
        h, time = end - time, end
        q, u = tau + (q - tau) * math.cos(h) + u * math.sin(h), u * math.cos(h) - (q - tau) * math.sin(h)
    assert max(abs(a - b) for a, b in zip(instance.get([Q, U]), (q, u), strict=True)) < 1e-8
