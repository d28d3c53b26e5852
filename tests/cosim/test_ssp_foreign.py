"""SSPs as other tools write them: nested, with dictionaries, bindings, mappings and archives within archives."""

import zipfile
from collections.abc import Callable
from math import pi
from pathlib import Path

import pytest

from linkwork.cosim import Connection, Experiment, System
from linkwork.cosim.ssp.read import read_ssp
from linkwork.errors import CosimError, UnitWarning
from support.described_fmus import variable, write_fmu
from support.ssp_files import UNITS, component, connection, connector, description, linear, real, values, write

etree = pytest.importorskip("lxml.etree")
validate_tree = pytest.importorskip("fmpy.ssp.ssd").validate_tree

DEGREE = pi / 180
Y, X = connector("y", "output"), connector("x", "input")


@pytest.fixture(scope="module")
def fmus(tmp_path_factory) -> dict[str, bytes]:
    """An angle [rad] as output, one [deg] as input, one without unit, and parameters of all types."""
    folder = tmp_path_factory.mktemp("fmus")
    parameters = [
        variable("k", "parameter", start="1"),
        variable("l", "parameter", start="1", unit="m"),
        variable("n", "parameter", "Integer", start="1"),
        variable("b", "parameter", "Boolean", start="false"),
        variable("s", "parameter", "String", start=""),
    ]
    giver = write_fmu(folder / "giver.fmu", [variable("y", "output", unit="rad"), *parameters])
    both = [variable("x", "input", unit="deg", start="0"), variable("plain", "input", start="0")]
    taker = write_fmu(folder / "taker.fmu", [*both, variable("y", "output", unit="rad"), *parameters])
    return {"resources/giver.fmu": giver.read_bytes(), "resources/taker.fmu": taker.read_bytes()}


@pytest.fixture
def load(fmus, tmp_path: Path) -> Callable[..., System]:
    """Load an SSP with this content of its system, further files, and elements after the system."""

    def of(
        system: str, files: dict[str, str | bytes] | None = None, rest: str = UNITS, *, valid: bool = True
    ) -> System:
        if valid:
            validate_tree(etree.fromstring(description(system, rest).encode()), "SystemStructureDescription.xsd")
        content = {"SystemStructure.ssd": description(system, rest), **fmus, **(files or {})}
        return System.load(write(tmp_path / "foreign.ssp", content))

    return of


def elements(*parts: str, connectors: str = "") -> str:
    inside = f"<ssd:Connectors>{connectors}</ssd:Connectors>" if connectors else ""
    return f"{inside}<ssd:Elements>{''.join(parts)}</ssd:Elements>"


def connections(*parts: str) -> str:
    return f"<ssd:Connections>{''.join(parts)}</ssd:Connections>"


def system(name: str, *parts: str) -> str:
    return f'<ssd:System name="{name}">{"".join(parts)}</ssd:System>'


def giver(name: str = "a", rest: str = "", kind: str = Y) -> str:
    return component(name, "resources/giver.fmu", kind, rest)


def taker(name: str = "b", rest: str = "", kind: str = X) -> str:
    return component(name, "resources/taker.fmu", kind, rest)


def inline(parameters: str, more: str = "", mapping: str = "", rest: str = "") -> str:
    return bindings(f"<ssd:ParameterValues>{values(parameters, rest=rest)}</ssd:ParameterValues>{mapping}", more)


def bindings(content: str, more: str = "") -> str:
    return f"<ssd:ParameterBindings>{binding(content, more)}</ssd:ParameterBindings>"


def binding(content: str, more: str = "") -> str:
    return f"<ssd:ParameterBinding {more}>{content}</ssd:ParameterBinding>"


# ---- structure


def test_nested_systems_are_flattened_and_their_connectors_resolved(load) -> None:
    inner = system(
        "in ner",
        elements(taker("t"), connectors=connector("in", "input")),
        connections(connection("in", "t/x", linear(3.0))),
    )
    outer = system(
        "sub", elements(giver("g"), connectors=connector("out", "output")), connections(connection("g/y", "out"))
    )
    loaded = load(elements(inner, outer) + connections(connection("sub/out", "in ner/in")))
    assert list(loaded.components) == ["in_ner.t", "sub.g"]
    (link,) = loaded.connections
    assert (link.source, link.target, link.convert_units) == ("sub.g.y", "in_ner.t.x", False)
    assert link.factor == pytest.approx(3.0 / DEGREE, rel=1e-15)


