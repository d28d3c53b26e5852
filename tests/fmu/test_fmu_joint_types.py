"""FMUs of mechanisms with joints of several coordinates and speeds."""

from xml.etree import ElementTree

import numpy as np
import pytest

import linkwork as lw
from support.fmi_calls import ERROR
from support.joint_types import SEVERAL, on_carrier, plunger, skater, spherical_pendulum, tumbling
from support.unpacked import Unpacked, unpack

SCENES = {
    **{name: lambda name=name: on_carrier(name) for name in SEVERAL},
    **{f"{name}_backwards": lambda name=name: on_carrier(name, backwards=True) for name in SEVERAL},
    "spherical_pendulum": spherical_pendulum,
    "tumbling": tumbling,
    "skater": lambda: skater("S"),
    "plunger": lambda: plunger("C"),
}
VERSION = pytest.mark.parametrize("version", ["2.0", "3.0"])
SCENE = pytest.mark.parametrize("scene", SCENES)


def exported(mech, version, folder) -> Unpacked:
    system = lw.compile(mech)
    path = lw.export_fmu(system, folder / "several.fmu", version)
    return Unpacked(path, unpack(path), version, system)


@VERSION
@SCENE
@pytest.mark.parametrize(("kind", "tolerance"), [("ModelExchange", 1e-10), ("CoSimulation", 1e-9)])
@pytest.mark.thin(12, kept=4)
def test_runs_in_fmpy_as_in_python(scene, version, kind, tolerance, needs, tmp_path):
    fmpy = needs("fmpy")
    from fmpy.validation import validate_fmu

    fmu = exported(SCENES[scene](), version, tmp_path)
    assert validate_fmu(str(fmu.path)) == []
    names = [*fmu.system.q_names, *fmu.system.u_names]
    names += [f"{body}.{what}[{i}]" for body in fmu.system.mechanism.bodies for what in "rv" for i in (1, 2, 3)]
    result = fmpy.simulate_fmu(
        str(fmu.path), fmi_type=kind, stop_time=1.0, output_interval=0.05, relative_tolerance=tolerance, output=names
    )
    expected = lw.simulate(fmu.system, 1.0, rtol=1e-11, t_eval=result["time"])
    for name in names:
        assert np.abs(result[name] - expected[name]).max() < 1e-6, name


@VERSION
def test_the_model_description(version, tmp_path, needs):
    fmpy = needs("fmpy")
    fmu = exported(on_carrier("free"), version, tmp_path)
    model = fmpy.read_model_description(str(fmu.path), validate=True)
    names = [*fmu.system.q_names, *fmu.system.u_names]
    assert names[:3] == ["A.q", "S.q[1]", "S.q[2]"]
    assert [derivative.variable.derivative.name for derivative in model.derivatives] == names
    assert len(model.derivatives) == fmu.system.sizes.nq + fmu.system.sizes.nu == 15
    found = {variable.name: variable for variable in model.modelVariables}
    np.testing.assert_array_equal([float(found[f"S.q_start[{i}]"].start) for i in range(1, 8)], SEVERAL["free"].q)
    assert [found[f"S.q[{i}]"].unit for i in range(1, 8)] == ["m"] * 3 + ["1"] * 4
    assert [found[f"der(S.q[{i}])"].unit for i in (1, 7)] == ["m/s", "1/s"]
    assert [found[f"S.tau[{i}]"].unit for i in (1, 6)] == ["N.m", "N"]
    assert found["S.tau[6]"].causality == "input"


@VERSION
def test_without_a_start_the_quaternion_is_neutral(version, tmp_path):
    mech = spherical_pendulum()
    mech.start_q.clear()
    fmu = exported(mech, version, tmp_path)
    root = ElementTree.fromstring(fmu.xml)
    starts = {}
    for entry in root.find("ModelVariables"):
        starts[entry.get("name")] = (entry if version == "3.0" else entry[0]).get("start")
    assert [float(starts[f"S.q_start[{i}]"]) for i in (1, 2, 3, 4)] == [1, 0, 0, 0]
    assert float(starts["S.q[1]"]) == 1.0


@VERSION
@SCENE
@pytest.mark.thin(6, kept=2)
def test_states_derivatives_and_partial_derivatives_are_pythons(scene, version, tmp_path):
    fmu = exported(SCENES[scene](), version, tmp_path)
    system, instance = fmu.system, fmu.new("ME")
    instance.initialize()
    state, n = system.assemble(), system.sizes.nq + system.sizes.nu
    assert instance.array("GetContinuousStates", n) == [*state.q, *state.u]
    assert instance.derivatives(n) == list(system.derivatives(state))
    x = np.concatenate([state.q, state.u]) + np.random.default_rng(0).normal(scale=1e-2, size=n)
    assert instance.set_states(x) == 0
    q, u = x[: system.sizes.nq], x[system.sizes.nq :]
    assert instance.derivatives(n) == list(system.derivatives(q, u))
    states, derivatives = fmu.references("state"), fmu.references("derivative")
    columns = [instance.directional(derivatives, [known], [1.0]) for known in states]
    np.testing.assert_array_equal(np.array(columns).T, system.jacobian(q, u))
    instance.free()


