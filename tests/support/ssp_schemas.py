"""Validation by the XSD schemas of SSP: FMPy carries those of 1.0, pyssp_standard those of 2.0."""

from __future__ import annotations

import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

FILES = {
    "SystemStructureDescription": "SystemStructureDescription.xsd",
    "ParameterSet": "SystemStructureParameterValues.xsd",
    "ParameterMapping": "SystemStructureParameterMapping.xsd",
    "SignalDictionary": "SystemStructureSignalDictionary.xsd",
}


def folder(version: str) -> Path:
    """Where the schemas of a version are."""
    package, inside = {"1.0": ("fmpy", "ssp/schema"), "2.0": ("pyssp_standard", "resources/ssp2")}[version]
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        pytest.skip(f"needs the Python package {package}")
    return Path(spec.origin).parent / inside


def validate(data: bytes) -> Any:
    """Check a document by the schema of its root and version, and the documents inside of it; return the root."""
    etree = pytest.importorskip("lxml.etree")
    root = etree.fromstring(data)
    for element in root.iter():
        name = etree.QName(element).localname if isinstance(element.tag, str) else ""
        if name in FILES and element.get("version") is not None:
            schema = etree.XMLSchema(file=str(folder(element.get("version")) / FILES[name]))
            schema.assertValid(etree.fromstring(etree.tostring(element)))
    return root


def validate_archive(path: Path) -> dict[str, Any]:
    """Check all documents of an archive; their roots by file."""
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.endswith((".ssd", ".ssv", ".ssm", ".ssb"))]
        assert names
        return {name: validate(archive.read(name)) for name in names}
