"""The XML files of an SSP archive: descriptions of systems, and what they refer to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from linkwork._util.names import suggest
from linkwork.cosim.ssp.archive import Archive
from linkwork.cosim.ssp.elements import Element, below, check_root, fault, parse, version_of
from linkwork.cosim.ssp.tables import Tables, tables_of
from linkwork.errors import CosimError

STRUCTURE = "SystemStructure.ssd"  # the description that an archive begins with


@dataclass
class Document:
    """A system structure description in an archive."""

    archive: Archive
    file: str
    root: Element
    tables: Tables
    depth: int = 0

    @classmethod
    def open(cls, archive: Archive, file: str, depth: int = 0) -> Document:
        """Read one."""
        if file not in archive.names:
            there = [name for name in archive.names if name.endswith(".ssd")]
            raise CosimError(f"{archive.where} has no {file}, which an SSP begins with; {suggest(file, there)}")
        root = parse(archive.read(file), f"{archive.where}: {file}", "SystemStructureDescription")
        return cls(archive, file, root, tables_of(root), depth)

    @property
    def version(self) -> str:
        """The version of SSP that it is of: 1.0 or 2.0."""
        return "1.0" if version_of(self.root).startswith("1.") else "2.0"

    def system(self) -> Element:
        """Its outermost system."""
        for element in below(self.root, "System"):
            return element
        raise fault(self.root, "it has no System")


def content(element: Element, document: Document, root: str) -> Element:
    """What an element holds itself, or the file that its `source` names."""
    if element.get("sourceBase", "SSD") != "SSD":
        raise fault(element, "files within a component are not supported; put it in the folder of the SSD")
    if element.get("source"):
        file = document.archive.resolve(element, document.file)
        return parse(document.archive.read(file), f"{document.archive.where}: {file}", root)
    for one in _inline(element, root):
        check_root(one, root)
        return one
    raise fault(element, f"it has neither a source nor a {root} within")


def _inline(element: Element, root: str) -> Iterator[Element]:
    yield from below(element, root)
    yield from below(element, "ParameterValues", root)
