"""FMUs of parts whose names are no identifiers: these are quoted, all else is as it is with plain names."""

import xml.etree.ElementTree as ElementTree
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import linkwork as lw
from support.random_mechanisms import FAMILIES, well_posed
from support.renamed import NASTY, Grammar, legal_names, parts_of, renamed
from support.zoo import zoo


def contents(path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def names_in(path) -> list[str]:
    root = ElementTree.fromstring(contents(path)["modelDescription.xml"])
    return [v.get("name") for v in root.find("ModelVariables")]


def quoted(name: str, new: dict[str, str]) -> str:
    """A variable's name with the parts' new names in quotes; not by the package."""
    parts = name.removeprefix("der(").rstrip(")").split(".")
    for i, part in enumerate(parts):
        head, bracket, rest = part.partition("[")
        if head in new and (i < len(parts) - 1):
            other = new[head]
            plain = set(other) <= Grammar.NONDIGIT | Grammar.DIGIT and other[0] in Grammar.NONDIGIT
            parts[i] = (other if plain else f"'{other}'") + bracket + rest
    found = ".".join(parts)
    return f"der({found})" if name.startswith("der(") else found


@pytest.fixture(scope="module")
def nasty_zoo():
    mech = zoo()
    mech.add_point("tip", "b1", (0, 0, 1), axis=(1, 0, 0))
    mech.add_point("wall", "ground", (1, 0, 0), axis=(0, 1, 0))
    mech.add_measure("gap", "distance", ("tip", "wall"))
    mech.prescribe("j4[1]", lw.Motion((0.0, 0.1)), name="drive")
    mech.add_transition("kick", lw.Impulse("b2"), when=lw.Command())
    names = parts_of(mech)
    assert len(names) <= len(NASTY)
    new = dict(zip(names, NASTY, strict=False))
    return mech, renamed(mech, new), new


@pytest.mark.parametrize(("version", "arrays"), [("2.0", False), ("3.0", False), ("3.0", True)])
def test_every_name_is_of_the_grammar_and_quoted_where_it_must_be(version, arrays, nasty_zoo, needs, tmp_path):
    needs("fmpy")
    from fmpy.validation import validate_fmu

    plain, nasty, new = nasty_zoo
    paths = [tmp_path / "plain.fmu", tmp_path / "nasty.fmu"]
    for mech, path in zip((plain, nasty), paths, strict=True):
        lw.export_fmu(mech, path, version, arrays=arrays)
    expected, found = map(names_in, paths)
    assert found == [quoted(name, new) for name in expected]
    assert any("'" in name for name in found)
    assert all(Grammar(name).is_name() for name in found)
    assert validate_fmu(str(paths[1])) == []
    report = lw.check_fmu(paths[1], only=["names"])
    assert report.passed
    for name, data in contents(paths[1]).items():
        if name.endswith((".xml", ".svg", ".html")):
            ElementTree.fromstring(data)


def test_terminals_name_the_variables_as_they_are(nasty_zoo, tmp_path):
    _, nasty, _ = nasty_zoo
    path = lw.export_fmu(nasty, tmp_path / "nasty.fmu")
    root = ElementTree.fromstring(contents(path)["terminalsAndIcons/terminalsAndIcons.xml"])
    terminals = list(root.find("Terminals"))
    plain = lw.export_fmu(nasty_zoo[0], tmp_path / "plain.fmu")
    before = ElementTree.fromstring(contents(plain)["terminalsAndIcons/terminalsAndIcons.xml"])
    assert len(terminals) == len(before.find("Terminals")) > 5
    assert {m.get("variableName") for m in root.iter("TerminalMemberVariable")} <= set(names_in(path))
    assert len(list(root.iter("TerminalMemberVariable"))) == len(list(before.iter("TerminalMemberVariable")))
    assert all(Grammar(one.get("name")).is_name() for one in terminals)


def test_the_page_shows_names_as_text(nasty_zoo, tmp_path):
    path = lw.export_fmu(nasty_zoo[1], tmp_path / "nasty.fmu")
    page = contents(path)["documentation/index.html"].decode()
    cells = {"".join(cell.itertext()) for cell in ElementTree.fromstring(page.partition("\n")[2]).iter("td")}
    assert set(nasty_zoo[1].bodies) | set(nasty_zoo[1].joints) <= cells
    assert set(cells) & set(names_in(path))


def random_case(data: st.DataObject, family: str) -> tuple[lw.Mechanism, lw.Mechanism, dict[str, str]]:
    """A random mechanism, the same with other names, and these by the old ones."""
    plain = well_posed(FAMILIES[family][0], seed=2).mechanism
    names = parts_of(plain)
    drawn = data.draw(st.lists(legal_names(), min_size=len(names), max_size=len(names), unique=True))
    new = dict(zip(names, drawn, strict=True))
    return plain, renamed(plain, new), new


@settings(max_examples=4, suppress_health_check=list(HealthCheck))
@given(data=st.data(), family=st.sampled_from(sorted(FAMILIES)[:6]), version=st.sampled_from(["2.0", "3.0"]))
def test_random_names_change_no_number(data, family, version, needs, tmp_path_factory):
    fmpy = needs("fmpy")
    plain, nasty, new = random_case(data, family)
    folder = tmp_path_factory.mktemp("names")
    nasty.save(folder / "m.json")
    assert lw.Mechanism.load(folder / "m.json").to_dict() == nasty.to_dict()
    path = lw.export_fmu(lw.Mechanism.load(folder / "m.json"), folder / "m.fmu", version)
    names = names_in(path)
    assert all(Grammar(name).is_name() for name in names)
    assert len(set(names)) == len(names)
    result, before = (lw.simulate(mech, 0.1, t_eval=np.linspace(0, 0.1, 11)) for mech in (nasty, plain))
    for joint in plain.joints:
        if f"{joint}.q" in before:
            np.testing.assert_array_equal(result[f"{new[joint]}.q"], before[f"{joint}.q"])
    tree = lw.compile(nasty).q_names
    shown = [quoted(name, new) for name in lw.compile(plain).q_names]
    run = fmpy.simulate_fmu(
        str(path), fmi_type="CoSimulation", stop_time=0.1, output_interval=0.01, relative_tolerance=1e-10, output=shown
    )
    for name, column in zip(tree, shown, strict=True):
        np.testing.assert_allclose(run[column], result[name], atol=1e-6)


def test_a_source_fmu_of_such_a_mechanism_is_of_c(tmp_path):
    mech = lw.Mechanism("left leg/2 {$}")
    mech.add_body("#error here", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    mech.add_joint("/", lw.Revolute((0, 1, 0)), "ground", next(iter(mech.bodies)), at=(0, 0, 0))
    for version in ("2.0", "3.0"):
        files = contents(lw.export_fmu(mech, tmp_path / "leg.fmu", version, sources=True))
        root = ElementTree.fromstring(files["modelDescription.xml"])
        assert root.get("modelName") == mech.name
        assert root.find("CoSimulation").get("modelIdentifier") == "left_leg_2____"
        assert not [name for name, text in files.items() if name.endswith((".c", ".h")) and b"#error here" in text]
