"""FMUs of mechanisms in which several stops are touched at once: a chain and a gripper, with a lock."""

from ctypes import c_double

import numpy as np
import pytest

import linkwork as lw
from support.fmi_calls import ERROR
from support.latched import exported, started
from support.stops import gripper, hanging_chain, restless_ball

pytest.importorskip("fmpy")

VERSION = pytest.mark.parametrize("version", ["2.0", "3.0"])
KINDS = pytest.mark.parametrize(("kind", "tolerance"), [("ModelExchange", 1e-6), ("CoSimulation", 1e-7)])
CASES = pytest.mark.parametrize("case", ["chain", "gripper"])
END, LATCHED = 2.0, 1.2

pytestmark = pytest.mark.thin(4)


def mechanism(case: str, restitution: float) -> lw.Mechanism:
    if case == "chain":
        return hanging_chain(4, restitution, -0.3, LATCHED)
    return gripper(restitution, latch=LATCHED)


@pytest.fixture(scope="module")
def fmus(tmp_path_factory):
    """Exports each case once in each version; the restitution is a parameter."""
    made = {}

    def find(case: str, version: str):
        if (case, version) not in made:
            folder = tmp_path_factory.mktemp(f"{case}{version[0]}")
            made[case, version] = exported(mechanism(case, 0.2), version, folder)
        return made[case, version]

    return find


def stops_of(mech: lw.Mechanism) -> list[str]:
    return [name for name in mech.transitions if name != "latch"]


def coordinates_of(mech: lw.Mechanism) -> list[str]:
    return [f"{name}.q" for name, joint in mech.joints.items() if not joint.cut]


def check_run(fmus, case, version, kind, tolerance, restitution, compared):
    """Agrees with Python as long as bounces do not amplify the errors of the steps; energy never rises."""
    import fmpy

    mech = mechanism(case, restitution)
    names = coordinates_of(mech)
    result = fmpy.simulate_fmu(
        str(fmus(case, version).path),
        fmi_type=kind,
        stop_time=END,
        output_interval=0.01,
        relative_tolerance=1e-9,
        output=[*names, "energy.kinetic", "energy.potential", "latch.active", "events"],
        start_values={f"{name}.restitution": restitution for name in stops_of(mech)},
    )
    assert result["time"][-1] == END
    assert result["latch.active"][-1]
    assert result["events"][-1] > 8
    energy = result["energy.kinetic"] + result["energy.potential"]
    lost = energy[0] - energy[-1]
    assert np.diff(energy).max() < 1e-7 * lost
    times = np.arange(0.01, compared, 0.01)
    expected = lw.simulate(mech, compared, rtol=1e-9, t_eval=times)
    rows = [np.flatnonzero(np.abs(result["time"] - t) < 1e-9)[-1] for t in times]
    for name in names:
        np.testing.assert_allclose(result[name][rows], expected[name], rtol=0, atol=tolerance)


@VERSION
@KINDS
@CASES
def test_stops_touched_at_once(fmus, case, version, kind, tolerance):
    check_run(fmus, case, version, kind, tolerance, 0.2, END)


@pytest.mark.slow
@VERSION
@KINDS
@CASES
@pytest.mark.parametrize(("restitution", "compared"), [(0.0, END), (0.9, 0.3)])
def test_stops_of_other_restitutions(fmus, case, version, kind, tolerance, restitution, compared):
    check_run(fmus, case, version, kind, tolerance, restitution, compared)


# ---- saved in the midst of the impacts


def chattering_time(mech: lw.Mechanism) -> float:
    """The time of an impact with as many others as possible in the next milliseconds."""
    times = np.array([event.t for event in lw.simulate(mech, LATCHED, rtol=1e-9).events])
    crowd = [np.searchsorted(times, t + 0.005) - i for i, t in enumerate(times)]
    assert max(crowd) > 5
    return float(times[np.argmax(crowd)])


def advance_by_steps(instance, time, steps):
    for _ in range(steps):
        time = instance.step(time, 0.0007)
    return time


def advance_by_hand(instance, time, steps, n, indicators):
    """Model Exchange by small Euler steps; an event is handled at the end of the step in which it is."""
    x = np.array(instance.array("GetContinuousStates", n))
    for _ in range(steps):
        before = np.sign(instance.array("GetEventIndicators", indicators))
        x = x + 1e-4 * np.array(instance.derivatives(n))
        time += 1e-4
        instance.must("SetTime", c_double(time))
        instance.set_states(x)
        if (np.sign(instance.array("GetEventIndicators", indicators)) != before).any():
            instance.must("EnterEventMode")
            instance.update()
            instance.must("EnterContinuousTimeMode")
            x = np.array(instance.array("GetContinuousStates", n))
    return time


@VERSION
@CASES
@pytest.mark.parametrize("kind", ["ME", "CS"])
def test_a_state_saved_between_impacts_continues_with_the_same_bits(fmus, case, version, kind):
    mech, fmu = mechanism(case, 0.2), fmus(case, version)
    sizes = fmu.system.sizes
    everything = [*fmu.references("state", "derivative"), fmu.reference("energy.lost")]
    until = chattering_time(mech)

    def advance(instance, time, steps):
        if kind == "CS":
            return advance_by_steps(instance, time, steps)
        return advance_by_hand(instance, time, steps, sizes.nq + sizes.nu, sizes.event_indicators)

    instance, other = started(fmu, kind), started(fmu, kind)
    time = advance(instance, 0.0, int(until / (0.0007 if kind == "CS" else 1e-4)) + 1)
    state = instance.save()
    data = instance.to_bytes(state)
    lost = instance.get([everything[-1]])
    advance(instance, time, 30)
    expected = instance.get(everything)
    assert instance.get([everything[-1]]) != lost  # there were impacts
    instance.restore(state)
    advance(instance, time, 30)
    assert instance.get(everything) == expected
    status, copy = other.from_bytes(data)
    assert status == 0
    other.restore(copy)
    advance(other, time, 30)
    assert other.get(everything) == expected
    instance.drop(state)
    other.drop(copy)


# ---- limits


@pytest.mark.slow
@VERSION
def test_impacts_without_end_are_an_error(version, tmp_path):
    """The step fails; it does not continue for hours; the message names the stop."""
    instance = started(exported(restless_ball(1e-11), version, tmp_path), "CS")
    status, _ = instance.try_step(0.0, 2.0)
    assert status == ERROR
    assert "events in one second" in instance.last
    assert "'floor' (joint 'fall', gap " in instance.last
