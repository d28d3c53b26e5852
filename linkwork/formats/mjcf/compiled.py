"""The compiled model of an MJCF file, without what has no part in the motion.

MuJoCo, a C library, opens the files that the XML names and makes as many elements as it asks for. Before, such files
must lie in the folder of the model, the number of elements must be bounded, and numbers must be finite.
"""

from __future__ import annotations

import math
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork._util.checks import shortened
from linkwork._util.names import quoted
from linkwork._util.optional import optional_import
from linkwork.errors import MechanismError
from linkwork.formats.mjcf.geoms import CONTACT, Look, looks_of, take_place
from linkwork.formats.report import Report
from linkwork.formats.xml_tree import MAX_ELEMENTS, Element, read_xml

if TYPE_CHECKING:
    from mujoco import MjModel, MjSpec

_IMAGES = "looks have no effect on the motion"

# What is deleted before the model is compiled: the list of the specification, the element, and why.
_DELETED = (
    ("tuples", "tuple", "data of the user"),
    ("texts", "text", "data of the user"),
    ("numerics", "numeric", "data of the user"),
    ("sensors", "sensor", "sensors have no effect on the motion; any variable of the result can be recorded"),
    ("pairs", "contact > pair", CONTACT),
    ("excludes", "contact > exclude", "there are no contacts to exclude"),
    ("skins", "skin", _IMAGES),
    ("cameras", "camera", _IMAGES),
    ("lights", "light", _IMAGES),
    ("textures", "texture", _IMAGES),
)


def compile_model(path: Path, report: Report, root: Path | None = None) -> tuple[MjModel, list[Look]]:
    """Return MuJoCo's model of a file, and its geoms; `report` gets the elements that are dropped before.

    Files that it names must lie in `root`, by default its folder.
    """
    outside = scan(path, root)
    with optional_import("MJCF files", "mujoco-core", "mjcf"):
        import mujoco

    try:
        spec = mujoco.MjSpec.from_file(str(path.resolve()))
        looks = looks_of(mujoco, spec, report)
        _delete(mujoco, spec, report)
        needed = _delete_shapes(mujoco, spec, looks, report)
        _check_inside(spec, outside, needed)
        spec.compiler.LRopt.mode = 0  # ranges of muscles, which take simulations
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            model = spec.compile()
    except MechanismError:
        raise
    except (ValueError, RuntimeError, TypeError, mujoco.FatalError, mujoco.UnexpectedError) as error:
        text = " ".join(str(error).split())
        if "opening file" in text:
            text += (
                f"; the inertia of {quoted(needed)} is that of shapes from files: put the files into the folder of the "
                "model, or give these bodies an <inertial>"
            )
        raise MechanismError(f"{path}: MuJoCo cannot compile it: {text}") from None
    for one in warned:
        report.approximated("mujoco", f"as MuJoCo compiles it with the warning: {' '.join(str(one.message).split())}")
    _check_finite(path, model)
    return model, looks


def _delete(mujoco: Any, spec: MjSpec, report: Report) -> None:
    for plural, element, why in _DELETED:
        found = list(getattr(spec, plural))
        if found:
            report.left_out(_counted(element, [one.name for one in found]), why)
        for one in found:
            spec.delete(one)
    for one in list(spec.materials):
        spec.delete(one)
    for one in [*spec.geoms, *spec.sites, *spec.tendons, *spec.flexes]:
        one.material = ""


def _delete_shapes(mujoco: Any, spec: MjSpec, looks: list[Look], report: Report) -> list[str]:
    """Delete what comes from files and has no part in an inertia; return the bodies that need theirs."""
    geom_types = mujoco.mjtGeom
    from_files = (geom_types.mjGEOM_MESH, geom_types.mjGEOM_HFIELD, geom_types.mjGEOM_SDF)
    needed: dict[str, None] = {}
    kept: set[str] = set()
    for look in looks:
        shape = look.geom
        if shape.type not in from_files and not shape.meshname:
            continue
        if _weighs(mujoco, spec, shape):
            needed[shape.parent.name] = None
            kept.add(shape.meshname)
        elif shape.type == geom_types.mjGEOM_HFIELD:
            report.left_out(f"geom {shape.name!r}" if shape.name else "geom", "height fields are not shown")
            spec.delete(shape)
            look.geom = None
        else:
            take_place(mujoco, look)
    looks[:] = [look for look in looks if look.geom is not None]
    fields = list(spec.hfields)
    if fields:
        report.left_out(_counted("hfield", [one.name for one in fields]), "height fields are not shown")
    for one in [*spec.meshes, *fields]:
        if one.name not in kept:
            spec.delete(one)
    return list(needed)


