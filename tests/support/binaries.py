"""What shared libraries of Linux, Windows and macOS export, import and need, by LIEF."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Linkage:
    """Names of functions offered and asked for, of libraries needed, and the oldest system that has all of it.

    `oldest` is the newest version of glibc that a library of Linux asks for, and the deployment target of macOS.
    """

    offers: set[str]
    imports: set[str]
    needs: set[str]
    oldest: tuple[int, ...] = ()


def linkage(path: Path) -> Linkage:
    """Read a library of any platform."""
    lief = pytest.importorskip("lief", reason="needs the Python package lief")
    binary = lief.parse(str(path))
    if binary is None:
        raise ValueError(f"{path} is no library")
    return {lief.ELF.Binary: _of_linux, lief.PE.Binary: _of_windows, lief.MachO.Binary: _of_macos}[type(binary)](binary)


def _of_linux(binary) -> Linkage:
    offers = {symbol.name for symbol in binary.exported_symbols}
    versions = [one.name for needed in binary.symbols_version_requirement for one in needed.get_auxiliary_symbols()]
    numbers = [re.fullmatch(r"GLIBC_([\d.]+)", version) for version in versions]
    newest = max((tuple(map(int, found[1].split("."))) for found in numbers if found), default=())
    imports = {symbol.name for symbol in binary.dynamic_symbols if symbol.shndx == 0 and symbol.name}
    return Linkage(offers, imports, set(binary.libraries), newest)


def _of_windows(binary) -> Linkage:
    offers = {entry.name for entry in binary.get_export().entries}
    imports = {entry.name for library in binary.imports for entry in library.entries}
    return Linkage(offers, imports, {library.name.lower() for library in binary.imports})


def _of_macos(binary) -> Linkage:
    names = {symbol.name.removeprefix("_") for symbol in binary.exported_symbols}
    imports = {symbol.name.removeprefix("_") for symbol in binary.imported_symbols}
    needs = {library.name for library in binary.libraries} - {_install_name(binary)}
    oldest = tuple(binary.build_version.minos)[:2]
    return Linkage(names - {"_mh_dylib_header", "__dso_handle"}, imports, needs, oldest)  # the linker's own


def _install_name(binary) -> str | None:
    found = [command.name for command in binary.commands if command.command.name == "ID_DYLIB"]
    return found[0] if found else None
