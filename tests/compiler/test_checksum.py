"""The checksum of models in C: that of zlib."""

import zlib

from hypothesis import given
from hypothesis import strategies as st

from linkwork.core._core import ffi, lib


def crc32(data, before=0):
    return lib.lw_crc32(before, ffi.from_buffer(data), len(data))


def test_published_value():
    assert crc32(b"123456789") == 0xCBF43926
    assert crc32(b"") == 0


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_it_is_that_of_zlib(first, second):
    assert crc32(first) == zlib.crc32(first)
    assert crc32(second, crc32(first)) == zlib.crc32(first + second)
