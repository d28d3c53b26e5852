"""What OMSimulator (2026) reads of our archives, by the rules of its two readers, in Python and in C++.

Tested against OMSimulator itself, which is no package that can be installed: both readers gave these numbers.
"""

import re
import zipfile
from pathlib import Path

import pytest

from linkwork.cosim import Connection, Jacobi, System, run
from linkwork.cosim.fmu.model import read_model
from linkwork.cosim.ssp.write import identifier
from linkwork.cosim.system.checks import converted
from support.described_fmus import UNITS, variable, write_fmu
from support.foreign import foreign
from support.ssp_schemas import validate, validate_archive

etree = pytest.importorskip("lxml.etree")

SSD = "SystemStructure.ssd"
OMS = "{https://raw.githubusercontent.com/OpenModelica/OMSimulator/master/schema/oms.xsd}"
MORE = {
    **UNITS,
    "mK": 'K="1" factor="0.001"',
    "degF": f'K="1" factor="{5 / 9}" offset="{273.15 - 32 * 5 / 9}"',
    "1": "",
    "lost": None,
}


def pair(folder: Path, source: str, target: str, **more: object) -> System:
    """Two components of one FMU, connected from `source` to `target`, which are units."""
    parts = [
        variable("y", "output", **({"unit": source} if source else {})),
        variable("x", "input", start="0", **({"unit": target} if target else {})),
        variable("k", "parameter", start="1"),
    ]
    units = {name: text for name, text in MORE.items() if text is not None}
    system = System("two parts")
    for name in "ab":
        system.add(name, write_fmu(folder / "both.fmu", parts, units=units))
    system.connect("a.y", "b.x", **more)
    return system


def document(path: Path) -> str:
    with zipfile.ZipFile(path) as archive:
        return archive.read(SSD).decode()


# ---- the readers


def by_python(system: System, root) -> tuple[float, float] | None:
    """Factor and offset that the reader in Python takes, by units of the FMUs; None: it refuses the connection."""
    (link,) = root.iter("{*}Connection")
    model = read_model(system.components["a"].fmu)
    source, target = model.unit("y"), model.unit("x")
    scale = 1.0
    if source.name and target.name:
        if source.exponents != target.exponents:
            return None
        scale = source.factor / target.factor
    return transformed(link, scale)


def by_c(root) -> tuple[float, float] | None:
    """Those that the reader in C++ takes, by units of connectors."""
    (link,) = root.iter("{*}Connection")
    ends = {}
    for one in root.iter("{*}Component"):
        for port in one.iter("{*}Connector"):
            ends[one.get("name"), port.get("name")] = port[0].get("unit")
    units = {one.get("name"): dict(one[0].attrib) for one in root.iter("{*}Unit")}
    source = units.get(ends[link.get("startElement"), link.get("startConnector")])
    target = units.get(ends[link.get("endElement"), link.get("endConnector")])
    if source is None or target is None or link.get("suppressUnitConversion") == "true":
        return 1.0, 0.0
    bases = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")
    if [source.get(base, "0") for base in bases] != [target.get(base, "0") for base in bases]:
        return None
    return float(source.get("factor", 1)) / float(target.get("factor", 1)), 0.0


def transformed(link, scale: float) -> tuple[float, float]:
    for one in link.iter("{*}LinearTransformation"):
        return float(one.get("factor")) * scale, float(one.get("offset"))
    return scale, 0.0


