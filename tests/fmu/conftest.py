"""FMUs of the four-bar, built and unpacked once, and a wrapper around the stand-in core."""

import importlib.util
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import linkwork as lw
from linkwork.core.sources import fmu_libraries, host_platform, source_dir
from linkwork.fmu.export.interface_file import MAGIC
from support.latched import exported
from support.unpacked import Unpacked, unpack


@pytest.fixture(scope="session")
def fmu_library() -> Path:
    return fmu_libraries()[host_platform()]


@pytest.fixture(scope="session")
def four_bar(checkout: Path) -> lw.Mechanism:
    specification = importlib.util.spec_from_file_location("four_bar", checkout / "examples" / "four_bar.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.mechanism()


@pytest.fixture(scope="session")
def system(four_bar) -> lw.Model:
    return lw.compile(four_bar)


@pytest.fixture(scope="session")
def built(system, tmp_path_factory) -> Callable[[str], Unpacked]:
    folder = tmp_path_factory.mktemp("fmus")
    fmus = {}
    for version in ("2.0", "3.0"):
        path = lw.export_fmu(system, folder / f"four bar {version[0]}.fmu", fmi=version)
        fmus[version] = Unpacked(path, unpack(path), version, system)
    return lambda version: fmus[version]


@pytest.fixture(params=["2.0", "3.0"])
def fmu(request, built) -> Iterator[Unpacked]:
    """The four-bar's FMU in both versions."""
    unpacked = built(request.param)
    yield unpacked
    free_all(unpacked)


def free_all(unpacked: Unpacked) -> None:
    while unpacked.instances:
        instance = unpacked.instances.pop()
        if instance.handle:
            instance.free()


@pytest.fixture
def make(tmp_path, needs) -> Iterator[Callable[[lw.Mechanism, str], Unpacked]]:
    """Exports a mechanism in a version, after FMPy has validated it."""
    needs("fmpy")
    made = []

    def export(mech: lw.Mechanism, version: str) -> Unpacked:
        made.append(exported(mech, version, tmp_path))
        return made[-1]

    yield export
    for unpacked in made:
        free_all(unpacked)


@pytest.fixture(scope="session")
def fake_folder(checkout, tmp_path_factory, needs_program) -> Path:
    """The wrapper over tests/c/fake_core.c: references are the offsets of its enum."""
    folder = tmp_path_factory.mktemp("fake")
    core, wrapper = source_dir("csrc"), source_dir("fmu_src")
    sources = [checkout / "tests/c/fake_core.c", *wrapper.rglob("*.c")]
    sources += [path for part in ("run", "ode", "math") for path in (core / part).glob("*.c")]
    binary = folder / "binaries" / "host" / "fake.so"
    binary.parent.mkdir(parents=True)
    flags = ["-std=c11", "-O0", "-shared", "-fPIC", f"-I{core}", f"-I{core / 'include'}", f"-I{wrapper}"]
    flags += ["-Wl,--no-undefined"] if sys.platform == "linux" else []  # undefined symbols are named, all at once
    subprocess.run([needs_program("cc"), *flags, "-o", binary, *sources, "-lm", "-ldl"], check=True)
    (folder / "resources").mkdir()
    (folder / "resources" / "model.lwm").write_bytes(b"FAKE1")
    (folder / "resources" / "interface.lwi").write_bytes(MAGIC + struct.pack("<3d5I", 1, 1, 1, *[0] * 5))  # empty lists
    return folder


@pytest.fixture(params=["2.0", "3.0"])
def fake(request, fake_folder) -> Iterator[Unpacked]:
    unpacked = Unpacked(fake_folder, fake_folder, request.param)
    yield unpacked
    for instance in unpacked.instances:
        instance.free()
