"""Each rule about the model description finds the FMU of ours in which it is broken."""

import re
from copy import deepcopy
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

import pytest

import linkwork as lw
from linkwork.fmu.check import check_fmu
from support.latched import pendulum
from support.mutated import Edit, mutated

VERSIONS = ("2.0", "3.0")


def exchanged(parent: Element) -> None:
    parent[:] = parent[::-1]


def repeated(e: Edit, kind: str) -> None:
    parent, entries = e.group(kind)
    parent.insert(list(parent).index(entries[0]), deepcopy(entries[0]))


def dependencies(e: Edit, kind: str, name: str, *names: str, kinds: str | None = None) -> None:
    entry = e.entry(kind, name)[1]
    entry.set("dependencies", " ".join(map(e.reference, names)))
    if kinds is not None:
        entry.set("dependenciesKind", kinds)


def nowhere(e: Edit) -> None:
    e.group("Output")[1][0].set("index" if e.two else "valueReference", "99999")


def later(e: Edit, tag: str) -> None:
    element = e.root.find(tag)
    e.root.remove(element)
    e.root.append(element)


def move_to(e: Edit, name: str, other: str) -> None:
    e.of(name, valueReference=e.variable(other).get("valueReference"))


def alias(e: Edit, name: str, **attributes: str) -> None:
    SubElement(e.variable(name), "Alias", name=f"{name}.alias", **attributes)


