"""FMUs of mechanisms whose joints lock, are pinned and hit stops, in FMPy."""

import numpy as np
import pytest

import linkwork as lw
from support.latched import exported, pendulum, started
from support.ma2007 import Ma2007
from support.many_pins import ManyPins

pytest.importorskip("fmpy")

VERSION = pytest.mark.parametrize("version", ["2.0", "3.0"])
KINDS = pytest.mark.parametrize(("kind", "tolerance"), [("ModelExchange", 1e-12), ("CoSimulation", 1e-10)])
FALL = ["hinge.q", "hinge.u"]

pytestmark = pytest.mark.thin(2)


def run(fmu, kind, stop, outputs, tolerance=1e-9, step=0.01, **options):
    import fmpy

    return fmpy.simulate_fmu(
        str(fmu.path),
        fmi_type=kind,
        stop_time=stop,
        output_interval=step,
        relative_tolerance=tolerance,
        output=outputs,
        **options,
    )


def at(result, times):
    """The last row of a result at each time, that after an event."""
    rows = [np.flatnonzero(np.abs(result["time"] - t) < 1e-9)[-1] for t in times]
    return result[rows]


@VERSION
@KINDS
def test_a_latch_at_a_time(version, kind, tolerance, tmp_path):
    fmu = exported(pendulum(latch=(lw.Lock("hinge"), lw.Time(0.7))), version, tmp_path)
    result = run(fmu, kind, 1.0, [*FALL, "latch.active", "events", "energy.lost", "energy.kinetic"], tolerance)
    after = at(result, np.arange(0.7, 1.001, 0.01))
    before = at(result, np.arange(0.0, 0.695, 0.01))
    assert np.ptp(after["hinge.q"]) == 0
    assert not after["hinge.u"].any()
    assert after["latch.active"].all()
    assert not before["latch.active"].any()
    assert set(after["events"]) == {1}
    free = lw.simulate(pendulum(), 0.7, rtol=1e-11, t_eval=[0.7])
    assert after["hinge.q"][0] == pytest.approx(free["hinge.q"][0], abs=1e-8)
    assert after["energy.lost"][0] == pytest.approx(free["energy.kinetic"][0], abs=1e-7)


@VERSION
@KINDS
@pytest.mark.parametrize("case", ["lock_A", "pin_A"])
def test_chains_that_lock_and_are_pinned(case, version, kind, tolerance, tmp_path):
    """Against angles and rates of two formulations, and against the impulses of the paper's event."""
    scene = Ma2007(case)
    given, rows = scene.numbers, scene.rows
    fmu = exported(scene.mechanism(), version, tmp_path)
    impulses = [f"A{i}.impulse.f[{k}]" for i in (1, 2, 3, 4) for k in (1, 2)]
    motion = [f"A{i}.{what}" for what in "qu" for i in (1, 2, 3, 4)]
    names = [*motion, *impulses, f"{scene.event}.active", "energy.lost"]
    result = at(run(fmu, kind, given["t_end"], names, tolerance), rows[:, 0])
    assert max(np.abs(result[name] - rows[:, 1 + i]).max() for i, name in enumerate(motion)) < 1e-6
    found = [result[name][-1] for name in impulses]
    np.testing.assert_allclose(found, np.ravel(given["joint_impulses_on_child_xy"]), atol=1e-8)
    lost = given["kinetic_energy_before"] - given["kinetic_energy_after"]
    assert result["energy.lost"][-1] == pytest.approx(lost, abs=1e-8)
    assert result[f"{scene.event}.active"][-1]


@VERSION
@KINDS
def test_pins_by_the_dozen(version, kind, tolerance, tmp_path):
    """Variants of the topology are compiled in the FMU, at the events that need them."""
    chain = ManyPins(22, 10)
    times = {f"pin{k}": 0.02 + 0.02 * k for k in range(10)} | {"free3": 0.15, "free8": 0.23}
    mech = chain.mechanism(times)
    mech.start(q=chain.start(2))
    names = [f"J{k}.q" for k in range(22)]
    result = run(exported(mech, version, tmp_path), kind, 0.25, [*names, "events"], max(tolerance, 1e-10), step=0.125)
    expected = lw.simulate(mech, 0.25, rtol=1e-11, t_eval=[0.25])
    assert result["events"][-1] == 12
    np.testing.assert_allclose(*([one[name][-1] for name in names] for one in (result, expected)), rtol=0, atol=1e-6)


@VERSION
def test_a_state_of_the_fmu_returns_to_its_variant(version, tmp_path):
    """From another variant, and in an instance that has not met it."""
    chain = ManyPins(26, 12)
    mech = chain.mechanism({f"pin{k}": 0.02 + 0.02 * k for k in range(12)} | {"free3": 0.15})
    mech.start(q=chain.start(2))
    fmu = exported(mech, version, tmp_path)
    first, other = started(fmu, "CS"), started(fmu, "CS")
    references = [fmu.reference(f"J{k}.q") for k in range(26)]
    first.step(0.0, 0.13)
    saved = first.save()
    data = first.to_bytes(saved)
    first.step(0.13, 0.12)
    expected = first.get(references)
    first.restore(saved)
    restored = other.from_bytes(data)[1]
    other.restore(restored)
    for one in (first, other):
        one.step(0.13, 0.12)
        assert one.get(references) == expected
    first.drop(saved)
    other.drop(restored)


