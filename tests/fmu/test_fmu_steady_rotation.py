"""Events of FMUs in which something turns at constant speed, so that no error limits the steps of an importer."""

from ctypes import c_int32, c_size_t, c_uint32
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from support.fmi_calls import Instance
from support.memory_importer import MemoryImporter
from support.turning import KINDS, Z, random_turning, rotor

KINDS_OF_FMUS = [kind for kind in KINDS if kind not in ("event", "function")]
VERSION = pytest.mark.parametrize("version", ["2.0", "3.0"])


def fan(value: float = 0.01) -> lw.Mechanism:
    mech = rotor(lw.Revolute(Z))
    distance = lw.PointDistance(("rotor", "ground"), points=((0.1, 0, 0), (0.1, 0, 0)))
    mech.add_transition("pass", lw.Lock("lamp"), when=lw.Crossing(distance, value, direction=-1))
    mech.start(q={"A": 1.0}, u={"A": 2.0 * np.pi})
    return mech


def run(path: Path, kind: str, t_end: float, interval: float, **options) -> int:
    fmpy = pytest.importorskip("fmpy")
    settings = {"output": ["events"], "relative_tolerance": 1e-8} | options
    result = fmpy.simulate_fmu(str(path), fmi_type=kind, stop_time=t_end, output_interval=interval, **settings)
    return int(result["events"][-1])


@VERSION
@pytest.mark.parametrize("kind", ["ModelExchange", "CoSimulation"])
@pytest.mark.parametrize("interval", [0.1, 7.0])
def test_a_lamp_at_a_wheel(version: str, kind: str, interval: float, tmp_path: Path) -> None:
    """20 revolutions; of each, the lamp is on for 0.3 percent."""
    path = lw.export_fmu(fan(1e-3), tmp_path / "fan.fmu", version)
    assert run(path, kind, 20.0, interval) == 20


@pytest.mark.parametrize("kind", KINDS_OF_FMUS)
@pytest.mark.parametrize("runs", [1, pytest.param(30, marks=pytest.mark.slow)])
def test_no_event_is_missed(kind: str, runs: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(runs)
    for _ in range(runs):
        case = random_turning(rng, kind, 4.0 if kind in ("free", "spherical") else 15.0)
        path = lw.export_fmu(case.mechanism, tmp_path / "turning.fmu", str(rng.choice(["2.0", "3.0"])))
        for interface in ("ModelExchange", "CoSimulation"):
            assert run(path, interface, case.t_end, case.t_end / 10.0 ** rng.uniform(0, 2)) == case.expected, case


@pytest.mark.parametrize("interval", [0.1, 5.0])
def test_a_rotor_that_a_motor_accelerates(interval: float, tmp_path: Path) -> None:
    """From rest, by a torque that begins at once or, as the importer's signal, at 5 s."""
    mech = fan(1e-3)
    mech.start(q={"A": 1.0}, u={"A": 0.0})
    path = lw.export_fmu(mech, tmp_path / "motor.fmu", "3.0")
    for kind in ("ModelExchange", "CoSimulation"):
        passes = int((1.0 + 0.5 * 10.0 * 20.0**2) / (2.0 * np.pi))
        assert run(path, kind, 20.0, interval, start_values={"A.tau": 0.1}) == passes
    later = [(0.0, 0.0), (5.0, 0.0), (5.0, 0.05), (30.0, 0.05)]
    signal = np.array(later, dtype=[("time", float), ("A.tau", float)])
    passes = int((1.0 + 0.5 * 5.0 * 15.0**2) / (2.0 * np.pi))
    assert run(path, "ModelExchange", 20.0, min(interval, 0.1), input=signal) == passes


@VERSION
@pytest.mark.parametrize("speed", [1.0, 100.0])
def test_an_importer_with_a_multistep_method(version: str, speed: float, make) -> None:
    """LSODA takes steps of many revolutions."""
    mech = fan()
    mech.start(q={"A": 1.0}, u={"A": 2.0 * np.pi * speed})
    fmu = make(mech, version)
    importer = MemoryImporter(fmu)
    importer.run(20.0 / speed)
    assert importer.instance.get([fmu.reference("A.q")]) == pytest.approx([1.0 + 40.0 * np.pi])
    assert passes_of(importer.instance, fmu.reference("events")) == 20


def passes_of(instance: Instance, reference: int) -> int:
    two, found = instance.version == "2.0", (c_int32 * 1)()
    extra = () if two else (c_size_t(1),)
    instance.must("GetInteger" if two else "GetInt32", (c_uint32 * 1)(reference), c_size_t(1), found, *extra)
    return found[0]


def test_a_mechanism_without_events_announces_nothing(make) -> None:
    mech = rotor(lw.Revolute(Z))
    mech.start(u={"A": 100.0})
    instance = make(mech, "3.0").new("ME")
    instance.set_up()
    instance.must("ExitInitializationMode")
    assert instance.update()["next"] is None


def test_the_time_ahead_is_within_the_event(make) -> None:
    """The lamp is on for 0.2 rad of a revolution, where the wheel turns by 1 rad/s."""
    mech = fan()
    mech.start(q={"A": 1.0}, u={"A": 1.0})
    instance = make(mech, "3.0").new("ME")
    instance.set_up()
    instance.must("ExitInitializationMode")
    first = 2.0 * np.pi - 1.0 - 2.0 * np.arcsin(0.05)
    assert first < instance.update()["next"] < first + 4.0 * np.arcsin(0.05)
