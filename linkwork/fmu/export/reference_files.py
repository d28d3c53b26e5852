"""Reference runs as files of the layered standard FMI-LS-REF, draft 1.0.0-alpha.1: a manifest, an experiment, CSV."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from linkwork.fmu.export.content import Content
from linkwork.fmu.export.reference_run import NoReference, Reference
from linkwork.results.files import csv_header

if TYPE_CHECKING:
    from linkwork._util.checks import FloatArray

FOLDER = "extra/org.fmi-standard.fmi-ls-ref"
MANIFEST, NOTE = "fmi-ls-manifest.xml", "fmi-ls-ref.txt"
_MANIFEST = "http://fmi-standard.org/fmi-ls-manifest"
_NAMED = {
    "fmi-ls-name": "org.fmi-standard.fmi-ls-ref",
    "fmi-ls-version": "1.0.0-alpha.1",
    "fmi-ls-description": "Layered Standard providing information on related files included in an FMU.",
}
_EXPERIMENT, _INPUTS, _RESULTS = "reference.exp", "reference_in.csv", "reference_out.csv"
_DIGITS = 12  # of a number


def reference_files(content: Content, found: Reference | NoReference | None) -> dict[str, bytes]:
    """Return the files by their path in the archive; without a reference run, the reason."""
    if found is None:
        return {}
    if isinstance(found, NoReference):
        return {f"documentation/{NOTE}": f"This FMU carries no reference run: {found.reason}.\n".encode()}
    files = {
        f"{FOLDER}/{MANIFEST}": _manifest(found),
        f"{FOLDER}/{_EXPERIMENT}": _experiment(content, found),
        f"{FOLDER}/{_RESULTS}": _table(found.t, found.results),
        f"documentation/{NOTE}": _note(found).encode(),
    }
    if found.inputs:
        files[f"{FOLDER}/{_INPUTS}"] = _table(found.t, found.inputs)
    return files


def without_reference(path: Path) -> list[str]:
    """Return the sentence in an FMU that states why it carries no reference run, if it has one."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        place = f"documentation/{NOTE}"
        if place not in names or f"{FOLDER}/{MANIFEST}" in names:
            return []
        return archive.read(place).decode().splitlines()


def _manifest(found: Reference) -> bytes:
    root = Element("fmiReferences", {"xmlns:fmi-ls": _MANIFEST, **{f"fmi-ls:{k}": v for k, v in _NAMED.items()}})
    listed = [(_EXPERIMENT, "application/x-ma-hs-experiments", "experiment/smoke-test", "Run to compare with")]
    if found.inputs:
        listed.append((_INPUTS, "text/csv", "other", "Inputs of the run"))
    listed.append((_RESULTS, "text/csv", "result", f"Results of the run, by {found.origin}"))
    for source, mime, role, text in listed:
        SubElement(root, "Related", {"type": mime, "source": source, "role": role, "description": text})
    return _xml(root)


def _experiment(content: Content, found: Reference) -> bytes:
    given = content.experiment
    root = Element("Experiments", name=content.name, description="Runs to compare with")
    numbers = {"startTime": found.t[0], "stopTime": found.t[-1], "tolerance": given.tolerance, "stepSize": given.step}
    one = SubElement(root, "Experiment", {"name": "reference", **{k: repr(float(v)) for k, v in numbers.items()}})
    if found.inputs:
        SubElement(one, "Stimuli", type="text/csv", source=_INPUTS)
    results = SubElement(one, "References", type="text/csv", source=_RESULTS)
    annotation = SubElement(SubElement(results, "Annotations"), "Annotation", type="org.linkwork")
    limits = {"rtol": repr(found.rtol), "atol": repr(found.atol)}
    SubElement(annotation, "linkwork:comparison", {"xmlns:linkwork": "org.linkwork", **limits})
    return _xml(root)


def _note(found: Reference) -> str:
    inputs = (
        f"The inputs {', '.join(found.inputs)} are in {_INPUTS}: linear in time between rows, discrete ones held until "
        "the next row. Other inputs keep their start values."
        if found.inputs
        else "All inputs keep their start values."
    )
    return f"""Reference run, as the layered standard FMI-LS-REF (draft {_NAMED["fmi-ls-version"]}) describes it

{_EXPERIMENT} is an experiment from t = {found.t[0]:g} s to {found.t[-1]:g} s, with the start values of this FMU.
{inputs}
{_RESULTS} has the results, by {found.origin}.
A run agrees with them if no value of a column differs by more than {found.atol:g} + {found.rtol:g} * its largest
absolute value. These numbers are in {_EXPERIMENT}, in the annotation org.linkwork of References.
"linkwork check" runs the FMU and compares.
"""


def _table(t: FloatArray, columns: Mapping[str, FloatArray]) -> bytes:
    rows = zip(t.tolist(), *(values.tolist() for values in columns.values()), strict=True)
    lines = (",".join(f"{value + 0.0:.{_DIGITS}g}" for value in row) for row in rows)  # without a minus before zero
    return (csv_header(columns) + "\n".join(lines) + "\n").encode()


def _xml(root: Element) -> bytes:
    indent(root)
    written: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"
