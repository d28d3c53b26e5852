"""FMUs of mechanisms with gears and with prescribed motions, whose inputs an importer can drive."""

import ctypes
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwork as lw
from support.cams import cam_by_formulas
from support.cases import four_bar
from support.gear_families import GEAR_FAMILIES
from support.random_mechanisms import well_posed
from support.unpacked import Unpacked, unpack

VERSION = pytest.mark.parametrize("version", ["2.0", "3.0"])
KINDS = pytest.mark.parametrize(("kind", "tolerance"), [("ModelExchange", 1e-10), ("CoSimulation", 1e-9)])


def geared(family):
    scene = well_posed(GEAR_FAMILIES[family][0], seed=3)
    scene.mechanism.start(q=scene.q, u=scene.u)
    return scene.mechanism


def driven_four_bar(joint="A", motion=None):
    mech = four_bar().mechanism
    mech.prescribe(joint, motion or lw.Motion((-0.7, 2.0), amplitude=0.1, frequency=1.0, phase=0.5))
    mech.start(q={"B": 0.13, "D": 1.63} if joint == "A" else {"A": -0.7})
    return mech


def excited_pendulum(motion=None):
    mech = lw.Mechanism("excited")
    mech.add_body("carriage", mass=1.0, com=(0, 0, 0), inertia=0.01 * np.eye(3))
    mech.add_body("bob", mass=2.0, com=(0, 0, -0.4), inertia=0.01 * np.eye(3))
    mech.add_joint("rails", lw.Prismatic((1, 0, 0)), "ground", "carriage", at=(0, 0, 0))
    mech.add_joint("hinge", lw.Revolute((0, 1, 0)), "carriage", "bob", at=(0, 0, 0))
    mech.prescribe("rails", motion or lw.Motion())
    mech.start(q={"hinge": 0.3})
    return mech


def driven_by_formulas():
    mech = four_bar().mechanism
    values = {"p": (-0.7, "rad"), "w": (2.0, "rad/s"), "a": (0.1, "rad"), "f": (6.0, "rad/s")}
    mech.prescribe("A", "p + w*time + a*sin(f*time)^2", parameters=values)
    mech.start(q={"B": 0.13, "D": 1.63})
    return mech


SCENES = {
    "cam by formulas": cam_by_formulas,
    "driven by formulas": driven_by_formulas,
    "cam": lambda: geared("cam"),
    "gear_branches": lambda: geared("gear_branches"),
    "cam_on_cut_joint": lambda: geared("cam_on_cut_joint"),
    "driven crank": driven_four_bar,
    "driven rocker": lambda: driven_four_bar("D", lw.Motion(1.2, amplitude=0.3, frequency=0.5)),
    "excited pendulum": lambda: excited_pendulum(lw.Motion((0.0, 0.1), amplitude=0.05, frequency=2.0)),
}
SCENE = pytest.mark.parametrize("scene", SCENES)


def exported(mech, version, folder) -> Unpacked:
    system = lw.compile(mech)
    path = lw.export_fmu(system, folder / "coupled.fmu", version)
    return Unpacked(path, unpack(path), version, system)


@VERSION
@SCENE
@KINDS
@pytest.mark.thin(8, kept=2)
def test_runs_in_fmpy_as_in_python(scene, version, kind, tolerance, needs, tmp_path):
    fmpy = needs("fmpy")
    from fmpy.validation import validate_fmu

    fmu = exported(SCENES[scene](), version, tmp_path)
    assert validate_fmu(str(fmu.path)) == []
    names = [*fmu.system.q_names, *fmu.system.u_names]
    names += [f"{coupling}.{what}" for coupling in fmu.system.coupling_names for what in ("load", "residual")]
    result = fmpy.simulate_fmu(
        str(fmu.path), fmi_type=kind, stop_time=1.0, output_interval=0.05, relative_tolerance=tolerance, output=names
    )
    expected = lw.simulate(fmu.system, 1.0, rtol=1e-11, t_eval=result["time"])
    for name in names:
        scale = max(1.0, np.abs(expected[name]).max())
        assert np.abs(result[name] - expected[name]).max() < 2e-6 * scale, name


