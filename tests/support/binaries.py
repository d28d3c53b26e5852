"""Symbols that shared libraries of Windows and macOS export and import, from their bytes; readelf does Linux."""

import re
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Linkage:
    """Names of functions offered, of libraries needed, and the newest glibc asked for."""

    offers: set[str]
    needs: set[str]
    glibc: tuple[int, ...] = ()


def linkage(path: Path, readelf: str) -> Linkage:
    """Read a library of any platform."""
    data = path.read_bytes()
    if data.startswith(b"\x7fELF"):
        return _of_linux(path, readelf)
    return _of_windows(data) if data.startswith(b"MZ") else _of_macos(data)


def _of_linux(path: Path, readelf: str) -> Linkage:
    command = [readelf, "--wide", "--dynamic", "--dyn-syms", "--version-info", str(path)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    offers = set(re.findall(r"(?:GLOBAL|WEAK)\s+DEFAULT\s+\d+ (\w+)", text))
    versions = re.findall(r"Name: GLIBC_([\d.]+)", text)
    newest = max(tuple(map(int, version.split("."))) for version in versions)
    return Linkage(offers, set(re.findall(r"NEEDED.*\[(.*)\]", text)), newest)


def _string(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode()


def _of_windows(data: bytes) -> Linkage:
    """By the PE format: header, optional header with its directories, sections that map addresses to the file."""
    (header,) = struct.unpack_from("<I", data, 0x3C)
    n_sections, size = struct.unpack_from("<H12xH", data, header + 6)
    optional = header + 24
    sections = [struct.unpack_from("<8xIIII", data, optional + size + 40 * i) for i in range(n_sections)]

    def at(address: int) -> int:
        return next(raw + address - start for n, start, _, raw in sections if start <= address < start + n)

    exports, _, imports, _ = struct.unpack_from("<IIII", data, optional + 112)
    count, names = struct.unpack_from("<I4xI", data, at(exports) + 24)
    addresses = struct.unpack_from(f"<{count}I", data, at(names))
    needs, row = set(), at(imports)
    while name := struct.unpack_from("<12xI", data, row)[0]:
        needs.add(_string(data, at(name)).lower())
        row += 20
    return Linkage({_string(data, at(address)) for address in addresses}, needs)


_SYMBOLS, _LIBRARY = 0x2, 0xC


def _of_macos(data: bytes) -> Linkage:
    """By the Mach-O format: load commands, of which one leads to the symbols."""
    (count,) = struct.unpack_from("<I", data, 16)
    offers, needs, place = set(), set(), 32
    for _ in range(count):
        command, size = struct.unpack_from("<II", data, place)
        if command == _LIBRARY:
            needs.add(_string(data, place + struct.unpack_from("<I", data, place + 8)[0]))
        if command == _SYMBOLS:
            symbols, n, strings = struct.unpack_from("<III", data, place + 8)
            for i in range(n):
                name, kind, section = struct.unpack_from("<IBB", data, symbols + 16 * i)
                # External, not for this library alone, and defined here.
                if kind & 0x11 == 0x01 and section:
                    offers.add(_string(data, strings + name).removeprefix("_"))
        place += size
    return Linkage(offers - {"_mh_dylib_header", "__dso_handle"}, needs)  # the linker's own