def _check_inside(spec: MjSpec, outside: dict[str, MechanismError], needed: list[str]) -> None:
    """Refuse meshes outside of the folder of the model that are left; models that are attached prefix their names."""
    for mesh in spec.meshes:
        name = mesh.name or Path(mesh.file).stem
        found = next((error for end, error in outside.items() if name.endswith(end)), None)
        if found is not None and mesh.file:
            raise MechanismError(f"{found}; or give {quoted(needed)} an <inertial>, which takes its place")


def _weighs(mujoco: Any, spec: MjSpec, shape: Any) -> bool:
    """Return whether a shape is a part of the inertia of its body."""
    compiler, body = shape.compiler or spec.compiler, shape.parent
    if body.name == "world" or shape.type == mujoco.mjtGeom.mjGEOM_HFIELD:
        return False
    rule, rules = compiler.inertiafromgeom, mujoco.mjtInertiaFromGeom
    if rule == rules.mjINERTIAFROMGEOM_FALSE or (rule == rules.mjINERTIAFROMGEOM_AUTO and body.explicitinertial):
        return False
    lowest, highest = compiler.inertiagrouprange
    weightless = shape.mass == 0.0 or (np.isnan(shape.mass) and shape.density == 0.0)
    return lowest <= shape.group <= highest and not weightless


def _counted(element: str, names: list[str]) -> str:
    """Return the label of elements that are alike."""
    if len(names) == 1:
        return f"{element} {names[0]!r}" if names[0] else element
    return f"{element} ({len(names)} times)"


def _check_finite(path: Path, model: MjModel) -> None:
    for name in ("body_mass", "body_inertia", "body_ipos", "body_pos", "body_quat", "qpos0", "eq_data", "jnt_range"):
        if not np.isfinite(getattr(model, name)).all():
            raise MechanismError(f"{path}: numbers overflow: mjModel.{name} is not finite")


MAX_FILES = 100
MAX_SIZE = 100_000  # of what an attribute makes MuJoCo allocate

_FOLDERS = ("meshdir", "texturedir", "assetdir")
_WORDS = ("name", "class", "prefix", "model", "data")  # whose attributes may read "nan"
_SIZES = re.compile(r"nuser_\w+|nkey|nuserdata|njmax|nconmax|nsample|nrow|ncol|params|actdim")
_REMEDY = (
    "copy the file into the folder of the model and name it relative to that, or give root=, the folder (--root) that "
    "holds both"
)

# MuJoCo opens their files as it compiles the model, and Linkwork drops most of them before.
_ASSETS = ("mesh", "hfield", "texture", "skin")
ALL_ASSETS = ""


def scan(path: Path, root: Path | None = None) -> dict[str, MechanismError]:
    """Check an MJCF file, and those that it includes or attaches: all must lie in `root`, by default its folder.

    Returns
    -------
    dict
        By name, assets outside of the folder of the model, which must not be compiled, with an error to raise for
        them; `ALL_ASSETS` stands for all of them that come from files.
    """
    found = _Scan(path, root)
    found.elements_of(path, ("mujoco",))
    return found.outside


