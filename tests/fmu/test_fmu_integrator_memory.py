"""Events that change accelerations only reach importers that begin their integrators again on the report alone."""

import importlib
import math

import numpy as np
import pytest

import linkwork as lw
from support.fmi_calls import ERROR, OK
from support.latched import pendulum, started
from support.memory_importer import MemoryImporter

VERSION = pytest.mark.parametrize("version", ["2.0", "3.0"])


def lid() -> lw.Mechanism:
    """The lid of the README."""
    mech = lw.Mechanism("lid", gravity=(0, 0, 0))
    mech.add_body("lid", mass=4.0, com=(0.3, 0, 0), inertia=lw.inertia.rod(4.0, 0.6))
    mech.add_joint("hinge", lw.Revolute(axis=(0, 0, 1)), "ground", "lid", at=(0, 0, 0))
    mech.add_force(lw.SpringDamper("hinge", stiffness=2.0, damping=0.2, free=2.0))
    mech.add_transition("latch", lw.Lock("hinge"), when=lw.Crossing("hinge.q", math.pi / 2))
    mech.add_transition("free", lw.Unlock("hinge"), when=lw.Time(2.0))
    return mech


ENDS = {"lid": 5.0, "gripper": 2.6, "pin": 1.0, "joint_lock": 1.0, "solar_array": 8.0}  # s


@pytest.fixture
def example(checkout, monkeypatch):
    monkeypatch.syspath_prepend(checkout / "examples")
    return importlib.import_module


@VERSION
@pytest.mark.parametrize("name", list(ENDS))
@pytest.mark.thin(3)
def test_moves_as_in_python(name, version, example, make):
    module = None if name == "lid" else example(name)
    signals = {"across": module.across, "lift": module.lift, "left": module.motor} if name == "gripper" else {}
    fmu = make(module.mechanism() if module else lid(), version)
    importer = MemoryImporter(fmu, {f"{joint}.tau": signal for joint, signal in signals.items()})
    found = importer.run(ENDS[name])
    exact = lw.simulate(fmu.system, t_end=ENDS[name], inputs=signals, solver="DOP853", rtol=1e-12)
    names = [*fmu.system.q_names, *fmu.system.u_names]
    expected = np.array([exact[column][-1] for column in names])
    assert len(exact.events) > 0
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


@VERSION
@pytest.mark.parametrize("name", list(ENDS))
@pytest.mark.thin(3)
def test_co_simulation_moves_as_in_python(name, version, example, make):
    """Inputs hold for a step, as the outputs of a digital controller do for a sample."""
    module, step = None if name == "lid" else example(name), 0.01
    signals = {"across": module.across, "lift": module.lift, "left": module.motor} if name == "gripper" else {}
    fmu = make(module.mechanism() if module else lid(), version)
    instance, inputs = fmu.new("CS"), [fmu.reference(f"{joint}.tau") for joint in signals]
    instance.set_up(tolerance=1e-11)
    instance.must("ExitInitializationMode")
    for k in range(round(ENDS[name] / step)):
        if inputs:
            instance.set(inputs, [signal(k * step) for signal in signals.values()])
        instance.step(k * step, step)
    names = [*fmu.system.q_names, *fmu.system.u_names]
    found = instance.get([fmu.reference(one) for one in names])

    def held(t, _):
        return {joint: signal(round(t / step) * step) for joint, signal in signals.items()}

    driven = {"controller": held, "sample_time": step} if signals else {}
    exact = lw.simulate(fmu.system, t_end=ENDS[name], solver="DOP853", rtol=1e-12, **driven)
    np.testing.assert_allclose(found, [exact[one][-1] for one in names], rtol=0, atol=1e-8)


@VERSION
def test_what_changes_nothing_is_not_reported(version, make):
    """A report without a cause would keep importers in Event Mode."""
    fmu = make(pendulum(latch=(lw.Lock("hinge"), lw.Command())), version)
    instance, command, load = started(fmu, "ME"), [fmu.reference("latch.command")], [fmu.reference("hinge.tau")]

    def reported(action=lambda: None) -> bool:
        instance.must("EnterEventMode")
        action()
        changed = instance.update()["changed"]
        assert not instance.update()["changed"]  # once
        instance.must("EnterContinuousTimeMode")
        return changed

    assert not reported()
    assert not reported(lambda: instance.try_set_flags(command, [False]))
    assert reported(lambda: instance.try_set_flags(command, [True]))  # at rest: nothing jumps
    assert not reported(lambda: instance.try_set_flags(command, [True]))
    assert reported(lambda: instance.try_set_flags(command, [False]))
    assert not reported(lambda: instance.set(load, [0.0]))
    assert reported(lambda: instance.set(load, [1.0]))
    assert not reported(lambda: instance.set(load, [1.0]))
    mass = [fmu.reference("arm.mass")]
    assert not reported(lambda: instance.set(mass, [1.0]))
    assert reported(lambda: instance.set(mass, [2.0]))
    instance.set(load, [3.0])  # in Continuous-Time Mode: the importer knows
    assert not reported()


@VERSION
def test_co_simulation_does_not_report_states(version, make):
    """Its importer has no integrator."""
    if version == "2.0":
        return
    fmu = make(pendulum(latch=(lw.Lock("hinge"), lw.Command())), version)
    instance = started(fmu, "CS", event_mode=True)
    instance.must("EnterEventMode")
    assert instance.try_set_flags([fmu.reference("latch.command")], [True]) == OK
    assert not instance.update()["changed"]
    assert instance.get_flags([fmu.reference("latch.active")]) == [True]


@VERSION
def test_discrete_inputs_keep_their_values_between_events(version, make):
    """Some importers set all inputs before each evaluation."""
    kick = (lw.Impulse("arm", force=(0, 0, 1.0)), lw.Command())
    fmu = make(pendulum(latch=(lw.Lock("hinge"), lw.Command()), kick=kick), version)
    instance = started(fmu, "ME")
    command, impulse = [fmu.reference("latch.command")], [fmu.reference("kick.impulse.f[3]")]
    assert instance.try_set_flags(command, [False]) == OK
    assert instance.try_set(impulse, [1.0]) == OK
    assert instance.try_set_flags(command, [True]) == ERROR
    assert "in Event Mode" in instance.last
    assert "command" in instance.last
    assert instance.try_set(impulse, [2.0]) == ERROR
    assert "is 1, a discrete input" in instance.last
    instance.must("EnterEventMode")
    assert instance.try_set_flags(command, [True]) == OK
    instance.update()
    instance.must("EnterContinuousTimeMode")
    assert instance.try_set_flags(command, [True]) == OK
    assert instance.try_set_flags(command, [False]) == ERROR
    assert instance.get_flags([fmu.reference("latch.active")]) == [True]
