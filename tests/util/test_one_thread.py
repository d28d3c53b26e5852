"""Linear algebra runs on one thread while a decorated function runs, and on as many as before afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from linkwork._util.one_thread import on_one_thread


def threads() -> set[int]:
    """Of NumPy and SciPy; a package that a test has loaded may bring another BLAS."""
    used = [one for one in threadpool_info() if Path(one["filepath"]).parent.name in ("numpy.libs", "scipy.libs")]
    if not used:
        pytest.skip("the BLAS of this NumPy is none that can be told")
    return {one["num_threads"] for one in used}


@on_one_thread
def inside() -> set[int]:
    return threads()


@on_one_thread
def fails() -> None:
    raise ValueError("inside")


def test_one_thread_inside_and_as_many_as_before_afterwards() -> None:
    with threadpool_limits(2, "blas"):
        assert threads() == {2}
        assert inside() == {1}
        assert threads() == {2}
        with pytest.raises(ValueError, match="inside"):
            fails()
        assert threads() == {2}
