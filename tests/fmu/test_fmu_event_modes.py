"""Transitions in FMUs by hand: Event Mode, early returns, what is refused, and going back."""

import ctypes
from xml.etree import ElementTree

import numpy as np
import pytest

import linkwork as lw
from support.fmi_calls import ERROR, OK
from support.latched import exported, pendulum

pytest.importorskip("fmpy")

VERSION = pytest.mark.parametrize("version", ["2.0", "3.0"])
KIND = pytest.mark.parametrize("kind", ["ME", "CS"])
LATCH = (lw.Lock("hinge"), lw.Time(0.7))
COMMANDED = (lw.Lock("hinge"), lw.Input())
STOP = (lw.Stop("hinge", upper=1.0, restitution=0.5), None)


def started(fmu, kind, **options):
    """An instance in Continuous-Time or Step Mode."""
    instance = fmu.new(kind, **options)
    instance.set_up(tolerance=1e-10)
    instance.must("ExitInitializationMode")
    if kind == "ME" or options:
        instance.update()
        instance.must("EnterContinuousTimeMode" if kind == "ME" else "EnterStepMode")
    return instance


def free_all(fmu):
    while fmu.instances:
        fmu.instances.pop().free()


@pytest.fixture
def make(tmp_path):
    made = []

    def export(mech, version):
        made.append(exported(mech, version, tmp_path))
        return made[-1]

    yield export
    for fmu in made:
        free_all(fmu)


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
    assert instance.update() == {"changed": False, "next": 0.7}
    instance.must("EnterContinuousTimeMode")
    instance.must("SetTime", ctypes.c_double(0.7))
    assert instance.set_states([0.5, 2.0]) == OK
    instance.must("EnterEventMode")
    assert instance.update() == {"changed": True, "next": None}
    assert instance.array("GetContinuousStates", 2) == [0.5, 0.0]
    assert instance.update() == {"changed": False, "next": None}
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
    assert "not allowed in Continuous-Time Mode" in instance.last
    for value in (True, False):
        instance.must("EnterEventMode")
        assert instance.try_set_flags(command, [value]) == OK
        assert instance.get_flags(command) == [value]
        assert instance.get_flags(active) == [not value]
        assert instance.update()["changed"] == value
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
        behind = fmu.system.sizes.reals
        assert instance.get([behind + 1, fmu.reference("hinge.q"), behind])[::2] == found[::-1]
        return found

    assert all(z > 0 for z in indicators())
    instance.set_states([0.5 + 1e-9, 2.0])
    assert [z > 0 for z in indicators()] == [False, True]
    instance.must("EnterEventMode")
    assert instance.update()["changed"]
    assert all(z > 0 for z in indicators())
    assert not instance.update()["changed"]


def apart(when):
    """A pin whose frames never meet."""
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


# ---- values


@VERSION
def test_types_are_kept_apart(version, make):
    fmu = make(pendulum(latch=COMMANDED), version)
    instance = started(fmu, "CS")
    assert instance.try_get([fmu.reference("latch.active")])[0] == ERROR
    assert "is no real number" in instance.last
    assert instance.try_set([fmu.reference("latch.command")], [1.0]) == ERROR
    assert instance.try_set_flags([fmu.reference("hinge.tau")], [True]) == ERROR
    assert "is no boolean" in instance.last
    assert instance.try_set_flags([fmu.reference("latch.active")], [True]) == ERROR
    assert "cannot be set" in instance.last
    name = "Integer" if version == "2.0" else "Int32"
    count, value = (ctypes.c_uint32 * 1)(fmu.reference("events")), ctypes.c_int32(-1)
    tail = (ctypes.byref(value), ctypes.c_size_t(1)) if version == "3.0" else (ctypes.byref(value),)
    instance.must(f"Get{name}", count, ctypes.c_size_t(1), *tail)
    assert value.value == 0
    assert instance.call(f"Set{name}", count, ctypes.c_size_t(1), *tail) == ERROR


