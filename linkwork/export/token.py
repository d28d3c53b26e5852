"""What ties a model description to the bytes of its model."""

import zlib


def instantiation_token(model: bytes) -> str:
    """Return CRC-32, Adler-32 and size of a serialised model in the form of a GUID.

    The FMU computes the same from `resources/model.lwm` and refuses any other token.

    >>> instantiation_token(b"model")
    '{d79572d9-0644-0212-0000-000000000005}'
    """
    checksum, adler, size = zlib.crc32(model), zlib.adler32(model), len(model)
    return f"{{{checksum:08x}-{adler >> 16:04x}-{adler & 0xFFFF:04x}-{size >> 48:04x}-{size & (1 << 48) - 1:012x}}}"
