"""What a shared library of Linux exports and needs, read from its file (System V gABI: sections, .dynsym, .dynamic)."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

MACHINES = {3: "x86", 20: "ppc32", 21: "ppc64", 40: "aarch32", 62: "x86_64", 183: "aarch64", 243: "riscv64"}
_STRINGS, _DYNAMIC, _SYMBOLS, _NEEDED_VERSIONS = 3, 6, 11, 0x6FFFFFFE
_NEEDED = 1


@dataclass
class Library:
    """A shared library: its machine, the functions it exports, the libraries and the versions of symbols it needs."""

    machine: str
    exports: set[str] = field(default_factory=set)
    needs: list[str] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)

    @property
    def glibc(self) -> tuple[int, ...] | None:
        """The newest version of glibc that it asks for."""
        found = [re.fullmatch(r"GLIBC_(\d+(?:\.\d+)*)", one) for one in self.versions]
        return max((tuple(map(int, one[1].split("."))) for one in found if one), default=None)


@dataclass
class _Section:
    kind: int
    data: bytes
    link: int


def read_elf(path: Path) -> Library:
    """Read a shared library."""
    data = path.read_bytes()
    if data[:4] != b"\x7fELF":
        raise ValueError("it is no ELF file")
    try:
        return _read(data)
    except (struct.error, IndexError, ValueError) as problem:
        raise ValueError(f"its tables are damaged ({problem})") from problem


def _read(data: bytes) -> Library:
    wide, order = data[4] == 2, "<" if data[5] == 1 else ">"
    sections = list(_sections(data, wide, order))
    (machine,) = struct.unpack_from(f"{order}H", data, 18)
    library = Library(MACHINES.get(machine, f"machine {machine}"))
    for section in sections:
        strings = sections[section.link].data if section.link < len(sections) else b""
        if section.kind == _SYMBOLS:
            library.exports |= set(_exports(section.data, strings, wide, order))
        elif section.kind == _DYNAMIC:
            pairs = struct.iter_unpack(f"{order}{'qQ' if wide else 'iI'}", section.data)
            library.needs += [_text(strings, value) for tag, value in pairs if tag == _NEEDED]
        elif section.kind == _NEEDED_VERSIONS:
            library.versions += _versions(section.data, strings, order)
    return library


def _sections(data: bytes, wide: bool, order: str) -> Iterator[_Section]:
    (start,) = struct.unpack_from(f"{order}{'Q' if wide else 'I'}", data, 40 if wide else 32)
    size, count = struct.unpack_from(f"{order}HH", data, 58 if wide else 46)
    for i in range(count if start else 0):
        layout = "IIQQQQII" if wide else "IIIIIIII"
        _, kind, _, _, offset, length, link, _ = struct.unpack_from(order + layout, data, start + i * size)
        yield _Section(kind, data[offset : offset + length] if kind != 8 else b"", link)


def _exports(table: bytes, strings: bytes, wide: bool, order: str) -> Iterator[str]:
    for entry in struct.iter_unpack(f"{order}{'IBBHQQ' if wide else 'IIIBBH'}", table):
        name, (info, section) = entry[0], (entry[1], entry[3]) if wide else (entry[3], entry[5])
        # Defined here, global or weak, and data or a function: not what the linker marks.
        if section != 0 and info >> 4 in (1, 2) and info & 15 in (1, 2, 10):
            yield _text(strings, name)


def _versions(table: bytes, strings: bytes, order: str) -> Iterator[str]:
    at = 0
    while at < len(table):
        _, count, _, first, following = struct.unpack_from(f"{order}HHIII", table, at)
        inner = at + first
        for _ in range(count):
            _, _, _, name, step = struct.unpack_from(f"{order}IHHII", table, inner)
            yield _text(strings, name)
            inner += step
        if following == 0:
            return
        at += following


def _text(strings: bytes, offset: int) -> str:
    return strings[offset : strings.index(b"\0", offset)].decode(errors="replace")
