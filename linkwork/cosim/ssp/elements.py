"""XML of SSP 1.0 and 2.0: its names, how foreign files are parsed safely, and errors that name file and element.

Both versions have the same namespaces; the attribute `version` of the root is the difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from linkwork._util.names import suggest
from linkwork.errors import CosimError

try:
    from lxml import etree
except ImportError as missing:
    raise CosimError("SSP archives need FMPy: pip install 'linkwork[cosim]'") from missing

Element = Any  # of lxml, which has no types

SPACES = {
    "ssd": "http://ssp-standard.org/SSP1/SystemStructureDescription",
    "ssc": "http://ssp-standard.org/SSP1/SystemStructureCommon",
    "ssv": "http://ssp-standard.org/SSP1/SystemStructureParameterValues",
    "ssm": "http://ssp-standard.org/SSP1/SystemStructureParameterMapping",
    "ssb": "http://ssp-standard.org/SSP1/SystemStructureSignalDictionary",
    "linkwork": "urn:linkwork:ssp",
    "oms": "https://raw.githubusercontent.com/OpenModelica/OMSimulator/master/schema/oms.xsd",
}
ANNOTATION = "org.linkwork.ssp"  # what SSP has no place for
VERSIONS = ("1.0", "2.0")
TRUTH = {"true": True, "1": True, "false": False, "0": False}

FLOATS = ("Real", "Float64", "Float32")
INTEGERS = ("Integer", *(f"{sign}Int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "U")))
TYPES = (*FLOATS, *INTEGERS, "Boolean", "String", "Enumeration", "Binary", "Clock")
TABLES = ("BooleanMappingTransformation", "IntegerMappingTransformation", "EnumerationMappingTransformation")

_ELEMENT = ("Connectors", "ElementGeometry", "ParameterBindings")
_TRANSFORMATIONS = ("LinearTransformation", *TABLES)
_ANYWHERE = ("Annotations", "MetaData", "Signature")  # their content is not read
_CHILDREN: dict[str, tuple[str, ...]] = {  # some tools put a parameter set into the binding itself
    "SystemStructureDescription": ("System", "Enumerations", "Units", "DefaultExperiment"),
    "System": (*_ELEMENT, "Elements", "Connections", "SignalDictionaries", "SystemGeometry", "GraphicalElements"),
    "Component": _ELEMENT,
    "SignalDictionaryReference": _ELEMENT,
    "Elements": ("Component", "SignalDictionaryReference", "System"),
    "Connectors": ("Connector",),
    "Connector": (*TYPES, "Dimension", "ConnectorGeometry"),
    "Connections": ("Connection",),
    "Connection": (*_TRANSFORMATIONS, "ConnectionGeometry"),
    "ParameterBindings": ("ParameterBinding",),
    "ParameterBinding": ("ParameterValues", "ParameterMapping", "ParameterSet"),
    "ParameterMapping": ("ParameterMapping", "MappingEntry"),
    "MappingEntry": _TRANSFORMATIONS,
    "ParameterSet": ("Parameters", "Enumerations", "Units"),
    "Parameters": ("Parameter",),
    "Parameter": (*TYPES, "Dimension"),
    "SignalDictionaries": ("SignalDictionary",),
    "SignalDictionary": ("SignalDictionary", "DictionaryEntry", "Enumerations", "Units"),
    "DictionaryEntry": (*TYPES, "Dimension"),
    "Enumerations": ("Enumeration",),
    "Enumeration": ("Item", "Value"),
    "Units": ("Unit",),
    "Unit": ("BaseUnit",),
}


def new(tag: str, /, **attributes: str | None) -> Element:
    """An element such as ``ssd:System``; attributes that are None are left out."""
    return add(None, tag, **attributes)


def add(parent: Element | None, tag: str, /, **attributes: str | None) -> Element:
    """The same within another one."""
    space, _, name = tag.partition(":")
    full, given = f"{{{SPACES[space]}}}{name}", {key: text for key, text in attributes.items() if text is not None}
    if parent is None:
        used = {key: SPACES[key] for key in ("ssc", "ssv", "linkwork", "oms")} | {space: SPACES[space]}
        return etree.Element(full, given, nsmap=used)
    return etree.SubElement(parent, full, given)


def annotation(parent: Element, tag: str, type: str = ANNOTATION) -> Element:
    """An element such as ``linkwork:Values`` as an annotation of `parent`; nothing but annotations may follow there."""
    group = next(below(parent, "Annotations"), None)
    if group is None:
        group = etree.SubElement(parent, f"{{{etree.QName(parent).namespace}}}Annotations")
    return add(add(group, "ssc:Annotation", type=type), tag)


def own_annotation(parent: Element) -> Element | None:
    """The element of our own that `annotation` has made, if there is one."""
    for one in below(parent, "Annotations", "Annotation"):
        if one.get("type") == ANNOTATION and len(one):
            return one[0]
    return None


def to_bytes(root: Element) -> bytes:
    """A file's content."""
    etree.cleanup_namespaces(root)
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True))


