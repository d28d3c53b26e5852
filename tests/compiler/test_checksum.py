"""The checksum of models: the same as byte by byte."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwork.compiler.checksum import _BLOCK, _CHUNK, PRIME, START, fnv1a


def byte_by_byte(data):
    value = START
    for byte in data:
        value = (value ^ byte) * PRIME % 2**64
    return value


def test_published_values():
    assert fnv1a(b"") == 0xCBF29CE484222325
    assert fnv1a(b"foobar") == 0x85944171F73967E8


@given(st.binary())
def test_short(data):
    assert fnv1a(data) == byte_by_byte(data)


@pytest.mark.parametrize("size", [_BLOCK - 1, _BLOCK, _BLOCK + 1, _CHUNK - 1, _CHUNK, _CHUNK + 1, 2 * _CHUNK + 300])
def test_across_blocks_and_chunks(size):
    data = np.random.default_rng(size).integers(256, size=size, dtype=np.uint8).tobytes()
    assert fnv1a(data) == byte_by_byte(data)
