"""A system written as an SSP is read back equal, is valid, and has the same bytes each time."""

import copy
import gc
import pickle
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linkwork.cosim import Connection, Experiment, System
from linkwork.errors import CosimError
from support.described_fmus import variable, write_fmu

etree = pytest.importorskip("lxml.etree")

GEAR = (
    '<SimpleType name="Gear"><Enumeration><Item name="low" value="1"/><Item name="high" value="4"/></Enumeration>'
    "</SimpleType>"
)
VALUES = {"k": "Real", "n": "Integer", "b": "Boolean", "s": "String", "Größe.µ": "Real"}


@pytest.fixture(scope="module")
def sensor(tmp_path_factory) -> Path:
    """Outputs of all types, and parameters."""
    parts = [
        variable("y", "output", unit="rad"),
        variable("gear", "output", "Enumeration", declaredType="Gear"),
        variable("count", "output", "Integer"),
        variable("on", "output", "Boolean"),
        variable("text", "output", "String"),
        *(variable(name, "parameter", kind, start="0") for name, kind in VALUES.items()),
    ]
    return write_fmu(tmp_path_factory.mktemp("sensor") / "Fühler 1.fmu", parts, types=GEAR)


@pytest.fixture(scope="module")
def motor(tmp_path_factory) -> Path:
    """Inputs of all types."""
    parts = [
        variable("x", "input", start="0", unit="deg"),
        variable("second.x", "input", start="0", unit="deg"),
        variable("gear", "input", "Enumeration", declaredType="Gear", start="1"),
        variable("count", "input", "Integer", start="0"),
        variable("on", "input", "Boolean", start="false"),
        variable("text", "input", "String", start=""),
        *(variable(name, "parameter", kind, start="0") for name, kind in VALUES.items()),
    ]
    return write_fmu(tmp_path_factory.mktemp("motor") / "motor.fmu", parts, types=GEAR)


@pytest.fixture
def system(sensor: Path, motor: Path) -> System:
    system = System("Prüfstand", description='of "two" kinds\nin <two> lines')
    system.add("a", sensor, parameters={"k": 900, "n": -3, "b": True, "s": "a\tb &\n", "Größe.µ": 1e-30})
    system.add("a.b", sensor)
    system.add("last", motor, required=["x", "second.x"])
    system.connect("a.y", "last.x", factor=-2.5, offset=0.1)
    system.connect("a.b.y", "last.second.x", convert_units=False)
    for name in ("gear", "count", "on", "text"):
        system.connect(f"a.{name}", f"last.{name}")
    system.add_parameter_set("schlechtester Fall/1", {"a.k": 0.1, "a.b.n": 2**40, "last.s": "", "a.b.k": (1.0, 2.0)})
    system.add_parameter_set("schlechtester Fall_1", {})
    system.experiment = Experiment(0.25, 12.5)
    return system


def same(one: System, other: System) -> None:
    assert (one.name, one.description, one.experiment) == (other.name, other.description, other.experiment)
    assert list(one.components) == list(other.components)
    for mine, yours in zip(one.components.values(), other.components.values(), strict=True):
        assert (mine.name, mine.parameters, mine.required) == (yours.name, yours.parameters, yours.required)
        assert mine.fmu.read_bytes() == yours.fmu.read_bytes()
    assert one.connections == other.connections
    assert one.external_inputs == other.external_inputs
    assert one.external_outputs == other.external_outputs
    assert one.parameter_sets == other.parameter_sets


def structure(path: Path) -> str:
    with zipfile.ZipFile(path) as archive:
        return archive.read("SystemStructure.ssd").decode()


def test_a_system_comes_back_the_same(system: System, tmp_path: Path) -> None:
    same(System.load(system.save(tmp_path / "bench.ssp")), system)


def test_what_comes_back_can_be_saved_again(system: System, tmp_path: Path) -> None:
    first = System.load(system.save(tmp_path / "bench.ssp"))
    second = System.load(first.save(tmp_path / "bench.ssp"))
    same(second, system)