@VERSION
def test_the_model_description(version, tmp_path, needs):
    fmpy = needs("fmpy")
    mech = excited_pendulum(lw.Motion((0.1, 0.2, 0.3, 0.4), 0.5, 0.6, 0.7))
    mech.add_coupling("cam", {"hinge": (0.0, 1.0), "rails": (0.0, 0.0, 2.0)})
    fmu = exported(mech, version, tmp_path)
    model = fmpy.read_model_description(str(fmu.path), validate=True)
    found = {variable.name: variable for variable in model.modelVariables}
    starts = {name: float(found[f"rails_drive.{name}"].start) for name in ("offset", "amplitude", "frequency", "phase")}
    assert starts == {"offset": 0.1, "amplitude": 0.5, "frequency": 0.6, "phase": 0.7}
    assert [float(found[f"rails_drive.polynomial[{k}]"].start) for k in (1, 2, 3)] == [0.2, 0.3, 0.4]
    assert [found[f"rails_drive.polynomial[{k}]"].unit for k in (1, 2, 3)] == ["m/s", "m/s2", "m/s3"]
    inputs = [f"rails_drive.{what}_in" for what in "qua"]
    assert [(found[name].causality, found[name].unit) for name in inputs] == [
        ("input", u) for u in ("m", "m/s", "m/s2")
    ]
    assert float(found["cam.rails.coefficient[3]"].start) == 2.0
    assert [found[f"cam.{name}"].unit for name in ("hinge.coefficient[2]", "rails.coefficient[3]", "offset")] == [
        "1/rad",
        "rad/m3",
        "rad",
    ]
    outputs = {name: found[name].unit for name in ("cam.load", "rails_drive.load", "cam.residual")}
    assert outputs == {"cam.load": "N.m", "rails_drive.load": "N", "cam.residual": "rad"}
    assert "cam.q_in" not in found


@VERSION
def test_what_moves_by_itself_depends_on_its_inputs(version, tmp_path):
    """And on time, which FMI 2.0 does not list among the variables."""
    fmu = exported(excited_pendulum(), version, tmp_path)
    root = ElementTree.fromstring(fmu.xml)
    if version == "3.0":
        name_of = {entry.get("valueReference"): entry.get("name") for entry in root.find("ModelVariables")}
        unknowns, tag = root.findall("ModelStructure/ContinuousStateDerivative"), "valueReference"
    else:
        name_of = {str(k): entry.get("name") for k, entry in enumerate(root.find("ModelVariables"), start=1)}
        unknowns, tag = root.find("ModelStructure/Derivatives"), "index"
    listed = {name_of[unknown.get(tag)]: unknown.get("dependencies") for unknown in unknowns}
    depends = {name: {name_of[known] for known in listed[name].split()} for name in ("der(rails.q)", "der(hinge.q)")}
    time = {"time"} if version == "3.0" else set()
    assert depends["der(rails.q)"] == {"rails.q", "rails.u", "rails_drive.q_in", "rails_drive.u_in", *time}
    assert depends["der(hinge.q)"] == {"hinge.u"}


def moves(t):
    rate = 2 * np.pi * 1.5
    return 0.1 * np.sin(rate * t), 0.1 * rate * np.cos(rate * t), -0.1 * rate**2 * np.sin(rate * t)


@VERSION
def test_an_importer_drives_in_co_simulation(version, tmp_path, needs):
    """Between its points the motion continues with its rates; only the acceleration is held, as loads are."""
    fmpy = needs("fmpy")
    fmu = exported(excited_pendulum(), version, tmp_path)
    inputs = [f"rails_drive.{what}_in" for what in "qua"]
    errors = []
    for step in (0.01, 0.005):
        t = np.linspace(0.0, 1.0, round(1 / step) + 1)
        table = np.array(list(zip(t, *moves(t), strict=True)), dtype=[(name, float) for name in ("time", *inputs)])
        result = fmpy.simulate_fmu(
            str(fmu.path),
            fmi_type="CoSimulation",
            stop_time=1.0,
            output_interval=step,
            input=table,
            output=["hinge.q", "rails.q"],
        )
        expected = lw.simulate(fmu.system, 1.0, rtol=1e-9, t_eval=result["time"], inputs={"rails_drive": moves})
        errors.append([np.abs(result[name] - expected[name]).max() for name in ("rails.q", "hinge.q")])
    assert errors[0][0] < 1e-3
    ratios = np.divide(*errors)
    assert ratios == pytest.approx([4.0, 2.0], rel=0.1)  # held constant, the first were of first order, too


