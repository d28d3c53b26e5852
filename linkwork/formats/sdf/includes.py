"""Files that an SDF file includes: only those in its own folder, or one that is given, are opened."""

from __future__ import annotations

from pathlib import Path

from linkwork._util.checks import shortened
from linkwork.formats.visuals import REMEDY
from linkwork.formats.xml_tree import Element, read_xml

MAX_INCLUDES = 1000
_CATALOGUES = ("model://", "package://")  # both name a folder in a path of search


class Includes:
    """Reads included files.

    Parameters
    ----------
    path
        The file that is read.
    root
        In which what it includes must lie; None: the folder of the file, which may hold others.
    """

    def __init__(self, path: Path, root: Path | None = None) -> None:
        self._folder = path.resolve().parent
        self._root = self._folder if root is None else root.resolve()
        self._count = 0

    def read(self, include: Element, within: tuple[Path, ...]) -> tuple[Element, tuple[Path, ...]] | str:
        """Return the root of an included file, and the files on the way to it; or why it cannot be had.

        Parameters
        ----------
        include
            The element.
        within
            The file it is in, after those through which that one is included.
        """
        uri = include.required("uri")
        found = self._locate(uri, uri.text(), within[-1])
        if isinstance(found, str):
            return found
        if found in within:
            raise include.error(f"{found.name} includes itself: take one of the elements away")
        self._count += 1
        if self._count > MAX_INCLUDES:
            raise include.error(f"more than {MAX_INCLUDES} files are included")
        try:
            return read_xml(found, "sdf"), (*within, found)
        except OSError as error:
            raise uri.error(f"cannot be read: {error}") from None

    def _locate(self, uri: Element, text: str, file: Path) -> Path | str:
        """Return the file of a URI, or why it is not available."""
        catalogue = next((start for start in _CATALOGUES if text.startswith(start)), "")
        if catalogue:
            found = self._inside(uri, self._folder / text[len(catalogue) :].strip("/"))
            if not found.exists():
                return f"there is no folder {found.name!r} in {self._folder}: put it there to have it"
        elif text.startswith("file://"):
            found = self._inside(uri, Path(text[len("file://") :]))
        elif "://" in text:
            return "nothing is loaded from the network: download it, and include the file"
        elif not text:
            raise uri.error("it is empty: name a file")
        else:
            found = self._inside(uri, file.parent / text)
        try:
            if found.is_dir():
                found = self._inside(uri, self._in_folder(found))
            if not found.is_file():
                raise uri.error(f"there is no file {shortened(text)} in {self._folder}")
        except OSError as error:
            raise uri.error(f"cannot be read: {error}") from None
        return found

    def _inside(self, uri: Element, path: Path) -> Path:
        """Return the path without links and dots, which must lie in the folder."""
        try:
            resolved = path.resolve()
        except (OSError, ValueError, RuntimeError) as error:
            raise uri.error(f"is no path: {error}") from None
        if not resolved.is_relative_to(self._root):
            text = shortened(uri.text())
            raise uri.error(f"{text} lies outside {self._root}, and no other files are opened: {REMEDY}")
        return resolved

    @staticmethod
    def _in_folder(folder: Path) -> Path:
        """Return the SDF file of a model's folder: that of the newest version that model.config names."""
        config = folder / "model.config"
        if not config.is_file():
            return folder / "model.sdf"
        named = read_xml(config, "model").children("sdf")
        if not named:
            return folder / "model.sdf"
        return folder / max(named, key=_version).text()


def _version(sdf: Element) -> tuple[int, ...]:
    parts = sdf.attribute("version", "0").split(".")
    return tuple(int(part) if part.isdecimal() and len(part) < 4 else 0 for part in parts)
