"""Defects of archives, and their messages: file, element and remedy."""

import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

from linkwork.cosim import System
from linkwork.errors import CosimError
from support.described_fmus import variable, write_fmu
from support.ssp_files import component, connection, connector, description, linear, real, values, write

pytest.importorskip("lxml.etree")

Y, X = connector("y", "output"), connector("x", "input")


@pytest.fixture(scope="module")
def fmu(tmp_path_factory) -> bytes:
    parts = [
        variable("y", "output"),
        variable("x", "input", start="0"),
        variable("b", "parameter", "Boolean", start="1"),
        variable("l", "parameter", start="1", unit="m"),
    ]
    return write_fmu(tmp_path_factory.mktemp("fmu") / "both.fmu", parts).read_bytes()


@pytest.fixture
def refused(fmu, tmp_path: Path) -> Callable[..., str]:
    """The error's text for an archive with this content."""

    def text(system: str = "", files: dict[str, str | bytes] | None = None, ssd: str | bytes | None = None) -> str:
        content = {"SystemStructure.ssd": ssd or description(system), "resources/both.fmu": fmu}
        path = write(tmp_path / "wrong.ssp", {**content, **(files or {})})
        with pytest.raises(CosimError) as caught:
            System.load(path)
        assert str(path) in str(caught.value)
        return str(caught.value)

    return text


def both(name: str = "a", rest: str = "", source: str = "resources/both.fmu", more: str = "") -> str:
    return component(name, source, Y + X, rest, more)


def body(*parts: str, links: str = "") -> str:
    return f"<ssd:Elements>{''.join(parts)}</ssd:Elements><ssd:Connections>{links}</ssd:Connections>"


def bound(content: str, more: str = "") -> str:
    return (
        f"<ssd:ParameterBindings><ssd:ParameterBinding {more}>{content}</ssd:ParameterBinding></ssd:ParameterBindings>"
    )


def inline(parameters: str, mapping: str = "") -> str:
    return bound(f"<ssd:ParameterValues>{values(parameters)}</ssd:ParameterValues>{mapping}")


def test_no_archive(tmp_path: Path) -> None:
    with pytest.raises(CosimError, match=r"there is no file .*no\.ssp"):
        System.load(tmp_path / "no.ssp")
    (tmp_path / "text.ssp").write_text("text")
    with pytest.raises(CosimError, match=r"text\.ssp cannot be read: .*zip archive"):
        System.load(tmp_path / "text.ssp")


def test_a_truncated_or_damaged_archive(fmu, tmp_path: Path) -> None:
    good = write(tmp_path / "good.ssp", {"SystemStructure.ssd": description(body(both())), "resources/both.fmu": fmu})
    data = good.read_bytes()
    broken = tmp_path / "broken.ssp"
    for end in range(10, len(data) - 1, 97):
        broken.write_bytes(data[:end])
        with pytest.raises(CosimError, match=r"broken\.ssp"):
            System.load(broken)
    place = data.index(b"<ssd:System ")
    broken.write_bytes(data[:place] + b"X" + data[place + 1 :])
    with pytest.raises(CosimError, match=r"'SystemStructure.ssd' cannot be read: .*get it again"):
        System.load(broken)


@pytest.mark.parametrize(
    "name", ["../evil.txt", "/evil.txt", "resources/../../evil.txt", "C:/evil.txt", "..\\evil.txt"]
)
def test_paths_that_leave_the_archive(refused, name: str) -> None:
    assert "outside of the archive" in refused(body(both()), {name: "x"})


def test_no_description(fmu, tmp_path: Path) -> None:
    path = write(tmp_path / "none.ssp", {"Other.ssd": description(""), "a.fmu": fmu})
    with pytest.raises(CosimError, match=r"has no SystemStructure.ssd.*known are 'Other\.ssd'"):
        System.load(path)


def test_xml_that_ends_early(refused) -> None:
    text = description(body(both()))
    for end in range(60, len(text) - 1, 61):
        assert "SystemStructure.ssd is no complete XML" in refused(ssd=text[:end])


def test_a_document_type_is_refused_and_nothing_outside_is_read(refused, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("treasure")
    head = f'<!DOCTYPE x [<!ENTITY e SYSTEM "{secret.as_uri()}"><!ENTITY f "y">]>'
    text = (
        description(body(both())).replace("<ssd:SystemS", head + "<ssd:SystemS", 1).replace('name="root"', 'name="&f;"')
    )
    said = refused(ssd=text)
    assert "document type" in said
    assert "treasure" not in said


def test_entities_that_explode_are_refused(refused) -> None:
    lines = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(12))
    head = f'<!DOCTYPE x [<!ENTITY e0 "ten letters">{lines}]>'
    text = description(body(both())).replace("<ssd:SystemS", head + "<ssd:SystemS", 1).replace('"root"', '"&e12;"')
    refused(ssd=text)


def test_another_root_and_another_version(refused) -> None:
    assert "a SystemStructureDescription is expected here" in refused(ssd="<html/>")
    assert "it is of SSP 3.0; export it as SSP 1.0 or 2.0" in refused(ssd=description("", version="3.0"))