@VERSION
@KIND
def test_parameters_of_transitions(version, kind, make):
    fmu = make(pendulum(latch=LATCH, stop=STOP, cross=(lw.Unlock("hinge"), lw.Crossing("hinge.q", 0.3))), version)
    names = ["latch.time", "stop.upper", "stop.restitution", "cross.value"]
    instance = fmu.new(kind)
    references = [fmu.reference(name) for name in names]
    assert instance.get(references) == [0.7, 1.0, 0.5, 0.3] if version == "3.0" else True
    instance.set(references, [0.1, 0.9, 0.0, 0.2])
    instance.set_up()
    assert instance.get(references) == [0.1, 0.9, 0.0, 0.2]
    instance.must("ExitInitializationMode")
    if kind == "ME":
        assert instance.update()["next"] == 0.1
    else:
        instance.step(0.0, 0.2)
        assert instance.get_flags([fmu.reference("latch.active")]) == [True]


@VERSION
def test_states_that_jump_are_marked(version, make):
    for transitions, expected in (({"latch": LATCH}, {"hinge.u"}), ({}, set())):
        root = ElementTree.fromstring(make(pendulum(**transitions), version).xml)
        entries = root.iter("Float64") if version == "3.0" else root.iter("ScalarVariable")
        real = (lambda entry: entry) if version == "3.0" else (lambda entry: entry[0])
        assert {entry.get("name") for entry in entries if real(entry).get("reinit") == "true"} == expected


@VERSION
def test_dependencies_hold_in_every_structure(version, make):
    """The pin joins two arms, which know nothing of each other before."""
    mech = lw.Mechanism("arms", gravity=(0, 0, -9.81))
    for name, side in (("left", 0.0), ("right", 1.0)):
        mech.add_body(name, mass=1.0, com=(0, 0, -0.5), inertia=0.1 * np.eye(3))
        mech.add_joint(f"{name}_hinge", lw.Revolute((0, 1, 0)), "ground", name, parent_frame=lw.Frame((side, 0, 0)))
    mech.add_transition(
        "pin", lw.Pin("left", "right", lw.Revolute((0, 1, 0)), parent_frame=lw.Frame((0, 0, -1))), when=lw.Time(0.5)
    )
    fmu = make(mech, version)
    depends = {variable.name: variable.depends for variable in fmu.system.variables}
    for of in ("der(left_hinge.u)", "der(left_hinge.q)", "right_hinge.f[1]"):
        assert depends[of] is None or ("right_hinge.q" in depends[of] and "left_hinge.u" in depends[of])


# ---- going back


@VERSION
@KIND
def test_going_back_across_events_repeats_every_bit(version, kind, make):
    """To a state before a latch and a bounce, in memory and as bytes, in another instance too."""
    fmu = make(pendulum(stop=STOP, latch=LATCH, hold=COMMANDED), version)
    references = fmu.references("state", "derivative", "output")
    real = {v.reference for v in fmu.system.variables if v.type == "real"}
    references = [reference for reference in references if reference in real]
    flags = [fmu.reference(f"{name}.active") for name in ("stop", "latch", "hold")]
    instance = started(fmu, kind)

    def go(one, first, last):
        for k in range(first, last):
            if kind == "CS":
                one.step(0.1 * k, 0.1)
                continue
            x, dx = one.array("GetContinuousStates", 2), one.derivatives(2)
            one.must("SetTime", ctypes.c_double(0.1 * (k + 1)))
            one.set_states([a + 0.1 * b for a, b in zip(x, dx, strict=True)])
            one.must("EnterEventMode")
            one.update()
            one.must("EnterContinuousTimeMode")
        return one.get(references), one.get_flags(flags)

    go(instance, 0, 3)
    before = instance.save()
    first = go(instance, 3, 9)
    assert first[1][1]
    after = instance.save()
    further = go(instance, 9, 12)
    for state, start, end, expected in ((before, 3, 9, first), (after, 9, 12, further), (before, 3, 9, first)):
        instance.restore(state)
        assert go(instance, start, end) == expected
    data = instance.to_bytes(after)
    other = started(fmu, kind)
    status, copy = other.from_bytes(data)
    assert status == OK
    other.restore(copy)
    assert go(other, 9, 12) == further
    for owner, state in ((instance, before), (instance, after), (other, copy)):
        owner.drop(state)
