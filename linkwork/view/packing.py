"""Packed strings, as pages hold them: base64 of gzip, the same bytes on every platform."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

_HEADER = b"\x1f\x8b\x08\0\0\0\0\0\x02\xff"  # deflate, no time, of an unknown system


def pack(data: bytes) -> str:
    """Return bytes as base64 of gzip.

    >>> import gzip
    >>> gzip.decompress(base64.b64decode(pack(b"crank")))
    b'crank'
    """
    compressor = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    body = compressor.compress(data) + compressor.flush()
    return base64.b64encode(_HEADER + body + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)).decode()


def pack_columns(columns: Sequence[ArrayLike]) -> str:
    """Return columns (n,) each, as float32, packed column after column.

    The bits of each number are replaced by their difference to those of the row before, mod 2^32, and the bytes are
    sorted into four planes, the lowest bytes first: similar bytes follow each other and compress well.
    """
    with np.errstate(over="ignore"):
        values = np.array([np.asarray(column, dtype=np.float64) for column in columns], dtype="<f4")
    bits = values.view("<u4")
    if bits.ndim == 2:
        bits[:, 1:] -= bits[:, :-1].copy()
    planes: NDArray[np.uint8] = bits.view(np.uint8).reshape(-1, 4).T
    return pack(planes.tobytes())
