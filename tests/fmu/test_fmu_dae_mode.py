"""DAE mode of FMUs by FMI-LS-DAE: off it changes no bit; on, IDA solves the residuals by functions of FMI alone."""

import ctypes
import xml.etree.ElementTree as ET
import zipfile
from ctypes import byref, c_bool, c_double, c_size_t, c_uint32
from importlib import import_module

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli import export as export_command
from linkwork.errors import ExportError
from linkwork.simulation.dae.ggl import GGL
from support.dae_importer import MANIFEST, DaeImporter
from support.fmi_calls import ERROR, OK
from support.latched import pendulum
from support.unpacked import Unpacked, unpack

MECHANISMS = {
    "four_bar": lambda: import_module("four_bar").mechanism(),
    "slider_crank": lambda: import_module("slider_crank").mechanism(),
    "five_bar": lambda: import_module("five_bar").mechanism(),
    "spatial loop": lambda: import_module("spatial_ladder").mechanism(1),
    "open chain": lambda: import_module("double_pendulum").mechanism(),
}
EACH = pytest.mark.parametrize("name", MECHANISMS)


@pytest.fixture(autouse=True)
def tools(needs, checkout, monkeypatch):
    needs("fmpy")
    monkeypatch.syspath_prepend(checkout / "examples")


@pytest.fixture
def importer(tmp_path):
    made: list[DaeImporter] = []

    def make(mech: lw.Mechanism, **options: bool) -> DaeImporter:
        path = lw.export_fmu(mech, tmp_path / "dae.fmu", dae=True, reference=False)
        made.append(DaeImporter(path, tmp_path / f"dae{len(made)}", **options))
        made[-1].start()
        return made[-1]

    yield make
    for one in made:
        one.free()


def point(one: DaeImporter, seed: int = 0) -> tuple[float, np.ndarray, np.ndarray]:
    """A point off all constraints."""
    random = np.random.default_rng(seed)
    unknowns = random.standard_normal(len(one.rates) + len(one.algebraic))
    return 0.3, one.get(one.states) + 0.1 * random.standard_normal(len(one.states)), unknowns


# ---- on


@EACH
def test_ida_agrees_with_the_simulation(name, importer, needs):
    needs("sksundae")
    mech = MECHANISMS[name]()
    one = importer(mech)
    times = np.linspace(0.0, 0.5, 6)
    result = lw.simulate(mech, t_end=0.5, rtol=1e-12, t_eval=times)
    assert np.abs(one.integrate(times, 1e-13) - result.y).max() < 1e-8


@EACH
def test_initialisation_gives_rates_and_multipliers_that_fit(name, importer):
    mech = MECHANISMS[name]()
    one, system = importer(mech), lw.compile(mech)
    unknowns = one.get([*one.rates, *one.algebraic])
    assert np.abs(one.residual(0.0, one.get(one.states), unknowns)).max() < 1e-12 * max(1.0, np.abs(unknowns).max())
    state = system.assemble()
    ggl = GGL(system, system.block())
    _, ydot = ggl.start(0.0, np.concatenate([state.q, state.u]))
    n, rows = len(one.states), ggl.rows
    np.testing.assert_allclose(unknowns[:n], ydot[:n], rtol=1e-12, atol=1e-12)
    if (system.block().dae_rows()[:rows] == ggl.relaxation[:rows]).all():
        np.testing.assert_allclose(unknowns[n:], ydot[n:], rtol=1e-9, atol=1e-9)


@EACH
def test_the_jacobian_by_declared_dependencies_is_that_of_the_core(name, importer):
    mech = MECHANISMS[name]()
    one, block = importer(mech), lw.compile(mech).block()
    t, x, unknowns = point(one)
    residual = one.residual(t, x, unknowns)
    state = lw.compile(mech).assemble()
    block.put("q", state.q)
    block.put("u", state.u)
    relaxation, y = block.dae_rows(), np.pad(x, (0, len(one.algebraic)))
    np.testing.assert_allclose(residual, block.dae_residual(t, y, unknowns, relaxation), rtol=1e-14, atol=1e-14)
    for cj in (1.0, 1e4):
        expected = block.dae_jacobian(t, y, unknowns, relaxation, cj)
        found = one.jacobian(cj, one.colours())
        assert np.abs(found - expected).max() <= 1e-12 * np.abs(expected).max()