def test_a_way_without_transformations_stays_a_plain_connection(load) -> None:
    inner = system(
        "sub", elements(taker("t"), connectors=connector("in", "input", "deg")), connections(connection("in", "t/x"))
    )
    loaded = load(elements(inner, giver()) + connections(connection("a/y", "sub/in")))
    assert loaded.connections == [Connection("a.y", "sub.t.x")]


def test_units_of_connectors_on_the_way_count_for_transformations(load) -> None:
    """rad -> deg, + 1 deg at the border, -> rad there, times 2, -> deg in the FMU."""
    inner = system(
        "sub",
        elements(taker("t", kind=connector("x", "input", "rad")), connectors=connector("in", "input", "deg")),
        connections(connection("in", "t/x", linear(2.0))),
    )
    loaded = load(elements(inner, giver()) + connections(connection("a/y", "sub/in", linear(1.0, 1.0))))
    (link,) = loaded.connections
    assert link.factor == pytest.approx(2.0, rel=1e-15)
    assert link.offset == pytest.approx(2.0 * DEGREE, rel=1e-15)


def test_units_that_only_the_archive_knows_are_converted(load) -> None:
    kinds = {"giver": connector("y", "output", "rad"), "taker": connector("plain", "input", "deg")}
    loaded = load(
        elements(giver(kind=kinds["giver"]), taker(kind=kinds["taker"])) + connections(connection("a/y", "b/plain"))
    )
    (link,) = loaded.connections
    assert not link.convert_units
    assert link.factor == pytest.approx(1 / DEGREE, rel=1e-15)


def test_suppressed_conversions_and_either_namespace_of_transformations(load) -> None:
    older = linear(2.0, 1.0).replace("ssc:", "ssd:")
    loaded = load(
        elements(giver(), taker()) + connections(connection("a/y", "b/x", older, 'suppressUnitConversion="1"')),
        valid=False,
    )
    assert loaded.connections == [Connection("a.y", "b.x", 2.0, 1.0, convert_units=False)]


def test_a_connection_drawn_from_input_to_output_is_turned(load) -> None:
    loaded = load(elements(giver(), taker()) + connections(connection("b/x", "a/y")))
    assert loaded.connections == [Connection("a.y", "b.x")]


def test_a_unit_that_the_file_does_not_define_is_left_to_the_fmu(load) -> None:
    kinds = {"giver": connector("y", "output", "H"), "taker": connector("x", "input", "deg")}
    own = inline(real("k", 2.0, "H") + real("l", 3.0, "m"))
    loaded = load(
        elements(giver(kind=kinds["giver"]), taker(kind=kinds["taker"], rest=own))
        + connections(connection("a/y", "b/x")),
        rest=UNITS.replace('name="m"', 'name="metre"'),
    )
    assert loaded.connections == [Connection("a.y", "b.x")]
    assert loaded.components["b"].parameters == {"k": 2.0, "l": 3.0}


def test_an_element_without_a_name_is_the_system_itself(load) -> None:
    link = connection("wind", "b/x", more='startElement=""')
    loaded = load(elements(taker(), connectors=connector("wind", "input")) + connections(link))
    assert loaded.external_inputs == [Connection("wind", "b.x")]


def test_connectors_of_the_outermost_system_are_names_outside(load) -> None:
    ports = connector("wind", "input") + connector("height", "output") + connector("unused", "input")
    loaded = load(
        elements(giver(), taker(), taker("c"), connectors=ports)
        + connections(connection("wind", "b/x", linear(2.0)), connection("wind", "c/x"), connection("a/y", "height"))
    )
    assert loaded.connections == []
    assert loaded.external_inputs == [Connection("wind", "b.x", 2.0), Connection("wind", "c.x")]
    assert loaded.external_outputs == [Connection("a.y", "height")]


def test_signal_dictionaries_are_resolved(load) -> None:
    dictionary = (
        '<ssd:SignalDictionaries><ssd:SignalDictionary name="bus" source="resources/bus.ssb"/></ssd:SignalDictionaries>'
    )
    file = description("").replace("ssd:SystemStructureDescription", "ssb:SignalDictionary").split("<ssd:System")[0]
    file += '<ssb:DictionaryEntry name="angle"><ssc:Real/></ssb:DictionaryEntry></ssb:SignalDictionary>'
    reference = (
        '<ssd:SignalDictionaryReference name="{}" dictionary="bus"><ssd:Connectors>'
        f"{connector('angle', 'inout')}</ssd:Connectors></ssd:SignalDictionaryReference>"
    )
    nested = system("sub", elements(taker("t"), reference.format("here")), connections(connection("here/angle", "t/x")))
    links = connections(connection("a/y", "there/angle"))
    content = elements(giver(), nested, reference.format("there")) + links + dictionary
    loaded = load(content, {"resources/bus.ssb": file})
    assert loaded.connections == [Connection("a.y", "sub.t.x")]


