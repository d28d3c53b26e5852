"""FMUs on disk, unpacked, and their instances."""

import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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

    def reference(self, name: str) -> int:
        assert self.system is not None
        return next(v.reference for v in self.system.variables if v.name == name)

    def references(self, *kinds: str) -> list[int]:
        assert self.system is not None
        return [v.reference for v in self.system.variables if v.kind in kinds]


def unpack(path: Path) -> Path:
    folder = path.with_suffix("")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    return folder
