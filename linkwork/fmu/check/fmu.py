"""An FMU as checks see it: the archive, its unpacked files, and its model description."""

from __future__ import annotations

import os
import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from xml.etree import ElementTree

from linkwork._util.files import ZIP_ERRORS
from linkwork.errors import FmuError
from linkwork.fmu.description import FILE, Description

LARGEST = 4 << 30  # bytes that are unpacked at most


@dataclass
class Fmu:
    """An FMU: where its archive is and where its files lie unpacked."""

    path: Path
    folder: Path

    @cached_property
    def written_names(self) -> list[str]:
        """The files of the archive as it names them, with repetitions; folders are left out."""
        with zipfile.ZipFile(self.path) as archive:
            return [one.orig_filename for one in archive.infolist() if not one.orig_filename.endswith(("/", "\\"))]

    @cached_property
    def names(self) -> list[str]:
        """The same with slashes, as importers read them that take backslashes."""
        return [_with_slashes(name) for name in self.written_names]

    @cached_property
    def root(self) -> ElementTree.Element:
        """The model description."""
        return ElementTree.parse(self.folder / FILE).getroot()

    @cached_property
    def description(self) -> Description:
        """The content of the model description."""
        return Description(self.root)

    def has(self, name: str) -> bool:
        """Whether the archive has this file."""
        return name in self.names

    def xml(self, name: str) -> ElementTree.Element:
        """Another XML file of it."""
        return ElementTree.parse(self.file(name)).getroot()

    def file(self, name: str) -> Path:
        """Where a file of the archive lies."""
        return self.folder / _on_disk(name)


def _with_slashes(name: str) -> str:
    return name.replace("\\", "/")


def _on_disk(name: str) -> str:
    """A name as this process writes it: in UTF-8, also where its locale has ASCII alone."""
    return os.fsdecode(name.encode("utf-8", "surrogateescape"))


def unpack(path: Path, folder: Path) -> Fmu:
    """Unpack an archive into a folder, without following names that lead out of it."""
    if not path.is_file():
        raise FmuError(f"there is no file {path}")
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(one.file_size for one in archive.infolist()) > LARGEST:
                raise FmuError(f"{path} would unpack to more than {LARGEST >> 30} GiB")
            for one in archive.infolist():
                one.filename = _on_disk(_with_slashes(one.filename))
                archive.extract(one, folder)  # drops drives, leading slashes and parent folders
    except (OSError, *ZIP_ERRORS) as problem:
        if isinstance(problem, OSError) and problem.errno is not None:  # of the disk; bzip2 gives no number
            raise
        raise FmuError(f"{path} is no zip archive that can be read ({problem}); write the FMU again") from problem
    return Fmu(path, folder)
