"""FMUs with something changed in their archive or their model description."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

XML = "modelDescription.xml"
_OF_VARIABLE = ("name", "valueReference", "causality", "variability", "initial")
_GROUPS = {"Output": "Outputs", "ContinuousStateDerivative": "Derivatives", "InitialUnknown": "InitialUnknowns"}


class Edit:
    """The files of an FMU and its model description, to be changed; attributes set to None go away."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files
        self.root = ElementTree.fromstring(files[XML])
        self.two = self.root.get("fmiVersion") == "2.0"

    def attributes(self, element: str | Element, **values: str | None) -> None:
        """Of an element, or of the first one at a path."""
        target = self.root.find(element) if isinstance(element, str) else element
        assert target is not None, element
        for name, value in values.items():
            if value is None:
                del target.attrib[name]
            else:
                target.set(name, value)

    def variables(self) -> list[Element]:
        return list(self.root.find("ModelVariables"))

    def variable(self, name: str) -> Element:
        return next(one for one in self.variables() if one.get("name") == name)

    def of(self, variable: str, **values: str | None) -> None:
        """Attributes of a variable, wherever the version has them."""
        element = self.variable(variable)
        for name, value in values.items():
            self.attributes(element[0] if self.two and name not in _OF_VARIABLE else element, **{name: value})

    def reference(self, name: str) -> str:
        """How ModelStructure and `derivative` name a variable."""
        element = self.variable(name)
        return str(self.variables().index(element) + 1) if self.two else element.get("valueReference")

    def group(self, kind: str) -> tuple[Element, list[Element]]:
        """The parent of entries of ModelStructure, and these; `kind` is the element of FMI 3.0."""
        parent = self.root.find(f"ModelStructure/{_GROUPS[kind]}" if self.two else "ModelStructure")
        return parent, parent.findall("Unknown" if self.two else kind)

    def entry(self, kind: str, name: str) -> tuple[Element, Element]:
        """The parent of the entry of a variable, and this."""
        parent, entries = self.group(kind)
        attribute, reference = ("index" if self.two else "valueReference"), self.reference(name)
        return parent, next(one for one in entries if one.get(attribute) == reference)

    def without(self, kind: str, name: str) -> None:
        """Drop an entry."""
        parent, entry = self.entry(kind, name)
        parent.remove(entry)

    def written(self) -> dict[str, bytes]:
        if XML in self.files:
            self.files[XML] = ElementTree.tostring(self.root, encoding="utf-8", xml_declaration=True)
        return self.files


def mutated(path: Path, folder: Path, change: Callable[[Edit], object]) -> Path:
    """A copy of an FMU that went through `change`."""
    with zipfile.ZipFile(path) as archive:
        edit = Edit({one.filename: archive.read(one) for one in archive.infolist()})
    change(edit)
    return packed(folder / path.name, edit.written().items())


def packed(path: Path, files: object) -> Path:
    """An archive of files by name, as they come."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files:
            archive.writestr(name, data)
    return path
