"""Wheels for all platforms, built here: what they hold and need, that they work where they can run, and their bytes."""

import ctypes
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest

import linkwork as lw
from linkwork._util.progress import Progress
from linkwork.core.sources import host_platform
from linkwork.fmu.export import cross_compile
from linkwork.fmu.export.libraries import PLATFORMS
from support.arm_python import arm_python
from support.binaries import Linkage, linkage
from support.checkout import TOP

if str(TOP) not in sys.path:
    sys.path.append(str(TOP))  # at the end: the package linkwork stays the installed one

pytest.importorskip("abi3info", reason="needs the Python package abi3info")
from wheels import extension
from wheels.targets import TARGETS, Target

BY_PLATFORM = {target.platform: target for target in TARGETS}
LIBRARIES = {
    "linux": r"lib[cm]\.so\.6|libdl\.so\.2|libpthread\.so\.0|ld-linux-(x86-64|aarch64)\.so\.[12]",
    "windows": r"python3\.dll|kernel32\.dll|ntdll\.dll|api-ms-win-crt-[\w-]+\.dll",
    "darwin": r"/usr/lib/libSystem\.B\.dylib",
}
FOUR_BAR = TOP / "examples" / "four_bar.py"
SIMULATE = ("simulate", FOUR_BAR, "--t-end", 1, "-o")

each_target = pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.platform)


def build(out: Path, *platforms: str) -> None:
    command = [sys.executable, "-m", "wheels", "--out", str(out), *platforms]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory, needs) -> Path:
    """What `./run wheels` writes."""
    for name in ("ziglang", "build", "wheel"):
        needs(name)
    out = tmp_path_factory.mktemp("dist")
    build(out)
    return out


def wheel_of(dist: Path, target: Target) -> Path:
    (found,) = [path for path in dist.glob("*.whl") if target.tag.split(".")[0] in path.name]
    return found