def test_an_archive_or_another_description_as_a_component(load, fmus, tmp_path: Path) -> None:
    body = elements(
        component("t", "resources/taker.fmu", X), connectors=connector("in", "input") + connector("gain", "parameter")
    ) + connections(connection("in", "t/x"))
    inner = write(tmp_path / "inner.ssp", {"Other.ssd": description(body), **fmus}).read_bytes()
    loaded = load(
        elements(
            giver(),
            component("p", "resources/inner%20one.ssp#Other.ssd", more='type="application/x-ssp-package"'),
            component(
                "q", "Variant.ssd", more='type="application/x-ssp-definition"', rest=inline(real("t.k", 7.0))
            ),
        )
        + connections(connection("a/y", "p/in"), connection("a/y", "q/in")),
        {"resources/inner one.ssp": inner, "Variant.ssd": description(body)},
    )  # fmt: skip
    assert loaded.connections == [Connection("a.y", "p.t.x"), Connection("a.y", "q.t.x")]
    assert loaded.components["q.t"].parameters == {"k": 7.0}
    assert loaded.components["p.t"].fmu.read_bytes() == fmus["resources/taker.fmu"]


def test_one_of_several_descriptions_is_chosen(load, tmp_path: Path) -> None:
    load(elements(giver("first")), {"Variant.ssd": description(elements(giver("second")))})
    assert list(System.load(tmp_path / "foreign.ssp").components) == ["first"]
    assert list(read_ssp(tmp_path / "foreign.ssp", "Variant.ssd").components) == ["second"]


def test_the_experiment_is_read_and_may_be_missing(load) -> None:
    assert load(elements(giver())).experiment == Experiment(0.0, 1.0)
    assert load(elements(giver()), rest='<ssd:DefaultExperiment stopTime="3"/>').experiment == Experiment(0.0, 3.0)


# ---- parameters


def test_inline_and_external_bindings_where_outer_and_later_ones_win(load, tmp_path: Path) -> None:
    own = inline(real("k", 1.0) + real("unknown", 9.0) + real("l", 1.0))
    outer = "<ssd:ParameterBindings>" + binding("", 'source="resources/a.ssv"')
    outer += binding("", 'source="resources/b.ssv" prefix="a."') + "</ssd:ParameterBindings>"
    text = elements(giver(rest=own), taker())
    files = {
        "resources/a.ssv": values(real("a.k", 2.0) + real("b.k", 3.0) + real("a.l", 4.0)),
        "resources/b.ssv": values(real("l", 5.0)),
        "resources/free.ssv": values(real("a.l", 2000.0, "mm") + real("later.k", 1.0), "free"),
    }
    loaded = load(text.replace("<ssd:Elements>", outer + "<ssd:Elements>", 1), files)
    assert loaded.components["a"].parameters == {"k": 2.0, "l": 5.0}
    assert loaded.components["b"].parameters == {"k": 3.0}
    assert loaded.parameter_sets == {"free": {"a.l": 2.0, "later.k": 1.0}}
    again = System.load(loaded.save(tmp_path / "ours.ssp"))
    assert again.parameter_sets == loaded.parameter_sets


def test_values_of_all_types_units_and_enumerations(load) -> None:
    items = (
        '<ssv:Enumerations><ssc:Enumeration name="E"><ssc:Item name="red" value="7"/></ssc:Enumeration>'
        "</ssv:Enumerations>"
    )
    others = (
        '<ssv:Parameter name="n"><ssv:Enumeration value="red" name="E"/></ssv:Parameter>'
        '<ssv:Parameter name="b"><ssv:Boolean value="1"/></ssv:Parameter>'
        '<ssv:Parameter name="s"><ssv:String value="x"/></ssv:Parameter>'
    )
    loaded = load(elements(giver(rest=inline(real("l", 250.0, "mm") + others, rest=items))))
    assert loaded.components["a"].parameters == {"l": 0.25, "n": 7, "b": True, "s": "x"}


