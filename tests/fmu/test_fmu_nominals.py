"""Nominal values of states and outputs, by which importers scale their tolerances."""

from xml.etree import ElementTree

import numpy as np
import pytest

import linkwork as lw
from linkwork.cosim import Jacobi, System, run
from linkwork.fmu.export.nominal_values import NominalSizes
from support.fmi_calls import OK
from support.small import pendulum
from support.unpacked import Unpacked, unpack

VERSIONS = pytest.mark.parametrize("version", ["2.0", "3.0"])
OMEGA = 10.0  # rad/s, of the oscillators


def oscillator(size: float) -> lw.Mechanism:
    """A body on a spring: q = size cos(10 t)."""
    mech = lw.Mechanism("oscillator", gravity=(0, 0, 0))
    mech.add_body("block", mass=1e-3, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("S", lw.Prismatic((1, 0, 0)), "ground", "block", at=(0, 0, 0))
    mech.add_force(lw.SpringDamper("S", stiffness=1e-3 * OMEGA**2))
    mech.start(q={"S": size})
    return mech


def slider_crank(size: float) -> lw.Mechanism:
    """A crank of length `size`, a rod of twice that, and a block that slides; no weight."""
    mech, hinge = lw.Mechanism("slider_crank", gravity=(0, 0, 0)), lw.Revolute((0, 1, 0))
    for name, length in (("crank", size), ("rod", 2 * size)):
        inertia = lw.inertia.rod(1e-3, length) + 1e-6 * size**2 * np.eye(3)
        mech.add_body(name, mass=1e-3, com=(length / 2, 0, 0), inertia=inertia)
    mech.add_body("block", mass=1e-3, com=(0, 0, 0), inertia=1e-3 * size**2 * np.eye(3))
    mech.add_joint("A", hinge, "ground", "crank", parent_frame=lw.Frame())
    mech.add_joint("S", lw.Prismatic((1, 0, 0)), "ground", "block", parent_frame=lw.Frame())
    mech.add_joint("B", hinge, "crank", "rod", parent_frame=lw.Frame((size, 0, 0)))
    mech.add_joint("C", hinge, "rod", "block", parent_frame=lw.Frame((2 * size, 0, 0)), cut=True)
    mech.start(q={"A": -0.5, "B": 0.74, "S": 2.8 * size}, u={"A": 2.0})
    return mech


def export(mech: lw.Mechanism, folder, version: str, **options) -> Unpacked:
    name = f"{mech.name}{version[0]}_{len(list(folder.iterdir()))}.fmu"  # a library that is loaded stays as it is
    path = lw.export_fmu(mech, folder / name, version, reference=False, **options)
    return Unpacked(path, unpack(path), version, lw.compile(mech))


def declared(fmu: Unpacked) -> dict[str, float]:
    """The nominal value of each real variable, 1 where none is given."""
    found = {}
    for one in ElementTree.fromstring(fmu.xml).find("ModelVariables"):
        inner = one if fmu.version == "3.0" else one[0]
        if inner.tag in ("Real", "Float64"):
            found[one.get("name")] = float(inner.get("nominal", 1.0))
    return found


def state_names(fmu: Unpacked) -> list[str]:
    from fmpy import read_model_description

    names = [one.variable.derivative.name for one in read_model_description(str(fmu.path)).derivatives]
    assert names
    return names


def nominals(fmu: Unpacked, instance) -> list[float]:
    return instance.array("GetNominalsOfContinuousStates", len(state_names(fmu)))


def fmpy_errors(make, size: float, version: str, folder) -> np.ndarray:
    """The largest error of the slide, relative to the size, at three tolerances of FMPy's CVode."""
    from fmpy import simulate_fmu

    exact = lw.simulate(make(1.0), 2.0, rtol=1e-12, t_eval=np.linspace(0.0, 2.0, 41))["S.q"]
    fmu = export(make(size), folder, version, outputs=["S.q"])
    options = {"fmi_type": "ModelExchange", "stop_time": 2.0, "output_interval": 0.05, "record_events": False}
    runs = [
        simulate_fmu(str(fmu.path), output=["S.q"], relative_tolerance=rtol, **options) for rtol in (1e-4, 1e-6, 1e-8)
    ]
    return np.array([np.abs(found["S.q"] / size - exact).max() for found in runs])


@pytest.mark.parametrize("version", ["2.0", "3.0"])
@pytest.mark.parametrize("make", [oscillator, slider_crank])
def test_errors_in_fmpy_are_in_proportion_to_size_and_tolerance(make, version, tmp_path, needs):
    """Without nominal values a micrometre has errors of 100 % at 1e-6 and looser."""
    needs("fmpy")
    metre = fmpy_errors(make, 1.0, version, tmp_path)
    assert (metre < [0.1, 0.005, 1e-4]).all()
    for size in (1e-6, 1e4):
        errors = fmpy_errors(make, size, version, tmp_path)
        assert (errors < 10 * metre).all(), size
        assert errors[2] < 0.01 * errors[0], size


@VERSIONS
@pytest.mark.parametrize("options", [{}, {"states": "minimal", "independents": ["S.q"]}], ids=["full", "minimal"])
def test_library_and_model_description_agree(version, options, tmp_path, needs):
    """Before and after initialisation; nothing is reported as changed."""
    needs("fmpy")
    from fmpy.validation import validate_fmu

    for size in (1e-6, 1.0, 1e4):
        fmu = export(slider_crank(size), tmp_path, version, **options)
        assert validate_fmu(str(fmu.path)) == []
        expected = [declared(fmu)[name] for name in state_names(fmu)]
        assert (set(expected) == {1.0}) == (size == 1.0)
        instance = fmu.new("ME")
        assert nominals(fmu, instance) == expected
        instance.set_up()
        instance.must("ExitInitializationMode")
        assert instance.update()["nominals"] is False
        assert nominals(fmu, instance) == expected
        instance.free()
        fmu.instances.clear()


def test_mechanisms_of_metres_and_seconds_declare_none(tmp_path):
    fmu = export(pendulum(), tmp_path, "3.0")
    assert "nominal" not in fmu.xml


def test_outputs_have_those_of_their_units(tmp_path):
    """A micrometre, and weights of three grams."""
    mech = slider_crank(1e-6)
    mech.gravity = (0, 0, -9.81)
    found = declared(export(mech, tmp_path, "3.0", outputs=["S", "A", "block", "energy"]))
    length, speed, force = found["S.q"], found["S.u"], found["S.f[1]"]
    assert 5e-7 < length < 5e-6
    assert speed < 0.02  # of a fall by the length
    assert found["block.r[1]"] == length
    assert found["block.v[3]"] == speed
    assert 0.001 < force < 1.0
    assert found["S.t[2]"] == found["energy.kinetic"] == pytest.approx(force * length, rel=0.01)
    assert found["S.tau"] == force
    assert found["crank.com[1]"] == length
    assert found["A.q"] == found["block.Q[1]"] == found["block.mass"] == 1.0


def test_units_follow_from_length_speed_rate_and_force():
    values = NominalSizes(2.0, 6.0, 0.5, 10.0).by_unit()
    expected = {"m": 2, "m/s": 6, "m/s2": 18, "rad/s": 0.5, "rad/s2": 0.25, "N": 10, "N.m": 20, "J": 20}
    assert values == pytest.approx(expected | {"N.s": 10 / 3, "N.m.s": 20 / 3}, rel=0.01)
    assert NominalSizes().by_unit() == {}


@VERSIONS
def test_parameters_change_them(version, tmp_path, needs):
    """Start values and frames before the start, then a spring in Event Mode; each change is reported once."""
    needs("fmpy")
    fmu = export(oscillator(1e-6), tmp_path, version)
    instance = fmu.new("ME")
    assert nominals(fmu, instance) == pytest.approx([1e-6, 1e-5], rel=0.01)
    instance.set([fmu.reference("S.q_start")], [1e-3])
    instance.set_up()
    instance.must("ExitInitializationMode")
    assert instance.update()["nominals"] is True
    assert nominals(fmu, instance) == pytest.approx([1e-3, 1e-2], rel=0.01)
    assert instance.update()["nominals"] is False
    instance.set([fmu.reference("S.stiffness")], [1e-3 * 30.0**2])
    assert instance.update()["nominals"] is True
    stiffer = nominals(fmu, instance)
    assert stiffer[0] == pytest.approx(1e-3, rel=0.01)
    assert stiffer[1] > 1.5e-2
    instance.set([fmu.reference("S.stiffness")], [1e-3])
    assert instance.update()["nominals"] is False  # they only grow
    assert nominals(fmu, instance) == stiffer
    assert instance.call("Reset") == OK
    assert nominals(fmu, instance) == pytest.approx([1e-6, 1e-5], rel=0.01)
    instance.free()


@VERSIONS
def test_they_are_part_of_the_fmu_state(version, tmp_path, needs):
    needs("fmpy")
    fmu = export(oscillator(1e-6), tmp_path, version)
    instance, other = fmu.new("ME"), fmu.new("ME")
    instance.set([fmu.reference("S.q_start")], [1e-3])
    instance.set_up()
    instance.must("ExitInitializationMode")
    state = instance.save()
    assert instance.update()["nominals"] is True
    instance.restore(state)
    assert instance.update()["nominals"] is True
    found = nominals(fmu, instance)
    other.restore(other.from_bytes(instance.to_bytes(state))[1])
    assert nominals(fmu, other) == found
    for one in (instance, other):
        one.free()


def test_a_start_that_says_nothing_leaves_ones(tmp_path):
    """At rest at zero, without springs; and with a speed, of which the way of a second is the length."""
    mech = oscillator(0.0)
    found = declared(export(mech, tmp_path, "3.0", outputs=["S.q"]))
    assert found["S.q"] == found["S.u"] == 1.0
    mech.start(q={"S": 0.0}, u={"S": 1e-3})
    found = declared(export(mech, tmp_path, "2.0", outputs=["S.q"]))
    assert found["S.q"] == found["S.u"] == 1e-3


@VERSIONS
def test_a_cosimulation_scales_its_tolerance(version, tmp_path, needs):
    """The solver of FMUs for Model Exchange alone."""
    needs("fmpy")
    path = lw.export_fmu(oscillator(1e-6), tmp_path / "a.fmu", version, profile="casadi", reference=False)
    system = System("one")
    system.add("p", str(path))
    found = run(system, 2.0, master=Jacobi(0.5), tolerance=1e-6, columns=["p.S.q"])
    assert found["p.S.q"] == pytest.approx(1e-6 * np.cos(OMEGA * found.t), abs=1e-6 * 1e-4)


@pytest.mark.parametrize("size", [1e-6, 1e4])
@pytest.mark.parametrize("make", [oscillator, slider_crank])
def test_checks_take_them(make, size, tmp_path, needs):
    """Differences and detours are of the size of the mechanism."""
    needs("fmpy")
    path = lw.export_fmu(make(size), tmp_path / "a.fmu", reference=False)
    report = lw.check_fmu(path, only=["derivatives", "history", "rates", "steps", "values", "simulation"])
    assert report.passed, report
