"""The zip archive and the files in it that describe the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath
from xml.etree import ElementTree

from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.registry import check
from linkwork.fmu.check.report import Finding, NotApplicable, error, note, warning

_ICONS = "terminalsAndIcons/terminalsAndIcons.xml"


@check("archive", "safe file names, each once, and modelDescription.xml at the top", essential=True)
def archive(fmu: Fmu) -> Iterator[Finding]:
    """Look at the names in the archive."""
    for name in fmu.written_names:
        parts = PurePosixPath(name).parts
        if "\\" in name:
            yield error(f"the file name {name!r} has a backslash; write '/'")
        if name.startswith("/") or name[1:2] == ":" or ".." in parts:
            yield error(f"the file name {name!r} leads out of the archive; write names relative to its top")
    for name, times in Counter(fmu.names).items():
        if times > 1:
            yield error(f"the archive holds {name!r} {times} times; write it once")
    if not fmu.has("modelDescription.xml"):
        inner = next((name for name in fmu.names if name.endswith("/modelDescription.xml")), None)
        hint = f"; it is in {inner}: pack the content of that folder, not the folder" if inner else ""
        yield error(f"there is no modelDescription.xml at the top of the archive{hint}")


@check("schema", "FMPy's validation: XML schema, structure, names, start values", needs_fmpy=True)
def schema(fmu: Fmu) -> Iterator[Finding]:
    """Pass on the messages of FMPy."""
    from fmpy.validation import validate_fmu

    for problem in validate_fmu(str(fmu.path)):
        yield error(str(problem).strip())


@check("documentation", "documentation/index.html is where importers look for it")
def documentation(fmu: Fmu) -> Iterator[Finding]:
    """Look for the page that importers show."""
    if fmu.has("documentation/index.html"):
        return
    if any(name.startswith("documentation/") for name in fmu.names):
        yield warning("documentation/ has no index.html, the page that importers open; add it")
    else:
        yield note("there is no documentation/index.html; a page that describes the FMU helps its users")


@check("icons", "terminals name variables that exist, and their pictures are there")
def icons(fmu: Fmu) -> Iterator[Finding]:
    """Look at terminalsAndIcons."""
    if not fmu.has(_ICONS):
        raise NotApplicable(f"no {_ICONS}")
    try:
        root = fmu.xml(_ICONS)
    except ElementTree.ParseError as problem:
        yield error(f"{_ICONS} is no XML that can be read: {problem}")
        return
    names = {one.name for one in fmu.description.variables}
    names |= {alias.name for one in fmu.description.variables for alias in one.aliases}
    for member in root.iter("TerminalMemberVariable"):
        if member.get("variableName") not in names:
            yield error(f"{_ICONS} names the variable {member.get('variableName')!r}, which there is not")
    if not fmu.has("terminalsAndIcons/icon.png"):
        level = error if root.find("GraphicalRepresentation/Icon") is not None else warning
        yield level(f"{_ICONS} has no terminalsAndIcons/icon.png with it; add the picture")
    for shown in root.iter("TerminalGraphicalRepresentation"):
        picture = f"terminalsAndIcons/{shown.get('iconBaseName')}.png"
        if shown.get("iconBaseName") and not fmu.has(picture):
            yield error(f"{_ICONS} shows the picture {picture}, which is missing; add it")


@check("sources", "the list of sources names files that exist and the right model identifier")
def sources(fmu: Fmu) -> Iterator[Finding]:
    """Look at buildDescription.xml of FMI 3.0 and at SourceFiles of FMI 2.0."""
    if not any(name.startswith("sources/") for name in fmu.names):
        raise NotApplicable("it has no sources")
    if fmu.description.fmi2:
        yield from _sources2(fmu)
    else:
        yield from _sources3(fmu)


def _sources2(fmu: Fmu) -> Iterator[Finding]:
    for kind, element in fmu.description.kinds.items():
        files = [one.get("name", "") for one in element.findall("SourceFiles/File")]
        if not files:
            yield warning(f"there are sources/, but {element.tag} lists none in SourceFiles; list those to compile")
        yield from (_missing(fmu, name, f"SourceFiles of {kind}") for name in files if not fmu.has(f"sources/{name}"))


def _sources3(fmu: Fmu) -> Iterator[Finding]:
    where = "sources/buildDescription.xml"
    if not fmu.has(where):
        yield error(f"there are sources/, but no {where}; add it, so that importers can compile them")
        return
    identifiers = {element.get("modelIdentifier") for element in fmu.description.kinds.values()}
    try:
        configurations = fmu.xml(where).findall("BuildConfiguration")
    except ElementTree.ParseError as problem:
        yield error(f"{where} is no XML that can be read: {problem}")
        return
    for one in configurations:
        if one.get("modelIdentifier") not in identifiers:
            known = " or ".join(map(repr, sorted(map(str, identifiers))))
            yield error(f"{where} builds modelIdentifier {one.get('modelIdentifier')!r}, not {known}")
        for file in one.iter("SourceFile"):
            if not fmu.has(f"sources/{file.get('name')}"):
                yield _missing(fmu, file.get("name", ""), where)
        for folder in one.iter("IncludeDirectory"):
            start = f"sources/{folder.get('name', '').rstrip('/')}/"
            if folder.get("name") not in (".", "./") and not any(name.startswith(start) for name in fmu.names):
                yield error(f"{where} names the include directory {folder.get('name')!r}, which there is not")


def _missing(fmu: Fmu, name: str, where: str) -> Finding:
    return error(f"{where} names the file {name!r}, which is not in sources/; add the file or drop the name")