def test_items_of_an_enumeration_are_found_by_name_in_the_fmu(load, tmp_path) -> None:
    items = '<Item name="red" value="3"/><Item name="green" value="5"/>'
    kinds = f'<SimpleType name="Colour"><Enumeration>{items}</Enumeration></SimpleType>'
    lamp = write_fmu(
        tmp_path / "lamp.fmu",
        [variable("colour", "parameter", "Enumeration", start="3", declaredType="Colour")],
        types=kinds,
    )

    def loaded(item: str) -> System:
        chosen = f'<ssv:Parameter name="colour"><ssv:Enumeration value="{item}"/></ssv:Parameter>'
        free = values(chosen.replace("colour", "a.colour"), "free")
        files = {"resources/lamp.fmu": lamp.read_bytes(), "free.ssv": free}
        return load(elements(component("a", "resources/lamp.fmu", "", inline(chosen))), files)

    assert loaded("green").components["a"].parameters == {"colour": 5}
    assert loaded("green").parameter_sets == {"free": {"a.colour": 5}}
    with pytest.raises(CosimError, match="'colour' of the FMU has no item 'grean'; did you mean 'green'"):
        loaded("grean")


def test_connectors_whose_units_do_not_fit_are_refused(load) -> None:
    kinds = {"giver": connector("y", "output", "rad"), "taker": connector("plain", "input", "m")}
    link = connections(connection("a/y", "b/plain"))
    with pytest.raises(CosimError, match=r"'rad' \(rad\) is not 'm' \(m\)"):
        load(elements(giver(kind=kinds["giver"]), taker(kind=kinds["taker"])) + link)
    suppressed = link.replace("<ssd:Connection ", '<ssd:Connection suppressUnitConversion="true" ')
    loaded = load(elements(giver(kind=kinds["giver"]), taker(kind=kinds["taker"])) + suppressed)
    assert loaded.connections == [Connection("a.y", "b.plain", convert_units=False)]


def test_units_of_connectors_of_the_outermost_system_are_converted(load) -> None:
    ports = connector("wind", "input", "rad") + connector("height", "output", "deg")
    loaded = load(
        elements(giver(), taker(kind=connector("x", "input", "deg")), connectors=ports)
        + connections(connection("wind", "b/x"), connection("a/y", "height"))
    )
    for (link,) in (loaded.external_inputs, loaded.external_outputs):
        assert link.factor == pytest.approx(1 / DEGREE, rel=1e-15)
    with pytest.raises(CosimError, match="is not"):
        load(elements(taker(), connectors=connector("wind", "input", "m")) + connections(connection("wind", "b/x")))


@pytest.mark.parametrize("external", [False, True])
def test_a_parameter_mapping_renames_and_transforms(load, external: bool) -> None:
    entries = (
        f'<ssm:MappingEntry source="pre.mass" target="k">{linear(2.0, 1.0)}</ssm:MappingEntry>'
        f'<ssm:MappingEntry source="pre.length" target="l" suppressUnitConversion="true"/>'
        f'<ssm:MappingEntry source="pre.count" target="n">{linear(3.0)}</ssm:MappingEntry>'
        '<ssm:MappingEntry source="missing" target="s"/>'
    )
    mapping = values("").split("<ssv:Parameters>")[0].replace("ssv:ParameterSet", "ssm:ParameterMapping")
    mapping += f"{entries}</ssm:ParameterMapping>"
    given = real("mass", 10.0) + real("length", 5.0, "mm") + real("b", 1.0)
    given += '<ssv:Parameter name="count"><ssv:Integer value="2"/></ssv:Parameter>'
    inside = (
        '<ssd:ParameterMapping source="m.ssm"/>'
        if external
        else f"<ssd:ParameterMapping>{mapping}</ssd:ParameterMapping>"
    )
    loaded = load(elements(giver(rest=inline(given, 'prefix="pre."', inside))), {"m.ssm": mapping})
    assert loaded.components["a"].parameters == {"k": 21.0, "l": 5.0, "n": 6}


def test_undefined_units_are_taken_as_they_are_with_a_warning(load) -> None:
    """Once for each file, unit and unit of a variable."""
    own = inline(real("l", 3.0, "[m]") + real("k", 2.0, "[m3]"))
    file = values(real("a.l", 4.0, "[m]") + real("b.l", 5.0, "[m]") + real("b.k", 6.0, "[m]"), "free")
    with pytest.warns(UnitWarning) as caught:
        loaded = load(elements(giver(rest=own), taker()), {"free.ssv": file})
    assert loaded.components["a"].parameters == {"l": 3.0, "k": 2.0}
    assert loaded.parameter_sets == {"free": {"a.l": 4.0, "b.l": 5.0, "b.k": 6.0}}
    texts = [str(one.message) for one in caught]
    assert len(texts) == 2
    assert all("the file does not define the unit '[m]', so the value is taken in 'm'" in text for text in texts)
    assert "SystemStructure.ssd, line 2: <Real> of <Parameter> 'l'" in texts[0]
    assert "free.ssv" in texts[1]
    assert {one.filename for one in caught} == {__file__}


