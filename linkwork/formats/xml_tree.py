"""XML files of robots: parsed safely, with line numbers, and with a note of what was read.

Entities, document types and endless nesting are refused. An element knows which of its attributes and children a reader
asked for, so that the rest can be reported instead of being dropped in silence.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar, overload
from xml.parsers import expat

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray, shortened
from linkwork._util.names import quoted
from linkwork.errors import MechanismError
from linkwork.formats.report import Report

MAX_BYTES = 32_000_000
MAX_DEPTH = 200
MAX_ELEMENTS = 300_000

_BLANKS = b" \t\r\n"
_REQUIRED = object()
_Default = TypeVar("_Default")


class Element:
    """An element of an XML file."""

    __slots__ = ("_asked", "_asked_text", "_attributes", "_children", "_text", "line", "path", "tag")

    def __init__(self, tag: str, attributes: dict[str, str], path: str, line: int) -> None:
        self.tag = tag
        self.path = path
        self.line = line
        self._attributes = attributes
        self._children: list[Element] = []
        self._text: list[str] = []
        self._asked: set[str] = set()  # "@name" of attributes, "tag" of children
        self._asked_text = False

    @property
    def label(self) -> str:
        """What reports call it: its tag, and its name if it has one."""
        name = self._attributes.get("name")
        return self.tag if name is None else f"{self.tag} {name!r}"

    @property
    def at(self) -> str:
        """What errors call it, with file and line."""
        return f"{self.path}, line {self.line}: {self.label}"

    def error(self, text: str) -> MechanismError:
        """Return an error that names the element, its file and its line."""
        return MechanismError(f"{self.at}: {text}")

    # ---- attributes ----

    @property
    def attributes(self) -> dict[str, str]:
        """All attributes, without a note that they were read: for checks before another parser reads the file."""
        return dict(self._attributes)

    def has(self, name: str) -> bool:
        """Return whether there is an attribute of this name."""
        return name in self._attributes

    @overload
    def attribute(self, name: str) -> str: ...
    @overload
    def attribute(self, name: str, default: _Default) -> str | _Default: ...
    def attribute(self, name: str, default: object = _REQUIRED) -> object:
        """Return an attribute without blanks at its ends; without a default it must be there."""
        self._asked.add(f"@{name}")
        value = self._attributes.get(name)
        if value is not None:
            return value.strip()
        if default is _REQUIRED:
            raise self.error(f"the attribute {name!r} is missing")
        return default

    def number(self, name: str, default: float | None = None) -> float:
        """Return an attribute as a finite number; without a default it must be there."""
        text = self.attribute(name) if default is None else self.attribute(name, None)
        return default if text is None and default is not None else self._numbers(str(text), 1, name)[0]

    def vector(self, name: str, size: int, default: ArrayLike | None = None) -> FloatArray:
        """Return an attribute as finite numbers (size,); without a default it must be there."""
        text = self.attribute(name) if default is None else self.attribute(name, None)
        return np.array(default if text is None else self._numbers(text, size, name), dtype=np.float64)

    # ---- content ----

    def text(self) -> str:
        """Return the text between its tags, without blanks at the ends."""
        self._asked_text = True
        return "".join(self._text).strip()

    def text_number(self) -> float:
        """Return its text as a finite number."""
        return self._numbers(self.text(), 1, "its text")[0]

    def text_vector(self, size: int) -> FloatArray:
        """Return its text as finite numbers (size,)."""
        return np.array(self._numbers(self.text(), size, "its text"))

    def children(self, *tags: str) -> list[Element]:
        """Return its children with one of these tags, all without any, in the order of the file."""
        if not tags:
            self._asked.update(child.tag for child in self._children)
            return list(self._children)
        self._asked.update(tags)
        return [child for child in self._children if child.tag in tags]

    def child(self, tag: str) -> Element | None:
        """Return its child with this tag, None without one; two are refused."""
        found = self.children(tag)
        if len(found) > 1:
            raise found[1].error(f"{self.label} has two elements {tag!r}: leave one of them")
        return found[0] if found else None

    def required(self, tag: str) -> Element:
        """Return its child with this tag, which must be there."""
        found = self.child(tag)
        if found is None:
            raise self.error(f"the element {tag!r} is missing")
        return found

    def skip(self) -> None:
        """Take it as read with all its content, which the reader reports itself."""
        self._asked_text = True
        self._asked.update(f"@{name}" for name in self._attributes)
        for child in self.children():
            child.skip()

    def walk(self) -> Iterator[Element]:
        """Yield it and all elements within, which does not count as reading them."""
        queue = [self]
        while queue:
            element = queue.pop()
            yield element
            queue.extend(reversed(element._children))

    # ---- what was not read ----

    def report_unread(self, report: Report, within: str = "") -> None:
        """Add to a report what no reader asked for, as left out; the same of an element's children only once."""
        here = f"{within} > {self.label}" if within else self.label
        for name in self._attributes:
            if f"@{name}" not in self._asked:
                report.left_out(f"{here} > attribute {name!r}", "Linkwork does not know it")
        if not self._asked_text and "".join(self._text).strip():
            report.left_out(f"{here} > text {shortened(''.join(self._text).strip())}", "Linkwork does not know it")
        unknown: dict[str, int] = {}
        for child in self._children:
            if child.tag in self._asked:
                child.report_unread(report, here if within or self.has("name") else "")
            else:
                unknown[child.label] = unknown.get(child.label, 0) + 1
        for label, count in unknown.items():
            times = f" ({count} times)" if count > 1 else ""
            report.left_out(f"{here} > {label}{times}", "Linkwork does not know this element")

    def __iter__(self) -> Iterator[Element]:
        return iter(self.children())

    def _numbers(self, text: str, size: int, what: str) -> list[float]:
        try:
            values = [float(word) for word in text.split()]
        except ValueError:
            values = []
        if len(values) != size or not all(map(math.isfinite, values)):
            wanted = "a finite number" if size == 1 else f"{size} finite numbers"
            raise self.error(f"{what} must be {wanted}, not {shortened(text)}")
        return values