def parse(data: bytes, where: str, root: str) -> Element:
    """Parse a file whose outermost element is `root`; nothing outside of it is ever read."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        element = etree.fromstring(data, parser, base_url=where)
    except (etree.XMLSyntaxError, ValueError) as problem:
        raise CosimError(f"{where} is no complete XML: {problem}; write it again") from problem
    if element.getroottree().docinfo.internalDTD is not None:
        raise CosimError(f"{where} has a document type (DTD), which SSP does not know; remove it")
    check_root(element, root)
    return element


def check_root(element: Element, root: str) -> None:
    """See that an element is `root` of SSP 1.0 or 2.0, and has only elements that SSP knows."""
    if local(element) != root:
        raise fault(element, f"a {root} is expected here")
    version = version_of(element)
    if not version.startswith(("1.", "2.")):
        raise fault(element, f"it is of SSP {version}; export it as SSP {' or '.join(VERSIONS)}")
    _check_children(element)


def version_of(element: Element) -> str:
    """The version of SSP of the document that an element is the root of."""
    return str(element.get("version", VERSIONS[0]))


def _check_children(element: Element) -> None:
    known = _CHILDREN.get(local(element))
    if known is None:
        return
    for child in element:
        if local(child) in known:
            _check_children(child)
        elif local(child) not in _ANYWHERE:
            there = f"in <{local(element)}>"
            raise fault(child, f"SSP has no such element {there}; {suggest(local(child), known)}; correct or remove it")


def local(element: Element) -> str:
    """The name of an element without its namespace; some tools mix ``ssd`` and ``ssc`` up."""
    return str(etree.QName(element).localname)


def below(element: Element, *path: str) -> Iterator[Element]:
    """All elements at a path of local names."""
    for child in element:
        if local(child) != path[0]:
            continue
        if len(path) == 1:
            yield child
        else:
            yield from below(child, *path[1:])


def text_of(element: Element, name: str) -> str:
    """An attribute that must be there."""
    text = element.get(name)
    if text is None:
        raise fault(element, f"its attribute '{name}' is missing")
    return str(text)


def number_of(element: Element, name: str, otherwise: float | None = None) -> float:
    """An attribute that is a number."""
    if otherwise is not None and element.get(name) is None:
        return otherwise
    text = text_of(element, name)
    try:
        return float(text)
    except ValueError:
        raise fault(element, f"its attribute {name}={text!r} is no number") from None


def integer_of(element: Element, name: str) -> int:
    """An attribute that is an integer."""
    text = text_of(element, name)
    try:
        return int(text)
    except ValueError:
        raise fault(element, f"its attribute {name}={text!r} is no integer") from None


def truth_of(element: Element, name: str, otherwise: bool | None = None) -> bool:
    """An attribute that is true or false."""
    if otherwise is not None and element.get(name) is None:
        return otherwise
    text = text_of(element, name)
    if text not in TRUTH:
        raise fault(element, f"its attribute {name}={text!r} is neither true nor false")
    return TRUTH[text]


def fault(element: Element, text: str) -> CosimError:
    """An error with its file and element."""
    return CosimError(f"{place_of(element)}: {text}")


def place_of(element: Element) -> str:
    """File, line and name of an element."""
    parent = element.getparent()
    called = _called(element)
    if not called and parent is not None and local(parent) in ("Parameter", "Connector"):
        called = f" of <{local(parent)}>{_called(parent)}"
    return f"{element.getroottree().docinfo.URL}, line {element.sourceline}: <{local(element)}>{called}"


def _called(element: Element) -> str:
    name = element.get("name")
    return f" {name!r}" if name else ""
