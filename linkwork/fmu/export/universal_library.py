"""One file of macOS with the libraries of several processors: a universal (fat) Mach-O file.

It begins with a big-endian table, `fat_header` and one `fat_arch` a library (mach-o/fat.h); the libraries follow as
they are, so a code signature in them stays valid.
"""

import struct
from collections.abc import Iterable
from typing import NamedTuple

_UNIVERSAL, _MACH_O_64 = 0xCAFEBABE, 0xFEEDFACF
_HEADER, _ARCHITECTURE = struct.Struct(">II"), struct.Struct(">IIIII")
_START = struct.Struct("<III")  # of a library: magic, processor, variant of the processor
_ALIGNMENT = 14  # 2**14 bytes, the page of arm64


class _Library(NamedTuple):
    processor: int
    variant: int
    data: bytes


def universal_library(libraries: Iterable[bytes]) -> bytes:
    """Return one file with libraries for different processors, in the order of their numbers in Mach-O.

    Raises
    ------
    ValueError
        If one is no 64-bit Mach-O file, or two are for the same processor.
    """
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
