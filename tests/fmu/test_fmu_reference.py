"""The reference run that FMUs carry by FMI-LS-REF: its files, its numbers, and what may be given instead."""

import csv
import io
import time
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli import export as export_command
from linkwork.errors import ExportError
from support.latched import pendulum

FOLDER = "extra/org.fmi-standard.fmi-ls-ref/"
MANIFEST, EXPERIMENT = f"{FOLDER}fmi-ls-manifest.xml", f"{FOLDER}reference.exp"
INPUTS, RESULTS = f"{FOLDER}reference_in.csv", f"{FOLDER}reference_out.csv"
NOTE = "documentation/fmi-ls-ref.txt"
LS = "{http://fmi-standard.org/fmi-ls-manifest}"

# The structure of the manifest in the draft of July 2026; FMPy has the schemas that it takes attributes from.
DRAFT = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:ls="http://fmi-standard.org/fmi-ls-manifest">
<xs:import namespace="http://fmi-standard.org/fmi-ls-manifest"
 schemaLocation="{folder}/fmi3LayeredStandardManifest.xsd"/>
<xs:include schemaLocation="{folder}/fmi3Annotation.xsd"/>
<xs:element name="fmiReferences"><xs:complexType><xs:sequence>
 <xs:element name="Related" minOccurs="0" maxOccurs="unbounded"><xs:complexType>
  <xs:sequence><xs:element ref="Annotations" minOccurs="0"/></xs:sequence>
  <xs:attribute name="type" type="xs:string"/><xs:attribute name="source" type="xs:anyURI" use="required"/>
  <xs:attribute name="role" use="required"><xs:simpleType><xs:restriction base="xs:string">
   <xs:enumeration value="experiment/smoke-test"/><xs:enumeration value="result"/><xs:enumeration value="other"/>
  </xs:restriction></xs:simpleType></xs:attribute>
  <xs:attribute name="description" type="xs:string"/></xs:complexType></xs:element>
 <xs:element ref="Annotations" minOccurs="0"/></xs:sequence>
 <xs:attribute ref="ls:fmi-ls-name" use="required" fixed="org.fmi-standard.fmi-ls-ref"/>
 <xs:attribute ref="ls:fmi-ls-version" use="required"/>
 <xs:attribute ref="ls:fmi-ls-description" use="required"
  fixed="Layered Standard providing information on related files included in an FMU."/>
</xs:complexType></xs:element>
<xs:element name="Experiments"><xs:complexType><xs:sequence>
 <xs:element name="Experiment" maxOccurs="unbounded"><xs:complexType><xs:sequence>
   <xs:element name="Stimuli" minOccurs="0" type="Series"/><xs:element name="References" minOccurs="0" type="Series"/>
   <xs:element ref="Annotations" minOccurs="0"/></xs:sequence>
  <xs:attribute name="name" type="xs:string" use="required"/><xs:attribute name="description" type="xs:string"/>
  <xs:attribute name="startTime" type="xs:double"/><xs:attribute name="stopTime" type="xs:double"/>
  <xs:attribute name="tolerance" type="xs:double"/><xs:attribute name="stepSize" type="xs:double"/>
 </xs:complexType></xs:element></xs:sequence>
 <xs:attribute name="name" type="xs:string" use="required"/><xs:attribute name="description" type="xs:string"/>
</xs:complexType></xs:element>
<xs:complexType name="Series"><xs:sequence><xs:element ref="Annotations" minOccurs="0"/></xs:sequence>
 <xs:attribute name="type" type="xs:string"/><xs:attribute name="source" type="xs:anyURI" use="required"/>
