"""Packages a class of controllers as an FMU of FMI 2.0 for Co-Simulation that runs it by PythonFMU.

PythonFMU's own model description knows no units and no dependencies, lists no unknowns of the initialisation, gives
types other than Real and parameters a variability that they may not have, writes numbers with one digit too few, and
quotes no names.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import io
import json
import re
import sys
import tempfile
import traceback
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import UUID
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import pythonfmu
from pythonfmu import Fmi2Slave

from linkwork._util.files import check_target, with_suffix, write_archive
from linkwork._util.keywords import checks_keywords
from linkwork._util.names import suggest
from linkwork._util.part_names import structured_name
from linkwork._util.units import base_exponents
from linkwork.controllers import adapter
from linkwork.errors import ExportError, FmuError, FmuNameError

_OURS = (adapter.FACTS, "settings.json")


@checks_keywords
def package(
    source: str | Path,
    path: str | Path | None = None,
    *,
    resources: Iterable[str | Path] = (),
    settings: Mapping[str, Any] | None = None,
    class_name: str | None = None,
    requirements: str | Path | None = None,
) -> Path:
    """Package a Python file that defines a subclass of PythonFMU's ``Fmi2Slave``, or of `Controller`, as an FMU.

    The file is run and the class made once, for the model description. The FMU holds the file, not what it imports:
    Python with the same packages is needed where it runs.

    Parameters
    ----------
    source
        The file.
    path
        Of the FMU; by default the file's name with ``.fmu`` in the present folder.
    resources
        Further files and folders: modules that the file imports, data that it reads. They are next to it in the FMU,
        in the folder ``self.resources``.
    settings
        What a `Controller` finds under `settings`: start values of its parameters, and whatever else it reads.
    class_name
        Which class, where the file has several.
    requirements
        A ``requirements.txt`` that the FMU carries, for ``pythonfmu deploy``.

    Returns
    -------
    Path
        Of the FMU. The same files give the same bytes.
    """
    source = Path(source)
    target = with_suffix(f"{source.stem}.fmu" if path is None else path, ".fmu", "an FMU", FmuError)
    files = _collect(source, [Path(one) for one in resources])
    if settings:
        files["settings.json"] = _as_json(settings)
    check_target(target, FmuError)
    extra = {} if requirements is None else {"resources/requirements.txt": _read(Path(requirements))}
    with tempfile.TemporaryDirectory(prefix="linkwork_") as staged:
        content = _content(source, files, class_name, Path(staged))
    write_archive(target, content | extra, FmuError)
    return target


def _collect(source: Path, resources: list[Path]) -> dict[str, bytes]:
    """Return the content of the file and of its resources, by name."""
    if source.suffix != ".py":
        raise FmuError(f"{source} is no Python file: name one that ends in .py")
    files = {_main(source): _read(source)}
    for one in resources:
        parts = sorted(p for p in one.rglob("*") if p.is_file()) if one.is_dir() else [one]
        for part in parts:
            name = part.relative_to(one.parent).as_posix()
            if "__pycache__" in part.parts:
                continue
            if name in files or name in _OURS:
                raise FmuError(f"resource {part}: the FMU has a file {name} already; rename it")
            files[name] = _read(part)
    return files


def _main(source: Path) -> str:
    """Return the file's name in the FMU, which hides no module: a controller may be called signal.py."""
    return f"{source.stem}.main.py"


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise FmuError(f"cannot read {path}: {error.strerror or error}") from error