@EACH
def test_a_residual_depends_on_nothing_that_is_not_declared(name, importer):
    one = importer(MECHANISMS[name]())
    one.residual(*point(one, seed=5))
    inputs = [one.names[known] for known in one.names if known.endswith(".tau")]
    for known in [*one.states, *one.rates, *one.algebraic, *inputs, one.names["time"]]:
        column = np.array(one.fmu.getDirectionalDerivative(one.residuals, [known], [1.0]))
        undeclared = [row for row, knowns in enumerate(one.dependencies) if known not in knowns]
        assert np.abs(column[undeclared]).max(initial=0.0) < 1e-15  # rounding


def test_derivatives_by_inputs_and_parameters_are_those_of_differences(importer):
    one = importer(MECHANISMS["four_bar"]())
    at = point(one)
    for name in ("A.tau", "coupler.mass", "gravity[3]"):
        one.residual(*at)
        known = one.names[name]
        exact = np.array(one.fmu.getDirectionalDerivative(one.residuals, [known], [1.0]))
        value = float(one.get([known])[0])
        one.fmu.enterEventMode()
        moved = []
        for step in (1e-3, -1e-3):
            one.set([known], [value + step])
            moved.append(in_event_mode(one, at))
        one.set([known], [value])
        difference = (moved[0] - moved[1]) / 2e-3
        assert np.abs(exact - difference).max() < 1e-8
        assert np.abs(exact).max() > 1e-3
        one.fmu.enterContinuousTimeMode()


def in_event_mode(one: DaeImporter, at: tuple[float, np.ndarray, np.ndarray]) -> np.ndarray:
    one.set(one.states, at[1])
    one.set([*one.rates, *one.algebraic], at[2])
    return one.get(one.residuals)


def test_derivatives_of_residuals_and_outputs_go_together_and_the_adjoint_is_the_transpose(importer):
    one = importer(MECHANISMS["four_bar"]())
    unknowns = [*one.residuals, one.names["coupler.r[1]"], one.names["A.f[3]"]]
    knowns = [one.states[0], one.states[4], one.rates[3], one.algebraic[1], one.names["A.tau"]]
    matrix = np.array([one.fmu.getDirectionalDerivative(unknowns, [k], [1.0]) for k in knowns]).T
    assert (matrix[-2:, 2:4] == 0.0).all()
    assert matrix[-2, 0] != 0.0
    seed = np.random.default_rng(1).standard_normal(len(unknowns))
    adjoint = np.array(one.fmu.getAdjointDerivative(unknowns, knowns, seed.tolist(), len(knowns)))
    np.testing.assert_allclose(adjoint, seed @ matrix, rtol=1e-12, atol=1e-12)


def test_states_of_the_fmu_hold_rates_and_multipliers(importer):
    one, other = importer(MECHANISMS["four_bar"]()), importer(MECHANISMS["four_bar"](), dae=False)
    t, x, unknowns = point(one)
    residual = one.residual(t, x, unknowns)
    data = one.fmu.serializeFMUState(one.fmu.getFMUState())
    one.residual(t, x + 0.1, unknowns - 1.0)
    other.fmu.setFMUState(other.fmu.deserializeFMUState(data))
    assert (other.get([*other.rates, *other.algebraic]) == unknowns).all()
    assert (other.get(other.residuals) == residual).all()


# ---- off


