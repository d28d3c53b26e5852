"""SSP 2.0: written where types of FMI 3.0 need it, valid by its schemas, and read from other tools."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from linkwork.cosim import Connection, Jacobi, System, run
from linkwork.errors import CosimError
from support.described_fmus import variable, write_fmu
from support.foreign import INTEGERS, TYPES, foreign, rewritten
from support.ssp_files import UNITS, component, connection, connector, description, linear, values, write
from support.ssp_schemas import validate, validate_archive

pytest.importorskip("lxml.etree")

SCALARS = {"Float64": -1e300, "Float32": 0.5, "Boolean": True, "String": "a ß < \t"}
ARRAYS = {"Float64": (0.1, -1e300, 2.0), "Float32": (0.5, -1.0, 2.0**100), "Boolean": (True, False, True)}
ARRAYS["String"] = ("Ωß", "", "two words")
for _name in INTEGERS:
    _bits = int(_name.lstrip("UInt"))
    _low, _high = (0, 2**_bits - 1) if _name.startswith("U") else (-(2 ** (_bits - 1)), 2 ** (_bits - 1) - 1)
    SCALARS[_name], ARRAYS[_name] = _high, (_low, 1, _high)
SSD = "SystemStructure.ssd"


@pytest.fixture
def three(tmp_path: Path, needs, needs_program) -> Path:
    """An FMU of FMI 3.0 with inputs and outputs of all types, and arrays of them."""
    needs("fmpy")
    needs_program("gcc")
    return foreign(tmp_path / "three.fmu", "3.0")


@pytest.fixture
def chain(three: Path) -> System:
    system = System("all types", description="of FMI 3.0")
    given = {f"{kind}_in": value for kind, value in SCALARS.items()}
    given |= {f"{kind}s_in": value for kind, value in ARRAYS.items()}
    system.add("one", three, parameters={**given, "level": 5})
    system.add("two", three, required=["Int8_in", "Float64s_in"])
    for kind in TYPES:
        system.connect(f"one.{kind}_out", f"two.{kind}_in")
        system.connect(f"one.{kind}s_out", f"two.{kind}s_in")
    system.add_parameter_set("other", {f"one.{kind}s_in": tuple(reversed(ARRAYS[kind])) for kind in TYPES})
    return system


def connectors(root, name: str) -> dict[str, list[str]]:
    """Elements within the connectors of a component, by name."""
    (found,) = [one for one in root.iter("{*}Component") if one.get("name") == name]
    return {
        one.get("name"): [child.tag.split("}")[1] + str(dict(child.attrib)) for child in one]
        for one in found.iter("{*}Connector")
    }


def test_all_types_of_fmi_3_and_arrays_of_them_come_back(chain: System, tmp_path: Path) -> None:
    path = chain.save(tmp_path / "chain.ssp")
    again = System.load(path)
    assert again.components["one"].parameters == chain.components["one"].parameters
    assert {name: type(value) for name, value in again.components["one"].parameters.items()} == {
        name: type(value) for name, value in chain.components["one"].parameters.items()
    }
    assert again.parameter_sets == chain.parameter_sets
    assert again.connections == chain.connections
    assert again.components["two"].required == ("Int8_in", "Float64s_in")
    assert again.save(tmp_path / "again.ssp").read_bytes() == path.read_bytes()


def test_they_are_written_as_2_0_and_valid(chain: System, tmp_path: Path) -> None:
    found = validate_archive(chain.save(tmp_path / "chain.ssp"))
    assert {root.get("version") for root in found.values()} == {"2.0"}
    root = found[SSD]
    assert {one.get("version") for one in root.iter("{*}ParameterSet")} == {"2.0"}
    inside = connectors(root, "one")
    for kind in TYPES:
        assert inside[f"{kind}_out"] == [f"{kind}{{}}"]
        assert inside[f"{kind}s_out"] == [f"{kind}{{}}", "Dimension{'size': '3'}"]
    of_linkwork = [one for one in root.iter("{*}Annotation") if one.get("type") == "org.linkwork.ssp"]
    assert len(of_linkwork) == 1, "required inputs alone need an annotation"


def test_the_archive_runs_as_the_system_does(chain: System, tmp_path: Path) -> None:
    expected = run(chain, 0.5, master=Jacobi(0.25))
    found = run(System.load(chain.save(tmp_path / "chain.ssp")), 0.5, master=Jacobi(0.25))
    for name in expected.names:
        np.testing.assert_array_equal(found[name], expected[name])
    assert expected["two.UInt64_in"][-1] == 0, "it wraps in the first FMU"
    assert expected["two.Strings_in[3]"][-1] == "two words!"


def test_all_of_it_can_be_written_as_1_0(chain: System, tmp_path: Path) -> None:
    with pytest.raises(CosimError, match=r"'Strings_in' is an array of texts, .* SSP 1\.0 .*; write SSP 2\.0"):
        chain.save(tmp_path / "chain.ssp", version="1.0")
    chain.parameter_sets.clear()
    del chain.components["one"].parameters["Strings_in"]
    path = chain.save(tmp_path / "chain.ssp", version="1.0")
    assert {root.get("version") for root in validate_archive(path).values()} == {"1.0"}
    assert System.load(path).components["one"].parameters == chain.components["one"].parameters
    assert System.load(path).connections == chain.connections


@pytest.mark.parametrize(
    ("target", "version"),
    [("Float64", "1.0"), ("Int32", "1.0"), ("Boolean", "1.0"), ("String", "1.0"), ("Float32", "2.0"), ("Int64", "2.0"),
     ("UInt8", "2.0"), ("Float64s", "2.0")],
)  # fmt: skip
def test_2_0_is_written_where_a_type_needs_it(three: Path, target: str, version: str, tmp_path: Path) -> None:
    system = System("one type")
    system.add("one", three)
    system.add("two", three)
    system.connect(f"one.{target}_out", f"two.{target}_in")
    assert validate_archive(system.save(tmp_path / "a.ssp"))[SSD].get("version") == version
    assert validate_archive(system.save(tmp_path / "a.ssp", version="2.0"))[SSD].get("version") == "2.0"


def test_parameters_need_it_as_well(three: Path, tmp_path: Path) -> None:
    for own, ones in (({"Int64_in": 1}, {}), ({}, {"one.Float32_in": 0.5})):
        system = System("one type")
        system.add("one", three, parameters=own)
        system.add_parameter_set("set", ones)
        assert validate_archive(system.save(tmp_path / "a.ssp"))[SSD].get("version") == "2.0"


def test_names_outside_have_types_and_dimensions_of_2_0(three: Path, tmp_path: Path) -> None:
    system = System("outside")
    system.add("one", three)
    system.external_inputs = [Connection("counts", "one.Int16s_in")]
    system.external_outputs = [Connection("one.Float32_out", "single")]
    path = system.save(tmp_path / "a.ssp")
    text = zipfile.ZipFile(path).read(SSD).decode()
    validate_archive(path)
    assert "<ssc:Int16/>" in text
    assert "<ssc:Float32/>" in text
    again = System.load(path)
    assert again.external_inputs == system.external_inputs
    assert again.external_outputs == system.external_outputs
    assert run(again, 0.5, inputs={"counts": lambda t: [1, -2, 3]})["one.Int16s_out[2]"][-1] == -1


def test_systems_of_fmi_2_may_be_written_as_2_0(tmp_path: Path) -> None:
    parts = [variable("y", "output", unit="rad"), variable("x", "input", unit="deg", start="0")]
    fmu = write_fmu(tmp_path / "both.fmu", [*parts, variable("n", "parameter", "Integer", start="1")])
    system = System("second")
    system.add("a", fmu, parameters={"n": 3})
    system.add("b", fmu)
    system.connect("a.y", "b.x", factor=2.0)
    system.add_parameter_set("large", {"a.n": 2**40, "b.n": 2**70})
    path = system.save(tmp_path / "a.ssp", version="2.0")
    validate_archive(path)
    again = System.load(path)
    assert again.connections == system.connections
    assert again.components["a"].parameters == {"n": 3}
    assert again.parameter_sets == system.parameter_sets


@pytest.mark.parametrize("version", ["3.0", "2", 2.0, ""])
def test_other_versions_and_steps_are_refused(three: Path, version: object, tmp_path: Path) -> None:
    system = System("a")
    system.add("one", three)
    with pytest.raises(CosimError, match=r"there is no version .* of SSP here; choose one of '1\.0', '2\.0'"):
        system.save(tmp_path / "a.ssp", version=version)
    for step in (0.0, -1.0, float("inf"), float("nan"), "1"):
        with pytest.raises(CosimError, match="the step must be a positive time"):
            system.save(tmp_path / "a.ssp", step=step)
    assert not (tmp_path / "a.ssp").exists()


def test_variables_that_are_not_exchanged_have_their_type(three: Path, tmp_path: Path) -> None:
    """Binary variables and clocks: a run refuses connections of them."""
    more = '<Binary name="blob" valueReference="900" causality="output"/><Clock name="tick" valueReference="901" '
    more += 'causality="input" intervalVariability="triggered"/></ModelVariables>'
    fmu = rewritten(three, tmp_path / "more.fmu", "</ModelVariables>", more)
    system = System("more")
    system.add("one", fmu, required=["tick"])
    system.external_outputs = [Connection("one.blob", "blob")]
    text = zipfile.ZipFile(system.save(tmp_path / "a.ssp")).read(SSD)
    assert connectors(validate(text), "one") == {"blob": ["Binary{}"], "tick": ["Clock{}"]}
    assert System.load(tmp_path / "a.ssp").components["one"].required == ("tick",)


# ---- archives of other tools


@pytest.fixture
def load(three: Path, tmp_path: Path) -> Callable[..., System]:
    """Load an archive of SSP 2.0 with this content of its system, and further files."""

    def of(system: str, files: dict[str, str | bytes] | None = None, *, valid: bool = True) -> System:
        text = description(system, UNITS + '<ssd:DefaultExperiment stopTime="0.5"/>', "2.0")
        if valid:
            validate(text.encode())
        content = {SSD: text, "resources/three.fmu": three.read_bytes(), **(files or {})}
        return System.load(write(tmp_path / "foreign.ssp", content))

    return of


def typed(name: str, kind: str, type: str, more: str = "") -> str:
    return f'<ssd:Connector name="{name}" kind="{kind}"><ssc:{type}/>{more}</ssd:Connector>'


def three_of(size: object) -> str:
    return f'<ssc:Dimension size="{size}"/>'


def one(name: str, inside: str, rest: str = "", more: str = "") -> str:
    return component(name, "resources/three.fmu", inside, rest, more)


def body(*parts: str, links: str = "", ports: str = "") -> str:
    outer = f"<ssd:Connectors>{ports}</ssd:Connectors>" if ports else ""
    return f"{outer}<ssd:Elements>{''.join(parts)}</ssd:Elements>" + (
        f"<ssd:Connections>{links}</ssd:Connections>" if links else ""
    )


def bound(parameters: str) -> str:
    inline = values(parameters, version="2.0")
    return (
        "<ssd:ParameterBindings><ssd:ParameterBinding><ssd:ParameterValues>"
        f"{inline}</ssd:ParameterValues></ssd:ParameterBinding></ssd:ParameterBindings>"
    )


def parameter(name: str, type: str, value: str, more: str = "") -> str:
    return f'<ssv:Parameter name="{name}"><ssv:{type} value="{value}"/>{more}</ssv:Parameter>'


def test_a_foreign_archive_runs(load) -> None:
    given = (
        parameter("Int8_in", "Int8", "-5")
        + parameter("Float64s_in", "Float64", "1.5  -2 1e3", three_of(3))
        + parameter("Booleans_in", "Boolean", "true 0 1", three_of(3))
        + '<ssv:Parameter name="Strings_in"><ssv:String><ssv:Value value="a b"/><ssv:Value value=""/><ssv:Value '
        f'value="c"/></ssv:String>{three_of(3)}</ssv:Parameter>'
        + '<ssv:Parameter name="String_in"><ssv:String><ssv:Value value="x"/></ssv:String></ssv:Parameter>'
    )
    ports = typed("Float64s_out", "output", "Float64", three_of(3)) + typed("Int8_out", "output", "Int8")
    takes = typed("Float64s_in", "input", "Float64", "<ssc:Dimension/>") + typed("Int8_in", "input", "Int8")
    links = connection("a/Float64s_out", "b/Float64s_in", linear(2.0, 1.0)) + connection("b/Int8_in", "a/Int8_out")
    content = body(one("a", ports, bound(given), 'implementation="CoSimulation"'), one("b", takes), links=links)
    system = load(content)
    assert system.components["a"].parameters == {
        "Int8_in": -5,
        "Float64s_in": (1.5, -2.0, 1000.0),
        "Booleans_in": (True, False, True),
        "Strings_in": ("a b", "", "c"),
        "String_in": "x",
    }
    result = run(system, master=Jacobi(0.25))
    assert result.t[-1] == 0.5
    assert [result[f"b.Float64s_in[{k}]"][-1] for k in (1, 2, 3)] == [6.0, -1.0, 2003.0]
    assert result["b.Int8_in"][-1] == -4
    assert result["a.Booleans_out[2]"][-1]
    assert result["a.Strings_out[1]"][-1] == "a b!"


def test_new_kinds_and_clocks_of_connectors(load) -> None:
    """Local variables give values as outputs do; a clock of a connector changes nothing here."""
    ports = '<ssd:Connector name="x" kind="local"><ssc:Float64/></ssd:Connector>'
    ports += '<ssd:Connector name="z" kind="output"><ssc:Float64/><ssd:Clock name="tick"/></ssd:Connector>'
    outer = typed("seen", "local", "Float64") + typed("any", "unspecified", "Float64")
    takes = typed("Float64_in", "input", "Float64") + typed("u", "input", "Float64")
    links = connection("a/x", "b/Float64_in") + connection("a/z", "seen") + connection("any", "b/u")
    system = load(body(one("a", ports), one("b", takes), links=links, ports=outer))
    assert system.connections == [Connection("a.x", "b.Float64_in")]
    assert system.external_outputs == [Connection("a.z", "seen")]


def test_units_of_new_types_are_converted_and_enumerations_read(load) -> None:
    units = UNITS.replace("ssd:Units", "ssv:Units")
    wide = '<ssv:Enumerations><ssc:Enumeration name="E"><ssc:Item name="huge" value="9007199254740993"/>'
    wide += "</ssc:Enumeration></ssv:Enumerations>"
    inline = values(
        '<ssv:Parameter name="one.Float64s_in"><ssv:Float64 value="1000 2000 0" unit="mm"/>'
        f"{three_of(3)}</ssv:Parameter>"
        '<ssv:Parameter name="one.Float64_in"><ssv:Float32 value="250" unit="mm"/></ssv:Parameter>'
        '<ssv:Parameter name="one.Int64_in"><ssv:Enumeration name="E" value="huge"/></ssv:Parameter>',
        rest=wide + units,
        version="2.0",
    )
    system = load(body(one("one", typed("z", "output", "Float64"))), {"free.ssv": inline})
    chosen = system.parameter_sets["set"]
    assert chosen["one.Int64_in"] == 2**53 + 1
    assert chosen["one.Float64s_in"] == (1000.0, 2000.0, 0.0), "the FMU's variable has no unit"


def test_files_of_both_versions_in_one_archive(load) -> None:
    old = values('<ssv:Parameter name="a.Float64_in"><ssv:Real value="2"/></ssv:Parameter>', "old")
    new = values(parameter("a.Int64_in", "Int64", str(2**40)), "new", version="2.0")
    system = load(body(one("a", typed("z", "output", "Float64"))), {"old.ssv": old, "new.ssv": new})
    assert system.parameter_sets == {"new": {"a.Int64_in": 2**40}, "old": {"a.Float64_in": 2.0}}


Z, U = typed("z", "output", "Float64"), typed("u", "input", "Float64")
S = typed("Float64s_out", "output", "Float64", three_of(3))


@pytest.mark.parametrize(
    ("system", "said"),
    [
        (
            body(one("a", S + U), links=connection("a/Float64s_out", "a/u", more='startIndices="1"')),
            "<Connection>: connections of single elements of arrays are not supported; remove startIndices",
        ),
        (
            body(one("a", S + U), links=connection("a/Float64s_out", "a/u", more='endIndices="0 1"')),
            "remove endIndices",
        ),
        (body(one("a", Z, more='implementation="ScheduledExecution"')), "'ScheduledExecution' is not supported"),
        (body('<ssd:Component name="a"/>'), "<Component> 'a': it has no source, and nothing to run"),
        (
            body(component("a", "resources/a.mo", Z, more='type="text/x-modelica; path=A.B"')),
            "components of type 'text/x-modelica; path=A.B'",
        ),
        (
            body(one("a", typed("Float64s_out", "output", "Float64", three_of(4)))),
            "'Float64s_out': its dimensions are 4, and those of the FMU's variable 3",
        ),
        (
            body(one("a", typed("z", "output", "Float64", three_of(1)))),
            "its dimensions are 1, and those of the FMU's variable no array",
        ),
        (
            body(one("a", typed("z", "output", "Float64", '<ssc:Dimension size="1" sizeConnector="n"/>'))),
            "it has both size and sizeConnector",
        ),
        (body(one("a", Z, bound(parameter("Float64_in", "Float64", "1 2")))), "value='1 2' is no number"),
        (body(one("a", Z, bound(parameter("x", "Float64", "1 2", three_of(3))))), "it has 2 values, and its dimens"),
        (
            body(one("a", Z, bound(parameter("x", "Int16", "1 2 3 4", three_of(2) + three_of(3))))),
            "it has 4 values, and its dimensions ask for 6",
        ),
        (
            body(one("a", Z, bound(parameter("x", "Float64", "1", '<ssc:Dimension sizeConnector="n"/>')))),
            "sizes of parameters are numbers",
        ),
        (body(one("a", Z, bound(parameter("x", "Float64", "1", "<ssc:Dimension/>")))), "attribute 'size' is missing"),
        (
            body(one("a", Z, bound('<ssv:Parameter name="x"><ssv:Binary value="00"/></ssv:Parameter>'))),
            "<Binary> of <Parameter> 'x': values of type Binary are not supported",
        ),
        (
            body(
                one("a", Z, bound('<ssv:Parameter name="x"><ssv:String value="a"><ssv:Value value="b"/></ssv:String>'
                                  "</ssv:Parameter>"))
            ),
            "both an attribute 'value' and elements Value",
        ),
    ],
)  # fmt: skip
def test_what_is_not_supported_says_so(load, system: str, said: str) -> None:
    with pytest.raises(CosimError) as caught:
        load(system, valid="1 2 3" in system)
    assert said in str(caught.value)
    assert "foreign.ssp: SystemStructure.ssd, line" in str(caught.value)


@pytest.mark.parametrize(
    ("type", "value", "said"),
    [("Int8", "128", "is no Int8, which lies within -128 ... 127"), ("UInt16", "-1", "within 0 ... 65535"),
     ("Int64", "1.5", "is no integer"), ("Boolean", "yes", "neither true nor false"),
     ("UInt64", str(2**64), "is no UInt64"), ("Integer", str(2**31), "is no Integer")],
)  # fmt: skip
def test_values_that_are_not_of_their_type(load, type: str, value: str, said: str) -> None:
    with pytest.raises(CosimError, match=said):
        load(body(one("a", Z, bound(parameter("x", type, value)))), valid=False)


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("ssd:Connections>", "ssd:Conections>", "no such element in <System>; did you mean 'Connections'"),
        ("ssc:Float64/", "ssc:Double/", "no such element in <Connector>"),
        ("ssc:LinearTransformation", "ssc:LinearTransform", "no such element in <Connection>"),
        ("ssv:Float64 ", "ssv:Float128 ", "no such element in <Parameter>"),
        ("ssd:DefaultExperiment ", "ssd:Experiment ", "no such element in <SystemStructureDescription>"),
        ('version="2.0" name="foreign"', 'version="4.1" name="foreign"', "is of SSP 4.1; export it as SSP 1.0 or 2.0"),
        ('version="2.0" name="set"', 'version="0.9" name="set"', "<ParameterSet> 'set': it is of SSP 0.9; export"),
        ('kind="output"', 'kind="exit"', "its kind 'exit' is none of SSP 2.0"),
        ('version="2.0" name="foreign"', 'version="1.0" name="foreign"', "its kind 'local' is none of SSP 1.0"),
    ],
)
def test_unknown_elements_versions_and_kinds(three: Path, right: str, wrong: str, said: str, tmp_path: Path) -> None:
    """None of them is passed over silently."""
    ports = Z + U + typed("x", "local", "Float64")
    content = body(one("a", ports, bound(parameter("x0", "Float64", "1"))), links=connection("a/z", "a/u", linear(2.0)))
    text = description(content, UNITS + '<ssd:DefaultExperiment stopTime="0.5"/>', "2.0")
    validate(text.encode())
    files = {SSD: text, "resources/three.fmu": three.read_bytes()}
    System.load(write(tmp_path / "right.ssp", files))
    assert right in text
    changed = text.replace(right, wrong)  # both ends of an element
    with pytest.raises(CosimError) as caught:
        System.load(write(tmp_path / "wrong.ssp", {**files, SSD: changed}))
    assert said in str(caught.value)


def test_a_cut_archive_of_2_0(chain: System, tmp_path: Path) -> None:
    data = chain.save(tmp_path / "chain.ssp").read_bytes()
    for end in range(10, len(data) - 1, len(data) // 40):
        (tmp_path / "cut.ssp").write_bytes(data[:end])
        with pytest.raises(CosimError, match=r"cut\.ssp"):
            System.load(tmp_path / "cut.ssp")


def test_elements_with_metadata_and_annotations_of_others_are_passed_over(load) -> None:
    other = (
        '<ssd:Annotations><ssc:Annotation type="org.example"><x:y xmlns:x="urn:x"/></ssc:Annotation></ssd:Annotations>'
    )
    meta = '<ssc:MetaData kind="general" type="text/plain" source="a.txt"/>'
    system = load(body(one("a", Z, meta + other)))
    assert list(system.components) == ["a"]


def test_connectors_without_a_type(load) -> None:
    assert list(load(body(one("a", connector("z", "output")))).components) == ["a"]
