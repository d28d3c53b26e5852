"""FMI 3.0: callbacks during a step."""

import math

import pytest

from support.fmi_calls import ERROR, OK, Instance
from support.unpacked import Unpacked

TIME, TAU, Q, U, STEPS = 4, 5, 6, 7, 11


@pytest.fixture
def spring(fake_folder):
    """The stand-in core in FMI 3.0: a mass on a spring from q = 1, with an event where q passes zero."""
    unpacked = Unpacked(fake_folder, fake_folder, "3.0")
    yield unpacked
    for instance in unpacked.instances:
        instance.free()


def test_each_step_of_the_integrator_and_the_end_are_told(spring):
    seen = []

    def note(instance, update):
        assert (update.set_requested, update.get_allowed, update.finished) == (True, True, True)
        seen.append((update.time, *instance.get([TIME, Q, U])))

    instance, time = spring.new("CS", between=note), 0.0
    instance.initialize(tolerance=1e-9)
    for length in (0.5, 0.01, 1.0, 1e-6):
        count = len(seen)
        time = instance.step(time, length)
        assert len(seen) > count
        assert seen[-1][0] == time
        assert seen[-1][1:] == (time, *instance.get([Q, U]))
    times = [row[0] for row in seen]
    assert times == sorted(set(times))
    assert len(times) > 10
    for at, clock, q, u in seen:
        assert clock == at
        assert (q, u) == pytest.approx((math.cos(at), -math.sin(at)), abs=1e-8)


def test_looking_changes_no_bit(built):
    fmu = built("3.0")
    everything = fmu.references("state", "derivative", "output")
    told = []

    def look(instance, update):
        told.append(update.time)
        instance.get(everything)
        instance.rates(fmu.references("state"))

    results = []
    for between in (None, look):
        instance, time = fmu.new("CS", between=between), 0.0
        instance.initialize()
        torque = fmu.reference("A.tau")
        for k, length in enumerate((0.2, 0.013, 0.5, 0.1, 0.1)):
            if k == 3:
                instance.set([torque], [0.7])
            time = instance.step(time, length)
        results.append(instance.get(everything))
    assert results[0] == results[1]
    assert len(told) > 5


def test_inputs_act_from_where_they_are_set(spring):
    """A load that steps up once; the motion after it in closed form."""
    at = []

    def push(instance, update):
        if not at and update.time > 0.3:
            at.append((update.time, *instance.get([Q, U])))
            instance.set([TAU], [2.0])

    instance = spring.new("CS", between=push, required=[TAU])
    instance.initialize(tolerance=1e-10)
    instance.step(0.0, 1.5)
    (since, q, u), s = at[0], 1.5 - at[0][0]
    assert since < 1.5
    expected = 2.0 + (q - 2.0) * math.cos(s) + u * math.sin(s)
    assert instance.get([Q])[0] == pytest.approx(expected, abs=1e-9)
    assert instance.get([TAU]) == [2.0]


def test_an_input_set_at_the_end_acts_in_the_next_step(spring):
    def push(instance, update):
        if update.time == 0.25:
            instance.set([TAU], [2.0])

    instance, other = spring.new("CS", between=push, required=[TAU]), spring.new("CS")
    for each in (instance, other):
        each.initialize()
        each.step(0.0, 0.25)
    other.set([TAU], [2.0])
    for each in (instance, other):
        each.step(0.25, 0.25)
    assert instance.get([Q, U]) == other.get([Q, U])


@pytest.mark.parametrize("beyond", [0.0, 0.05, -1e-4, -1.0])
def test_early_return(spring, beyond):
    """At the update, after it, or before it as far as the last step of the integrator goes."""
    asked = []

    def leave(_, update):
        if update.time > 0.3 and not asked:
            assert update.can_return
            asked.append(update.time)
            return update.time + beyond
        return None

    instance = spring.new("CS", between=leave, event_mode=False, early_return=True)
    instance.initialize(tolerance=1e-10)
    status, done = instance.try_step(0.0, 1.0)
    expected = asked[0] + (beyond if beyond > -1.0 else 0.0)
    assert (status, done) == (OK, {"event": False, "early": True, "last": expected})
    assert instance.get([TIME]) == [expected]
    assert instance.get([Q])[0] == pytest.approx(math.cos(expected), abs=1e-9)
    status, done = instance.try_step(expected, 1.0 - expected)
    assert (status, done["early"]) == (OK, False)
    assert instance.get([Q])[0] == pytest.approx(math.cos(1.0), abs=1e-9)


@pytest.mark.parametrize("time", [1.0, 2.0, math.nan])
def test_a_return_that_is_not_early(spring, time):
    instance = spring.new("CS", between=lambda *_: time, early_return=True)
    instance.initialize()
    _, done = instance.try_step(0.0, 1.0)
    assert done["early"] == (time != time)


def test_no_early_return_unless_allowed(spring):
    can = []

    def leave(_, update):
        can.append(update.can_return)
        return update.time

    instance = spring.new("CS", between=leave)
    instance.initialize()
    status, done = instance.try_step(0.0, 1.0)
    assert (status, done["early"], done["last"]) == (OK, False, 1.0)
    assert not any(can)


def test_events_are_told_where_they_are(spring):
    times = []
    instance = spring.new("CS", between=lambda _, update: times.append(update.time), event_mode=True, early_return=True)
    instance.set_up(tolerance=1e-10)
    instance.must("ExitInitializationMode")
    instance.must("EnterStepMode")
    status, done = instance.try_step(0.0, 3.0)
    assert (status, done["event"], done["early"]) == (OK, True, True)
    assert times[-1] == done["last"] == pytest.approx(math.pi / 2, abs=1e-9)


def test_what_is_not_listed_cannot_be_set(spring):
    found = []

    def meddle(instance, _):
        found.extend((instance.try_set([reference], [1.0]), instance.last) for reference in (TAU, 0, Q))

    instance = spring.new("CS", between=meddle, required=[Q])
    instance.initialize()
    instance.step(0.0, 0.01)
    assert [status for status, _ in found[:3]] == [ERROR] * 3
    assert "intermediate updates" in found[0][1]
    assert instance.get([TAU]) == [0.0]


@pytest.mark.parametrize("reference", [99, 0, STEPS, TIME])
def test_a_list_with_what_is_no_variable_of_it_is_refused(spring, reference):
    instance = Instance(spring.library, "3.0", "CS", spring.resources, spring.token, required=[TAU, Q, reference])
    assert instance.handle is None
    assert f"value reference {reference})" in instance.last


def test_from_fmpy(built, needs):
    needs("fmpy")
    from fmpy.fmi3 import FMU3Slave

    fmu, times = built("3.0"), []
    slave = FMU3Slave(
        guid=fmu.token, unzipDirectory=str(fmu.folder), modelIdentifier=fmu.library.stem, instanceName="unit"
    )
    slave.instantiate(intermediateUpdate=lambda _, time, *__: times.append(time))
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    slave.doStep(0.0, 0.5)
    assert times == sorted(times)
    assert times[-1] == 0.5
    slave.terminate()
    slave.freeInstance()
