"""Source FMUs: any compiler takes them without a warning, FMPy compiles and runs them, and they give the same bits."""

import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

import linkwork as lw
from linkwork.core.sources import fmu_libraries
from linkwork.fmu.export.sources import c_files, source_files
from support.cases import four_bar
from support.fmi_calls import Instance
from support.unpacked import Unpacked, unpack

STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


@pytest.fixture(scope="module")
def system() -> lw.Model:
    case = four_bar()
    case.mechanism.start(q=case.q, u=case.u)
    return lw.compile(case.mechanism)


@pytest.fixture(scope="module")
def exported(system, tmp_path_factory) -> Callable[[str], Unpacked]:
    """FMUs with sources, unpacked, without their libraries."""
    folder, made = tmp_path_factory.mktemp("sources"), {}

    def export(version: str) -> Unpacked:
        if version not in made:
            path = lw.export_fmu(system, folder / f"four_bar_{version[0]}.fmu", version, sources=True)
            made[version] = Unpacked(path, unpack(path), version, system)
            shutil.rmtree(made[version].folder / "binaries")
        return made[version]

    return export


def listed(fmu: Unpacked) -> list[str]:
    """The files to compile, as the FMU itself names them."""
    if fmu.version == "3.0":
        build = ElementTree.parse(fmu.folder / "sources/buildDescription.xml").getroot()
        return [file.get("name") for file in build.iter("SourceFile")]
    root = ElementTree.fromstring(fmu.xml)
    by_interface = [
        [f.get("name") for f in root.iter(name) for f in f.iter("File")] for name in ("ModelExchange", "CoSimulation")
    ]
    assert by_interface[0] == by_interface[1]
    return by_interface[0]


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_names(version, exported):
    fmu = exported(version)
    files, folder = listed(fmu), fmu.folder / "sources"
    assert sorted(files) == sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.c"))
    assert len({Path(name).name for name in files}) == len(files)
    assert (folder / "buildDescription.xml").is_file() == (version == "3.0")
    assert not [name for name in files if re.search("chou|ida|dca/threads_openmp", name)]


def test_build_description(exported, needs):
    needs("fmpy")
    from fmpy.model_description import read_build_description

    fmu = exported("3.0")
    (build,) = read_build_description(str(fmu.path))
    assert build.modelIdentifier == ElementTree.fromstring(fmu.xml).find("CoSimulation").get("modelIdentifier")
    assert build.sourceFileSets[0].language == "C11"


def test_no_sources_unless_wanted(system, tmp_path):
    path = lw.export_fmu(system, tmp_path / "plain.fmu")
    with zipfile.ZipFile(path) as archive:
        assert not [name for name in archive.namelist() if name.startswith("sources")]


def test_every_byte_is_embedded():
    data = bytes(range(256)) + b'\0\n"\\'
    text = source_files(data, b"interface", "any", "3.0")["sources/fmu_src/fmu_embedded.c"].decode()
    model = text.split("linkwork_model[")[1].split("};")[0].split("{")[1]
    assert bytes(map(int, re.findall(r"\d+", model))) == data


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["gcc", "clang", "zig"])
def test_no_warnings(compiler, exported, needs, needs_program, tmp_path):
    if compiler == "zig":
        needs("ziglang")
        command = [sys.executable, "-m", "ziglang", "cc", "-c", "-O0"]
    else:
        command = [needs_program(compiler), "-fsyntax-only"]
    folder = exported("3.0").folder / "sources"
    files = [str(folder / name) for name in c_files()]
    done = subprocess.run([*command, *STRICT, f"-I{folder}", *files], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:3000]
    assert done.stderr == ""


@pytest.fixture(scope="module", params=["2.0", "3.0"])
def built(request, exported, needs, needs_program) -> Unpacked:
    """An FMU whose library FMPy has compiled."""
    needs("fmpy")
    needs_program("cmake")
    from fmpy.build import build_platform_binary

    fmu = exported(request.param)
    effort = {"2.0": "-O0", "3.0": "-O3"}[request.param]  # the former takes seconds, and no bit may depend on it
    options = {"CMAKE_C_COMPILER": needs_program("gcc"), "CMAKE_C_FLAGS_RELEASE": effort}
    with pytest.MonkeyPatch.context() as patch:
        needs_program("ninja")
        patch.setenv("CMAKE_GENERATOR", "Ninja")  # instead of make, which need not be there
        build_platform_binary(fmu.folder, cmake_options=options)
    return fmu


@pytest.mark.slow
def test_fmpy_builds_and_runs_it(built, system):
    from fmpy import simulate_fmu

    for kind in ("ModelExchange", "CoSimulation"):
        result = simulate_fmu(str(built.folder), fmi_type=kind, stop_time=0.5, relative_tolerance=1e-8, output=["A.q"])
        exact = lw.simulate(system, 0.5, rtol=1e-10, t_eval=[0.0, 0.5])["A.q"][-1]
        assert result["A.q"][-1] == pytest.approx(exact, abs=1e-5)


def numbers(fmu: Unpacked, library: Path, resources: str | None) -> list[float]:
    """What instances of both kinds compute."""
    instance = Instance(library, fmu.version, "ME", resources, fmu.token)
    assert instance.handle, instance.messages
    instance.initialize()
    states, derivatives = fmu.references("state"), fmu.references("derivative")
    found = instance.derivatives(len(states))
    for state in states:
        found += instance.directional(derivatives, [state], [1.0])
    instance.free()
    slave = Instance(library, fmu.version, "CS", resources, fmu.token)
    slave.initialize()
    for k in range(20):
        slave.step(0.05 * k, 0.05)
        found += slave.get(states)
    slave.free()
    return found


@pytest.mark.slow
def test_same_bits_as_ours_without_resources(built):
    ours = next(iter(fmu_libraries().values()))
    assert numbers(built, built.library, None) == numbers(built, ours, built.resources)