@VERSION
@pytest.mark.parametrize("inputs_first", [True, False])
def test_an_importer_drives_in_model_exchange(version, inputs_first, tmp_path):
    """With a solver of the importer's; whether it sets time or inputs first."""
    fmu = exported(excited_pendulum(), version, tmp_path)
    instance = fmu.new("ME")
    inputs = [fmu.reference(f"rails_drive.{what}_in") for what in "qua"]
    instance.set(inputs, moves(0.0))
    instance.initialize()

    def derivative(t, y):
        if inputs_first:
            instance.set(inputs, moves(t))
        instance.must("SetTime", ctypes.c_double(t))
        if not inputs_first:
            instance.set(inputs, moves(t))
        assert instance.set_states(y) == 0
        return instance.derivatives(4)

    t = np.linspace(0.0, 1.0, 11)
    start = instance.array("GetContinuousStates", 4)
    found = solve_ivp(derivative, (0.0, 1.0), start, "DOP853", t, rtol=1e-10, atol=1e-10).y
    expected = lw.simulate(fmu.system, 1.0, rtol=1e-10, t_eval=t, inputs={"rails_drive": moves})
    np.testing.assert_allclose(found.T, expected.y, atol=1e-8)
    instance.free()


@VERSION
@pytest.mark.parametrize("kind", ["ME", "CS"])
def test_inputs_count_for_the_start(version, kind, tmp_path):
    """Set before or within Initialization Mode, in which they can still change."""
    fmu = exported(driven_four_bar("A", lw.Motion()), version, tmp_path)
    instance = fmu.new(kind)
    inputs = [fmu.reference(f"A_drive.{what}_in") for what in "qua"]
    instance.set(inputs, [-0.5, 1.0, 0.3])
    instance.set_up()
    names = ["A.q", "A.u", "A.a", "D.q", "A_drive.load"]
    for motion in ([-0.5, 1.0, 0.3], [-0.7, -3.0, 2.0]):
        instance.set(inputs, motion)
        state = fmu.system.assemble(motion={"A_drive": motion})
        assert instance.get([fmu.reference(name) for name in names]) == [state[name] for name in names]
    instance.free()


@VERSION
def test_derivatives_by_the_inputs_of_a_motion(version, tmp_path):
    fmu = exported(excited_pendulum(), version, tmp_path)
    instance, state = fmu.new("ME"), fmu.system.assemble()
    instance.initialize()
    unknowns = [fmu.reference(f"der({name})") for name in ("rails.q", "rails.u", "hinge.u")]
    columns = [instance.directional(unknowns, [fmu.reference(f"rails_drive.{what}_in")], [1.0]) for what in "qua"]
    gain = 0.1  # at rest
    inertia = 2.0 * 0.16 + 0.01
    swing = 2.0 * 0.4 * np.cos(state["hinge.q"]) / inertia
    expected = [[gain, 0.0, 0.0], [1.0, gain, 0.0], [0.0, 1.0, swing]]
    np.testing.assert_allclose(columns, expected, atol=1e-12)
    instance.free()


@VERSION
def test_a_start_that_cannot_be_is_explained(version, tmp_path):
    """A drive that is set out of reach by the importer."""
    fmu = exported(driven_four_bar("D", lw.Motion(1.2)), version, tmp_path)
    instance = fmu.new("CS")
    instance.set([fmu.reference("D_drive.offset")], [3.0])
    with pytest.raises(AssertionError):
        instance.initialize()
    assert any("'D_drive'" in text for _, _, text in instance.messages)
    instance.free()