# Check, its text, the change, in which versions.
RULES = [
    ("schema", "not unique|unique", lambda e: e.of("hinge.q", name="hinge.u"), VERSIONS),
    ("names", "2 variables are named 'hinge.u'", lambda e: e.of("hinge.q", name="hinge.u"), VERSIONS),
    ("names", "'1hinge' is against the convention 'structured'", lambda e: e.of("hinge.q", name="1hinge"), VERSIONS),
    ("names", "against the convention", lambda e: e.of("hinge.q", name="hinge q"), VERSIONS),
    ("names", "against the convention", lambda e: e.of("hinge.q", name="hinge.q[1]x"), VERSIONS),
    ("names", "against the convention", lambda e: e.of("hinge.q", name="der(hinge.q"), VERSIONS),
    (
        "names",
        "line breaks and tabs",
        lambda e: (e.attributes(".", variableNamingConvention="flat"), e.of("hinge.q", name="a\tb")),
        VERSIONS,
    ),
    (
        "names",
        "2 variables are named",
        lambda e: (alias(e, "hinge.q"), e.of("arm.mass", name="hinge.q.alias")),
        ("3.0",),
    ),
    ("references", "share the value reference", lambda e: move_to(e, "hinge.q", "hinge.u"), ("3.0",)),
    ("references", "give a number below", lambda e: e.of("hinge.q", valueReference="-1"), VERSIONS),
    ("references", "different units", lambda e: move_to(e, "hinge.q", "hinge.u"), ("2.0",)),
    ("references", "can all be set", lambda e: move_to(e, "gravity[1]", "gravity[2]"), ("2.0",)),
    ("references", "all have a start value", lambda e: move_to(e, "gravity[1]", "gravity[2]"), ("2.0",)),
    (
        "references",
        "some are constant",
        lambda e: (move_to(e, "gravity[1]", "gravity[2]"), e.of("gravity[1]", variability="constant")),
        ("2.0",),
    ),
    ("values", r"start -1 of arm.mass lies outside \[0, inf\]", lambda e: e.of("arm.mass", start="-1"), VERSIONS),
    ("values", r"lies outside \[0, 0.5\]", lambda e: e.of("arm.mass", max="0.5"), VERSIONS),
    ("values", "min 0 of arm.mass is above its max -1", lambda e: e.of("arm.mass", max="-1"), VERSIONS),
    ("values", "nominal of hinge.q is zero", lambda e: e.of("hinge.q", nominal="0.0"), VERSIONS),
    ("values", "max of arm.mass is 'much', not a number", lambda e: e.of("arm.mass", max="much"), VERSIONS),
    ("values", "start of arm.mass is 'one', not a number", lambda e: e.of("arm.mass", start="one"), VERSIONS),
    ("values", "give a finite number", lambda e: e.of("arm.mass", start="INF"), VERSIONS),
    ("values", "start of arm.mass is empty", lambda e: e.of("arm.mass", start=""), VERSIONS),
    ("values", "start of open.command is 'yes'", lambda e: e.of("open.command", start="yes"), VERSIONS),
    ("starts", "hinge.tau has no start value", lambda e: e.of("hinge.tau", start=None), VERSIONS),
    ("starts", 'arm.mass has no start value, which initial="exact"', lambda e: e.of("arm.mass", start=None), VERSIONS),
    ("starts", "hinge.q has no start value", lambda e: e.of("hinge.q", start=None), VERSIONS),
    ("starts", 'which initial="calculated" forbids', lambda e: e.of("arm.r[1]", start="0"), VERSIONS),
    ("starts", "which being independent forbids", lambda e: e.of("time", start="0"), ("3.0",)),
    ("states", "arm.r.1. has reinit, but is no continuous state", lambda e: e.of("arm.r[1]", reinit="true"), VERSIONS),
    ("states", "is no variable", lambda e: e.of("der(hinge.q)", derivative="9999"), VERSIONS),
    (
        "states",
        "declared as its own derivative",
        lambda e: e.of("der(hinge.q)", derivative=e.reference("der(hinge.q)")),
        VERSIONS,
    ),
    ("states", "no continuous real", lambda e: e.of("der(hinge.q)", derivative=e.reference("arm.mass")), VERSIONS),
    ("states", "without|divide it by a time", lambda e: e.of("der(hinge.q)", unit="rad"), VERSIONS),
    (
        "states",
        r"N.*not that of its state hinge.q, rad, divided by a time",
        lambda e: e.of("der(hinge.q)", unit="N.m"),
        VERSIONS,
    ),
    ("units", "unit 'rad', which UnitDefinitions", lambda e: e.attributes("*/Unit[@name='rad']", name="r"), VERSIONS),
    ("units", "the unit 'm' is defined 2 times", lambda e: e.attributes("*/Unit[@name='kg']", name="m"), VERSIONS),
    ("units", "display unit 'grad', which its unit 'rad'", lambda e: e.of("hinge.q", displayUnit="grad"), VERSIONS),
    ("units", "but no unit; give both", lambda e: e.of("hinge.q", unit=None), VERSIONS),
    ("units", "of its alias", lambda e: alias(e, "hinge.q", displayUnit="grad"), ("3.0",)),
    ("units", "no factor but zero", lambda e: e.attributes("*/Unit/DisplayUnit", factor="0"), VERSIONS),
    ("units", "which TypeDefinitions does not define", lambda e: e.of("hinge.q", declaredType="Angle"), VERSIONS),
    ("combinations", "do not go together", lambda e: e.of("arm.mass", variability="continuous"), VERSIONS),
    ("combinations", "do not go together", lambda e: e.of("hinge.tau", variability="fixed"), VERSIONS),
    (
        "combinations",
        'initial="calculated" does not go; choose exact',
        lambda e: e.of("arm.mass", initial="calculated"),
        VERSIONS,
    ),
    ("combinations", "leave it out", lambda e: e.of("hinge.tau", initial="exact"), ("2.0",)),
    ("combinations", "leave it out", lambda e: e.of("time", initial="exact"), ("3.0",)),
    ("combinations", "is of type Boolean", lambda e: e.of("open.command", variability="continuous"), VERSIONS),
    ("combinations", "there must be one independent", lambda e: e.of("time", causality="local"), ("3.0",)),
    ("structure", "hinge.u is missing among the outputs", lambda e: e.without("Output", "hinge.u"), VERSIONS),
    ("structure", "arm.r.2. stands among the outputs", lambda e: e.of("arm.r[2]", causality="local"), VERSIONS),
    ("structure", "99999', which is no variable", nowhere, VERSIONS),
    ("structure", "the outputs name .* 2 times", lambda e: repeated(e, "Output"), VERSIONS),
    ("structure", "hinge.q is missing among the initial", lambda e: e.without("InitialUnknown", "hinge.q"), VERSIONS),
    (
        "structure",
        r"der\(hinge.u\) has the attribute derivative but is not among",
        lambda e: e.without("ContinuousStateDerivative", "der(hinge.u)"),
        VERSIONS,
    ),
    ("structure", "has no attribute derivative", lambda e: e.of("der(hinge.u)", derivative=None), VERSIONS),
    (
        "structure",
        "numberOfEventIndicators is missing",
        lambda e: e.attributes(".", numberOfEventIndicators=None),
        ("2.0",),
    ),
    (
        "structure",
        "numberOfEventIndicators is 'few'",
        lambda e: e.attributes(".", numberOfEventIndicators="few"),
        ("2.0",),
    ),
    (
        "structure",
        "indicator latch.indicator is no continuous real",
        lambda e: e.of("latch.indicator", variability="discrete"),
        ("3.0",),
    ),
    (
        "known",
        "depends on tolerance, which is parameter",
        lambda e: dependencies(e, "Output", "hinge.u", "tolerance"),
        VERSIONS,
    ),
    (
        "known",
        "depends on arm.r.1., which is output",
        lambda e: dependencies(e, "Output", "hinge.u", "arm.r[1]"),
        VERSIONS,
    ),
    (
        "known",
        "initial unknowns depends on hinge.u, which is output; name start values",
        lambda e: dependencies(e, "InitialUnknown", "hinge.q", "hinge.u"),
        VERSIONS,
    ),
    ("known", "depends twice on", lambda e: dependencies(e, "Output", "hinge.u", "hinge.q", "hinge.q"), VERSIONS),
    (
        "known",
        "has 1 dependencies and 2 kinds",
        lambda e: dependencies(e, "Output", "hinge.u", "hinge.q", kinds="dependent fixed"),
        VERSIONS,
    ),
    (
        "known",
        "of the kind 'linear'",
        lambda e: dependencies(e, "Output", "hinge.u", "hinge.q", kinds="linear"),
        VERSIONS,
    ),
    (
        "known",
        "without dependencies",
        lambda e: e.attributes(
            e.entry("InitialUnknown", "hinge.q")[1], dependencies=None, dependenciesKind="dependent"
        ),
        VERSIONS,
    ),
    ("known", "which is no variable", lambda e: e.group("Output")[1][0].set("dependencies", "9999"), VERSIONS),
    ("order", "comes too late in fmiModelDescription", lambda e: later(e, "UnitDefinitions"), VERSIONS),
    ("order", "comes too late in ModelStructure", lambda e: exchanged(e.root.find("ModelStructure")), VERSIONS),
    ("order", "not in the order of the variables", lambda e: exchanged(e.group("InitialUnknown")[0]), ("2.0",)),
    ("order", "has the element Colours", lambda e: SubElement(e.root, "Colours"), VERSIONS),
    ("order", "there is no ModelStructure", lambda e: e.root.remove(e.root.find("ModelStructure")), VERSIONS),
    ("header", "fmiVersion is '3.1x'|fmiVersion is '1.0'", lambda e: e.attributes(".", fmiVersion="1.0"), VERSIONS),
    ("header", "modelName is missing", lambda e: e.attributes(".", modelName=""), VERSIONS),
    ("header", "guid is missing", lambda e: e.attributes(".", guid=""), ("2.0",)),
    ("header", "does not look like a GUID", lambda e: e.attributes(".", guid="mine"), ("2.0",)),
    ("header", "instantiationToken is missing", lambda e: e.attributes(".", instantiationToken=""), ("3.0",)),
    (
        "header",
        "no time in UTC",
        lambda e: e.attributes(".", generationDateAndTime="2026-01-31T12:00:00+01:00"),
        VERSIONS,
    ),
    ("header", "no identifier of C", lambda e: e.attributes("CoSimulation", modelIdentifier="my model"), VERSIONS),
    (
        "header",
        "there is neither ModelExchange nor CoSimulation",
        lambda e: [e.root.remove(e.root.find(tag)) for tag in ("ModelExchange", "CoSimulation")],
        VERSIONS,
    ),
    ("experiment", "stopTime -1 .* lies before", lambda e: e.attributes("DefaultExperiment", stopTime="-1"), VERSIONS),
    (
        "experiment",
        "tolerance .* must be above zero",
        lambda e: e.attributes("DefaultExperiment", tolerance="0"),
        VERSIONS,
    ),
    (
        "experiment",
        "stepSize .* must be above zero",
        lambda e: e.attributes("DefaultExperiment", stepSize="-1"),
        VERSIONS,
    ),
    ("experiment", "not a finite number", lambda e: e.attributes("DefaultExperiment", startTime="soon"), VERSIONS),
    (
        "experiment",
        "there is no DefaultExperiment",
        lambda e: e.root.remove(e.root.find("DefaultExperiment")),
        VERSIONS,
    ),
]
CASES = [(version, *rule[:-1]) for rule in RULES for version in rule[-1]]


