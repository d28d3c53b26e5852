"""FMUs for other platforms: what their libraries offer and need, and that they give the same bits."""

import os
import re
import shutil
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import linkwork as lw
from linkwork._util import files
from linkwork._util.progress import Progress
from linkwork.cli.export import main
from linkwork.core.sources import FLAGS, fmu_libraries, host_platform, source_dir
from linkwork.errors import ExportError
from linkwork.fmu.export import compiled_tapes
from linkwork.fmu.export import cross_compile as cross
from linkwork.fmu.export import libraries as export
from linkwork.fmu.export.content import Experiment
from linkwork.fmu.export.fmu import describe_system
from linkwork.fmu.export.libraries import PLATFORMS, libraries, universal_library
from support.binaries import linkage
from support.cases import four_bar
from support.fmi_headers import function_names, reference_text
from support.latched import pendulum
from support.unpacked import Unpacked, unpack

HOST = host_platform()
OLDEST = {"linux": (2, 17), "windows": (), "darwin": (11, 0)}  # glibc, macOS
MOST = 1_800_000  # bytes in the FMU, a platform
USUAL = files.WHOLE  # level of compression, lower in other tests


@pytest.fixture(scope="module")
def compiled(needs) -> Callable[[str], Path]:
    """The library of a platform as zig compiles it, that of this platform included."""
    needs("ziglang")
    return lambda platform: cross.cross_library(platform, Progress(False))


# ---- which libraries ----------------------------------------------------------------------------------


def test_default_is_this_platform():
    assert libraries() == {HOST: fmu_libraries()[HOST]}
    assert libraries([HOST]) == {HOST: fmu_libraries()[HOST]}


def test_flags_are_those_of_the_build(checkout):
    text = (checkout / "CMakeLists.txt").read_text(encoding="utf-8")
    options = re.search(r"# Contraction off.*?add_compile_options\((.*?)-Wall", text, re.DOTALL)[1]
    assert set(FLAGS) == set(re.findall(r"-[Of][\w=-]+", options))


@pytest.mark.parametrize(
    ("platforms", "text"),
    [
        (["x86_64-window"], "did you mean 'x86_64-windows'"),
        (["amiga"], "known are 'x86_64-linux', 'aarch64-linux'"),
        ([], "no platform is given"),
    ],
)
def test_unknown_platforms(platforms, text):
    with pytest.raises(ExportError, match=text):
        libraries(platforms)


def test_ziglang_is_missing(monkeypatch):
    monkeypatch.setattr(cross.importlib.metadata, "version", lambda name: _missing(name))
    with pytest.raises(ExportError, match=r"aarch64-linux .* pip install 'linkwork\[cross\]'"):
        cross.cross_library("aarch64-linux", Progress(False))


def _missing(name):
    raise cross.importlib.metadata.PackageNotFoundError(name)


@pytest.fixture
def small_build(needs, tmp_path, monkeypatch) -> Callable[[str], None]:
    """Puts one file in the place of the sources, and an empty cache in that of the user's."""
    needs("ziglang")
    monkeypatch.setenv("LINKWORK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ZIG_GLOBAL_CACHE_DIR", str(cross.cache_folder().parent / "zig"))
    source = tmp_path / "small.c"
    monkeypatch.setattr(cross, "fmu_sources", lambda: {"csrc/small.c": source})
    return source.write_text


@pytest.mark.slow
def test_compiler_fails(small_build):
    small_build("int f(void) { return 1; }\nint g(void) { return unheard_of; }\n")
    with pytest.raises(ExportError, match=r"(?s)failed for x86_64-linux at small\.c.*unheard_of"):
        cross.cross_library("x86_64-linux", Progress(False))
    assert not list((cross.cache_folder() / "libraries").rglob("*.*"))


@pytest.mark.slow
def test_two_builds_at_once_and_a_third_from_the_cache(small_build, monkeypatch):
    small_build('__attribute__((visibility("default"))) int f(void) { return 1; }\n')
    reports = []
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(cross.cross_library, "x86_64-linux", Progress(reports.append)) for _ in range(2)]
        first, second = (job.result() for job in jobs)
    assert first == second
    assert [path.name for path in first.parent.iterdir()] == ["linkwork.so"]
    assert any("x86_64-linux" in one.text and one.fraction == 0.5 for one in reports)
    monkeypatch.setattr(cross.subprocess, "run", None)
    assert cross.cross_library("x86_64-linux", Progress(False)) == first
    small_build("int f(void) { return 2; }\n")
    with pytest.raises(TypeError):  # another source has to be compiled
        cross.cross_library("x86_64-linux", Progress(False))


# ---- contents ----------------------------------------------------------------------------------------


