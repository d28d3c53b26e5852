"""The viewer's programs in Node.js: bundled from viewer/test, run as processes."""

import base64
import importlib.util
import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from support.checkout import TOP

ASSETS = TOP / "linkwork" / "view" / "assets"
CORE = ASSETS / "core.wasm"


@cache
def build_script() -> ModuleType:
    """viewer/build.py as a module."""
    found = importlib.util.spec_from_file_location("viewer_build", TOP / "viewer" / "build.py")
    module = sys.modules[found.name] = importlib.util.module_from_spec(found)  # dataclasses look there
    found.loader.exec_module(module)
    return module


def program(name: str, folder: Path) -> Path:
    """A program of viewer/test, bundled into a folder; a skip that names anything missing."""
    script = build_script()
    if not CORE.is_file():
        pytest.skip("needs the viewer's core: python viewer/build.py core")
    if not (TOP / "viewer" / "node_modules" / "esbuild").is_dir():
        pytest.skip("needs the viewer's packages: python viewer/build.py worker")
    try:
        script.node()
    except script.BuildError as error:
        pytest.skip(f"needs Node.js: {error}")
    output = folder / f"{name}.mjs"
    script.bundle(TOP / "viewer" / "test" / f"{name}.ts", output, "--node")
    return output


def run(module: Path, *arguments: str) -> str:
    """Run a bundled program and return what it writes."""
    command = [*build_script().node(), str(module), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Program:
    """A program of viewer/test that reads a job and writes a result, both JSON."""

    def __init__(self, name: str, folder: Path) -> None:
        self.folder = folder
        self.module = program(name, folder)

    def __call__(self, job: dict) -> dict:
        source, target = self.folder / "job.json", self.folder / "result.json"
        source.write_text(json.dumps(job))
        run(self.module, str(CORE), str(source), str(target))
        return json.loads(target.read_text())


class Simulator:
    """The page's simulator in Node.js."""

    def __init__(self, folder: Path) -> None:
        self.program = Program("simulator", folder)

    def __call__(self, model: bytes, *, parameters=None, **what) -> dict:
        """Do something with a model; numbers are arrays. `parameters` are values by offset."""
        result = self.program({"model": as_text(model), "parameters": list((parameters or {}).items()), **what})
        numbers = ("assembled", "outputs", "indicators", "t", "y", "values", "results", "tables")
        return {name: as_array(value) if name in numbers else value for name, value in result.items()}


def as_text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def as_array(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype="<f8")
