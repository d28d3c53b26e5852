"""What a user gets: the sdist, the wheel built from it, and a package that works where no checkout is."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

import linkwork
from linkwork._sources import fmu_libraries, source_dir

# All tests that build share one build, so they stay on one worker.
pytestmark = pytest.mark.xdist_group("packaging")


@pytest.fixture(scope="module")
def distributions(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist of this checkout and the wheel built from that sdist."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(checkout)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return out


@pytest.fixture(scope="module")
def wheel(distributions: Path) -> Path:
    (path,) = distributions.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel unpacked, as an installer does it."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def run_installed(installed: Path, code: str) -> str:
    """Run code with the unpacked wheel; -S keeps this environment's editable install out of sight."""
    path = os.pathsep.join([str(installed), sysconfig.get_path("platlib")])
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        cwd=installed,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_sdist_holds_the_sources_and_nothing_built(distributions: Path) -> None:
    (sdist,) = distributions.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"csrc/linkwork.h", "tests/conftest.py", "solvers/__init__.py", "run"} <= names
    assert not [name for name in names if re.search(r"^build/|^out/|^\.venv/|\.so$|\.pyc$|\.fmu$", name)]


def test_wheel_serves_every_python_from_3_11(wheel: Path) -> None:
    assert re.search(r"-cp311-abi3-\w+\.whl$", wheel.name)


def test_wheel_holds_package_sources_and_library(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {"linkwork/solvers/__init__.py", "linkwork/csrc/linkwork.h", "linkwork/py.typed"} <= names
    assert any(re.fullmatch(r"linkwork/_core\.(abi3\.so|pyd)", name) for name in names)
    assert any(re.fullmatch(r"linkwork/fmu_src/\w+\.c", name) for name in names)
    assert any(re.fullmatch(r"linkwork/binaries/\w+-\w+/linkwork\.(so|dll|dylib)", name) for name in names)
    assert {name.split("/")[0] for name in names} == {"linkwork", f"linkwork-{version('linkwork')}.dist-info"}


def test_wheel_and_checkout_hold_the_same_modules_and_sources(installed: Path, checkout: Path) -> None:
    def content(folder: Path) -> dict[str, bytes]:
        files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}

    for name in ("csrc", "fmu_src", "solvers"):
        assert content(installed / "linkwork" / name) == content(checkout / name)


def test_installed_package_finds_its_own_sources(installed: Path) -> None:
    found = run_installed(
        installed,
        "import linkwork\n"
        "from linkwork._sources import fmu_libraries, source_dir\n"
        "print(linkwork.__file__, source_dir('csrc'), source_dir('fmu_src'), *fmu_libraries().values(), sep='\\n')",
    )
    assert all(Path(line).is_relative_to(installed) for line in found.splitlines())


def test_this_installation_finds_its_sources() -> None:
    assert (source_dir("csrc") / "linkwork.h").is_file()
    assert list(source_dir("fmu_src").glob("*.c"))
    with pytest.raises(FileNotFoundError, match="nonsense"):
        source_dir("nonsense")


def test_version_stands_in_one_place() -> None:
    from linkwork import _native

    assert linkwork.__version__ == version("linkwork") == _native.version()


def test_fmu_library_exports_fmi_and_nothing_else(needs_program) -> None:
    names = symbols(needs_program("nm"), "--defined-only")
    assert len(names) > 100
    assert not [name for name in names if not re.match(r"fmi[23][A-Z]", name)]


def test_fmu_library_needs_only_libc_and_libm(needs_program) -> None:
    (library,) = fmu_libraries().values()
    listing = subprocess.run([needs_program("readelf"), "-d", str(library)], capture_output=True, text=True, check=True)
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", listing.stdout))
    assert needed <= {"libc.so.6", "libm.so.6"}


def symbols(nm: str, which: str) -> list[str]:
    (library,) = fmu_libraries().values()
    listing = subprocess.run([nm, "-D", which, str(library)], capture_output=True, text=True, check=True)
    return [line.split()[-1].partition("@")[0] for line in listing.stdout.splitlines()]


def test_run_explains_itself(checkout: Path) -> None:
    shell = shutil.which("bash")
    assert shell
    told = subprocess.run([shell, str(checkout / "run"), "help"], capture_output=True, text=True, check=True)
    assert all(command in told.stdout for command in ("demo", "test", "setup", "clean"))
    refused = subprocess.run([shell, str(checkout / "run"), "nonsense"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "usage" in refused.stderr
