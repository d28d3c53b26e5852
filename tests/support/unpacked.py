"""FMUs on disk, unpacked, and their instances."""

import zipfile
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import linkwork as lw
from linkwork.fmu.export.instantiation_token import instantiation_token
from support.fmi_calls import Instance


@dataclass
class Unpacked:
    """An FMU on disk, unpacked; `new` gives instances that are freed at the end of the test."""

    path: Path
    folder: Path
    version: str
    system: lw.Model | None = None
    instances: list[Instance] = field(default_factory=list)

    @property
    def library(self) -> Path:
        return next(self.folder.glob("binaries/*/*.so"))

    @property
    def resources(self) -> str:
        folder = self.folder / "resources"
        return folder.as_uri() if self.version == "2.0" else f"{folder}/"

    @property
    def token(self) -> str:
        return instantiation_token(*(self.resource(name) for name in ("model.lwm", "interface.lwi")))

    def resource(self, name: str) -> bytes:
        return (self.folder / "resources" / name).read_bytes()

    @property
    def xml(self) -> str:
        return (self.folder / "modelDescription.xml").read_text(encoding="utf-8")

    def new(self, kind: str, **options: Any) -> Instance:
        instance = Instance(self.library, self.version, kind, self.resources, self.token, **options)
        assert instance.handle, instance.messages
        self.instances.append(instance)
        return instance

    @cached_property
    def reference_of(self) -> dict[str, int]:
        """Value references by name: of the variables in the XML, and in FMI 2.0 of all variables of the mechanism."""
        listed = ElementTree.fromstring(self.xml).find("ModelVariables")
        assert listed is not None
        found = {v.get("name", ""): int(v.get("valueReference", "")) for v in listed}
        if self.version == "2.0":
            assert self.system is not None
            found |= {v.name: v.reference for v in self.system.variables}
        return found

    @property
    def indicators(self) -> list[int]:
        """Value references of the event indicators; the XML of FMI 2.0 has none."""
        assert self.system is not None
        if self.version == "2.0":
            first = self.system.sizes.reals
            return list(range(first, first + self.system.sizes.event_indicators))
        listed = ElementTree.fromstring(self.xml).iterfind("ModelStructure/EventIndicator")
        return [int(one.get("valueReference", "")) for one in listed]

    def reference(self, name: str) -> int:
        return self.reference_of[name]

    def references(self, *kinds: str) -> list[int]:
        """Those of the kinds that the FMU has, in the order of the block: that of the continuous states."""
        assert self.system is not None
        known = self.reference_of
        found = sorted((v.reference, v.name) for v in self.system.variables if v.kind in kinds and v.name in known)
        return [known[name] for _, name in found]


def unpack(path: Path) -> Path:
    folder = path.with_suffix("")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    return folder