@pytest.mark.thin(12)
@pytest.mark.parametrize(
    ("version", "check", "text", "change"), CASES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_broken_rule_is_found(version, check, text, change, latched, tmp_path, needs):
    if check == "schema":
        needs("fmpy")
    assert check_fmu(latched[version], only=[check]).findings() == []
    report = check_fmu(mutated(latched[version], tmp_path, change), only=[check])
    assert any(re.search(text, finding.text) for finding in report[check].findings), report


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("text", [b"<fmiModelDescription", b"<other/>", b""])
def test_what_cannot_be_read_is_a_finding(version, text, latched, tmp_path):
    def change(e: Edit) -> None:
        e.files["modelDescription.xml"] = text
        e.written = lambda: e.files

    report = check_fmu(mutated(latched[version], tmp_path, change), skip=["schema"])
    assert re.search("no XML that can be read|begins with 'other'", report["archive"].findings[0].text)
    assert all(one.skipped == "nothing to read" for one in report.outcomes[1:])


def test_legal_names_are_left_alone(latched, tmp_path):
    for name in ("a.b[1,2].c", "'any thing!'.x", "der(a.b[3],2)", "_a", "'it\\'s'[4]"):
        path = mutated(latched["3.0"], tmp_path, lambda e, name=name: e.of("hinge.q", name=name))
        assert check_fmu(path, only=["names"]).findings() == []


def test_units_and_limits_of_a_type_count(latched, tmp_path):
    def change(e: Edit) -> None:
        types = Element("TypeDefinitions")
        where = SubElement(types, "SimpleType", name="Mass") if e.two else types
        attributes = {"unit": "stone", "max": "0.5"}
        SubElement(where, "Real", attributes) if e.two else SubElement(where, "Float64Type", attributes, name="Mass")
        e.root.insert(list(e.root).index(e.root.find("UnitDefinitions")) + 1, types)
        e.of("arm.mass", declaredType="Mass", unit=None)

    for version in VERSIONS:
        report = check_fmu(mutated(latched[version], tmp_path, change), only=["units", "values"])
        assert "arm.mass has the unit 'stone'" in report["units"].findings[0].text
        assert "lies outside [0, 0.5]" in report["values"].findings[0].text


@pytest.fixture(scope="module")
def arrays(tmp_path_factory) -> Path:
    """The same with what belongs together in one array."""
    mech = pendulum(latch=(lw.Lock("hinge"), lw.Crossing("hinge.q", 1.0)))
    path = tmp_path_factory.mktemp("arrays") / "pendulum.fmu"
    return lw.export_fmu(mech, path, "3.0", ["hinge.q", "hinge.u", "arm.Q"], arrays=True)


@pytest.mark.parametrize(
    ("check", "text", "change"),
    [
        ("dependencies", r"ME: arm.Q\[\d\] moves with hinge.q, which", lambda e: dependencies(e, "Output", "arm.Q")),
        ("crossings", "moves the state hinge.u, which has no reinit", lambda e: e.of("hinge.u", reinit=None)),
        ("elements", "of arm.Q and its entry .* differ in hinge.q", lambda e: dependencies(e, "Output", "arm.Q")),
        (
            "dependencies",  # who names one parameter has to name all
            r"der\(hinge.u\) moves with gravity\[\d\], which",
            lambda e: dependencies(e, "ContinuousStateDerivative", "der(hinge.u)", "hinge.q", "hinge.tau", "arm.mass"),
        ),
    ],
)
def test_elements_of_arrays_are_compared(check, text, change, arrays, tmp_path, needs):
    needs("fmpy")
    assert check_fmu(arrays, only=[check]).findings() == []
    report = check_fmu(mutated(arrays, tmp_path, change), only=[check])
    assert any(re.search(text, finding.text) for finding in report[check].findings), report
