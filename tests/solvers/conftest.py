"""The backends of IDA, one at a time."""

import os
from importlib import import_module

import pytest

from linkwork.solvers.ida import backends


@pytest.fixture(params=list(backends.BACKENDS))
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The only one that solver 'ida' finds; a skip where it is missing, but not where all must be there."""
    if os.environ.get("CI") in ("true", "1"):
        import_module(request.param)
    pytest.importorskip(request.param)
    monkeypatch.setattr(backends, "BACKENDS", {request.param: backends.BACKENDS[request.param]})
    return request.param