</xs:complexType></xs:schema>"""


def four_bar() -> lw.Mechanism:
    from importlib import import_module

    return import_module("four_bar").mechanism()


@pytest.fixture(autouse=True)
def examples(checkout, monkeypatch):
    monkeypatch.syspath_prepend(checkout / "examples")


def files(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {one.filename: archive.read(one) for one in archive.infolist()}


def table(content: bytes) -> dict[str, list[float]]:
    rows = list(csv.reader(io.StringIO(content.decode())))
    return {name: [float(row[i]) for row in rows[1:]] for i, name in enumerate(rows[0])}


def comparison(content: bytes) -> tuple[float, float]:
    found = next(ET.fromstring(content).iter("{org.linkwork}comparison"))
    return float(found.attrib["rtol"]), float(found.attrib["atol"])


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_the_default_is_a_short_simulation_of_the_mechanism(version, tmp_path):
    mech = four_bar()
    found = files(lw.export_fmu(mech, tmp_path / "a.fmu", version))
    run = table(found[RESULTS])
    t = run.pop("time")
    assert t == pytest.approx(np.linspace(0.0, 1.0, 21), abs=1e-12)
    assert 8 <= len(run) <= 32
    result = lw.simulate(mech, t_end=1.0, rtol=1e-10, t_eval=t)
    rtol, atol = comparison(found[EXPERIMENT])
    assert (rtol, atol) == (1e-4, 1e-6)
    for name, values in run.items():
        assert np.abs(result[name] - values).max() <= 1e-6 * max(1.0, np.abs(values).max()), name
    assert INPUTS not in found
    assert b"reference_out.csv" in found[NOTE]
    assert b'href="fmi-ls-ref.txt"' in found["documentation/index.html"]


def test_it_is_the_same_in_each_export_and_small(tmp_path):
    one, other = (lw.export_fmu(four_bar(), tmp_path / f"{k}.fmu") for k in "ab")
    without = lw.export_fmu(four_bar(), tmp_path / "c.fmu", reference=False)
    assert one.read_bytes() == other.read_bytes()
    assert one.stat().st_size - without.stat().st_size < 10_000


def test_the_manifest_and_the_experiment_have_the_structure_of_the_draft(needs, tmp_path):
    fmpy, lxml = needs("fmpy"), needs("lxml.etree")
    folder = Path(fmpy.__file__).parent / "schema" / "fmi3"
    schema = lxml.XMLSchema(lxml.fromstring(DRAFT.format(folder=folder.as_uri())))
    mech, inputs = pendulum(), {"hinge": lambda t: 0.1 * t}
    found = files(lw.export_fmu(mech, tmp_path / "a.fmu", reference=lw.simulate(mech, 0.5, inputs=inputs)))
    for name in (MANIFEST, EXPERIMENT):
        schema.assertValid(lxml.fromstring(found[name]))
    root = ET.fromstring(found[MANIFEST])
    assert root.get(f"{LS}fmi-ls-version") == "1.0.0-alpha.1"
    listed = {one.get("source"): one.get("role") for one in root}
    assert listed == {
        "reference.exp": "experiment/smoke-test",
        "reference_in.csv": "other",
        "reference_out.csv": "result",
    }
    assert all(f"{FOLDER}{name}" in found for name in listed)


def test_without_a_reference_there_are_no_files(tmp_path):
    found = files(lw.export_fmu(four_bar(), tmp_path / "a.fmu", reference=False))
    assert not [name for name in found if "ls-ref" in name]
    assert b"Reference run" not in found["documentation/index.html"]


def test_a_mechanism_that_cannot_run_is_exported_with_the_reason(tmp_path):
    mech = lw.Mechanism("gap")
    mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    mech.add_distance("rope", ["rod", "ground"], [(1, 0, 0), (9, 0, 0)], 0.1)
    found = files(lw.export_fmu(mech, tmp_path / "a.fmu"))
    assert MANIFEST not in found
    assert found[NOTE].startswith(b"This FMU carries no reference run: ")
    assert b"The FMU carries none" in found["documentation/index.html"]
    with pytest.raises(ExportError, match=r"there is no reference run: .*leave out reference=True"):
        lw.export_fmu(mech, tmp_path / "a.fmu", reference=True)


def test_large_mechanisms_carry_a_shorter_one_and_very_large_ones_none(tmp_path):
    from importlib import import_module

    ladder = import_module("spatial_ladder").mechanism
    found = files(lw.export_fmu(ladder(50), tmp_path / "a.fmu"))
    assert 2 <= len(table(found[RESULTS])["time"]) < 21
    found = files(lw.export_fmu(ladder(170), tmp_path / "a.fmu", outputs=["energy"]))
    assert b"at most 1000" in found[NOTE]


@pytest.mark.slow
def test_the_export_of_a_large_mechanism_takes_hardly_longer(tmp_path):
    from importlib import import_module

    model = lw.compile(import_module("spatial_ladder").mechanism(100))

    def seconds(**options) -> float:
        begin = time.process_time()
        lw.export_fmu(model, tmp_path / "a.fmu", **options)
        return time.process_time() - begin

    seconds()
    without, with_one = (min(seconds(reference=r) for _ in range(3)) for r in (False, None))
    assert with_one < 1.5 * without + 0.1


def test_a_motion_in_which_errors_grow_is_cut(tmp_path):
    """Of a chaotic double pendulum with a coarse tolerance only the beginning is comparable."""
    from importlib import import_module

    mech = import_module("double_pendulum").mechanism()
    form = {"step_size": 1.0, "stop_time": 100.0, "tolerance": 1e-5, "reference_rtol": 1e-4}
    found = files(lw.export_fmu(mech, tmp_path / "a.fmu", **form))
    assert MANIFEST not in found or len(table(found[RESULTS])["time"]) < 21


# ---- given


def test_a_result_gives_its_inputs_and_results(tmp_path):
    mech = four_bar()
    result = lw.simulate(mech, t_end=0.5, inputs={"A": lambda t: 2.0 * t}, rtol=1e-9)
    found = files(lw.export_fmu(mech, tmp_path / "a.fmu", outputs=["A.q", "coupler.r"], reference=result))
    inputs, run = table(found[INPUTS]), table(found[RESULTS])
    assert list(inputs) == ["time", "A.tau"]
    assert inputs["A.tau"] == pytest.approx(2.0 * np.array(inputs["time"]), abs=1e-9)
    assert list(run) == ["time", "A.q", "coupler.r[1]", "coupler.r[2]", "coupler.r[3]"]
    assert run["A.q"] == pytest.approx(result.resample(run["time"])["A.q"], rel=1e-9)


def test_columns_and_files_have_the_names_of_the_fmu(tmp_path):
    columns = {"time": [0.0, 0.1], "A.tau": [1.0, 1.0], "A.q": [-1.0, -1.1]}
    path = tmp_path / "measured.csv"
    path.write_text("time,A.tau,A.q\n0,1,-1\n0.1,1,-1.1\n")
    of_columns = files(lw.export_fmu(four_bar(), tmp_path / "a.fmu", reference=columns, reference_rtol=0.01))
    of_file = files(lw.export_fmu(four_bar(), tmp_path / "b.fmu", reference=path))
    assert table(of_columns[RESULTS]) == table(of_file[RESULTS]) == {"time": [0.0, 0.1], "A.q": [-1.0, -1.1]}
    assert table(of_columns[INPUTS]) == table(of_file[INPUTS]) == {"time": [0.0, 0.1], "A.tau": [1.0, 1.0]}
    assert comparison(of_columns[EXPERIMENT]) == (0.01, 1e-4)


T = [0.0, 0.1]


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ({"A.q": T}, "no column 'time'"),
        ({"time": T, "A.p": T}, "no such input, output or state: did you mean"),
        ({"time": T, "A.q": [1.0]}, "1 values of 'A.q' at 2 times"),
        ({"time": T, "A.q": ["a", "b"]}, "no numbers"),
        ({"time": T, "A.q": [1.0, np.nan]}, "'A.q' is not finite at t = 0.1 s"),
        ({"time": [0.1, 0.0], "A.q": T}, "at least two times, ascending"),
        ({"time": T, "A.tau": T}, "has no results"),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns, text, tmp_path):
    with pytest.raises(ExportError, match=text):
        lw.export_fmu(four_bar(), tmp_path / "a.fmu", reference=columns)
    assert not (tmp_path / "a.fmu").exists()


def test_results_that_do_not_fit_are_refused(tmp_path):
    mech = four_bar()
    other = lw.simulate(pendulum(), 0.1)
    late = lw.simulate(mech, 0.2, t_start=0.1)
    moved = lw.simulate(mech, 0.1, state=lw.simulate(mech, 0.1).final_state, t_start=0.0)
    for result, text in ((other, "another mechanism"), (late, "begin at t = 0 s"), (moved, "in another state")):
        with pytest.raises(ExportError, match=text):
            lw.export_fmu(mech, tmp_path / "a.fmu", reference=result)


@pytest.mark.parametrize("text", ["", "time,A.q\n0,1\n1\n"])
def test_files_that_are_no_tables_are_refused(text, tmp_path):
    path = tmp_path / "measured.csv"
    path.write_text(text)
    with pytest.raises(ExportError, match=r"measured\.csv"):
        lw.export_fmu(four_bar(), tmp_path / "a.fmu", reference=path)
    with pytest.raises(ExportError, match=r"there is no file .*missing\.csv"):
        lw.export_fmu(four_bar(), tmp_path / "a.fmu", reference=tmp_path / "missing.csv")


@pytest.mark.parametrize(
    ("options", "text"),
    [({"reference_rtol": 2.0}, "between 0 and 1"), ({"reference_rtol": 0.1, "reference": False}, "")],
)
def test_a_tolerance_that_means_nothing_is_refused(options, text, tmp_path):
    with pytest.raises(ExportError, match=f"reference_rtol.*{text}"):
        lw.export_fmu(four_bar(), tmp_path / "a.fmu", **options)


def test_the_command(checkout, tmp_path, capsys):
    measured, target = tmp_path / "measured.csv", tmp_path / "a.fmu"
    measured.write_text("time,A.q\n0,-1\n0.1,-1.1\n")
    command = [str(checkout / "examples/four_bar.py"), "-o", str(target)]
    assert export_command.main([*command, "--reference", str(measured), "--reference-rtol", "0.01"]) == 0
    assert table(files(target)[RESULTS])["A.q"] == [-1.0, -1.1]
    assert export_command.main([*command, "--no-reference"]) == 0
    assert MANIFEST not in files(target)
    assert "no reference" not in capsys.readouterr().out
    assert export_command.main([*command, "--no-reference", "--reference", str(measured)]) == 2