CASES = {  # units, connection, whether each reader agrees
    "same units": (("K", "K"), {}, True, True),
    "a scale": (("K", "mK"), {}, True, True),
    "a transformation": (("K", "K"), {"factor": 2.0, "offset": 0.5}, True, False),
    "scale and transformation": (("mK", "K"), {"factor": 2.0, "offset": 0.5}, True, False),
    "a temperature": (("degC", "K"), {}, True, False),
    "temperature back": (("K", "degC"), {"factor": 2.0, "offset": -1.0}, True, False),
    "suppressed": (("deg", "rad"), {"convert_units": False}, True, True),
    "suppressed, transformed": (("mm", "m"), {"convert_units": False, "factor": 3.0, "offset": 0.25}, True, False),
    "suppressed offset": (("degC", "K"), {"convert_units": False}, True, True),
    "other quantity": (("m", "N"), {"convert_units": False}, None, True),
    "a radian": (("rad", "1"), {}, None, True),
    "a degree": (("deg", "1"), {}, None, None),
    "no unit": (("", "K"), {"factor": 2.0}, True, False),
    "a scale with offset": (("degF", "K"), {}, False, False),
}


@pytest.mark.parametrize("name", CASES)
def test_units_and_transformations(name: str, tmp_path: Path) -> None:
    """True: the same numbers; False: others, and there is no form of SSP that helps; None: it refuses."""
    units, more, python, c = CASES[name]
    system = pair(tmp_path, *units, **more)
    text = document(system.save(tmp_path / "a.ssp"))
    root = validate(text.encode())
    model = read_model(system.components["a"].fmu)
    exact = converted(system.connections[0], model.unit("y"), model.unit("x"))
    for found, agrees in ((by_python(system, root), python), (by_c(root), c)):
        if agrees is None:
            assert found is None
        else:
            assert found is not None
            assert (found == pytest.approx(exact, rel=1e-14)) == agrees
    assert System.load(tmp_path / "a.ssp").connections == system.connections


@pytest.mark.parametrize("name", CASES)
def test_the_form_means_the_same_by_the_standard(name: str, tmp_path: Path) -> None:
    """Without our annotations."""
    units, more, _, _ = CASES[name]
    system = pair(tmp_path, *units, **more)
    path = system.save(tmp_path / "a.ssp")
    root = etree.fromstring(document(path).encode())
    for one in list(root.iter("{*}Connection")):
        for group in one.findall("{*}Annotations"):
            one.remove(group)
    rewrite(path, etree.tostring(root))
    model = read_model(system.components["a"].fmu)
    source, target = model.unit("y"), model.unit("x")
    expected = converted(system.connections[0], source, target)
    assert converted(System.load(path).connections[0], source, target) == pytest.approx(expected, rel=1e-14)


def rewrite(path: Path, ssd: bytes) -> None:
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in {**files, SSD: ssd}.items():
            archive.writestr(name, data)


def test_a_connection_that_was_changed_since_is_the_one_in_the_file(tmp_path: Path) -> None:
    path = pair(tmp_path, "mm", "m", factor=3.0, convert_units=False).save(tmp_path / "a.ssp")
    text = document(path)
    rewrite(path, re.sub(r'Transformation factor="[^"]*"', 'Transformation factor="7.0"', text).encode())
    assert System.load(path).connections == [Connection("a.y", "b.x", 7.0)]


# ---- the annotation


def test_the_master_is_the_first_annotation_after_elements_and_connections(tmp_path: Path) -> None:
    system = pair(tmp_path, "K", "K")
    system.add("c", system.components["a"].fmu, required=["x"])
    system.experiment.t_end = 4.0
    root = validate(document(system.save(tmp_path / "a.ssp")).encode())
    top = root[0]
    assert [one.tag.split("}")[1] for one in top] == ["Elements", "Connections", "Annotations"]
    first, second = top[-1]
    assert [first.get("type"), second.get("type")] == ["org.openmodelica", "org.linkwork.ssp"]
    (group,) = first
    (information,) = group
    (master,) = information
    assert [one.tag for one in (group, information, master)] == [
        f"{OMS}{name}" for name in ("Annotations", "SimulationInformation", "FixedStepMaster")
    ]
    assert dict(information.attrib) == {
        "name": "oms_ma_default",
        "method": "oms_ma",
        "fixedStepSize": "0.004",
        "relativeTolerance": "1e-06",
    }
    assert dict(master.attrib) == {
        "description": "oms-ma",
        "stepSize": "0.004",
        "relativeTolerance": "1e-06",
        "absoluteTolerance": "1e-06",
    }
    assert System.load(tmp_path / "a.ssp").components["c"].required == ("x",)