def nut(pitch, cut):
    mech = lw.Mechanism("nut")
    mech.add_body("nut", mass=2.0, com=(0.1, 0, 0), inertia=np.diag([0.1, 0.12, 0.05]))
    mech.add_joint("S", lw.Screw((0, 0, 1), pitch), "ground", "nut", at=(0, 0, 0), cut=cut)
    if cut:
        mech.add_joint("C", lw.Cylindrical((0, 0, 1)), "ground", "nut", at=(0, 0, 0))
    mech.start(q={"C" if cut else "S": [0.4, 0.4 * pitch] if cut else 0.4})
    return mech


@VERSION
@pytest.mark.parametrize("cut", [False, True], ids=["tree", "cut"])
def test_the_pitch_of_a_screw_is_a_parameter(version, cut, tmp_path):
    """Set before the start it gives what the description with it does; its derivative is exact."""
    fmu = exported(nut(0.2, cut), version, tmp_path)
    instance, other = fmu.new("ME"), lw.compile(nut(0.3, cut))
    instance.set([fmu.reference("S.pitch")], [0.3])
    if cut:
        instance.set([fmu.reference("C.q_start[2]")], [0.4 * 0.3])
    instance.initialize()
    state, n = other.assemble(), other.sizes.nq + other.sizes.nu
    np.testing.assert_allclose(instance.array("GetContinuousStates", n), [*state.q, *state.u], atol=1e-12)
    np.testing.assert_allclose(instance.derivatives(n), other.derivatives(state), rtol=1e-10, atol=1e-10)
    instance.free()


@VERSION
def test_loads_of_several_speeds(version, tmp_path):
    fmu = exported(on_carrier("spherical"), version, tmp_path)
    instance, state = fmu.new("ME"), fmu.system.assemble()
    instance.initialize()
    instance.set([fmu.reference(f"S.tau[{i}]") for i in (1, 2, 3)], [0.3, -0.2, 0.1])
    n = fmu.system.sizes.nq + fmu.system.sizes.nu
    assert instance.derivatives(n) == list(fmu.system.derivatives(state, tau={"S": [0.3, -0.2, 0.1]}))
    instance.free()


@VERSION
def test_start_values_set_by_the_importer(version, tmp_path):
    """A quaternion of another length is normalised."""
    fmu = exported(spherical_pendulum(), version, tmp_path)
    instance = fmu.new("ME")
    starts = [fmu.reference(f"S.q_start[{i}]") for i in (1, 2, 3, 4)]
    instance.set(starts, [0.0, 3.0, 0.0, 4.0])
    instance.initialize()
    expected = fmu.system.assemble(q={"S": [0, 0.6, 0, 0.8]})
    n = fmu.system.sizes.nq + fmu.system.sizes.nu
    np.testing.assert_allclose(instance.array("GetContinuousStates", n), [*expected.q, *expected.u], atol=1e-15)
    instance.free()


@VERSION
def test_a_start_value_on_a_loop_is_kept(version, tmp_path):
    away = lw.simulate(skater("P"), 0.3, rtol=1e-11, t_eval=[0.3])["S.q"][-1]
    fmu = exported(skater("P"), version, tmp_path)
    instance = fmu.new("ME")
    instance.set([fmu.reference(f"S.q_start[{i}]") for i in (1, 2, 3, 4)], away)
    instance.initialize()
    found = instance.get([fmu.reference(f"S.q[{i}]") for i in (1, 2, 3, 4)])
    np.testing.assert_allclose(found, away, atol=1e-7)
    instance.free()


@pytest.mark.parametrize("cut", ["S"])
def test_one_element_of_a_quaternion_holds_all_of_it(cut, tmp_path):
    """About the vertical, in which the whole loop can follow."""
    fmu = exported(skater(cut), "3.0", tmp_path)
    instance = fmu.new("ME")
    instance.set([fmu.reference("S.q_start[4]")], [0.2])
    instance.initialize()
    found = instance.get([fmu.reference(f"S.q[{i}]") for i in (1, 2, 3, 4)])
    np.testing.assert_allclose(found, np.array([1.0, 0, 0, 0.2]) / np.sqrt(1.04), atol=1e-9)
    instance.free()


@VERSION
def test_a_quaternion_of_length_zero(version, tmp_path):
    fmu = exported(spherical_pendulum(), version, tmp_path)
    instance = fmu.new("ME")
    instance.set([fmu.reference(f"S.q_start[{i}]") for i in (1, 2, 3, 4)], [0.0] * 4)
    with pytest.raises(AssertionError):
        instance.initialize()
    status, _, text = instance.messages[-1]
    assert status == ERROR
    assert "'S'" in text
    assert "quaternion" in text
    instance.free()