def read_xml(
    path: Path,  # the file, at most 32 MB
    *roots: str,  # the tags that its root may have
) -> Element:
    """Read an XML file."""
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise MechanismError(f"{path}: {size / 1e6:.0f} MB; at most {MAX_BYTES / 1e6:.0f} MB are read")
    return parse_xml(path.read_bytes(), str(path), *roots)


def parse_xml(data: bytes, path: str, *roots: str) -> Element:
    """Return the root of an XML text; see `read_xml`. `path` names it in messages."""
    builder = _TreeBuilder(path)
    begin = len(data) - len(data.lstrip(_BLANKS))  # files have blank lines before the declaration
    try:
        builder.parser.Parse(data[begin:], True)
    except MechanismError:
        raise
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code)
        raise MechanismError(f"{path}, line {error.lineno}: no well-formed XML: {what}") from None
    except (LookupError, ValueError) as error:  # an unknown encoding
        raise MechanismError(f"{path}: no well-formed XML: {error}") from None
    root = builder.root
    if root is None:
        raise MechanismError(f"{path}: no well-formed XML: it has no element")
    if roots and root.tag not in roots:
        raise root.error(f"the root must be {quoted(list(roots))}")
    return root


class _TreeBuilder:
    """Builds the tree of elements from the events of the parser."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.root: Element | None = None
        self._open: list[Element] = []
        self._count = 0
        self.parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._data
        parser.StartDoctypeDeclHandler = self._refuse
        parser.EntityDeclHandler = self._refuse

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._count += 1
        line = self.parser.CurrentLineNumber
        if len(self._open) >= MAX_DEPTH or self._count > MAX_ELEMENTS:
            limit = f"{MAX_DEPTH} levels" if len(self._open) >= MAX_DEPTH else f"{MAX_ELEMENTS} elements"
            raise MechanismError(f"{self.path}, line {line}: more than {limit}, which no robot needs")
        element = Element(tag, attributes, self.path, line)
        if self._open:
            self._open[-1]._children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def _end(self, tag: str) -> None:
        self._open.pop()

    def _data(self, text: str) -> None:
        if self._open and not text.isspace():
            self._open[-1]._text.append(text)

    def _refuse(self, *declaration: object) -> None:
        raise MechanismError(
            f"{self.path}, line {self.parser.CurrentLineNumber}: document types and entities are refused, as they can "
            "read other files and fill the memory: write the text in full"
        )