def test_units_of_other_quantities_are_still_refused(load) -> None:
    with pytest.raises(CosimError, match=r"'rad' \(rad\) is not 'm' \(m\); give the value in the variable's unit"):
        load(elements(giver(rest=inline(real("l", 1.0, "rad")))))


@pytest.mark.parametrize("first", ["length", "sub.g.l"])
def test_a_connection_wins_over_a_binding_of_the_same_parameter(load, first: str) -> None:
    """As in OMSimulator; whichever comes first, and also over outer bindings."""
    nested = system(
        "sub",
        f"<ssd:Connectors>{connector('length', 'parameter')}</ssd:Connectors>",
        inline(real("length", 3.0)),
        elements(giver("g", inline(real("l", 1.0) + real("k", 7.0)), kind=connector("l", "parameter"))),
        connections(connection("length", "g/l", linear(2.0))),
    )
    outer = real("sub.g.l", 5.0) if first == "length" else ""
    loaded = load(inline(outer) + elements(nested))
    assert loaded.components["sub.g"].parameters == {"l": 6.0, "k": 7.0}


def test_a_parameter_whose_connection_has_no_value_keeps_its_own(load) -> None:
    nested = system(
        "sub",
        f"<ssd:Connectors>{connector('length', 'parameter')}</ssd:Connectors>",
        elements(giver("g", inline(real("l", 1.0)), kind=connector("l", "parameter"))),
        connections(connection("length", "g/l")),
    )
    assert load(elements(nested)).components["sub.g"].parameters == {"l": 1.0}


def test_required_inputs_of_older_archives(load) -> None:
    """They were annotations of the component."""
    ours = '<ssd:Annotations><ssc:Annotation type="org.linkwork.ssp"><l:Component xmlns:l="urn:linkwork:ssp">'
    ours += '<l:Required name="x"/></l:Component></ssc:Annotation></ssd:Annotations>'
    assert load(elements(taker(rest=ours))).components["b"].required == ("x",)


def test_a_parameter_of_a_system_reaches_what_it_is_connected_to(load) -> None:
    nested = system(
        "sub",
        f"<ssd:Connectors>{connector('length', 'parameter', 'mm')}</ssd:Connectors>",
        elements(giver("g", kind=connector("l", "parameter")), giver("h", kind=connector("l", "parameter"))),
        connections(connection("length", "g/l"), connection("length", "h/l", linear(2.0))),
    )
    outer = inline(real("sub.length", 3.0, "m"))
    loaded = load(outer + elements(nested))
    assert loaded.components["sub.g"].parameters == {"l": pytest.approx(3.0)}
    assert loaded.components["sub.h"].parameters == {"l": pytest.approx(6.0)}
    assert loaded.connections == loaded.external_inputs == []


def test_foreign_files_survive_being_written_by_us(load, tmp_path: Path) -> None:
    ports = connector("wind", "input")
    inside = elements(taker("t"), connectors=connector("in", "input"))
    nested = system("sub", inside, connections(connection("in", "t/x", linear(3.0))))
    loaded = load(
        elements(giver(), nested, taker("c", inline(real("k", 1.0))), connectors=ports)
        + connections(connection("a/y", "sub/in", linear(0.5, 2.0)), connection("wind", "c/x"))
    )
    again = System.load(loaded.save(tmp_path / "ours.ssp"))
    assert again.connections == loaded.connections
    assert again.external_inputs == loaded.external_inputs == [Connection("wind", "c.x")]
    assert again.components["c"].parameters == {"k": 1.0}


def test_an_archive_is_unpacked_only_as_far_as_needed(load, fmus) -> None:
    loaded = load(elements(giver()), {"documentation/large.bin": b"0" * 100})
    folder = loaded.components["a"].fmu.parents[1]
    assert [path.name for path in folder.rglob("*") if path.is_file()] == ["giver.fmu"]
    assert zipfile.is_zipfile(loaded.components["a"].fmu)
