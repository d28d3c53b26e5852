"""States as variables: start values of the assembled pose; setting a state before and during a simulation."""

import math
from ctypes import c_double
from xml.etree import ElementTree

import numpy as np
import pytest

import linkwork as lw
from support.fmi_calls import ERROR, OK
from support.latched import pendulum, started
from support.platforms import stewart
from support.unpacked import Unpacked, unpack

VERSION = pytest.mark.parametrize("version", ["2.0", "3.0"])
KIND = pytest.mark.parametrize("kind", ["ME", "CS"])


def declared(fmu: Unpacked) -> dict[str, dict[str, str]]:
    """Attributes of variables by name."""
    variables = ElementTree.fromstring(fmu.xml).find("ModelVariables")
    return {v.get("name"): {k: text for part in (*v, v) for k, text in part.items()} for v in variables}


def starts_of(fmu: Unpacked) -> np.ndarray:
    known, names = declared(fmu), [*fmu.system.q_names, *fmu.system.u_names]
    return np.array([float(known[name]["start"]) for name in names])


def state_references(fmu: Unpacked) -> list[int]:
    return [fmu.reference(name) for name in (*fmu.system.q_names, *fmu.system.u_names)]


@pytest.fixture(params=["four_bar", "stewart"])
def mech(request, four_bar) -> lw.Mechanism:
    return four_bar if request.param == "four_bar" else stewart()


# ---- start values


@VERSION
@KIND
@pytest.mark.thin(2)
def test_start_values_are_those_of_initialisation_bit_for_bit(mech, version, kind, make):
    fmu = make(mech, version)
    known, state = declared(fmu), fmu.system.assemble()
    starts = starts_of(fmu)
    assert list(starts) == [*state.q, *state.u]
    assert {known[name]["initial"] for name in (*fmu.system.q_names, *fmu.system.u_names)} == {"approx"}
    instance, references = fmu.new(kind), state_references(fmu)
    if version == "3.0":  # which lets importers read start values
        assert instance.get(references) == list(starts)
    instance.set_up()
    assert instance.get(references) == list(starts)


def test_start_values_of_arrays(tmp_path):
    """A quaternion is one array."""
    path = lw.export_fmu(stewart(), tmp_path / "a.fmu", arrays=True)
    fmu = Unpacked(path, unpack(path), "3.0", lw.compile(stewart()))
    state, of = fmu.system.assemble(), fmu.system.q_names.index("S1.q[1]")
    assert [float(text) for text in declared(fmu)["S1.q"]["start"].split()] == list(state.q[of : of + 4])


@VERSION
def test_only_minimal_states_have_start_values(version, four_bar, tmp_path):
    path = lw.export_fmu(four_bar, tmp_path / "a.fmu", version, states="minimal", independents=["A.q"])
    known = declared(Unpacked(path, unpack(path), version))
    assert known["A.q"]["initial"] == known["A.u"]["initial"] == "approx"
    assert known["B.q"]["initial"] == "calculated"
    assert "start" not in known["B.q"]


