"""Reference runs of FMUs: ours pass in both interfaces, and a deviation names the variable and the time."""

import importlib
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

import linkwork as lw
from linkwork.fmu.check import check_fmu
from linkwork.fmu.check.checks.reference import numbers_of
from linkwork.fmu.description import Description
from support.latched import pendulum

CHECKS = ["related-files", "reference-run"]
FOLDER = "extra/org.fmi-standard.fmi-ls-ref/"


@pytest.fixture(autouse=True)
def tools(needs, checkout, monkeypatch):
    needs("fmpy")
    monkeypatch.syspath_prepend(checkout / "examples")


def texts(path: Path) -> list[str]:
    report = check_fmu(path, only=CHECKS)
    return [f"{one.level}: {one.text}" for one in report.findings()]


def changed(path: Path, **files: bytes | None) -> Path:
    """Return a copy with files of FMI-LS-REF replaced, by their names with _ for . and -; None: without it."""
    target = path.with_name("changed.fmu")
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(target, "w") as copy:
        for one in archive.infolist():
            name = one.filename.removeprefix(FOLDER).replace(".", "_").replace("-", "_")
            content = files.pop(name, archive.read(one)) if one.filename.startswith(FOLDER) else archive.read(one)
            if content is not None:
                copy.writestr(one.filename, content)
    assert not files
    return target


def content(path: Path, name: str) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return archive.read(FOLDER + name)


@pytest.mark.parametrize(
    ("name", "version", "form"),
    [
        ("four_bar", "2.0", {"states": "minimal"}),
        ("four_bar", "3.0", {"arrays": True}),
        ("bouncing_pendulum", "2.0", {}),
        ("joint_lock", "3.0", {}),
    ],
)
def test_ours_agree(name, version, form, tmp_path):
    mechanism = importlib.import_module(name).mechanism()
    path = lw.export_fmu(mechanism, tmp_path / "it.fmu", version, **form)
    report = check_fmu(path, only=CHECKS)
    assert [one.text for one in report.findings()] == []
    assert all(report[one].skipped is None for one in CHECKS)


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_varying_inputs_and_commands_are_replayed(version, tmp_path):
    mech = pendulum(latch=(lw.Lock("hinge"), lw.Crossing("hinge.q", 1.0)), open=(lw.Unlock("hinge"), lw.Command()))
    inputs = {"hinge": lambda t: 3.0 * t if t < 0.2 else 0.9 - 1.5 * t}
    path = lw.export_fmu(mech, tmp_path / "it.fmu", version, reference=lw.simulate(mech, 0.5, inputs=inputs))
    assert texts(path) == []
    # The same results with another input are not those of the FMU.
    wrong = content(path, "reference_in.csv").decode().splitlines()
    wrong = [wrong[0], *(f"{row.split(',')[0]},1.0" for row in wrong[1:])]
    found = texts(changed(path, reference_in_csv="\n".join(wrong).encode()))
    assert found
    assert {one.split(" ")[1] for one in found} == {"CS:", "ME:"}


def test_a_deviation_names_the_variable_and_the_time(tmp_path):
    mechanism = importlib.import_module("four_bar").mechanism()
    path = lw.export_fmu(mechanism, tmp_path / "it.fmu", outputs=["A.q", "B.q"])
    rows = [line.split(",") for line in content(path, "reference_out.csv").decode().splitlines()]
    rows[5][1] = repr(float(rows[5][1]) + 0.01)
    found = texts(changed(path, reference_out_csv="\n".join(",".join(row) for row in rows).encode()))
    assert len(found) == 2
    for kind, text in zip(("CS", "ME"), sorted(found), strict=True):
        assert text.startswith(f"error: {kind}: in the run 'reference' A.q is ")
        assert "at t = 0.2 and deviates by 1.0e-02, allowed" in text