def is_of_the_system(platform: str, name: str) -> bool:
    allowed = {
        "linux": r"lib[cm]\.so\.6|libdl\.so\.2|ld-linux-(x86-64|aarch64)\.so\.[12]",
        "windows": r"kernel32\.dll|ntdll\.dll|msvcrt\.dll|ucrtbase\.dll|api-ms-win-crt-[\w-]+\.dll",
        "darwin": r"/usr/lib/libSystem\.B\.dylib",
    }
    return re.fullmatch(allowed[platform.split("-")[1]], name) is not None


@pytest.mark.slow
@pytest.mark.parametrize("platform", PLATFORMS)
def test_offers_fmi_and_needs_the_system(platform, compiled, needs):
    headers = Path(needs("fmpy").__file__).parent / "c-code"
    found = linkage(compiled(platform))
    assert found.offers == {name for v in (2, 3) for name in function_names(reference_text(headers, v), v)}
    assert [name for name in found.needs if not is_of_the_system(platform, name)] == []
    assert found.oldest <= OLDEST[platform.split("-")[1]]


def test_own_library_needs_an_old_glibc():
    assert linkage(fmu_libraries()[HOST]).oldest <= OLDEST["linux"]


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_an_fmu_for_several_platforms(version, compiled, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "WHOLE", USUAL)
    platforms = [HOST, *(name for name in ("aarch64-linux", "x86_64-windows") if name != HOST)]
    path = lw.export_fmu(pendulum(), tmp_path / "pendulum.fmu", version, platforms=platforms)
    with zipfile.ZipFile(path) as archive:
        entries = {entry.filename: entry.compress_size for entry in archive.infolist() if "binaries" in entry.filename}
    names = {"x86_64-linux": "linux64", "x86_64-windows": "win64"} if version == "2.0" else {}
    expected = {f"binaries/{names.get(p, p)}/pendulum{cross.suffix(p)}" for p in platforms}
    assert set(entries) == expected
    assert max(entries.values()) < MOST


# ---- macOS ----------------------------------------------------------------------------------------------


def mach_o(processor: int, size: int) -> bytes:
    """The start of a library, and its bytes."""
    return struct.pack("<III", 0xFEEDFACF, processor, 3).ljust(size, bytes([processor % 251]))


X86_64, ARM64 = 0x01000007, 0x0100000C


@pytest.mark.parametrize("sizes", [(100, 200), (1 << 14, 1), ((3 << 14) + 1, 12), (12, 1 << 15)])
def test_universal_library(sizes):
    parts = {X86_64: mach_o(X86_64, max(sizes[0], 12)), ARM64: mach_o(ARM64, max(sizes[1], 12))}
    data = universal_library(reversed(parts.values()))
    assert data == universal_library(parts.values())  # in either order
    magic, n = struct.unpack_from(">II", data)
    assert (magic, n) == (0xCAFEBABE, 2)
    end = 8 + 20 * n
    for k, (processor, part) in enumerate(parts.items()):
        found, variant, offset, size, alignment = struct.unpack_from(">IIIII", data, 8 + 20 * k)
        assert (found, variant, size, alignment) == (processor, 3, len(part), 14)
        assert offset % (1 << 14) == 0
        assert set(data[end:offset]) <= {0}
        assert data[offset : offset + size] == part
        end = offset + size
    assert len(data) == end


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([mach_o(X86_64, 50), b"\x7fELF" + bytes(50)], "no 64-bit Mach-O"),
        ([b"\xcf\xfa"], "no 64-bit Mach-O"),
        ([mach_o(ARM64, 50), mach_o(ARM64, 60)], "the same processor"),
    ],
)
def test_no_universal_library(parts, text):
    with pytest.raises(ValueError, match=text):
        universal_library(parts)


@pytest.mark.parametrize(
    ("version", "processors", "expected"),
    [
        ("2.0", ("x86_64", "aarch64"), {"darwin64": ["x86_64", "aarch64"], "aarch64-darwin": ["aarch64"]}),
        ("2.0", ("aarch64", "x86_64"), {"darwin64": ["x86_64", "aarch64"], "aarch64-darwin": ["aarch64"]}),
        ("2.0", ("x86_64",), {"darwin64": ["x86_64"]}),
        ("2.0", ("aarch64",), {"darwin64": ["aarch64"], "aarch64-darwin": ["aarch64"]}),
        ("3.0", ("x86_64", "aarch64"), {"x86_64-darwin": ["x86_64"], "aarch64-darwin": ["aarch64"]}),
    ],
)
def test_folders_of_macos(version, processors, expected, tmp_path, monkeypatch):
    """FMI 2.0 has one folder for macOS, in which importers on either processor look."""
    parts = {"x86_64": mach_o(X86_64, 300), "aarch64": mach_o(ARM64, 500)}
    macos_libraries = {}
    for processor in processors:
        macos_libraries[f"{processor}-darwin"] = tmp_path / processor / "linkwork.dylib"
        macos_libraries[f"{processor}-darwin"].parent.mkdir()
        macos_libraries[f"{processor}-darwin"].write_bytes(parts[processor])
    monkeypatch.setattr(export, "libraries", lambda platforms, progress: macos_libraries)
    path = lw.export_fmu(pendulum(), tmp_path / "pendulum.fmu", version)
    with zipfile.ZipFile(path) as archive:
        found = {name: archive.read(name) for name in archive.namelist() if name.startswith("binaries/")}
    assert found == {
        f"binaries/{folder}/pendulum.dylib": parts[inside[0]]
        if len(inside) == 1
        else universal_library(parts[processor] for processor in inside)
        for folder, inside in expected.items()
    }