@VERSION
def test_a_start_that_cannot_be_assembled_is_not_declared(version, tmp_path, needs):
    """The importer may set other lengths."""
    needs("fmpy")
    from fmpy.validation import validate_fmu

    mech = lw.Mechanism("open")
    for name in ("left", "right"):
        mech.add_body(name, mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    hinge, end = lw.Revolute((0, 1, 0)), lw.Frame((1, 0, 0))
    mech.add_joint("l", hinge, "ground", "left", parent_frame=lw.Frame((0, 0, 0)))
    mech.add_joint("r", hinge, "ground", "right", parent_frame=lw.Frame((5, 0, 0)))
    mech.add_joint("tip", hinge, "left", "right", parent_frame=end, child_frame=end, cut=True)
    path = lw.export_fmu(mech, tmp_path / "a.fmu", version)
    assert validate_fmu(str(path)) == []
    fmu = Unpacked(path, unpack(path), version, lw.compile(mech))
    known = declared(fmu)["l.q"]
    assert known["initial"] == "calculated"
    assert "start" not in known
    instance = fmu.new("ME")
    instance.set([fmu.reference("l.q")], [-0.5])  # a guess: the triangle above its base
    instance.set([fmu.reference("r.parent_frame.position[1]")], [1.5])
    instance.set_up()
    assert instance.get([fmu.reference("l.q")])[0] == pytest.approx(-math.acos(0.75), abs=1e-9)
    instance.free()


# ---- before the simulation


@VERSION
@KIND
@pytest.mark.parametrize("mode", ["instantiated", "initialization"])
def test_a_state_set_before_is_kept_by_assembly(version, kind, mode, built):
    fmu = built(version)
    expected = fmu.system.assemble(q={"A": -0.7}, u={"A": -1.5})
    instance = fmu.new(kind)
    instance.go_to(mode)
    instance.set([fmu.reference("A.q"), fmu.reference("A.u")], [-0.7, -1.5])
    if mode == "instantiated":
        instance.set_up()
    found = instance.get(state_references(fmu))
    np.testing.assert_allclose(found, [*expected.q, *expected.u], rtol=0, atol=1e-10)
    assert found[fmu.system.q_names.index("A.q")] == -0.7
    instance.must("ExitInitializationMode")
    assert instance.get(state_references(fmu)) == found
    assert abs(instance.get([fmu.reference("loop.D.residual")])[0]) < 1e-10
    instance.must("Reset")
    instance.set_up()
    assert instance.get(state_references(fmu)) == list(starts_of(fmu))


@VERSION
def test_a_whole_pose_is_taken(mech, version, make):
    """An importer that found a pose elsewhere sets all states."""
    fmu = make(mech, version)
    joint = "A" if mech.name == "four_bar" else "P1"
    pose = fmu.system.assemble(q={joint: float(fmu.system.assemble()[f"{joint}.q"]) + 0.05})
    instance, references = fmu.new("ME"), state_references(fmu)
    instance.set(references, [*pose.q, *pose.u])
    instance.set_up()
    np.testing.assert_allclose(instance.get(references), [*pose.q, *pose.u], rtol=0, atol=1e-9)


@VERSION
def test_declared_start_values_do_not_hold_parameters_back(version, built):
    """Some importers set every start value of the model description, and the user's parameters before or after."""
    fmu = built(version)
    guess, references, starts = fmu.reference("A.q_start"), state_references(fmu), list(starts_of(fmu))

    def found(*actions) -> list[float]:
        instance = fmu.new("ME")
        for action in actions:
            action(instance)
        instance.set_up()
        return instance.get(references)

    def set_states(instance):
        instance.set(references, starts)

    def set_guess(instance):
        instance.set([guess], [-0.5])

    alone = found(set_guess)
    assert alone != starts
    assert found(set_states) == starts
    assert found(set_guess, set_states) == found(set_states, set_guess) == alone


# ---- during the simulation


@VERSION
@pytest.mark.parametrize("states", ["full", "minimal"])
@pytest.mark.parametrize("mode", ["event", "continuous"])
def test_setting_variables_is_setting_states(version, states, mode, four_bar, tmp_path):
    """One by one in any order, or as one vector: the same bits."""
    path = lw.export_fmu(four_bar, tmp_path / "a.fmu", version, states=states)
    fmu = Unpacked(path, unpack(path), version, lw.compile(four_bar))
    names = [*fmu.system.q_names, *fmu.system.u_names]
    names = [name for name in names if declared(fmu)[name]["initial"] == "approx"]
    references, n = [fmu.reference(name) for name in names], len(names)
    ours, other = fmu.new("ME"), fmu.new("ME")
    ours.go_to(mode)
    other.go_to("continuous")
    x = np.array(other.array("GetContinuousStates", n))
    rng, outputs = np.random.default_rng(4), fmu.references("derivative", "output")
    for _ in range(3):
        near = x + rng.normal(scale=1e-2, size=n)
        assert other.set_states(near) == OK
        for k in rng.permutation(n):
            ours.set([references[k]], [near[k]])
        assert ours.array("GetContinuousStates", n) == list(near) == ours.get(references)
        assert ours.derivatives(n) == other.derivatives(n)
        assert ours.get(outputs) == other.get(outputs)
    for instance in (ours, other):
        instance.free()


@VERSION
def test_a_dependent_coordinate_cannot_be_set(version, four_bar, tmp_path):
    path = lw.export_fmu(four_bar, tmp_path / "a.fmu", version, states="minimal", independents=["A.q"])
    fmu = Unpacked(path, unpack(path), version, lw.compile(four_bar))
    instance = fmu.new("ME")
    instance.initialize()
    assert instance.try_set([fmu.reference("B.q")], [0.1]) == ERROR
    assert "cannot be set" in instance.last
    instance.free()


@VERSION
def test_co_simulation_keeps_its_states(version, built):
    fmu = built(version)
    instance = fmu.new("CS")
    instance.initialize()
    before = instance.get(state_references(fmu))
    assert instance.try_set([fmu.reference("A.q")], [0.1]) == ERROR
    assert "in Co-Simulation the FMU integrates" in instance.last
    assert instance.get(state_references(fmu)) == before


@VERSION
def test_values_that_are_no_numbers_are_refused(version, built):
    fmu = built(version)
    instance = fmu.new("ME")
    for mode in ("instantiated", "continuous"):
        instance.go_to(mode)
        assert instance.try_set([fmu.reference("A.u")], [math.nan]) == ERROR
        assert "is not a finite number" in instance.last


@VERSION
def test_a_state_set_in_event_mode_is_reported_once(version, make):
    """Its event is handled there: beyond the stop it is due."""
    fmu = make(pendulum(stop=(lw.Stop("hinge", upper=1.0, restitution=0.5), None)), version)
    instance, q, u = started(fmu, "ME"), fmu.reference("hinge.q"), fmu.reference("hinge.u")
    instance.must("EnterEventMode")
    instance.set([q, u], [0.4, 0.2])
    assert instance.update()["changed"]
    assert not instance.update()["changed"]
    assert instance.get([q, u]) == [0.4, 0.2]
    instance.set([q, u], [1.0 + 1e-9, 0.2])
    assert instance.update()["changed"]
    speed = instance.get([u])[0]
    assert speed == pytest.approx(-0.1, abs=1e-15)
    instance.must("EnterContinuousTimeMode")
    instance.must("SetTime", c_double(0.1))
    assert instance.array("GetContinuousStates", 2)[1] == speed


# ---- declared dependencies


def moved(fmu: Unpacked, parameter: int, value: float, unknowns: list[int]) -> np.ndarray | None:
    """The unknowns after initialisation with another value of a parameter."""
    instance = fmu.new("ME")
    instance.set([parameter], [value])
    instance.set_up()
    status, values = instance.try_get(unknowns)
    instance.free()
    fmu.instances.remove(instance)
    return np.array(values) if status == OK else None


@VERSION
def test_initial_unknowns_depend_on_no_other_parameters(version, built):
    """Also those of states, which masses and springs do not move."""
    fmu = built(version)
    root, variables = ElementTree.fromstring(fmu.xml), list(ElementTree.fromstring(fmu.xml).find("ModelVariables"))
    by_key = {str(i + 1) if version == "2.0" else v.get("valueReference"): v for i, v in enumerate(variables)}
    key = "index" if version == "2.0" else "valueReference"
    entries = list(root.find("ModelStructure").iter("InitialUnknown" if version == "3.0" else "Unknown"))
    if version == "2.0":
        entries = list(root.find("ModelStructure").find("InitialUnknowns"))
    on = {
        by_key[e.get(key)].get("name"): {by_key[k].get("name") for k in e.get("dependencies").split()} for e in entries
    }
    unknowns = [fmu.reference(name) for name in on]
    parameters = [v for v in fmu.system.variables if v.kind in ("parameter", "start")]
    nominal = moved(fmu, fmu.reference(parameters[0].name), parameters[0].start, unknowns)
    left_out = 0
    for parameter in parameters:
        missing = np.array([parameter.name not in names for names in on.values()])
        left_out += missing.sum()
        after = moved(fmu, fmu.reference(parameter.name), parameter.start + 1e-3, unknowns)
        if after is not None:
            assert (after[missing] == nominal[missing]).all(), parameter.name
    assert left_out > 100
