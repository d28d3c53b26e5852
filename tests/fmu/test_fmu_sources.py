"""Source FMUs: any compiler takes them without a warning, FMPy compiles and runs them, and they give the same bits."""

import os
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
from linkwork.core.sources import fmu_libraries, host_platform
from linkwork.fmu.export.sources import c_files, source_files
from support.binaries import linkage
from support.cases import four_bar
from support.fmi_calls import Instance
from support.fmi_headers import function_names, reference_text
from support.latched import pendulum
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
    files = [str(folder / name) for name in c_files("3.0")]
    done = subprocess.run([*command, *STRICT, f"-I{folder}", *files], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:3000]
    assert done.stderr == ""


def documented(page: str, pattern: str) -> str:
    """A command of the documents."""
    found = re.search(pattern, page)
    assert found, f"docs/fmu.md has no command {pattern}"
    return found[1]


@pytest.fixture(scope="module", params=["2.0", "3.0"])
def built(request, exported, needs, needs_program, checkout) -> Unpacked:
    """An FMU whose library FMPy has compiled, by the documented command with a relative path."""
    needs("fmpy")
    needs_program("cmake")
    needs_program("ninja")
    fmu = exported(request.param)
    page = (checkout / "docs/fmu.md").read_text(encoding="utf-8")
    command = documented(page, r'python -c "(.*build_platform_binary.*)"').replace("'four_bar'", f"'{fmu.folder.name}'")
    # Ninja instead of make, which need not be there.
    environment = {**os.environ, "CMAKE_GENERATOR": "Ninja", "CC": needs_program("gcc")}
    subprocess.run([sys.executable, "-c", command], cwd=fmu.folder.parent, env=environment, check=True)
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
    ours = fmu_libraries()[host_platform()]
    assert numbers(built, built.library, None) == numbers(built, ours, built.resources)


# ---- what the library exports ---------------------------------------------------------------------------


def functions_of_the_standard(headers: Path, version: str) -> set[str]:
    number = int(version[0])
    return set(function_names(reference_text(headers, number), number))


@pytest.mark.slow
def test_exports_fmi_only(built, needs):
    headers = Path(needs("fmpy").__file__).parent / "c-code"
    assert linkage(built.library).offers == functions_of_the_standard(headers, built.version)


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_sources_define_the_functions_of_their_version(version, exported):
    """A library compiled from them would otherwise pass for an FMU of both versions."""
    folder = exported(version).folder / "sources"
    defined = {
        name
        for file in listed(exported(version))
        for name in re.findall(
            r"^\w+ \*?(fmi[23][A-Z]\w+)\(", (folder / file).read_text(encoding="utf-8"), re.MULTILINE
        )
    }
    assert {name[:4] for name in defined} == {f"fmi{version[0]}"}
    assert f"fmi{version[0]}DoStep" in defined
    other = "3" if version == "2.0" else "2"
    assert not [path for path in folder.rglob("*") if path.name.startswith(f"fmi{other}")]


def test_sources_hide_what_is_not_fmi(exported):
    """Each file hides from its first line to its last; clang refuses a push without its pop."""
    folder = exported("3.0").folder / "sources"
    for name in c_files("3.0"):
        text = (folder / name).read_text(encoding="utf-8")
        assert text.startswith('#include "fmu_src/source_fmu.h"\n'), name
        assert text.endswith("#pragma GCC visibility pop\n#endif\n"), name
    header = (folder / "fmu_src/source_fmu.h").read_text(encoding="utf-8")
    pushed = header.index("#pragma GCC visibility push(hidden)")
    texts = [path.read_text(encoding="utf-8") for path in folder.rglob("*.*")]
    included = {name for text in texts for name in re.findall(r"#include <(.*)>", text)}
    # Declarations of the system must not be hidden; cpuid.h has inline functions only, and dlfcn.h is left out.
    assert included - {"windows.h", "cpuid.h", "dlfcn.h"} <= set(re.findall(r"#include <(.*)>", header[:pushed]))


@pytest.mark.parametrize("standard", ["-std=c99", "-std=gnu90"])
def test_older_standards_are_refused(standard, exported, needs_program, tmp_path):
    folder = exported("3.0").folder / "sources"
    command = [needs_program("gcc"), standard, "-fsyntax-only", f"-I{folder}", str(folder / "fmu_src/fmu_log.c")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "this FMU is written in C11: compile it with -std=c11" in done.stderr


BOTH = """
import ctypes, os, sys
sys.path.insert(0, {tests!r})
from support.fmi_calls import Instance
found = []
for library, _ in {fmus}:
    ctypes.CDLL(library, mode=os.RTLD_NOW | os.RTLD_GLOBAL)
for library, token in {fmus}:
    instance = Instance(library, "3.0", "ME", None, token)
    assert instance.handle, instance.messages
    instance.initialize()
    found.append(instance.derivatives({states}[len(found)]))
print(repr(found))
"""


@pytest.mark.slow
def test_two_loaded_globally(exported, system, needs, checkout, tmp_path):
    """The model of each stays its own; neither has a resources folder."""
    needs("ziglang")
    other = lw.compile(pendulum())
    path = lw.export_fmu(other, tmp_path / "pendulum.fmu", sources=True)
    both = [exported("3.0"), Unpacked(path, unpack(path), "3.0", other)]
    compile_ = [sys.executable, "-m", "ziglang", "cc", "-O0", "-fPIC", "-fno-sanitize=undefined"]
    first = both[0].folder / "sources"
    common = [str(first / name) for name in c_files("3.0") if name != "fmu_src/fmu_embedded.c"]
    subprocess.run([*compile_, "-c", f"-I{first}", *common], cwd=tmp_path, check=True)
    objects, fmus = [str(one) for one in tmp_path.glob("*.o")], []
    for k, fmu in enumerate(both):
        folder, library = fmu.folder / "sources", tmp_path / f"fmu_{k}.so"
        own = [f"-I{folder}", str(folder / "fmu_src/fmu_embedded.c")]
        subprocess.run([*compile_, "-shared", *own, *objects, "-lm", "-o", str(library)], cwd=tmp_path, check=True)
        fmus.append((str(library), fmu.token))
    states = [len(fmu.references("state")) for fmu in both]
    script = BOTH.format(tests=str(checkout / "tests"), fmus=fmus, states=states)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first_alone, second_alone = (derivatives(fmu) for fmu in both)
    assert done.stdout.strip() == repr([first_alone, second_alone])


def derivatives(fmu: Unpacked) -> list[float]:
    """What our own library gives."""
    instance = Instance(fmu_libraries()[host_platform()], fmu.version, "ME", fmu.resources, fmu.token)
    assert instance.handle, instance.messages
    instance.initialize()
    found = instance.derivatives(len(fmu.references("state")))
    instance.free()
    return found
