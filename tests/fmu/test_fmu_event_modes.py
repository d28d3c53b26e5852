"""Transitions in FMUs by hand: Event Mode, early returns, and refusals."""

import ctypes

import pytest

import linkwork as lw
from support.fmi_calls import ERROR, OK
from support.latched import pendulum, started

VERSION = pytest.mark.parametrize("version", ["2.0", "3.0"])
KIND = pytest.mark.parametrize("kind", ["ME", "CS"])
LATCH = (lw.Lock("hinge"), lw.Time(0.7))
COMMANDED = (lw.Lock("hinge"), lw.Command())
STOP = (lw.Stop("hinge", upper=1.0, restitution=0.5), None)


# ---- Co-Simulation with Event Mode


def steps(instance, fmu, end, step, early):
    """Steps to an end, and events that were met: time, and events counted before and after."""
    time, met = 0.0, []
    count = fmu.reference("stop.active")
    while time < end - 1e-12:
        status, done = instance.try_step(time, min(step, end - time))
        assert status == OK, instance.last
        assert done["early"] == (done["last"] < time + min(step, end - time))
        assert early or not done["early"]
        time = done["last"]
        if done["event"]:
            before = instance.get([fmu.reference("hinge.u")])[0]
            instance.must("EnterEventMode")
            assert not instance.update()["changed"]  # which is for Model Exchange
            instance.must("EnterStepMode")
            met.append((time, before, instance.get([fmu.reference("hinge.u")])[0]))
    return met, instance.get_flags([count])[0]


def test_early_return_at_every_impact(make):
    fmu = make(pendulum(stop=STOP), "3.0")
    instance = started(fmu, "CS", event_mode=True, early_return=True)
    met, rests = steps(instance, fmu, 2.0, 0.3, early=True)
    assert rests
    assert len(met) > 10
    for _, before, after in met[:5]:
        assert after == pytest.approx(-0.5 * before, abs=1e-9)
    assert met[-1][2] == 0
    within = started(fmu, "CS")
    assert within.try_step(0.0, 2.0) == (OK, {"event": False, "early": False, "last": 2.0})
    names = [fmu.reference(name) for name in ("hinge.q", "energy.lost")]
    assert instance.get(names) == pytest.approx(within.get(names), abs=1e-9)


def test_event_mode_without_early_return(make):
    """What happens within a step is dealt with there; what happens at its end is left to Event Mode."""
    fmu = make(pendulum(stop=STOP, latch=(lw.Lock("hinge"), lw.Time(2.5))), "3.0")
    instance = started(fmu, "CS", event_mode=True)
    met, rests = steps(instance, fmu, 3.0, 0.5, early=False)
    assert rests
    assert [time for time, _, _ in met] == [2.5]
    assert instance.get_flags([fmu.reference("latch.active")]) == [True]


def test_event_mode_is_for_who_announced_it(make):
    instance = started(make(pendulum(latch=COMMANDED), "3.0"), "CS")
    assert instance.call("EnterEventMode") == ERROR
    assert "eventModeUsed" in instance.last
    assert instance.try_step(0.0, 0.1)[0] == OK


def test_an_event_that_the_importer_leaves_alone_happens_in_the_next_step(make):
    fmu = make(pendulum(latch=LATCH), "3.0")
    instance = started(fmu, "CS", event_mode=True, early_return=True)
    status, done = instance.try_step(0.0, 1.0)
    assert (status, done["event"], done["last"]) == (OK, True, 0.7)
    assert instance.try_step(0.7, 0.3) == (OK, {"event": False, "early": False, "last": 1.0})
    assert instance.get_flags([fmu.reference("latch.active")]) == [True]


@VERSION
def test_results_do_not_depend_on_the_communication_step(version, make):
    fmu = make(pendulum(stop=STOP, latch=(lw.Lock("hinge"), lw.Crossing("hinge.q", 0.95, -1))), version)
    found = []
    for n in (1, 4, 64):
        instance = started(fmu, "CS")
        for k in range(n):
            instance.step(k / n, 1 / n)
        found.append(instance.get([fmu.reference(name) for name in ("hinge.q", "hinge.u", "energy.lost")]))
    assert found[0] == found[1] == found[2]


@VERSION
@pytest.mark.parametrize("step", [0.7, 0.1])
def test_an_event_at_a_communication_point(version, step, make):
    """Values there are those after it."""
    fmu = make(pendulum(latch=(lw.Lock("hinge"), lw.Time(step))), version)
    instance = started(fmu, "CS")
    instance.step(0.0, step)
    assert instance.get_flags([fmu.reference("latch.active")]) == [True]
    assert instance.get([fmu.reference("hinge.u")]) == [0.0]


# ---- Model Exchange


@VERSION
def test_event_mode_of_model_exchange(version, make):
    fmu = make(pendulum(latch=LATCH, hold=COMMANDED), version)
    instance = fmu.new("ME")
    instance.set_up()
    instance.must("ExitInitializationMode")
    assert instance.update() == {"changed": False, "nominals": False, "next": 0.7}
    instance.must("EnterContinuousTimeMode")
    instance.must("SetTime", ctypes.c_double(0.7))
    assert instance.set_states([0.5, 2.0]) == OK
    instance.must("EnterEventMode")
    assert instance.update() == {"changed": True, "nominals": False, "next": None}
    assert instance.array("GetContinuousStates", 2) == [0.5, 0.0]
    assert instance.update() == {"changed": False, "nominals": False, "next": None}
    assert instance.derivatives(2) == [0.0, 0.0]
    assert instance.get([fmu.reference("energy.lost")]) == pytest.approx([0.5 * 4.0 / 3.0])
    assert instance.get_flags([fmu.reference("latch.active"), fmu.reference("hold.active")]) == [True, False]


