"""Models of mechanisms whose joints open and close are read whole or not at all."""

import pytest

import linkwork as lw
from linkwork.core.native import NativeModel
from support.small import pendulum


def pinned():
    mech = pendulum()
    mech.add_transition("nail", lw.Pin("ground", "rod", lw.Spherical()), when=lw.Time(0.3))
    mech.add_transition("latch", lw.Lock("A"), when=lw.Command())
    return lw.compile(mech).model_bytes


@pytest.fixture(scope="module")
def model():
    return pinned()


def test_every_truncation_is_refused(model):
    for size in range(len(model)):
        with pytest.raises(lw.LinkworkError):
            NativeModel(model[:size])


def test_every_flipped_bit_is_refused(model):
    for at in range(len(model)):
        altered = bytearray(model)
        altered[at] ^= 1 << at % 8
        with pytest.raises(lw.LinkworkError):
            NativeModel(bytes(altered))


def test_what_stands_behind_is_refused(model):
    for behind in (b"\0", model):
        with pytest.raises(lw.LinkworkError):
            NativeModel(model + behind)
    assert NativeModel(model).sizes.transitions == 2
