"""Shapes of links with their entries in the report, and the mesh files that a robot's file names.

What is wrong with a shape leaves it out and is no error: the motion does not depend on it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from linkwork._util.checks import shortened
from linkwork.errors import MechanismError
from linkwork.formats.report import Report
from linkwork.mechanism.shapes import MESH_SUFFIXES, Shape

REMEDY = "copy it there, or give root=, the folder (--root) that holds both"
CATALOGUES = ("package://", "model://")  # both name a folder, which others search for
_ROOTS = ("package.xml", "model.config")  # at the top of the folder of a package
_LEVELS = 4  # of folders above the file that may be that of its package

TRANSPARENT = "it is transparent"
TEXTURE = "textures are not shown, only colours"


class MeshRefusedError(MechanismError):
    """Why a mesh is not shown, and the name of its file."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text)
        self.name = name


class MeshFiles:
    """Finds the files of meshes: in the folder of the robot's file, or in that of the package around it.

    Parameters
    ----------
    path
        The robot's file.
    root
        A folder around it in which they may lie as well.
    """

    def __init__(self, path: Path, root: Path | None = None) -> None:
        self.folder = path.absolute().parent
        self._root = self.folder if root is None else root

    def find(
        self,
        text: str,  # A path or URI as the file has it
        folder: Path | None = None,  # of the file that names it, an included one; None: that of the robot's file
    ) -> str:
        """Return the path of a mesh, relative to the folder of the robot's file."""
        given = text.strip()
        catalogue = next((start for start in CATALOGUES if given.startswith(start)), "")
        name = Path(given.replace("\\", "/")).name
        if Path(name).suffix.lower() not in MESH_SUFFIXES:
            raise MeshRefusedError(f"meshes are read from files {', '.join(MESH_SUFFIXES)}", given)
        if catalogue:
            places = self._in_catalogue(given[len(catalogue) :].strip("/"))
        elif re.match(r"[\w+.-]+://", given) and not given.startswith("file://"):
            raise MeshRefusedError("nothing is loaded from the network: download it, and name the file", given)
        else:
            places = [(folder or self.folder) / given.removeprefix("file://")]
        found = next((place for place in places if self._is_file(place)), None)
        if found is None:
            raise MeshRefusedError("there is no such file", given)
        allowed = (self.folder.resolve(), self._root.resolve(), *self._packages())
        real = found.resolve()
        if not any(real.is_relative_to(one) for one in allowed):
            raise MeshRefusedError(f"it is outside of the folder of the file and of its package: {REMEDY}", given)
        return Path(os.path.relpath(real, self.folder.resolve())).as_posix()

    def _in_catalogue(self, text: str) -> list[Path]:
        """Return where a file of a package may be: in a folder next to the file, or in one around it."""
        package, _, rest = text.partition("/")
        around = [folder for folder in self._around() if folder.name == package]
        return [self.folder / package / rest, *(folder / rest for folder in around)]

    def _around(self) -> list[Path]:
        resolved = self.folder.resolve()
        return [resolved, *resolved.parents][:_LEVELS]

    def _packages(self) -> list[Path]:
        """Return the folders of the package in which the file is."""
        return [folder for folder in self._around() if any((folder / name).is_file() for name in _ROOTS)][:1]

    @staticmethod
    def _is_file(path: Path) -> bool:
        try:
            return path.is_file()
        except (OSError, ValueError):  # a name that is too long or holds a NUL
            return False


def add_shape(shapes: list[Shape], report: Report, element: str, made: Callable[[], Shape], text: str = "") -> None:
    """Add a shape and report it; one that cannot be made is left out.

    Parameters
    ----------
    shapes
        Those of the link.
    report
        Of the file.
    element
        What the report calls it.
    made
        Returns the shape, or raises `MechanismError`.
    text
        More on a shape that is taken.
    """
    try:
        shape = made()
    except MeshRefusedError as error:
        report.left_out(f"{element} > mesh {shortened(error.name)}", str(error))
        return
    except MechanismError as error:
        report.left_out(element, str(error))
        return
    shapes.append(shape)
    report.taken(element, f"{shape.type_name}{text}")


def colour_of(red: float, green: float, blue: float, alpha: float = 1.0) -> str:
    """Return a colour as "#rrggbb"; one that cannot be seen is refused.

    >>> colour_of(1.0, 0.5, 0.0)
    '#ff8000'
    """
    if not alpha > 0.0:
        raise MechanismError(TRANSPARENT)
    return "#" + "".join(f"{round(255 * min(1.0, max(0.0, part))):02x}" for part in (red, green, blue))


def parts_of(colour: str) -> tuple[float, float, float]:
    """Return red, green and blue of "#rrggbb", from 0 to 1.

    >>> parts_of("#ff0033")
    (1.0, 0.0, 0.2)
    """
    red, green, blue = (int(colour[k : k + 2], 16) / 255.0 for k in (1, 3, 5))
    return red, green, blue