def test_off_it_is_the_same_fmu_to_the_bit(tmp_path):
    mech = MECHANISMS["four_bar"]()
    paths = [lw.export_fmu(mech, tmp_path / f"{dae}.fmu", dae=dae) for dae in (True, False)]
    contents = []
    for path in paths:
        with zipfile.ZipFile(path) as archive:
            contents.append({one: archive.read(one) for one in archive.namelist()})
    assert set(contents[0]) - set(contents[1]) == {MANIFEST}
    different = {name for name in contents[1] if contents[0][name] != contents[1][name]}
    assert different == {"modelDescription.xml", "resources/interface.lwi"}
    runs = []
    for path in paths:
        unpacked = Unpacked(path, unpack(path), "3.0", lw.compile(mech))
        exchange, stepped = unpacked.new("ME"), unpacked.new("CS")
        exchange.go_to("continuous")
        values = (
            exchange.array("GetContinuousStates", 6)
            + exchange.derivatives(6)
            + exchange.get(unpacked.references("output"))
        )
        values += exchange.directional(unpacked.references("derivative"), unpacked.references("state"), [1.0] * 6)
        stepped.go_to("step")
        stepped.step(0.0, 0.37)
        values += stepped.get(unpacked.references("state", "derivative", "output"))
        runs.append(np.array(values).tobytes())
        for instance in (exchange, stepped):
            instance.free()
    assert runs[0] == runs[1]


def test_off_the_multipliers_are_computed_and_the_residuals_vanish(importer):
    one, on = importer(MECHANISMS["five_bar"](), dae=False), importer(MECHANISMS["five_bar"]())
    np.testing.assert_allclose(one.get(one.algebraic), on.get(on.algebraic), rtol=1e-12, atol=1e-12)
    assert np.abs(one.get(one.residuals)).max() < 1e-11
    for references in (one.rates, one.algebraic):
        with pytest.raises(Exception, match="fmi3SetFloat64"):
            one.set(references[:1], [1.0])
    with pytest.raises(Exception, match="fmi3GetDirectionalDerivative"):
        one.fmu.getDirectionalDerivative(one.residuals[:1], one.states[:1], [1.0])


# ---- the switch


def switched(instance, reference: int, value: bool) -> int:
    return instance.call("SetBoolean", (c_uint32 * 1)(reference), c_size_t(1), (c_bool * 1)(value), c_size_t(1))


@pytest.fixture
def unpacked(tmp_path) -> Unpacked:
    path = lw.export_fmu(MECHANISMS["four_bar"](), tmp_path / "dae.fmu", dae=True, reference=False)
    made = Unpacked(path, unpack(path), "3.0")
    yield made
    for instance in made.instances:
        instance.free()


def enabled(unpacked: Unpacked) -> int:
    root = ET.fromstring((unpacked.folder / MANIFEST).read_bytes())
    return int(root.find("EnableDAEParameter").attrib["valueReference"])


def test_the_switch_is_set_in_configuration_mode_alone(unpacked):
    instance, reference = unpacked.new("ME"), enabled(unpacked)
    assert switched(instance, reference, True) == ERROR
    assert "in Configuration Mode" in instance.last
    instance.must("EnterConfigurationMode")
    assert switched(instance, reference, True) == OK
    assert (
        instance.call("EnterInitializationMode", c_bool(False), c_double(0), c_double(0), c_bool(False), c_double(0))
        == ERROR
    )
    instance.must("ExitConfigurationMode")
    assert instance.call("ExitConfigurationMode") == ERROR
    value = (c_bool * 1)()
    assert instance.call("GetBoolean", (c_uint32 * 1)(reference), c_size_t(1), value, c_size_t(1)) == OK
    assert value[0]
    instance.go_to("event")
    assert instance.call("EnterConfigurationMode") == ERROR
    assert "is fixed" in instance.last
    instance.must("Reset")
    assert instance.call("GetBoolean", (c_uint32 * 1)(reference), c_size_t(1), value, c_size_t(1)) == OK
    assert not value[0]


def test_co_simulation_does_not_take_it(unpacked):
    instance, reference = unpacked.new("CS"), enabled(unpacked)
    instance.must("EnterConfigurationMode")
    assert switched(instance, reference, True) == ERROR
    assert "Model Exchange only" in instance.last
    assert switched(instance, reference, False) == OK