def test_names_of_elements_have_the_prefixes_that_its_reader_compares(tmp_path: Path) -> None:
    """The reader in C++ knows no namespaces."""
    system = pair(tmp_path, "deg", "rad")
    system.components["a"].parameters["k"] = 2.0
    for version in ("1.0", "2.0"):
        text = document(system.save(tmp_path / "a.ssp", version=version))
        for name in ("ssd:System", "ssd:Annotations", "ssc:Annotation", "ssc:BaseUnit", "ssv:Parameter"):
            assert re.search(f"<{name}[ >]", text)
        for name in ("oms:Annotations", "oms:SimulationInformation", "oms:FixedStepMaster"):
            assert re.search(f"<{name}[ >]", text)


def test_components_say_type_and_implementation_and_have_no_annotations(tmp_path: Path) -> None:
    system = pair(tmp_path, "K", "K")
    system.add("c", system.components["a"].fmu, required=["x"], parameters={"k": 3.0})
    root = validate(document(system.save(tmp_path / "a.ssp")).encode())
    for one in root.iter("{*}Component"):
        assert one.get("type") == "application/x-fmu-sharedlibrary"
        assert one.get("implementation") == "CoSimulation"
        assert {child.tag.split("}")[1] for child in one} <= {"Connectors", "ParameterBindings"}


@pytest.mark.parametrize(
    ("name", "plain"), [("crank_speed", "crank_speed"), ("Prüf stand-2", "Pr_f_stand_2"), ("3", "_3"), ("", "system")]
)
def test_the_outermost_system_has_an_identifier_as_its_name(name: str, plain: str, tmp_path: Path) -> None:
    assert identifier(name) == plain
    system = pair(tmp_path, "K", "K")
    system.name = name
    root = validate(document(system.save(tmp_path / "a.ssp")).encode())
    assert (root.get("name"), root[0].get("name")) == (name, plain)
    assert System.load(tmp_path / "a.ssp").name == name


def test_step_and_tolerance(tmp_path: Path, needs, needs_program) -> None:
    """The step is that of a run by default, or the one that is given; the FMUs name the tolerance."""
    needs("fmpy")
    needs_program("gcc")
    system = System("steps")
    system.add("a", foreign(tmp_path / "a.fmu", experiment='stepSize="0.25" tolerance="1e-7"'))
    system.add("b", foreign(tmp_path / "b.fmu", experiment='tolerance="1e-4"'))

    def found(**more: float) -> tuple[str, str]:
        root = validate(document(system.save(tmp_path / "a.ssp", **more)).encode())
        (one,) = root.iter(f"{OMS}FixedStepMaster")
        return one.get("stepSize"), one.get("relativeTolerance")

    assert found() == ("0.25", "1e-07")
    assert run(System.load(tmp_path / "a.ssp"), 1.0).t.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert found(step=0.125) == ("0.125", "1e-07")
    assert run(System.load(tmp_path / "a.ssp"), 1.0, master=Jacobi(0.125)).t.size == 9


def test_settings_of_its_solvers_in_foreign_files_are_passed_over(tmp_path: Path) -> None:
    path = pair(tmp_path, "K", "K").save(tmp_path / "a.ssp")
    text = document(path)
    solver = '<oms:VariableStepSolver description="cvode" relativeTolerance="1e-4" initialStepSize="1e-6" '
    solver += 'minimumStepSize="1e-12" maximumStepSize="1e-3"/>'
    rewrite(path, re.sub(r"<oms:FixedStepMaster [^>]*>", solver, text).encode())
    validate_archive(path)
    assert System.load(path).connections == [Connection("a.y", "b.x")]
