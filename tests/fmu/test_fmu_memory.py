"""Instances come and go, and no byte stays behind."""

import ctypes
import gc
import math

import pytest

from support.fmi_calls import ERROR, OK, Instance

pytestmark = pytest.mark.slow

KINDS = pytest.mark.parametrize("kind", ["ME", "CS"])


class _Allocated(ctypes.Structure):
    """The struct mallinfo2 of glibc."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keep",
        )
    )


def allocated() -> int:
    """Bytes that malloc has given out and not got back."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        pytest.skip("needs mallinfo2 of glibc")
    libc.mallinfo2.restype = _Allocated
    gc.collect()
    now = libc.mallinfo2()
    return now.uordblks + now.hblkhd


def grown(cycle, times: int) -> float:
    """What a cycle leaves behind every time, in bytes: the least of three rounds, as others allocate now and then."""
    found = []
    for _ in range(3):
        before = allocated()
        for _ in range(times // 2):
            cycle()
        found.append((allocated() - before) / (times // 2))
    return min(found)


@KINDS
def test_memory_stays_flat(fmu, kind):
    """The smallest piece that malloc gives is of 32 bytes."""
    resources, token = fmu.resources, fmu.token
    assert grown(lambda: Instance(fmu.library, fmu.version, kind, resources, token).free(), 5000) < 8


@KINDS
def test_memory_stays_flat_over_whole_lives(fmu, kind):
    """Freed without Terminate, and after an error."""
    tau, resources, token = fmu.reference("A.tau"), fmu.resources, fmu.token

    def live() -> None:
        instance = Instance(fmu.library, fmu.version, kind, resources, token)
        instance.initialize()
        instance.directional(fmu.references("derivative"), [tau], [1.0])
        if kind == "CS":
            instance.step(0.0, 0.01)
        state = instance.save()
        status, copy = instance.from_bytes(instance.to_bytes(state))
        assert status == OK
        for each in (state, copy):
            instance.drop(each)
        assert instance.try_set([tau], [math.nan]) == ERROR
        instance.free()

    assert grown(live, 500) < 8


def test_what_cannot_be_made_leaves_nothing_behind(fmu, tmp_path):
    (tmp_path / "model.lwm").write_bytes(fmu.resource("model.lwm"))
    (tmp_path / "interface.lwi").write_bytes(fmu.resource("interface.lwi")[:-4])
    for resources, token in ((None, fmu.token), (fmu.resources, "{wrong}"), (str(tmp_path), fmu.token)):

        def fail(resources=resources, token=token) -> None:
            assert Instance(fmu.library, fmu.version, "CS", resources, token).handle is None

        assert grown(fail, 500) < 8