@pytest.mark.slow
def test_an_fmu_for_macos(compiled, needs, tmp_path):
    lief = needs("lief")
    platforms = ["x86_64-darwin", "aarch64-darwin"]
    path = lw.export_fmu(pendulum(), tmp_path / "pendulum.fmu", "2.0", platforms=platforms)
    universal = unpack(path) / "binaries/darwin64/pendulum.dylib"
    read = lief.MachO.parse(str(universal))
    assert [binary.header.cpu_type.name for binary in read] == ["X86_64", "ARM64"]
    for binary, platform in zip(read, platforms, strict=True):
        alone = compiled(platform).read_bytes()
        start = binary.fat_offset
        assert universal.read_bytes()[start : start + len(alone)] == alone
        names = [command.name for command in binary.commands if command.command.name == "ID_DYLIB"]
        assert names == ["@rpath/linkwork.dylib"]  # no folder of the build
    assert read.at(1).has_code_signature  # macOS runs nothing else on arm64


@pytest.mark.slow
@pytest.mark.parametrize("platform", ["aarch64-linux", "x86_64-windows", "aarch64-darwin"])
def test_a_second_build_gives_the_same_bytes(platform, needs, tmp_path, monkeypatch):
    """In another folder, by a compiler that has not seen the sources: of some files, which need no others.

    All of them are compiled again by `tests/project/test_wheels.py`.
    """
    needs("ziglang")
    built = []
    for name in ("here", "elsewhere"):
        folder = tmp_path / name
        shutil.copytree(source_dir("csrc"), folder / "csrc")
        monkeypatch.setattr(cross, "source_dir", lambda name, folder=folder: folder / name)
        monkeypatch.setenv("ZIG_LOCAL_CACHE_DIR", str(folder / "cache"))
        sources = {path: folder / path for path in cross.fmu_sources() if path.startswith("csrc/math/")}
        (folder / "build").mkdir()
        library = folder / "build" / f"linkwork{cross.suffix(platform)}"
        built.append(cross.compile_library(platform, sources, library, Progress(False)).read_bytes())
    assert sum(path.endswith(".c") for path in sources) >= 3
    assert built[0] == built[1]


