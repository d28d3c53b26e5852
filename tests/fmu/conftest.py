"""FMUs of the four-bar, built and unpacked once, and a wrapper around the stand-in core."""

import importlib.util
import re
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from fmi_calls import Instance

import linkwork as lw
from linkwork._sources import fmu_libraries, source_dir
from linkwork.export.token import instantiation_token


@dataclass
class Unpacked:
    """An FMU on disk, unpacked; `new` gives instances that are freed at the end of the test."""

    path: Path
    folder: Path
    version: str
    system: lw.System | None = None
    instances: list[Instance] = field(default_factory=list)

    @property
    def library(self) -> Path:
        return next(self.folder.glob("binaries/*/*.so"))

    @property
    def resources(self) -> str:
        folder = self.folder / "resources"
        return folder.as_uri() if self.version == "2.0" else f"{folder}/"

    @property
    def token(self) -> str:
        return instantiation_token((self.folder / "resources/model.lwm").read_bytes())

    @property
    def xml(self) -> str:
        return (self.folder / "modelDescription.xml").read_text(encoding="utf-8")

    def new(self, kind: str, **options: bool) -> Instance:
        instance = Instance(self.library, self.version, kind, self.resources, self.token, **options)
        assert instance.handle, instance.messages
        self.instances.append(instance)
        return instance

    def reference(self, name: str) -> int:
        assert self.system is not None
        return next(v.reference for v in self.system.variables if v.name == name)

    def references(self, *kinds: str) -> list[int]:
        assert self.system is not None
        return [v.reference for v in self.system.variables if v.kind in kinds]


def unpack(path: Path) -> Path:
    folder = path.with_suffix("")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="session")
def fmu_library() -> Path:
    return next(iter(fmu_libraries().values()))


@pytest.fixture(scope="session")
def four_bar(checkout: Path) -> lw.Mechanism:
    specification = importlib.util.spec_from_file_location("four_bar", checkout / "examples" / "four_bar.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.mechanism()


@pytest.fixture(scope="session")
def system(four_bar) -> lw.System:
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
    while unpacked.instances:
        instance = unpacked.instances.pop()
        if instance.handle:
            instance.free()


@pytest.fixture(scope="session")
def fake_folder(checkout, tmp_path_factory, needs_program) -> Path:
    """The wrapper over tests/c/fake_core.c: references are the offsets of its enum."""
    folder = tmp_path_factory.mktemp("fake")
    core, wrapper = source_dir("csrc"), source_dir("fmu_src")
    sources = [checkout / "tests/c/fake_core.c", *wrapper.glob("*.c"), *(core / "ode").glob("*.c")]
    binary = folder / "binaries" / "host" / "fake.so"
    binary.parent.mkdir(parents=True)
    flags = ["-std=c11", "-O1", "-shared", "-fPIC", f"-I{core}", f"-I{wrapper}"]
    subprocess.run([needs_program("cc"), *flags, "-o", binary, *sources, "-lm"], check=True)
    (folder / "resources").mkdir()
    (folder / "resources" / "model.lwm").write_bytes(b"FAKE1")
    return folder


@pytest.fixture(params=["2.0", "3.0"])
def fake(request, fake_folder) -> Iterator[Unpacked]:
    unpacked = Unpacked(fake_folder, fake_folder, request.param)
    yield unpacked
    for instance in unpacked.instances:
        instance.free()


@pytest.fixture
def no_message() -> Callable[[Instance], None]:
    def check(instance: Instance) -> None:
        assert [m for m in instance.messages if not re.match("logEvents", m[1])] == []

    return check
