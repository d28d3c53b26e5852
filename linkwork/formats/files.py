"""Mechanisms from files and to files of all formats: the suffix, or the root of an .xml file, chooses the format."""

from __future__ import annotations

from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Literal, NamedTuple
from xml.parsers import expat

from linkwork._util.files import atomic_path
from linkwork._util.keywords import checks_keywords
from linkwork._util.names import quoted
from linkwork.errors import MechanismError
from linkwork.formats.report import Report
from linkwork.formats.robot import Robot
from linkwork.formats.to_mechanism import to_mechanism
from linkwork.mechanism import Mechanism, json_io


class Format(NamedTuple):
    """A format: the suffixes of its files, the root of its XML, and whether its module can write it."""

    suffixes: tuple[str, ...]
    module: str
    root: str = ""
    writes: bool = False


FORMATS = {
    "URDF": Format((".urdf",), "urdf", "robot", writes=True),
    "SDF": Format((".sdf", ".world"), "sdf", "sdf"),
    "MJCF": Format((".mjcf",), "mjcf", "mujoco", writes=True),
    "USD": Format((".usda", ".usdc", ".usd"), "usd"),
}
SUFFIXES = (".json", ".xml", *(suffix for one in FORMATS.values() for suffix in one.suffixes))
WRITTEN = (".json", ".xml", *(suffix for one in FORMATS.values() if one.writes for suffix in one.suffixes))
_WRITTEN_AS_XML = "MJCF"
_HEAD = 65536  # bytes in which the root of an .xml file begins


@checks_keywords
def load(
    path: str | PathLike[str],
    *,
    base: Literal["fixed", "free"] | None = None,
    limits: bool = False,
    merge_fixed: bool = True,
    strict: bool = False,
    root: str | PathLike[str] | None = None,
) -> Mechanism:
    """Read a mechanism from a file: Linkwork's JSON, URDF, SDF, MJCF or USD.

    Loops of the file are kept as joints, and shapes for pictures; meshes are opened when they are shown. The attribute
    `report` of the mechanism is the fidelity report: what became of each element of the file. Its `names` are the names
    of the file and those in the mechanism, by kind of element.

    Parameters
    ----------
    path
        A file .json, .urdf (its closures may stand in a .yaml file of the same name), .sdf, .xml (MJCF, URDF or SDF, by
        its root), .usda, .usdc or .usd. MJCF needs the extra ``mjcf``, USD ``usd``, a .yaml file ``urdf``.
    base
        "fixed": the base of a robot is fixed to the world; "free": it is free. By default as the file says; URDF files
        do not, their bases are fixed.
    limits
        True: limits of joints become inelastic stops. By default they are left out.
    merge_fixed
        By default, links that are fixed to each other become one body. False: each link is a body.
    strict
        True: refuse a file of which something is approximated or left out.
    root
        A folder around the file: other files that it names, such as meshes in ``../meshes``, are opened if they lie in
        it. By default only those in the folder of the file are.

    Returns
    -------
    Mechanism
        The mechanism. Poses of the file are its start guess.

    Raises
    ------
    ImportError
        If the package that a format needs is missing; the text names the extra.
    """
    path = Path(path)
    name = format_of(path)
    if name is None:
        options = {"base": base, "limits": limits, "strict": strict, "merge_fixed": not merge_fixed, "root": root}
        for option, given in options.items():
            if given:
                raise MechanismError(f"{path}: {option}= is for files of robots; a .json file has it all itself")
        return Mechanism.load(path)
    robot: Robot = import_module(f"linkwork.formats.{FORMATS[name].module}").read(path, root=_folder_around(path, root))
    mech = to_mechanism(robot, base, limits, merge_fixed, strict)
    mech.folder = path.absolute().parent
    return mech


def _folder_around(path: Path, root: str | PathLike[str] | None) -> Path | None:
    if root is None:
        return None
    folder = Path(root)
    if not folder.is_dir():
        raise MechanismError(f"root: there is no folder {root}")
    if not path.resolve().is_relative_to(folder.resolve()):
        raise MechanismError(f"root: {root} does not hold {path}: name a folder around it")
    return folder


@checks_keywords
def save(mechanism: Mechanism, path: str | PathLike[str], *, strict: bool = False) -> Report:
    """Write a mechanism to a file: Linkwork's JSON, URDF (with loops as in URDF+) or MJCF.

    Parameters
    ----------
    mechanism
        The mechanism.
    path
        A file .json, .urdf, or .xml or .mjcf for MJCF; a file of that name is replaced.
    strict
        True: refuse, and write nothing, if something cannot be written exactly.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from linkwork.mechanism import Revolute, inertia
    >>> mech = Mechanism("pendulum")
    >>> mech.add_body("rod", mass=2.0, com=(0.5, 0, 0), inertia=inertia.rod(2.0, 1.0))
    >>> mech.add_joint("hinge", Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    >>> with TemporaryDirectory() as folder:
    ...     report = save(mech, Path(folder, "pendulum.urdf"))
    ...     load(Path(folder, "pendulum.urdf"))
    Mechanism('pendulum': 1 body, 1 joint, 0 forces)
    """
    path = Path(path)
    if not isinstance(mechanism, Mechanism):
        raise MechanismError(f"save writes a Mechanism, not {type(mechanism).__name__}")
    if path.suffix not in WRITTEN:
        raise MechanismError(f"{path}: mechanisms are written as {quoted(WRITTEN)}")
    name = "JSON" if path.suffix == ".json" else _WRITTEN_AS_XML if path.suffix == ".xml" else str(_by_suffix(path))
    report = Report(str(path), name)
    moved = json_io.placed_in(mechanism, path.absolute().parent)
    if name == "JSON":
        text = json_io.text_of(moved)
        report.taken(f"mechanism {mechanism.name!r}", "to the bit")
    else:
        text = import_module(f"linkwork.formats.{FORMATS[name].module}").write(moved, report)
    if strict:
        report.check_strict()
    with atomic_path(path) as part:
        part.write_text(text, encoding="utf-8")
    return report


def format_of(path: Path) -> str | None:
    """Return the format of a file by its suffix, and of an .xml file by its root; None: Linkwork's JSON."""
    if path.suffix == ".json":
        return None
    name = _by_suffix(path) or (_by_root(path) if path.suffix == ".xml" else None)
    if name is None:
        raise MechanismError(f"{path}: no format of mechanisms; files are {quoted(SUFFIXES, most=len(SUFFIXES))}")
    return name


def _by_suffix(path: Path) -> str | None:
    return next((name for name, one in FORMATS.items() if path.suffix in one.suffixes), None)


def _by_root(path: Path) -> str:
    """Return the format of an .xml file."""
    found: list[str] = []
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda tag, _: found.append(tag)
    with path.open("rb") as file:
        try:
            parser.Parse(file.read(_HEAD), False)
        except (expat.ExpatError, LookupError, ValueError) as error:
            if not found:
                raise MechanismError(f"{path}: no well-formed XML: {error}") from None
    roots = {one.root: name for name, one in FORMATS.items() if one.root}
    if not found or found[0] not in roots:
        root = f"its root is {found[0]!r}" if found else "it has no element"
        raise MechanismError(f"{path}: no format of mechanisms: {root}; roots are {quoted(roots)}")
    return roots[found[0]]