@pytest.mark.slow
@pytest.mark.parametrize("platform", PLATFORMS)
def test_size(platform, compiled, tmp_path):
    with zipfile.ZipFile(tmp_path / "one.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.write(compiled(platform), "one")
        assert archive.getinfo("one").compress_size < MOST


@pytest.mark.slow
def test_command_line(compiled, tmp_path, checkout, capsys):
    out = tmp_path / "one.fmu"
    arguments = [str(checkout / "examples/four_bar.py"), "-o", str(out)]
    assert main([*arguments, "--platforms", "aarch64-linux,x86_64-linux"]) == 0
    with zipfile.ZipFile(out) as archive:
        assert {"binaries/aarch64-linux/four_bar.so", "binaries/x86_64-linux/four_bar.so"} <= set(archive.namelist())
    assert main([*arguments, "--platforms", "atari"]) == 1
    assert "there is no platform 'atari'" in capsys.readouterr().err


# ---- the same bits ------------------------------------------------------------------------------------


def linkage_with_one_loop() -> lw.Mechanism:
    case = four_bar()
    case.mechanism.start(q=case.q, u=case.u)
    return case.mechanism


def latch() -> lw.Mechanism:
    mech = pendulum(latch=(lw.Lock("hinge"), lw.Time(0.5)), loose=(lw.Unlock("hinge"), lw.Time(0.7)))
    mech.add_body("second", mass=0.5, com=(0.5, 0, 0), inertia=lw.inertia.box(0.5, (1.0, 0.2, 0.1)), origin=(1, 0, 0))
    mech.add_joint("ball", lw.Spherical(), "arm", "second", at=(1, 0, 0))
    mech.start(u={"ball": (0.3, 0.2, 0.1)})
    return mech


@pytest.fixture(scope="module", params=["linkage", "linkage with compiled tapes", "latch"])
def scene(request, needs, tmp_path_factory) -> Unpacked:
    """With compiled tapes for all platforms on which tests run it."""
    needs("ziglang")
    system = lw.compile(latch() if request.param == "latch" else linkage_with_one_loop())
    path = lw.export_fmu(system, tmp_path_factory.mktemp("scene") / f"{system.mechanism.name}.fmu")
    unpacked = Unpacked(path, unpack(path), "3.0", system)
    if "tapes" in request.param:
        platforms = {HOST, "aarch64-linux", "x86_64-windows"}
        source = compiled_tapes.rates_source(system, True, describe_system(system, None, Experiment()))
        for name, data in compiled_tapes.compiled_files(source, platforms, False).items():
            (unpacked.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (unpacked.folder / name).write_bytes(data)
    return unpacked


def bits(scene: Unpacked, library: Path, program: Path, runner: list[str], environment: dict[str, str]) -> str:
    """What tests/c/run_fmu.c prints. Its paths are relative, so that Windows understands them."""
    shutil.copytree(scene.folder / "resources", scene.folder / "fünf", dirs_exist_ok=True)
    shutil.copy(library, scene.folder / library.name)
    shutil.copy(program, scene.folder / program.name)
    numbers = sorted((v for v in scene.system.variables if v.type == "real"), key=lambda v: v.reference)
    lists = [
        ",".join(str(scene.reference(v.name)) for v in numbers if v.kind == kind)
        for kind in ("output", "state", "derivative")
    ]
    command = [*runner, f"./{program.name}", f"./{library.name}", "file:f%C3%BCnf", scene.token, *lists]
    done = subprocess.run(
        command, cwd=scene.folder, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "logStatusWarning" not in done.stderr  # compiled tapes are loaded
    return done.stdout


@pytest.fixture(scope="module")
def driver(compiled, checkout, tmp_path_factory) -> Callable[[str], Path]:
    """tests/c/run_fmu.c compiled for a platform."""

    def build(platform: str) -> Path:
        program = tmp_path_factory.mktemp("driver") / ("run_fmu.exe" if "windows" in platform else "run_fmu")
        command = [sys.executable, "-m", "ziglang", "cc", "-target", cross.TARGETS[platform]]
        folders = [f"-I{source_dir('fmu_src')}", f"-I{source_dir('csrc') / 'include'}"]
        flags = ["-std=c11", "-O1", "-g0", "-ffp-contract=off", *folders]
        loader = [] if "windows" in platform else ["-ldl"]
        source = str(checkout / "tests/c/run_fmu.c")
        subprocess.run([*command, *flags, source, "-o", str(program), *loader], check=True)
        return program

    return build


@pytest.fixture(scope="module")
def expected(scene, driver) -> str:
    """The bits of the library that comes with the package."""
    found = bits(scene, fmu_libraries()[HOST], driver(HOST), [], {})
    assert found.count("\n") > 300
    assert "7ff" not in {number[:3] for number in found.split()}  # no infinity, no NaN
    return found


def differing(found: str, expected: str) -> list[tuple[str, str]]:
    """The first lines that differ, so that a failure stays readable."""
    pairs = zip(found.splitlines(), expected.splitlines(), strict=True)
    return [(one[:100], other[:100]) for one, other in pairs if one != other][:3]


@pytest.mark.slow
def test_bits_by_the_other_compiler(scene, compiled, driver, expected):
    found = bits(scene, compiled(HOST), driver(HOST), [], {})
    assert differing(found, expected) == []


@pytest.mark.slow
def test_bits_on_arm(scene, compiled, driver, expected, needs_program):
    runner = [needs_program("qemu-aarch64-static"), "-L", "/usr/aarch64-linux-gnu"]
    found = bits(scene, compiled("aarch64-linux"), driver("aarch64-linux"), runner, {})
    assert differing(found, expected) == []


@pytest.fixture(scope="module")
def wine(tmp_path_factory) -> tuple[list[str], dict[str, str]]:
    """Wine for programs of 64 bits, which Debian keeps out of the path, with a folder of its own and no windows."""
    program = shutil.which("wine64") or shutil.which("wine64", path="/usr/lib/wine")
    if program is None:
        pytest.skip("needs the program wine64")
    prefix = str(tmp_path_factory.mktemp("wine"))
    return [program], {
        "WINEPREFIX": prefix,
        "WINEDEBUG": "-all",
        "WINEDLLOVERRIDES": "mscoree,mshtml,winemenubuilder.exe=",
        "DISPLAY": "",
        "LC_ALL": "C.UTF-8",
    }


@pytest.mark.slow
def test_bits_on_windows(scene, compiled, driver, expected, wine):
    found = bits(scene, compiled("x86_64-windows"), driver("x86_64-windows"), *wine)
    assert differing(found, expected) == []