@VERSION
@KINDS
def test_a_pendulum_comes_to_rest_on_a_stop(version, kind, tolerance, tmp_path):
    """After impacts in a geometric series, all energy of the fall is lost; the stop presses on."""
    fmu = exported(pendulum(stop=(lw.Stop("hinge", upper=1.0, restitution=0.5), None)), version, tmp_path)
    names = [*FALL, "stop.active", "events", "energy.lost", "energy.potential"]
    result = run(fmu, kind, 3.0, names, tolerance)
    last = result[-1]
    assert last["stop.active"]
    assert 10 < last["events"] < 40
    assert last["hinge.q"] == pytest.approx(1.0, abs=1e-9)
    assert last["hinge.u"] == 0
    assert last["energy.lost"] == pytest.approx(result["energy.potential"][0] - last["energy.potential"], abs=1e-7)
    assert result["hinge.q"].max() < 1.0 + 1e-9
    assert result["time"][np.argmax(result["stop.active"])] < 1.5


COMMAND = [(0.0, False), (0.4, True), (0.7, False), (1.0, False)]
IMPORTERS = [
    ("2.0", "ModelExchange", {}),
    ("2.0", "CoSimulation", {}),
    ("3.0", "ModelExchange", {}),
    ("3.0", "CoSimulation", {}),
    ("3.0", "CoSimulation", {"use_event_mode": True}),
    ("3.0", "CoSimulation", {"use_event_mode": True, "early_return_allowed": True}),
]


@pytest.mark.parametrize(("version", "kind", "options"), IMPORTERS)
def test_a_latch_by_a_command(version, kind, options, tmp_path):
    fmu = exported(pendulum(latch=(lw.Lock("hinge"), lw.Command())), version, tmp_path)
    signals = np.array(COMMAND, dtype=[("time", float), ("latch.command", bool)])
    names = [*FALL, "latch.active", "events"]
    result = run(fmu, kind, 1.0, names, 1e-10, 0.05, input=signals, **options)
    held = at(result, np.arange(0.45, 0.66, 0.05))
    assert held["latch.active"].all()
    assert not held["hinge.u"].any()
    assert np.ptp(held["hinge.q"]) == 0
    assert not result["latch.active"][-1]
    assert result["events"][-1] == 2
    first = lw.simulate(pendulum(), 0.4, rtol=1e-11, t_eval=[0.4])["hinge.q"][-1]
    released = pendulum()
    released.start(q={"hinge": first})
    again = lw.simulate(released, 0.3, rtol=1e-11, t_eval=[0.3])
    assert [result[name][-1] for name in FALL] == pytest.approx([again[name][-1] for name in FALL], abs=1e-7)


@VERSION
@KINDS
def test_a_blow_by_a_command(version, kind, tolerance, tmp_path):
    """Its impulse is the description's unless it is set."""
    kick = (lw.Impulse("arm", point=(1, 0, 0), force=(0, 0, 0.6)), lw.Command())
    fmu = exported(pendulum(kick=kick), version, tmp_path)
    for force in (0.6, -0.3):
        own = [] if force == 0.6 else [("kick.impulse.f[3]", float)]
        rows = [(t, command, *[force] * len(own)) for t, command in COMMAND]
        signals = np.array(rows, dtype=[("time", float), ("kick.command", bool), *own])
        result = run(fmu, kind, 0.45, [*FALL, "events"], tolerance, 0.001, input=signals)
        free = lw.simulate(pendulum(), 0.401, rtol=1e-11, t_eval=[0.4, 0.401])
        jump = -force * np.cos(free["hinge.q"][0]) * 3.0  # of a rod of inertia 1/3
        row = at(result, [0.401])[0]
        assert row["hinge.u"] - free["hinge.u"][-1] == pytest.approx(jump, abs=0.02)
        assert row["events"] == 1


@VERSION
@KINDS
@pytest.mark.parametrize("direction", [-1, 0, 1])
def test_a_crossing(version, kind, tolerance, direction, tmp_path):
    """It is located to rounding, once, and in its direction only: rising first, falling later."""
    latch = (lw.Lock("hinge"), lw.Crossing("hinge.q", 1.2, direction))
    fmu = exported(pendulum(latch=latch), version, tmp_path)
    result = run(fmu, kind, 3.0, [*FALL, "events", "latch.active"], tolerance)
    assert result["latch.active"][-1]
    assert result["hinge.q"][-1] == pytest.approx(1.2, abs=1e-11)
    assert result["events"][-1] == 1
    rising = result["hinge.q"][result["time"] <= 0.6].max() > 1.3
    assert rising == (direction < 0)


@pytest.mark.parametrize(("version", "kind", "options"), IMPORTERS)
def test_every_importer_counts_the_same_events(version, kind, options, tmp_path):
    """While impacts are far apart; once it rests there are no more."""
    mech = pendulum(stop=(lw.Stop("hinge", upper=1.0, restitution=0.5), None))
    times = [0.6, 0.8, 0.9, 1.1, 1.2, 1.4]
    fmu = exported(mech, version, tmp_path)
    result = run(fmu, kind, 3.0, ["events"], 1e-10, 0.05, **options)
    impacts = [event.t for event in lw.simulate(mech, 1.5, rtol=1e-11).events]
    assert list(at(result, times)["events"]) == [sum(impact < t for impact in impacts) for t in times]
    assert at(result, [1.4])["events"][0] == 5
    assert len(set(result[result["time"] > 2.0]["events"])) == 1