def test_types_of_values_come_back(system: System, tmp_path: Path) -> None:
    values = System.load(system.save(tmp_path / "bench.ssp")).components["a"].parameters
    assert {name: type(value) for name, value in values.items()} == {
        "k": float,
        "n": int,
        "b": bool,
        "s": str,
        "Größe.µ": float,
    }


def test_names_outside_come_back(system: System, tmp_path: Path) -> None:
    system.connections.clear()
    system.external_inputs = [Connection("Wind.x", "last.x", 2.0), Connection("Wind.x", "last.second.x")]
    system.external_outputs = [Connection("a.y", "angle"), Connection("a.count", "a.count")]
    again = System.load(system.save(tmp_path / "bench.ssp"))
    same(again, system)
    assert 'name="Wind.x" kind="input"' in structure(tmp_path / "bench.ssp")


def test_the_same_system_gives_the_same_bytes(system: System, tmp_path: Path) -> None:
    one, two = system.save(tmp_path / "one.ssp"), system.save(tmp_path / "two.ssp")
    assert one.read_bytes() == two.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.ssp", "two.ssp"]


def test_each_fmu_is_in_it_once_and_under_a_name_of_its_own(sensor: Path, motor: Path, tmp_path: Path) -> None:
    twin = tmp_path / "MOTOR.fmu"
    twin.write_bytes(sensor.read_bytes())
    system = System("twins")
    for name, fmu in {"a": motor, "b": motor, "c": twin, "d": sensor}.items():
        system.add(name, fmu)
    with zipfile.ZipFile(system.save(tmp_path / "twins.ssp")) as archive:
        fmus = [name for name in archive.namelist() if name.endswith(".fmu")]
    assert fmus == ["resources/motor.fmu", "resources/MOTOR_2.fmu", "resources/F_hler_1.fmu"]


def test_all_files_are_valid_by_the_schemas_of_ssp(system: System, tmp_path: Path) -> None:
    fmpy_ssp = pytest.importorskip("fmpy.ssp.ssd")
    system.external_inputs = [Connection("wind", "a.k")]
    with zipfile.ZipFile(system.save(tmp_path / "bench.ssp")) as archive:
        ssd = etree.fromstring(archive.read("SystemStructure.ssd"))
        sets = [etree.fromstring(archive.read(name)) for name in archive.namelist() if name.endswith(".ssv")]
    fmpy_ssp.validate_tree(ssd, "SystemStructureDescription.xsd")
    inline = ssd.findall(".//ssv:ParameterSet", fmpy_ssp.ns)
    assert len(sets) == 2
    assert len(inline) == 1
    for root in [*sets, *inline]:
        fmpy_ssp.validate_tree(etree.fromstring(etree.tostring(root)), "SystemStructureParameterValues.xsd")


def test_fmpy_reads_the_structure_and_the_parameter_sets(system: System, tmp_path: Path) -> None:
    fmpy_ssp = pytest.importorskip("fmpy.ssp.ssd")
    path = str(system.save(tmp_path / "bench.ssp"))
    read = fmpy_ssp.read_ssd(path)
    assert [one.name for one in read.system.elements] == ["a", "a.b", "last"]
    assert len(read.system.connections) == len(system.connections)
    assert {unit.name: unit.factor for unit in read.units} == {"rad": 1.0, "deg": pytest.approx(0.0174532925)}
    values = fmpy_ssp.read_ssv(path, "resources/schlechtester_Fall_1.ssv").parameters
    assert [(one.name, one.type, one.value) for one in values] == [("a.k", "Real", "0.1"), ("last.s", "String", "")]


def test_units_of_one_name_that_differ_have_names_of_their_own(tmp_path: Path) -> None:
    parts = [variable("x", "input", unit="t", start="0"), variable("y", "output", unit="t")]
    fmus = [write_fmu(tmp_path / f"{n}.fmu", parts, units={"t": f'kg="1" factor="{n}"'}) for n in (1000, 907)]
    system = System("tons")
    for name, fmu in zip("ab", fmus, strict=True):
        system.add(name, fmu)
    system.connect("a.y", "b.x")
    path = system.save(tmp_path / "tons.ssp")
    assert 'unit="t_2"' in structure(path)
    assert System.load(path).connections == system.connections