def test_a_value_that_is_not_finite_is_refused(importer):
    one = importer(MECHANISMS["four_bar"]())
    with pytest.raises(Exception, match="fmi3SetFloat64"):
        one.set(one.algebraic[:1], [np.nan])


# ---- files


def test_the_manifest_lists_variables_of_the_model_description(tmp_path):
    from fmpy.validation import validate_fmu

    path = lw.export_fmu(MECHANISMS["five_bar"](), tmp_path / "dae.fmu", outputs=["energy"], dae=True)
    assert validate_fmu(str(path)) == []
    with zipfile.ZipFile(path) as archive:
        root, manifest = (ET.fromstring(archive.read(name)) for name in ("modelDescription.xml", MANIFEST))
    assert manifest.tag == "fmiDAEManifest"
    space = "{http://fmi-standard.org/fmi-ls-manifest}"
    assert manifest.get(f"{space}fmi-ls-name") == "org.fmi-standard.fmi-ls-dae"
    assert manifest.get(f"{space}fmi-ls-version") == "1.0.0-alpha.1"
    assert manifest.get(f"{space}fmi-ls-description")
    assert [one.tag for one in manifest] == ["EnableDAEParameter", "AlgebraicVariables", "ModelStructure"]
    variables = {one.attrib["valueReference"]: one for one in root.find("ModelVariables")}
    switch = variables[manifest[0].attrib["valueReference"]]
    assert (switch.tag, switch.get("causality"), switch.get("start")) == ("Boolean", "structuralParameter", "false")
    structure = manifest.find("ModelStructure")
    listed = [one.attrib["valueReference"] for one in [*manifest[1], *structure.findall("Residual")]]
    assert all(variables[one].get("causality") == "local" and variables[one].tag == "Float64" for one in listed)
    assert len(set(listed)) == len(listed)
    known = {word for one in structure.findall("Residual") for word in one.attrib["dependencies"].split()}
    assert known <= set(variables)
    ode = root.find("ModelStructure")
    for tag in ("Output", "InitialUnknown"):
        assert [one.attrib for one in structure.findall(tag)] == [one.attrib for one in ode.findall(tag)]
    assert structure.find("ContinuousStateDerivative") is None


def test_the_library_gives_the_dependencies_of_residuals(importer):
    one = importer(MECHANISMS["four_bar"]())
    count = c_size_t()
    for residual, knowns in zip(one.residuals, one.dependencies, strict=True):
        one.fmu.fmi3GetNumberOfVariableDependencies(one.fmu.component, residual, byref(count))
        n = count.value
        found = (c_uint32 * n)()
        lists = (c_size_t * n)(), found, (c_size_t * n)(), (ctypes.c_int * n)()
        one.fmu.fmi3GetVariableDependencies(one.fmu.component, residual, *lists, n)
        assert list(found) == knowns


@pytest.mark.parametrize("options", [{"fmi": "2.0"}, {"states": "minimal"}, {"arrays": True}])
def test_forms_without_dae_mode_are_refused(options, tmp_path):
    with pytest.raises(ExportError, match="DAE mode goes with"):
        lw.export_fmu(MECHANISMS["four_bar"](), tmp_path / "a.fmu", dae=True, **options)


def test_transitions_are_refused(tmp_path):
    mech = pendulum(latch=(lw.Lock("hinge"), lw.Crossing("hinge.q", 1.0)))
    with pytest.raises(ExportError, match="without transitions"):
        lw.export_fmu(mech, tmp_path / "a.fmu", dae=True)


def test_the_command(checkout, tmp_path):
    target = tmp_path / "a.fmu"
    assert export_command.main([str(checkout / "examples/four_bar.py"), "-o", str(target), "--dae"]) == 0
    with zipfile.ZipFile(target) as archive:
        assert MANIFEST in archive.namelist()
