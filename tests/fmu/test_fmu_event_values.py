"""Values of transitions in FMUs: types, parameters, marks and dependencies; and rollback across events."""

import ctypes
from xml.etree import ElementTree

import numpy as np
import pytest

import linkwork as lw
from support.fmi_calls import ERROR, OK
from support.latched import pendulum, started

VERSION = pytest.mark.parametrize("version", ["2.0", "3.0"])
KIND = pytest.mark.parametrize("kind", ["ME", "CS"])
LATCH = (lw.Lock("hinge"), lw.Time(0.7))
COMMANDED = (lw.Lock("hinge"), lw.Command())
STOP = (lw.Stop("hinge", upper=1.0, restitution=0.5), None)


# ---- values


@VERSION
def test_types_are_kept_apart(version, make):
    fmu = make(pendulum(latch=COMMANDED), version)
    instance = started(fmu, "CS")
    assert instance.try_get([fmu.reference("latch.active")])[0] == ERROR
    assert "has the type boolean" in instance.last
    assert instance.try_set([fmu.reference("latch.command")], [1.0]) == ERROR
    assert instance.try_set_flags([fmu.reference("hinge.tau")], [True]) == ERROR
    assert "has the type real number" in instance.last
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


def known_to_indicators(instance, indicator: int) -> list[int]:
    count, at = ctypes.c_size_t(), ctypes.c_uint32(indicator)
    instance.must("GetNumberOfVariableDependencies", at, ctypes.byref(count))
    found, sizes = (ctypes.c_uint32 * count.value)(), (ctypes.c_size_t * count.value)()
    instance.must("GetVariableDependencies", at, sizes, found, sizes, (ctypes.c_int * count.value)(), count)
    return list(found)


def test_event_indicators_depend_on_what_is_declared(make):
    """A zero crossing is of one coordinate, and nothing else changes its indicator."""
    mech = pendulum()
    mech.add_body("forearm", mass=0.5, com=(0.5, 0, 0), inertia=0.1 * np.eye(3))
    mech.add_joint("elbow", lw.Revolute((0, 1, 0)), "arm", "forearm", parent_frame=lw.Frame((1, 0, 0)))
    mech.add_transition("passing", lw.Lock("hinge"), when=lw.Crossing("elbow.q", 0.5))
    mech.add_transition("stop", STOP[0])
    fmu = make(mech, "3.0")
    listed = ElementTree.fromstring(fmu.xml).find("ModelStructure").findall("EventIndicator")
    passing, elbow = int(listed[0].get("valueReference")), fmu.reference("elbow.q")
    assert len(listed) == 2
    assert listed[0].get("dependencies") == str(elbow)
    instance, states = started(fmu, "ME"), fmu.references("state")
    assert known_to_indicators(instance, passing) == [elbow]
    before = instance.array("GetEventIndicators", 2)
    x = instance.array("GetContinuousStates", len(states))
    assert len(states) == 4
    for state in states:
        assert instance.set_states([a + 0.01 * (r == state) for r, a in zip(states, x, strict=True)]) == OK
        assert (instance.array("GetEventIndicators", 2)[0] != before[0]) == (state == elbow)


# ---- rollback


@VERSION
@KIND
def test_going_back_across_events_repeats_every_bit(version, kind, make):
    """To a state before a latch and a bounce, in memory and as bytes, in another instance too."""
    fmu = make(pendulum(stop=STOP, latch=LATCH, hold=COMMANDED), version)
    references = fmu.references("state", "derivative", "output")
    real = {fmu.reference(v.name) for v in fmu.system.variables if v.type == "real"}
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
