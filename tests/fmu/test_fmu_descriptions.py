"""Model descriptions of the examples' mechanisms: valid, and true to what the standard asks and no validator sees."""

import re
from contextlib import suppress
from pathlib import Path

import pytest

import linkwork as lw
from linkwork.cli.mechanism_files import load_mechanism
from linkwork.errors import LinkworkError
from support.interface_file import by_xml, of_fmu
from support.zoo import zoo

EXAMPLES = Path(__file__).parents[2] / "examples"
SCENES = sorted(path.stem for path in EXAMPLES.glob("*.py") if "\ndef mechanism(" in path.read_text(encoding="utf-8"))
IDENTIFIER = r"[A-Za-z_]\w*"
INDEX = r"(\[\d+(,\d+)*\])?"
STRUCTURED = re.compile(rf"{IDENTIFIER}{INDEX}(\.{IDENTIFIER}{INDEX})*", re.ASCII)


@pytest.fixture(scope="module", params=[*SCENES, "zoo"])
def scene(request):
    return lw.compile(zoo() if request.param == "zoo" else load_mechanism(EXAMPLES / f"{request.param}.py"))


def attributes(root):
    """Of all variables, those of their types included."""
    return [{k: s for e in (*v, v) for k, s in e.items()} for v in root.find("ModelVariables")]


def exports(system, folder):
    """All kinds of FMUs, as path and whether these are of FMI 3.0."""
    yield lw.export_fmu(system, folder / "2.fmu", "2.0"), False
    yield lw.export_fmu(system, folder / "3.fmu"), True
    yield lw.export_fmu(system, folder / "arrays.fmu", arrays=True), True
    with suppress(LinkworkError):  # where no choice serves
        yield lw.export_fmu(system, folder / "minimal.fmu", states="minimal"), True


@pytest.mark.thin(9)
def test_valid_and_true(scene, tmp_path, needs):
    needs("fmpy")
    from fmpy.validation import validate_fmu

    for path, new in exports(scene, tmp_path):
        assert validate_fmu(str(path)) == []
        interface, root = of_fmu(path)
        assert root.get("generationDateAndTime").endswith("Z")
        experiment = root.find("DefaultExperiment")
        assert float(experiment.get("stopTime")) >= float(experiment.get("startTime"))
        variables = attributes(root)
        check_variables(variables)
        if new:
            read = by_xml(root)
            assert (read.arrays, read.knowns, read.unknowns) == (interface.arrays, interface.knowns, interface.unknowns)
            check_structure(root, variables)


def check_variables(variables):
    names = [v["name"] for v in variables]
    assert len(set(names)) == len(names)
    for v in variables:
        name = v["name"].removeprefix("der(").removesuffix(")") if v["name"].startswith("der(") else v["name"]
        assert STRUCTURED.fullmatch(name), v["name"]
        for start in v.get("start", "").split():
            if start not in ("true", "false"):
                assert float(v.get("min", start)) <= float(start) <= float(v.get("max", start)), v["name"]


def check_structure(root, variables):
    listed = {}
    for unknown in root.find("ModelStructure"):
        listed.setdefault(unknown.tag, []).append(unknown.get("valueReference"))
    indicators = listed.get("EventIndicator", [])
    open_ = [v["valueReference"] for v in variables if v.get("initial") in ("approx", "calculated")]
    assert listed.get("Output", []) == [v["valueReference"] for v in variables if v["causality"] == "output"]
    assert sorted(listed["ContinuousStateDerivative"]) == sorted(
        v["valueReference"] for v in variables if "derivative" in v
    )
    assert listed["InitialUnknown"] == [at for at in open_ if at not in indicators]


def test_only_states_that_jump_are_reinitialised(tmp_path):
    for states in ("full", "minimal"):
        for name in ("bouncing_pendulum", "four_bar"):
            mech = load_mechanism(EXAMPLES / f"{name}.py")
            try:
                _, root = of_fmu(lw.export_fmu(mech, tmp_path / "a.fmu", states=states))
            except LinkworkError:
                continue
            variables = attributes(root)
            states_of_it = {v["derivative"] for v in variables if "derivative" in v}
            speeds = {v["name"] for v in variables if v["valueReference"] in states_of_it and v["name"].endswith(".u")}
            jumping = {v["name"] for v in variables if v.get("reinit") == "true"}
            assert jumping == (speeds if name == "bouncing_pendulum" else set())