def test_fmus_live_as_long_as_a_copy_of_the_system(system: System, tmp_path: Path) -> None:
    loaded = System.load(system.save(tmp_path / "bench.ssp"))
    clone, fmu = copy.deepcopy(loaded), loaded.components["a"].fmu
    assert list(pickle.loads(pickle.dumps(loaded)).components) == list(loaded.components)
    del loaded
    gc.collect()
    assert fmu.is_file()
    del clone
    gc.collect()
    assert not fmu.exists()


def test_what_cannot_be_written_says_why(system: System, sensor: Path, tmp_path: Path) -> None:
    with pytest.raises(CosimError, match=r"cannot write .*there is no folder .*missing; make it first"):
        system.save(tmp_path / "missing" / "bench.ssp")
    system.components["a"].parameters["kk"] = 1.0
    with pytest.raises(CosimError, match=r"no variable 'kk' in the FMU Fühler 1.fmu; did you mean 'k'"):
        system.save(tmp_path / "bench.ssp")
    del system.components["a"].parameters["kk"]
    system.components["a"].parameters["s"] = "\0"
    with pytest.raises(CosimError, match="a character that XML cannot hold"):
        system.save(tmp_path / "bench.ssp")
    system.components["a"].fmu = tmp_path / "no.fmu"
    with pytest.raises(CosimError, match=r"there is no FMU .*no\.fmu"):
        system.save(tmp_path / "bench.ssp")
    assert not list(tmp_path.iterdir())


def test_arrays_have_no_type_of_ssp_1_and_come_back(mass, tmp_path: Path) -> None:
    system = System("arrays")
    for name in ("a", "b"):
        system.add(name, mass("3.0", arrays=True), parameters={"gravity": (0.0, 0.1, -1.0)})
    system.connect("a.block.r", "b.gravity")  # whatever that would mean
    path = system.save(tmp_path / "arrays.ssp", version="1.0")
    assert '<ssd:Connector name="block.r" kind="output"/>' in structure(path)
    same(System.load(path), system)


LETTERS = st.characters(
    min_codepoint=0x21, max_codepoint=0x24F, exclude_characters="/\\\x7f", exclude_categories=["Zs", "Cc"]
)
NAMES = st.text(LETTERS, min_size=1, max_size=6)
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="￾￿"), max_size=8)
NUMBERS = st.floats(allow_nan=False)
ANY = st.one_of(NUMBERS, st.integers(), st.booleans(), TEXTS, st.lists(NUMBERS, max_size=3).map(tuple))
OWN = st.fixed_dictionaries(
    {},
    optional={
        "k": NUMBERS,
        "Größe.µ": NUMBERS,
        "n": st.integers(-(2**70), 2**70),
        "b": st.booleans(),
        "s": TEXTS,
    },
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_random_systems_come_back(data: st.DataObject, sensor: Path, motor: Path, tmp_path: Path) -> None:
    system = System(data.draw(NAMES), description=data.draw(TEXTS))
    for name in data.draw(st.lists(NAMES, max_size=4, unique=True)):
        fmu = data.draw(st.sampled_from([sensor, motor]))
        system.add(name, fmu, parameters=data.draw(OWN))
    sensors = [name for name, one in system.components.items() if one.fmu == sensor]
    targets = [name for name, one in system.components.items() if one.fmu == motor]
    for target in targets if sensors else []:
        for end in data.draw(st.lists(st.sampled_from(["x", "second.x"]), unique=True)):
            source, convert = data.draw(st.sampled_from(sensors)), data.draw(st.booleans())
            factor, offset = data.draw(NUMBERS), data.draw(NUMBERS)
            system.connect(f"{source}.y", f"{target}.{end}", factor=factor, offset=offset, convert_units=convert)
    for name in data.draw(st.lists(NAMES, max_size=2, unique=True)) if system.components else []:
        components = st.sampled_from(list(system.components))
        keys = st.builds("{}.{}".format, components, NAMES)
        system.add_parameter_set(name, data.draw(st.dictionaries(keys, ANY, max_size=4)))
    system.experiment = Experiment(data.draw(NUMBERS), data.draw(NUMBERS))
    same(System.load(system.save(tmp_path / "random.ssp")), system)