def _as_json(settings: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(settings, indent=1, allow_nan=True).encode()
    except TypeError as error:
        raise FmuError(f"settings must be numbers, texts, lists and dictionaries: {error}") from error


def _content(source: Path, files: dict[str, bytes], class_name: str | None, staged: Path) -> dict[str, bytes]:
    """Return the FMU's files by path; the XML is made by running the class from a folder as in the FMU."""
    identifier = re.sub(r"\W|^(?=\d)", "_", source.stem, flags=re.ASCII)
    stamp = hashlib.sha256(repr((sorted(files.items()), class_name)).encode())
    folder = staged / f"{identifier}_{stamp.hexdigest()[:12]}"
    for name, data in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    found = _the_class(_imported(folder, source), source, class_name)
    slave, serialises = _tried(adapter.adapted(found, folder.name), staged, source)
    try:
        xml = describe(slave, identifier, f"{{{UUID(bytes=stamp.digest()[:16])}}}", serialises)
    except FmuError as error:
        raise FmuError(f"{source}: {error}") from error
    except Exception as error:  # whatever the user's getters do
        raise FmuError(f"{source}: its variables cannot be described: {_told(error, source)}") from error
    files = files | {adapter.FACTS: json.dumps({"file": _main(source), "class": found.__name__}).encode()}
    return {
        "modelDescription.xml": xml,
        **{f"binaries/{place}/{identifier}{lib.suffix}": lib.read_bytes() for place, lib in _libraries()},
        "resources/slavemodule.txt": folder.name.encode(),
        f"resources/{folder.name}.py": adapter.ENTRY.encode(),
        f"resources/{folder.name}_adapter.py": Path(adapter.__file__).read_bytes(),
        **{f"resources/{folder.name}/{name}": data for name, data in files.items()},
        **{f"resources/pythonfmu/{one.name}": one.read_bytes() for one in sorted(_pythonfmu().glob("*.py"))},
    }


def _pythonfmu() -> Path:
    return Path(pythonfmu.__file__).parent


def _libraries() -> list[tuple[str, Path]]:
    found = (_pythonfmu() / "resources" / "binaries").glob("*/*")
    return sorted((one.parent.name, one) for one in found if one.suffix in (".so", ".dll", ".dylib"))


def _imported(folder: Path, source: Path) -> ModuleType:
    try:
        return adapter.load_module(folder, _main(source))
    except SyntaxError as error:
        raise FmuError(f"{source}, line {error.lineno}: {error.msg}") from error
    except ModuleNotFoundError as error:
        raise FmuError(f"{source}: {error}{_remedy(error.name or '', source)}") from error
    except (Exception, SystemExit) as error:
        raise FmuError(f"{source} cannot be imported: {_told(error, source)}") from error
    finally:
        sys.modules.pop(adapter.module_name(folder, _main(source)), None)


def _remedy(missing: str, source: Path) -> str:
    top = missing.partition(".")[0]
    for one in (source.parent / f"{top}.py", source.parent / top):
        if one.exists():
            return f"; it is next to the file: add it as a resource, {one}"
    return "; install it, or add its file as a resource"


def _told(error: BaseException, source: Path) -> str:
    """Return what happened, and in which line of the file."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).name == _main(source)
    ]
    place = f" (line {lines[-1]})" if lines else ""
    return f"{type(error).__name__}: {error}{place}"


def _the_class(module: ModuleType, source: Path, class_name: str | None) -> type:
    """Return the class that is meant: of those defined in the file the one that no other derives from."""
    defined = {
        name: one
        for name, one in vars(module).items()
        if inspect.isclass(one) and issubclass(one, Fmi2Slave) and one.__module__ == module.__name__
    }
    if class_name is not None:
        if class_name not in defined:
            raise FmuNameError(f"{source} has no controller {class_name!r}; {suggest(class_name, defined)}")
        return defined[class_name]
    last = [
        one
        for one in defined.values()
        if not any(other is not one and issubclass(other, one) for other in defined.values())
    ]
    complete = list(dict.fromkeys(one for one in last if not inspect.isabstract(one)))
    if len(complete) == 1:
        return complete[0]
    if complete:
        names = ", ".join(one.__name__ for one in complete)
        raise FmuError(f"{source} defines several controllers, {names}: name one (class_name=, --class)")
    if last:
        missing = ", ".join(sorted(last[0].__abstractmethods__))  # type: ignore[attr-defined]
        raise FmuError(f"{source}: class {last[0].__name__} does not define {missing}")
    raise FmuError(f"{source} defines no controller: derive a class from linkwork.controllers.Controller or Fmi2Slave")


def _tried(slave_class: type, staged: Path, source: Path) -> tuple[Any, bool]:
    """Return an instance whose state was saved and restored, and whether it can be written as bytes."""
    made = f"{source}: class {slave_class.__name__}"
    try:
        with contextlib.redirect_stderr(io.StringIO()):  # the error has all details
            slave: Any = slave_class(instance_name="description", resources=str(staged))
    except Exception as error:
        raise FmuError(f"{made} cannot be made: {_told(error, source)}") from error
    unread = sorted(set(getattr(slave, "settings", {})) - set(getattr(slave, "settings_read", ())))
    if unread and hasattr(slave, "settings_read"):
        raise FmuNameError(f"{made} has no setting {unread[0]!r}; {suggest(unread[0], slave.settings_read)}")
    try:
        state = slave._get_fmu_state()
        slave._set_fmu_state(state)
    except Exception as error:
        raise FmuError(
            f"{made}: its state cannot be copied: {_told(error, source)}; "
            "name attributes that are no state in the class's tuple `unsaved`"
        ) from error
    try:
        slave._fmu_state_from_bytes(slave._fmu_state_to_bytes(state))
    except Exception:  # whatever its parts raise
        return slave, False
    return slave, True


_FIXED_DATE = "2000-01-01T00:00:00Z"  # the same files give the same FMU


def describe(slave: Any, identifier: str, token: str, serialises: bool) -> bytes:
    """Return the XML of a slave."""
    variables = list(slave.vars.values())
    if not variables:
        raise FmuError("it declares no variables: give it inputs and outputs")
    _refuse_twins([variable.name for variable in variables])
    abilities = {"canGetAndSetFMUstate": True, "canSerializeFMUstate": serialises}
    root = slave.to_xml(abilities)
    root.set("guid", token)
    root.set("generationDateAndTime", _FIXED_DATE)
    root.find("CoSimulation").set("modelIdentifier", identifier)
    for variable, node in zip(variables, root.find("ModelVariables"), strict=True):
        _correct(node, variable)
    _add_units(root, getattr(slave, "units", {}))
    _add_structure(root, getattr(slave, "dependencies", {}))
    for node in root.find("ModelVariables"):
        node.set("name", structured_name(node.get("name")))
    indent(root)
    text: bytes = tostring(root, "utf-8", xml_declaration=True)
    return text


def _refuse_twins(names: list[str]) -> None:
    twins = sorted({name for name in names if names.count(name) > 1})
    if twins:
        raise FmuError(f"two variables are named {', '.join(twins)}: give each a name of its own")


def _correct(node: Element, variable: Any) -> None:
    kind = node[0]
    variability = node.get("variability")
    if node.get("causality") in ("parameter", "calculatedParameter"):
        if variability not in ("fixed", "tunable"):
            node.set("variability", "fixed")
    elif kind.tag != "Real" and variability in (None, "continuous"):
        node.set("variability", "discrete")
    if kind.tag == "Real" and "start" in kind.attrib:
        kind.set("start", repr(float(variable.start)))


def _add_units(root: Element, units: Mapping[str, str]) -> None:
    """Declare units, after the element CoSimulation, and give them to their variables."""
    nodes = {node.get("name"): node[0] for node in root.find("ModelVariables") or ()}
    for name, unit in units.items():
        if name not in nodes or nodes[name].tag != "Real":
            raise FmuError(f"unit {unit!r} is given to {name!r}, which is no real variable: see `units` of the class")
        if unit != "1":
            nodes[name].set("unit", unit)
    used = sorted({unit for unit in units.values() if unit != "1"})
    if not used:
        return
    definitions = Element("UnitDefinitions")
    for unit in used:
        try:
            exponents = base_exponents(unit)
        except ExportError as error:
            raise FmuError(str(error)) from error
        node = SubElement(definitions, "Unit", name=unit)
        SubElement(node, "BaseUnit", {base: str(exponent) for base, exponent in exponents.items()})
    root.insert(1, definitions)


def _add_structure(root: Element, dependencies: Mapping[str, tuple[str, ...]]) -> None:
    """Write the outputs again with their dependencies, and as unknowns of the initialisation."""
    structure = root.find("ModelStructure")
    nodes = root.find("ModelVariables")
    assert structure is not None
    assert nodes is not None
    structure.clear()
    index = {node.get("name"): str(i) for i, node in enumerate(nodes, start=1)}
    parameters = [index[node.get("name")] for node in nodes if node.get("causality") == "parameter"]
    outputs = [node for node in nodes if node.get("causality") == "output"]
    initial = [node for node in outputs if node.get("initial") != "exact"]
    for part, listed in (("Outputs", outputs), ("InitialUnknowns", initial)):
        if not listed:
            continue
        group = SubElement(structure, part)
        for node in listed:
            name = node.get("name", "")
            unknown = SubElement(group, "Unknown", index=index[name])
            if name in dependencies:
                strangers = [one for one in dependencies[name] if one not in index]
                if strangers:
                    raise FmuError(f"output {name!r} depends on {strangers[0]!r}, which is no variable")
                known = [index[one] for one in dependencies[name]] + parameters * (part == "InitialUnknowns")
                unknown.set("dependencies", " ".join(sorted(known, key=int)))