@pytest.mark.parametrize(
    ("system", "said"),
    [
        (body(both(source="resources/bath.fmu")), "<Component> 'a': its source 'resources/bath.fmu' is missing"),
        (body(both(source="resources/bath.fmu")), "did you mean 'resources/both.fmu'"),
        (body(both(source="http://example.org/x.fmu")), "is no file of this archive; put it there"),
        (body(both(source="/tmp/x.fmu")), "is no file of this archive; put it there"),
        (body(both(source="../x.fmu")), "is no file of this archive; put it there"),
        (body(both(source="#other", more='type="application/x-ssp-definition"')), "are not supported, only FMUs"),
        (body(both(more='type="application/x-other"')), "components of type 'application/x-other'"),
        (body(both(more='type="application/x-ssp-package"')), "both.fmu has no SystemStructure.ssd"),
        (body(both(more='type="application/x-ssp-definition"', source="SystemStructure.ssd")), "nested more than"),
        (body(both(), both()), "another element has this name"),
        (body(both("s.a"), f'<ssd:System name="s">{body(both())}</ssd:System>'), "two components 's.a'"),
        (body("<ssd:Component source='resources/both.fmu'/>"), "attribute 'name' is missing"),
        (body(both(), links=connection("a/z", "a/x")), "<Connection>: 'a' has no connector 'z'; known are 'y', 'x'"),
        (body(both(), links=connection("c/y", "a/x")), "there is no element 'c'; known are 'a'"),
        (body(both(), links=connection("in", "a/x")), "the system has no connector 'in'; there is none"),
        (body(both(), links=connection("a/y", "a/y")), "both give or both take"),
        (body(both(), links=connection("a/y", "a/x") * 2), "'a.x' has another connection already"),
        (body(both(), links=connection("a/y", "a/x", linear("two"))), "<LinearTransformation>: its attribute factor="),
        (body(both(), links=connection("a/y", "a/x", more='suppressUnitConversion="maybe"')), "neither true nor false"),
        (
            body(both(), links=connection("a/y", "a/x", "<ssc:BooleanMappingTransformation/>")),
            "tables of values are not supported",
        ),
        (body(both(rest=bound("", 'source="p.ssv"'))), "its source 'p.ssv' is missing"),
        (body(both(rest=bound("", 'source="p.ssv" sourceBase="component"'))), "within a component are not supported"),
        (body(both(rest=bound("", 'type="text/csv"'))), "its type 'text/csv' is not supported"),
        (body(both(rest=bound(""))), "neither a source nor a ParameterSet within"),
        (body(both(rest=inline(real("k", "many")))), "<Parameter> 'k': its attribute value='many' is"),
        (body(both(rest=inline(real("l", 1.0, "rad")))), "'rad' (rad) is not 'm' (m); give the value"),
        (body(both(rest=inline('<ssv:Parameter name="k"/>'))), "<Parameter> 'k': it needs one value"),
        (
            body(both(rest=inline('<ssv:Parameter name="l"><ssv:Enumeration value="red"/></ssv:Parameter>'))),
            "no enumeration of the file has an item 'red'",
        ),
        (
            body(both(rest=inline('<ssv:Parameter name="k"><ssv:Binary value="00"/></ssv:Parameter>'))),
            "values of type Binary are not supported",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_together(refused, system: str, said: str) -> None:
    text = refused(system)
    assert said in text
    assert "SystemStructure.ssd" in text


def test_a_connector_that_feeds_itself(refused) -> None:
    inner = (
        f'<ssd:System name="s"><ssd:Connectors>{connector("i", "inout")}{connector("o", "inout")}</ssd:Connectors>'
        f"<ssd:Elements>{both()}</ssd:Elements><ssd:Connections>{connection('i', 'o')}{connection('o', 'i')}"
        f"{connection('i', 'a/x')}</ssd:Connections></ssd:System>"
    )
    assert "is connected to itself" in refused(body(inner))


def test_a_dictionary_that_is_not_there(refused) -> None:
    reference = '<ssd:SignalDictionaryReference name="r" dictionary="bus"/>'
    assert "there is no signal dictionary 'bus'; there is none" in refused(body(reference))


def test_a_truth_value_that_is_transformed(refused) -> None:
    parts = '<ssv:Parameter name="b"><ssv:Boolean value="true"/></ssv:Parameter>'
    entry = f'<ssm:MappingEntry source="b" target="b">{linear(2.0)}</ssm:MappingEntry>'
    mapping = values("").split("<ssv:Parameters>")[0].replace("ssv:ParameterSet", "ssm:ParameterMapping")
    mapping = f"<ssd:ParameterMapping>{mapping}{entry}</ssm:ParameterMapping></ssd:ParameterMapping>"
    assert "True cannot be transformed linearly" in refused(body(both(rest=inline(parts, mapping))))


def test_two_parameter_sets_of_one_name(refused) -> None:
    assert "two parameter sets 'set'" in refused(body(both()), {"a.ssv": values(""), "b.ssv": values("")})


def test_an_archive_that_is_encrypted(fmu, tmp_path: Path) -> None:
    """The bit alone makes zipfile ask for a password."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("SystemStructure.ssd", description(""))
    data = bytearray(buffer.getvalue())
    data[6] |= 1
    data[data.index(b"PK\1\2") + 8] |= 1
    path = tmp_path / "secret.ssp"
    path.write_bytes(data)
    with pytest.raises(CosimError, match="cannot be read"):
        System.load(path)


def test_altered_bytes_of_a_rare_compression(tmp_path: Path) -> None:
    path = tmp_path / "altered.ssp"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("SystemStructure.ssd", description("") + " " * 1000)
    data = bytearray(path.read_bytes())
    data[80:100] = bytes(20)
    path.write_bytes(data)
    with pytest.raises(CosimError, match=r"'SystemStructure.ssd' cannot be read: .*get it again"):
        System.load(path)