@pytest.fixture(scope="module")
def unpacked(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheels by platform, unpacked by a tool that checks the hash of each file."""
    folders = {}
    for target in TARGETS:
        folder = tmp_path_factory.mktemp("unpacked")
        command = [sys.executable, "-m", "wheel", "unpack", "--dest", str(folder), str(wheel_of(dist, target))]
        subprocess.run(command, check=True, capture_output=True)
        (folders[target.platform],) = folder.iterdir()
    return folders


# ---- without a build ------------------------------------------------------------------------------------


@each_target
def test_the_tag_states_the_system_that_the_compiler_aims_at(target: Target) -> None:
    machine, _, version = cross_compile.TARGETS[target.platform].partition("-")
    number = "_".join(re.findall(r"\d+", version))
    machine = {"win": "amd64", "mac": {"aarch64": "arm64"}.get(machine, machine)}.get(target.tag[:3], machine)
    expected = {"man": f"manylinux_{number}_{machine}", "mac": f"macosx_{number}_{machine}", "win": f"win_{machine}"}
    assert target.tag.split(".")[0] == expected[target.tag[:3]]


def test_this_python_has_the_names_of_the_stable_abi() -> None:
    entries = {**extension.FUNCTIONS, **extension.DATAS}.values()
    elsewhere = {one.symbol.name for one in entries if one.ifdef}  # of other systems and of debug builds
    names = extension.stable_names().keys() - elsewhere
    assert len(names) > 700
    assert [name for name in sorted(names) if not hasattr(ctypes.pythonapi, name)] == []


def test_the_oldest_python_is_that_of_the_package(checkout: Path) -> None:
    text = (checkout / "pyproject.toml").read_text(encoding="utf-8")
    oldest = f"{extension.OLDEST.major}.{extension.OLDEST.minor}"
    assert f'requires-python = ">={oldest}"' in text
    assert f'wheel.py-api = "cp{oldest.replace(".", "")}"' in text


@pytest.mark.slow
@each_target
def test_sizes_in_pyconfig_are_those_of_the_compiler(target: Target, needs, tmp_path: Path) -> None:
    needs("ziglang")
    types = {"SHORT": "short", "INT": "int", "LONG": "long", "LONG_LONG": "long long", "VOID_P": "void *"}
    types |= {"SIZE_T": "size_t", "WCHAR_T": "wchar_t", "FLOAT": "float", "DOUBLE": "double"}
    header = (TOP / "wheels" / "pyconfig.h").read_text(encoding="utf-8")
    assert set(re.findall(r"SIZEOF_(\w+)", header)) == set(types)
    checks = [f'_Static_assert(SIZEOF_{name} == sizeof({kind}), "{name}");' for name, kind in types.items()]
    source = tmp_path / "sizes.c"
    source.write_text("\n".join(["#include <stddef.h>", '#include "pyconfig.h"', *checks]), encoding="utf-8")
    zig(target, "-std=c11", f"-I{TOP / 'wheels'}", "-c", source, "-o", tmp_path / "sizes.o")


def zig(target: Target, *arguments: object) -> None:
    command = [sys.executable, "-m", "ziglang", "cc", "-target", cross_compile.TARGETS[target.platform]]
    done = subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# ---- content --------------------------------------------------------------------------------------------


@pytest.mark.slow
@each_target
def test_tags(target: Target, dist: Path, unpacked: dict[str, Path]) -> None:
    tags = {f"cp311-abi3-{one}" for one in target.tag.split(".")}
    (written,) = unpacked[target.platform].glob("*.dist-info/WHEEL")
    text = written.read_text(encoding="utf-8")
    assert set(re.findall(r"^Tag: (.*)$", text, re.MULTILINE)) == tags
    assert "Root-Is-Purelib: false" in text
    name = wheel_of(dist, target).name.removesuffix(".whl").split("-")
    assert name[:4] == ["linkwork", lw.__version__, "cp311", "abi3"]
    assert set(name[4].split(".")) == set(target.tag.split("."))


@pytest.mark.slow
@each_target
def test_content(target: Target, unpacked: dict[str, Path], checkout: Path) -> None:
    package = unpacked[target.platform] / "linkwork"
    assert [path.name for path in (package / "core").glob("_core.*[!i]")] == [target.extension]
    assert not (package / "core" / "_core_build.py").exists()
    assert not (package / "solvers").is_symlink()
    for name in ("csrc", "fmu_src", "solvers"):
        ours = {path.relative_to(checkout / name): path.read_bytes() for path in sources_in(checkout / name)}
        assert {path.relative_to(package / name): path.read_bytes() for path in sources_in(package / name)} == ours
    assets = {path.name for path in (package / "view" / "assets").iterdir()}
    assert assets == {"viewer.js", "worker.js", "core.wasm"}
    (licence,) = unpacked[target.platform].glob("*.dist-info/licenses/mingw-w64.txt")
    assert "Copyright" in licence.read_text(encoding="utf-8")


def sources_in(folder: Path) -> Iterator[Path]:
    hidden = re.compile(r"(^|/)(\.|__pycache__)")
    found = (path for path in folder.rglob("*") if path.is_file())
    return (path for path in found if not hidden.search(path.relative_to(folder).as_posix()))


@pytest.mark.slow
def test_wheels_differ_in_the_extension_alone(unpacked: dict[str, Path]) -> None:
    contents = []
    for folder in unpacked.values():
        files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        kept = {name: data for name, data in files.items() if not re.search(r"core/_core\.|/(WHEEL|RECORD)$", name)}
        contents.append({name: sha256(data).hexdigest() for name, data in kept.items()})
    assert len(contents[0]) > 600
    assert all(content == contents[0] for content in contents)


@pytest.mark.slow
def test_fmu_libraries_of_all_platforms(unpacked: dict[str, Path]) -> None:
    folder = unpacked[host_platform()] / "linkwork" / "binaries"
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    assert set(found) == {f"{name}/linkwork{cross_compile.suffix(name)}" for name in PLATFORMS}
    for platform in PLATFORMS:  # tests/fmu/test_fmu_platforms.py checks what they offer and need
        path = found[f"{platform}/linkwork{cross_compile.suffix(platform)}"]
        assert path.read_bytes() == cross_compile.cross_library(platform, Progress(False)).read_bytes()


# ---- binaries -------------------------------------------------------------------------------------------


def extension_of(unpacked: dict[str, Path], target: Target) -> Path:
    return unpacked[target.platform] / "linkwork" / "core" / target.extension


@pytest.fixture
def linked(unpacked: dict[str, Path], target: Target) -> Linkage:
    return linkage(extension_of(unpacked, target))


@pytest.mark.slow
@each_target
def test_extension_needs_the_system_alone(target: Target, linked: Linkage) -> None:
    system = target.platform.split("-")[1]
    assert [name for name in linked.needs if not re.fullmatch(LIBRARIES[system], name)] == []
    assert linked.oldest <= {"linux": (2, 17), "darwin": (11, 0), "windows": ()}[system]
    assert ("python3.dll" in linked.needs) == (system == "windows")


@pytest.mark.slow
@each_target
def test_extension_keeps_to_the_stable_abi(target: Target, linked: Linkage) -> None:
    asked = {name for name in linked.imports if re.match("_?Py[A-Z_]", name)}
    assert {"PyImport_ImportModule", "_Py_NoneStruct"} <= asked
    assert asked <= extension.stable_names().keys()
    # The linker of zig shows the operators of C++ on macOS, of which any will do.
    operators = "_Z(?:nw|na|dl|da).*" if target.platform.endswith("darwin") else "(?!)"
    assert {name for name in linked.offers if not re.fullmatch(operators, name)} == {"PyInit__core"}


@pytest.mark.slow
@each_target
def test_auditors_agree_on_the_stable_abi(target: Target, unpacked: dict[str, Path], needs) -> None:
    needs("abi3audit")
    options = ["--strict", "--assume-minimum-abi3", "3.11"]
    command = [sys.executable, "-m", "abi3audit", *options, str(extension_of(unpacked, target))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("platform", ["x86_64-linux", "aarch64-linux"])
def test_auditors_agree_on_manylinux(platform: str, dist: Path, needs) -> None:
    needs("auditwheel")
    wheel = wheel_of(dist, BY_PLATFORM[platform])
    command = [sys.executable, "-m", "auditwheel", "show", str(wheel)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert f'"manylinux_2_17_{platform.split("-")[0]}"' in text.partition("This constrains")[0]


@pytest.mark.slow
def test_programs_for_arm_macs_are_signed(unpacked: dict[str, Path], needs) -> None:
    lief = needs("lief")
    package = unpacked["aarch64-darwin"] / "linkwork"
    for path in (package / "core" / "_core.abi3.so", package / "binaries" / "aarch64-darwin" / "linkwork.dylib"):
        assert lief.parse(str(path)).has_code_signature  # macOS runs nothing else there


@pytest.mark.slow
def test_no_folder_of_this_machine_is_in_a_binary(unpacked: dict[str, Path]) -> None:
    places = [str(TOP), str(Path.home()) + "/", sys.prefix, "linkwork-wheels-", str(cross_compile.cache_folder())]
    for target in TARGETS:
        package = unpacked[target.platform] / "linkwork"
        for path in (*package.glob("binaries/*/*"), extension_of(unpacked, target)):
            data = path.read_bytes()
            assert [place for place in places if place.encode() in data] == [], path.name


# ---- the same bytes -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_second_build_gives_the_same_bytes(dist: Path, tmp_path: Path) -> None:
    build(tmp_path, "aarch64-linux", "x86_64-windows", "aarch64-darwin")
    second = {path.name: sha256(path.read_bytes()).hexdigest() for path in tmp_path.iterdir()}
    assert len(second) == 4
    assert second == {name: sha256((dist / name).read_bytes()).hexdigest() for name in second}


@pytest.mark.slow
@pytest.mark.parametrize("platform", ["aarch64-linux"])
def test_sources_elsewhere_give_the_same_bytes(
    platform: str, unpacked: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing comes from a cache: the compiler has not seen the copies."""
    for name in ("csrc", "fmu_src"):
        shutil.copytree(TOP / name, tmp_path / "elsewhere" / name)
    for module in (extension, cross_compile):
        monkeypatch.setattr(module, "source_dir", lambda name: tmp_path / "elsewhere" / name)
    monkeypatch.setenv("ZIG_LOCAL_CACHE_DIR", str(tmp_path / "cache"))
    target = BY_PLATFORM[platform]
    made = extension.build_extension(target, tmp_path / "build", Progress(False))
    assert made.read_bytes() == extension_of(unpacked, target).read_bytes()


# ---- where they run -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The result of the local build, by the compiler of this system."""
    out = tmp_path_factory.mktemp("expected") / "out.csv"
    subprocess.run([sys.executable, "-m", "linkwork", *map(str, SIMULATE), str(out)], check=True, capture_output=True)
    return out.read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(host_platform() not in BY_PLATFORM, reason="no wheel is for this platform")
def test_the_wheel_gives_the_bits_of_a_local_build(unpacked: dict[str, Path], expected: bytes, tmp_path: Path) -> None:
    """It exports for all platforms, although neither a compiler nor ziglang is found."""
    path = os.pathsep.join([str(unpacked[host_platform()]), sysconfig.get_path("platlib")])
    environment = {"PYTHONPATH": path, "PATH": "", "LINKWORK_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-S", "-m", "linkwork"]

    def run(*arguments: object) -> None:
        whole = [*command, *map(str, arguments)]
        done = subprocess.run(whole, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    run(*SIMULATE, "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == expected
    run("export", FOUR_BAR, "-o", "all.fmu", "--platforms", ",".join(PLATFORMS))
    with zipfile.ZipFile(tmp_path / "all.fmu") as archive:
        assert len([name for name in archive.namelist() if name.startswith("binaries/")]) == len(PLATFORMS)
    assert not (tmp_path / "cache").exists()
    run("export", FOUR_BAR, "-o", "own.fmu")
    with zipfile.ZipFile(tmp_path / "own.fmu") as archive:
        (own,) = {name.split("/")[1] for name in archive.namelist() if name.startswith("binaries/")}
    assert own == host_platform()


@pytest.mark.slow
def test_the_wheel_gives_the_same_bits_on_arm(
    unpacked: dict[str, Path], expected: bytes, tmp_path: Path, needs_program: Callable[[str], str]
) -> None:
    arm = arm_python(needs_program("qemu-aarch64-static"))
    packages = unpacked["aarch64-linux"]
    arm.run("-m", "linkwork", *SIMULATE, tmp_path / "out.csv", path=packages, cwd=tmp_path)
    assert (tmp_path / "out.csv").read_bytes() == expected
    arm.run("-m", "linkwork", "export", FOUR_BAR, "-o", "out.fmu", path=packages, cwd=tmp_path)
    with zipfile.ZipFile(tmp_path / "out.fmu") as archive:
        assert "binaries/aarch64-linux/four_bar.so" in archive.namelist()
    said = arm.run("-m", "linkwork", "check", "out.fmu", "--time-limit", 300, path=packages, cwd=tmp_path)
    assert "PASSED: out.fmu: 0 errors, 0 warnings" in said


STUB = """
#include <stdio.h>
#define EXPORT __declspec(dllexport)
EXPORT char _Py_NoneStruct[64];
EXPORT void *PyImport_ImportModule(const char *name) { printf("import %s\\n", name); fflush(stdout); return 0; }
"""
LOADER = """
#include <stdio.h>
#include <windows.h>
int main(void) {
  HMODULE module = LoadLibraryA("_core.pyd");
  void *(*start)(void) = module ? (void *(*)(void))(void *)GetProcAddress(module, "PyInit__core") : 0;
  if (!start) return printf("error %lu\\n", GetLastError()), 1;
  return start() != 0;
}
"""


@pytest.mark.slow
def test_windows_loads_the_extension(unpacked: dict[str, Path], tmp_path: Path) -> None:
    """With a python3.dll that has the requested names: the extension starts and asks for the module of cffi."""
    wine = shutil.which("wine64") or shutil.which("wine64", path="/usr/lib/wine")
    if wine is None:
        pytest.skip("needs the program wine64")
    target = BY_PLATFORM["x86_64-windows"]
    shutil.copy(extension_of(unpacked, target), tmp_path)
    names = linkage(tmp_path / target.extension).imports & extension.stable_names().keys()
    others = sorted(names - {"_Py_NoneStruct", "PyImport_ImportModule"})
    (tmp_path / "stub.c").write_text(STUB + "\n".join(f"EXPORT void *{name}(void) {{ return 0; }}" for name in others))
    (tmp_path / "loader.c").write_text(LOADER)
    zig(target, "-shared", tmp_path / "stub.c", "-o", tmp_path / "python3.dll")
    zig(target, tmp_path / "loader.c", "-o", tmp_path / "loader.exe")
    quiet = {"WINEPREFIX": str(tmp_path / "wine"), "WINEDEBUG": "-all", "DISPLAY": ""}
    quiet |= {"WINEDLLOVERRIDES": "mscoree,mshtml,winemenubuilder.exe="}
    command = [wine, "./loader.exe"]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, **quiet}, capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stdout.split()) == (0, ["import", "_cffi_backend"]), done.stdout + done.stderr
