"""The shared libraries that go into an FMU: those that the installation brings, or else compiled.

A universal (fat) file of macOS holds the libraries of several processors. It begins with a big-endian table,
`fat_header` and one `fat_arch` a library (mach-o/fat.h); the libraries follow as they are, so a code signature in them
stays valid.
"""

import struct
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from linkwork._util.names import suggest
from linkwork._util.progress import Progress, ProgressOption
from linkwork.core.sources import fmu_libraries, host_platform
from linkwork.errors import ExportError, ExportNameError
from linkwork.fmu.export.cross_compile import TARGETS, cross_library

PLATFORMS = tuple(TARGETS)
# FMI 2.0 has names of its own for some platforms; FMI 3.0 takes architecture and operating system as they are.
_FMI2_PLATFORMS = {"x86_64-linux": "linux64", "x86_64-windows": "win64", "x86_64-darwin": "darwin64"}


def library_files(
    identifier: str, fmi: str, platforms: Iterable[str] | None = None, progress: ProgressOption = None
) -> dict[str, bytes]:
    """Return the shared libraries of an FMU by path in the archive; the arguments are those of `libraries`."""
    names = _FMI2_PLATFORMS if fmi == "2.0" else {}
    found, macos = {}, []
    for platform, library in libraries(platforms, progress).items():
        data = library.read_bytes()
        found[f"binaries/{names.get(platform, platform)}/{identifier}{library.suffix}"] = data
        if platform.endswith("-darwin"):
            macos.append(data)
    if macos and fmi == "2.0":  # where importers on either processor look
        folder = f"binaries/{_FMI2_PLATFORMS['x86_64-darwin']}"
        found[f"{folder}/{identifier}.dylib"] = universal_library(macos) if len(macos) > 1 else macos[0]
    return found


def libraries(platforms: Iterable[str] | None = None, progress: ProgressOption = None) -> dict[str, Path]:
    """Return the shared library of each platform, by FMI 3 platform tuple such as ``aarch64-linux``.

    Parameters
    ----------
    platforms
        Which; None: the one on which this runs.
    progress
        Show progress on standard error; a function gets each `ProgressUpdate` instead. Default: only on a terminal.
    """
    wanted = platforms_of(platforms)
    try:
        shipped = fmu_libraries()
    except FileNotFoundError as error:
        if platforms is None:
            raise ExportError(f"no FMU without a shared library: {error}") from error
        shipped = {}
    if platforms is None and wanted[0] not in shipped:
        raise ExportError(
            f"the installation of linkwork has no FMU library for {wanted[0]}, on which it runs, but for "
            f"{', '.join(shipped)}; install it for this platform, or give platforms="
        )
    with Progress(progress) as shown:
        return {platform: shipped.get(platform) or cross_library(platform, shown) for platform in wanted}


def platforms_of(platforms: Iterable[str] | None) -> list[str]:
    """Return the platforms that are asked for; None: the one on which this runs."""
    return [host_platform()] if platforms is None else _known(platforms)


def _known(platforms: Iterable[str]) -> list[str]:
    wanted = [platforms] if isinstance(platforms, str) else list(dict.fromkeys(platforms))
    if not wanted:
        raise ExportError(f"no platform is given; choose from {', '.join(PLATFORMS)}")
    for platform in wanted:
        if platform not in PLATFORMS:
            raise ExportNameError(f"there is no platform {platform!r}: {suggest(platform, PLATFORMS)}")
    return wanted


_UNIVERSAL, _MACH_O_64 = 0xCAFEBABE, 0xFEEDFACF
_HEADER, _ARCHITECTURE = struct.Struct(">II"), struct.Struct(">IIIII")
_START = struct.Struct("<III")  # of a library: magic, processor, variant of the processor
_ALIGNMENT = 14  # 2**14 bytes, the page of arm64


class _Library(NamedTuple):
    processor: int
    variant: int
    data: bytes


def universal_library(libraries: Iterable[bytes]) -> bytes:
    """Return one file with libraries for different processors, in the order of their numbers in Mach-O."""
    parts = sorted(map(_read, libraries))
    if len({part.processor for part in parts}) < len(parts):
        raise ValueError("two libraries for macOS are for the same processor")
    table, content = _HEADER.pack(_UNIVERSAL, len(parts)), b""
    first = _aligned(_HEADER.size + len(parts) * _ARCHITECTURE.size)
    for part in parts:
        content = content.ljust(_aligned(len(content)), b"\0")
        place = (first + len(content), len(part.data), _ALIGNMENT)
        table += _ARCHITECTURE.pack(part.processor, part.variant, *place)
        content += part.data
    return table.ljust(first, b"\0") + content


def _read(data: bytes) -> _Library:
    magic, processor, variant = _START.unpack_from(data) if len(data) >= _START.size else (0, 0, 0)
    if magic != _MACH_O_64:
        raise ValueError("a library for macOS is no 64-bit Mach-O file")
    return _Library(processor, variant, data)


def _aligned(size: int) -> int:
    """Return the next multiple of the alignment.

    >>> _aligned(1), _aligned(1 << 14)
    (16384, 16384)
    """
    return -(-size >> _ALIGNMENT) << _ALIGNMENT