@VERSION
def test_commands_act_at_the_next_update(version, make):
    fmu = make(pendulum(hold=COMMANDED), version)
    instance = started(fmu, "ME")
    command, active = [fmu.reference("hold.command")], [fmu.reference("hold.active")]
    instance.set_states([0.5, 2.0])
    assert instance.try_set_flags(command, [True]) == ERROR
    assert "change it to 1 in Event Mode" in instance.last
    for value in (True, False):
        instance.must("EnterEventMode")
        assert instance.try_set_flags(command, [value]) == OK
        assert instance.get_flags(command) == [value]
        assert instance.get_flags(active) == [not value]
        assert instance.update()["changed"]
        assert instance.get_flags(active) == [value]
        instance.must("EnterContinuousTimeMode")


@VERSION
def test_what_happens_at_the_start_is_told(version, make):
    mech = pendulum(hold=COMMANDED)
    mech.start(u={"hinge": 2.0})
    fmu = make(mech, version)
    instance = fmu.new("ME")
    instance.set_up()
    assert instance.try_set_flags([fmu.reference("hold.command")], [True]) == OK
    assert instance.array("GetContinuousStates", 2) == [0.0, 2.0]
    instance.must("ExitInitializationMode")
    assert instance.get_flags([fmu.reference("hold.active")]) == [True]
    assert instance.update()["changed"]
    assert instance.array("GetContinuousStates", 2) == [0.0, 0.0]


@VERSION
def test_indicators_are_below_zero_until_they_are_handled(version, make):
    latch = (lw.Lock("hinge"), lw.Crossing("hinge.q", 0.5, 0))
    fmu = make(pendulum(latch=latch, stop=STOP), version)
    instance = started(fmu, "ME")

    def indicators():
        found = instance.array("GetEventIndicators", 2)
        first, second = fmu.indicators
        assert instance.get([second, fmu.reference("hinge.q"), first])[::2] == found[::-1]
        return found

    assert all(z > 0 for z in indicators())
    instance.set_states([0.5 + 1e-9, 2.0])
    assert [z > 0 for z in indicators()] == [False, True]
    instance.must("EnterEventMode")
    assert instance.update()["changed"]
    assert all(z > 0 for z in indicators())
    assert not instance.update()["changed"]


@pytest.mark.thin(3)
@VERSION
@pytest.mark.parametrize("on_the_way", [[-0.05], [-0.05, "zero"], ["zero"], ["zero", "zero"], []])
def test_an_impulse_acts_once_however_its_indicator_comes_to_zero(version, on_the_way, make):
    """Event Mode is entered before, exactly on and behind it."""
    mech = pendulum(kick=(lw.Impulse("arm", point=(1, 0, 0), force=(0, 0, 0.3)), lw.Crossing("hinge.q", 0.0, 1)))
    mech.start(q={"hinge": -0.1}, u={"hinge": 2.0})
    instance = started(make(mech, version), "ME")
    assert instance.set_states([0.0, 2.0]) == OK
    (zero,) = instance.array("GetEventIndicators", 1)  # its width
    path, told, speed = [*(zero if q == "zero" else q for q in on_the_way), 1e-12, 0.1], [], 2.0
    for q in path:
        assert instance.set_states([q, speed]) == OK
        assert (instance.array("GetEventIndicators", 1) == [0.0]) == (q == zero and not any(told))
        instance.must("CompletedIntegratorStep", 1, bytes(8), bytes(8))
        instance.must("EnterEventMode")
        told.append(instance.update()["changed"])
        assert not instance.update()["changed"]
        instance.must("EnterContinuousTimeMode")
        speed = instance.array("GetContinuousStates", 2)[1]
    assert told == [k == [q >= zero for q in path].index(True) for k in range(len(path))]
    assert speed - 2.0 == pytest.approx(-0.3 * 3.0, abs=1e-9)  # of a rod of inertia 1/3


def apart(when):
    """A pin whose frames never coincide."""
    frames = {"parent_frame": lw.Frame((1, 0, 0)), "child_frame": lw.Frame((0, 0, 5))}
    return pendulum(pin=(lw.Pin("arm", "ground", lw.Revolute((0, 1, 0)), **frames), when))


@VERSION
def test_what_cannot_happen_is_an_error_and_changes_nothing(version, make):
    fmu = make(apart(lw.Time(0.1)), version)
    references = [fmu.reference(name) for name in ("hinge.q", "hinge.u", "energy.lost", "time")]
    exchange, simulation = started(fmu, "ME"), started(fmu, "CS")
    exchange.must("SetTime", ctypes.c_double(0.1))
    exchange.must("EnterEventMode")
    before = exchange.get(references)
    assert exchange.try_update()[0] == ERROR
    assert "'pin' would pin two frames" in exchange.last
    assert exchange.get(references) == before
    before = simulation.get(references)
    assert simulation.try_step(0.0, 0.5)[0] == ERROR
    assert "'pin' would pin two frames" in simulation.last
    assert simulation.get(references) == before
    assert simulation.get_flags([fmu.reference("pin.active")]) == [False]
    simulation.step(0.0, 0.05)


@VERSION
@KIND
def test_what_cannot_happen_at_the_start(version, kind, make):
    """Initialization Mode stays, and its values can be changed."""
    fmu = make(apart(lw.Time(0.0)), version)
    instance = fmu.new(kind)
    instance.set_up()
    assert instance.call("ExitInitializationMode") == ERROR
    assert "'pin'" in instance.last
    instance.set([fmu.reference("pin.time")], [1.0])
    instance.must("ExitInitializationMode")