def test_results_alone_are_compared_with_the_default_experiment(tmp_path):
    """As FMUs of others have them: without experiment and tolerance, a deviation is a warning."""
    mechanism = importlib.import_module("four_bar").mechanism()
    path = lw.export_fmu(mechanism, tmp_path / "it.fmu", outputs=["A.q"])
    manifest = content(path, "fmi-ls-manifest.xml").decode().splitlines()
    alone = "\n".join(line for line in manifest if "reference.exp" not in line).encode()
    assert texts(changed(path, fmi_ls_manifest_xml=alone, reference_exp=None)) == []
    wrong = b'"time","A.q"\n0,-1\n0.05,-1\n'
    found = texts(changed(path, fmi_ls_manifest_xml=alone, reference_exp=None, reference_out_csv=wrong))
    assert [one.split(" in ")[0] for one in found] == ["warning: CS:", "warning: ME:"]


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("files", "level", "text"),
    [
        ({"fmi_ls_manifest_xml": b"<fmi"}, "error", "no XML that can be read"),
        ({"fmi_ls_manifest_xml": b"<references/>"}, "error", "begins with 'references'"),
        ({"fmi_ls_manifest_xml": b"<fmiReferences/>"}, "error", "fmi-ls:fmi-ls-name None, not 'org.fmi-standard"),
        ({"reference_exp": b"<Experiments"}, "warning", "reference.exp is no XML that can be read"),
        ({"reference_out_csv": None}, "warning", "names the file 'reference_out.csv', which there is not"),
        ({"reference_out_csv": b"time,A.q\n0,1\n"}, "warning", "a header and at least two rows"),
        ({"reference_out_csv": b"time,A.q\n0,1\n1,x\n"}, "warning", "a cell that is no number"),
        ({"reference_out_csv": b"time,A.q\n1,1\n0,1\n"}, "warning", "do not ascend"),
        ({"reference_out_csv": b"time,A.p\n0,1\n1,1\n"}, "warning", "the FMU has no number 'A.p'"),
    ],
)
def test_files_that_are_wrong_are_findings(files, level, text, tmp_path):
    mechanism = importlib.import_module("four_bar").mechanism()
    path = changed(lw.export_fmu(mechanism, tmp_path / "it.fmu", outputs=["A.q"]), **files)
    assert any(one.startswith(level) and text in one for one in texts(path)), texts(path)


def test_a_role_that_the_draft_does_not_have_is_an_error(tmp_path):
    path = lw.export_fmu(pendulum(), tmp_path / "it.fmu")
    wrong = content(path, "fmi-ls-manifest.xml").replace(b'role="result"', b'role="outcome"')
    assert any(
        "the role 'outcome', which FMI-LS-REF does not have" in one
        for one in texts(changed(path, fmi_ls_manifest_xml=wrong))
    )


def test_an_fmu_without_one_is_skipped(tmp_path):
    report = check_fmu(lw.export_fmu(pendulum(), tmp_path / "it.fmu", reference=False), only=CHECKS)
    assert all("no extra/org.fmi-standard.fmi-ls-ref" in (report[one].skipped or "") for one in CHECKS)


def test_arrays_in_cells_are_compared_element_by_element(tmp_path):
    mechanism = importlib.import_module("four_bar").mechanism()
    path = lw.export_fmu(mechanism, tmp_path / "it.fmu", outputs=["A.q", "coupler.r"], arrays=True)
    rows = [line.split(",") for line in content(path, "reference_out.csv").decode().splitlines()]
    elements = [rows[0].index(f"coupler.r[{k}]") for k in (1, 2, 3)]

    def whole(by: float) -> bytes:
        moved = [" ".join(repr(float(row[i]) + by * (k == 4)) for i in elements) for k, row in enumerate(rows[1:])]
        lines = [f"{row[0]},{cell}" for row, cell in zip(rows[1:], moved, strict=True)]
        return "\n".join(["time,coupler.r", *lines]).encode()

    assert texts(changed(path, reference_out_csv=whole(0.0))) == []
    found = texts(changed(path, reference_out_csv=whole(0.1)))
    assert len(found) == 6
    assert all("coupler.r[" in one and "at t = 0.2" in one for one in found)
    ragged = b"time,coupler.r\n0,1 2 3\n1,1 2\n"
    assert any("other counts of numbers" in one for one in texts(changed(path, reference_out_csv=ragged)))


def test_columns_of_strings_are_noted(tmp_path):
    path = lw.export_fmu(pendulum(), tmp_path / "it.fmu")
    lines = content(path, "reference_out.csv").decode().splitlines()
    named = "\n".join([f"{lines[0]},label", *(f"{line},a text" for line in lines[1:])]).encode()
    path = changed(path, reference_out_csv=named)
    assert any("a cell that is no number" in one for one in texts(path))  # there is no variable of this name
    target = tmp_path / "with_string.fmu"
    variable = b'<String name="label" valueReference="99999" causality="local"/></ModelVariables>'
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(target, "w") as copy:
        for one in archive.infolist():
            data = archive.read(one)
            if one.filename == "modelDescription.xml":
                data = data.replace(b"</ModelVariables>", variable)
            copy.writestr(one.filename, data)
    assert texts(target) == ["note: in the run 'reference' strings are not compared: label"]


def test_elements_of_matrices_have_two_indices():
    xml = (
        '<fmiModelDescription fmiVersion="3.0"><ModelVariables><Float64 name="m" valueReference="1">'
        '<Dimension start="2"/><Dimension start="3"/></Float64></ModelVariables></fmiModelDescription>'
    )
    found = numbers_of(Description(ElementTree.fromstring(xml)), ["m[2,1]", "m[4]", "m[1,3]"])
    assert [found[name].index for name in ("m[2,1]", "m[4]", "m[1,3]")] == [3, 3, 2]
