"""The backends of IDA, one at a time, and the libraries that they bring."""

import ctypes.util
import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from linkwork.solvers.ida import backend_choice, compiled
from linkwork.solvers.ida import sundials as libraries


@pytest.fixture(params=list(backend_choice.BACKENDS))
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The only one that solver 'ida' finds; a skip where it is missing, but not where all must be there."""
    if os.environ.get("CI") in ("true", "1"):
        import_module(request.param)
    pytest.importorskip(request.param)
    monkeypatch.setattr(backend_choice, "BACKENDS", {request.param: backend_choice.BACKENDS[request.param]})
    return request.param


def system_library():
    name = ctypes.util.find_library("sundials_ida")
    return None if name is None else libraries._open(name, 6)


def bundled_library():
    spec = find_spec("sksundae")
    if spec is None or spec.origin is None:
        return None
    beside = Path(spec.origin).parent.parent / "scikit_sundae.libs"
    return next((libraries._open(str(path), 7) for path in beside.glob("libsundials_ida-*")), None)


@pytest.fixture(params=[system_library, bundled_library])
def library(request, monkeypatch):
    """The one that is found."""
    found = request.param()
    if found is None:
        pytest.skip(f"no {request.param.__name__}")
    monkeypatch.setattr(backend_choice, "find_sundials", lambda: found)
    return found


@pytest.fixture
def made(library, monkeypatch):
    """Every instance made, so that a test knows that it was one of these."""
    instances = []
    start = compiled.CompiledIDA.start
    monkeypatch.setattr(
        compiled.CompiledIDA, "start", lambda self, *values: (instances.append(1), start(self, *values))[1]
    )
    return instances
