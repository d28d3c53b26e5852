"""The zip archives that SSP files are."""

from __future__ import annotations

import zipfile
from io import BytesIO
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from linkwork._util.files import ZIP_ERRORS
from linkwork._util.names import suggest
from linkwork.cosim.ssp.elements import Element, fault
from linkwork.errors import CosimError


class Archive:
    """An archive that is read; what others need as files is unpacked into `folder`."""

    def __init__(self, where: str, file: Path | BytesIO, folder: Path) -> None:
        self.where = where
        self.folder = folder
        try:
            self._zip = zipfile.ZipFile(file)
        except (OSError, zipfile.BadZipFile) as problem:
            text = problem.strerror if isinstance(problem, OSError) else problem
            raise CosimError(f"{where} cannot be read: {text or problem}; an .ssp is a zip archive") from problem
        self.names = [name for name in self._zip.namelist() if not name.endswith("/")]
        for name in self._zip.namelist():
            if _leaves(name):
                self._zip.close()
                raise CosimError(f"{where} has a file {name!r} that lies outside of the archive; do not trust it")

    def close(self) -> None:
        """Close the file."""
        self._zip.close()

    def read(self, name: str) -> bytes:
        """The content of a file."""
        if name not in self.names:
            raise CosimError(f"{self.where} has no file {name!r}; {suggest(name, self.names)}")
        try:
            return self._zip.read(name)
        except (OSError, *ZIP_ERRORS) as problem:
            raise CosimError(f"{self.where}: the file {name!r} cannot be read: {problem}; get it again") from problem

    def unpack(self, name: str) -> Path:
        """The path of a file, unpacked."""
        path = self.folder / name
        if not path.exists():
            data = self.read(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return path

    def resolve(self, element: Element, base: str) -> str:
        """The file that an element names by its attribute `source`, without fragment, relative to the file `base`."""
        source = element.get("source").partition("#")[0]
        for text in (source, unquote(source)):  # some tools do not escape characters outside of URIs
            name = _joined(PurePosixPath(base).parent, text)
            if name in self.names:
                return str(name)
        parts = urlsplit(source)
        if parts.scheme or parts.netloc or not parts.path or name is None or source.startswith("/"):
            raise fault(element, f"its source {source!r} is no file of this archive; put it there, under resources/")
        raise fault(element, f"its source {source!r} is missing in the archive; {suggest(name, self.names)}")


def _leaves(name: str) -> bool:
    return name.startswith("/") or "\\" in name or ":" in name.split("/")[0] or ".." in name.split("/")


def _joined(folder: PurePosixPath, source: str) -> str | None:
    """A path in an archive; None if it leaves the archive."""
    parts: list[str] = []
    for part in [*folder.parts, *source.split("/")]:
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