class _Scan:
    """The files of one model, each read once."""

    def __init__(self, path: Path, root: Path | None) -> None:
        self.folder = path.parent
        self._root = (self.folder if root is None else root).resolve()
        self.outside: dict[str, MechanismError] = {}
        self._counts: dict[Path, int] = {}
        self._open: list[Path] = []

    def elements_of(self, path: Path, roots: tuple[str, ...] = ()) -> int:
        """Return how many elements MuJoCo makes of a file."""
        key = path.resolve()
        if key in self._open:
            raise MechanismError(f"{path}: it includes itself, directly or by other files: leave one include out")
        if key not in self._counts:
            if len(self._counts) + len(self._open) >= MAX_FILES:
                raise MechanismError(f"{path}: more than {MAX_FILES} files, which no robot needs")
            self._open.append(key)
            root = read_xml(path, *roots)
            folders = _folders(root)
            models = {child.attributes.get("name", ""): child for child in _all(root) if child.tag == "model"}
            self._counts[key] = self._count(root, path.parent, folders, models)
            self._open.pop()
        return self._counts[key]

    def _count(self, element: Element, folder: Path, folders: set[str], models: dict[str, Element]) -> int:
        self._check_numbers(element)
        files = self._files(element, folder, folders)
        total = 1
        if element.tag == "include" and files:
            total += self.elements_of(files[0])
        elif element.tag == "attach" and element.attributes.get("model", "") in models:
            model = models[element.attributes["model"]]
            attached = self._files(model, folder, folders)
            total += sum(self.elements_of(file) for file in attached[:1])
        total += sum(self._count(child, folder, folders, models) for child in element.children())
        total *= _copies(element)
        if total > MAX_ELEMENTS:
            raise element.error(f"more than {MAX_ELEMENTS} elements, which no robot needs")
        return total

    def _files(self, element: Element, folder: Path, folders: set[str]) -> list[Path]:
        """Return the files that an element names, where they are; those outside of the folder are refused."""
        found = []
        for name, value in element.attributes.items():
            if not (name.startswith("file") or name in _FOLDERS) or not value.strip():
                continue
            given = Path(value.strip())
            leaves = ".." in given.parts and not self._is_inside(self.folder / given)
            if given.is_absolute() or leaves or "\\" in value or re.match(r"[\w+.-]+:", value.strip()):
                self._refuse(element, f"{name}={shortened(value)} leaves the folder of the model: {_REMEDY}")
                continue
            kinds = ("",) if element.tag in ("include", "model") else ("", *sorted(folders))
            places = [base / kind / given for base in (self.folder, folder) for kind in kinds]
            for place in places:
                self._check_inside(element, place)
            found += [place for place in places if place.is_file()][:1] or places[:1]
        return found

    def _is_inside(self, place: Path) -> bool:
        try:
            return place.resolve().is_relative_to(self._root)
        except (OSError, RuntimeError, ValueError):  # a circle of links, a name that is too long or holds a NUL
            return False

    def _check_inside(self, element: Element, place: Path) -> None:
        if not self._is_inside(place):
            self._refuse(element, f"{shortened(str(place))} leaves the folder of the model, by a link: {_REMEDY}")

    def _refuse(self, element: Element, text: str) -> None:
        """Refuse a file, or note it if it is that of an asset."""
        error = element.error(text)
        if element.tag == "compiler":
            self.outside[ALL_ASSETS] = error
        elif element.tag in _ASSETS:
            stem = Path(element.attributes.get("file", "").replace("\\", "/")).stem
            self.outside[element.attributes.get("name") or stem or ALL_ASSETS] = error
        else:
            raise error

    @staticmethod
    def _check_numbers(element: Element) -> None:
        for name, text in element.attributes.items():
            values = [] if name in _WORDS else _numbers(text)
            if not all(map(math.isfinite, values)):
                raise element.error(f"{name} must be finite, not {shortened(text)}")
            if _SIZES.fullmatch(name) and any(abs(value) > MAX_SIZE for value in values):
                raise element.error(f"{name} must be at most {MAX_SIZE}, not {shortened(text)}")


def _numbers(text: str) -> list[float]:
    """Return the numbers of a text, none if a word of it is none."""
    try:
        return [float(word) for word in text.split()]
    except ValueError:
        return []


def _copies(element: Element) -> int:
    """Return how often the content of an element is made."""
    if element.tag not in ("replicate", "composite", "flexcomp"):
        return 1
    copies = 1.0
    for value in _numbers(element.attributes.get("count", "1")):
        copies *= max(1.0, abs(value))
    return int(min(copies, MAX_ELEMENTS + 1))


def _folders(root: Element) -> set[str]:
    """Return the folders of meshes and textures that a file states."""
    stated = (child.attributes for child in _all(root) if child.tag == "compiler")
    return {found[name].strip() for found in stated for name in _FOLDERS if name in found}


def _all(root: Element) -> list[Element]:
    found = [root]
    for element in found:
        found += element.children()
    return found
