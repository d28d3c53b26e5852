"""What a user gets: the sdist, the wheel built from it, and a package that works where no checkout is."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import pytest

import linkwork
from linkwork.core._core import ffi, lib
from linkwork.core.sources import source_dir


@pytest.fixture(scope="module")
def distributions(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist of this checkout and the wheel built from that sdist."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(checkout)]
    environment = {**os.environ, "LINKWORK_OPTIMIZATION": "-O0"}  # which compiles in a third of the time
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
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


@pytest.mark.slow
def test_the_viewer_is_in_both(distributions: Path, wheel: Path) -> None:
    (sdist,) = distributions.glob("*.tar.gz")
    with tarfile.open(sdist) as archive, zipfile.ZipFile(wheel) as files:
        for name in ("viewer.js", "worker.js", "core.wasm"):
            path = f"linkwork/view/assets/{name}"
            expected = (Path(linkwork.__file__).parent / "view" / "assets" / name).read_bytes()
            assert files.read(path) == expected
            assert any(one.name.endswith(f"/{path}") for one in archive.getmembers())


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


@pytest.mark.slow
def test_sdist_holds_the_sources_and_nothing_built(distributions: Path) -> None:
    (sdist,) = distributions.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"csrc/include/linkwork.h", "tests/conftest.py", "solvers/__init__.py", "run"} <= names
    assert not [name for name in names if re.search(r"^build/|^out/|^\.venv/|\.so$|\.pyc$|\.fmu$", name)]


@pytest.mark.slow
def test_wheel_serves_every_python_from_3_11(wheel: Path) -> None:
    assert re.search(r"-cp311-abi3-\w+\.whl$", wheel.name)


@pytest.mark.slow
def test_wheel_holds_package_sources_and_library(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {"linkwork/solvers/__init__.py", "linkwork/csrc/include/linkwork.h", "linkwork/py.typed"} <= names
    assert any(re.fullmatch(r"linkwork/core/_core\.(abi3\.so|pyd)", name) for name in names)
    assert any(re.fullmatch(r"linkwork/fmu_src/\w+\.c", name) for name in names)
    assert any(re.fullmatch(r"linkwork/binaries/\w+-\w+/linkwork\.(so|dll|dylib)", name) for name in names)
    assert {name.split("/")[0] for name in names} == {"linkwork", f"linkwork-{version('linkwork')}.dist-info"}


@pytest.mark.slow
def test_wheel_and_checkout_hold_the_same_modules_and_sources(installed: Path, checkout: Path) -> None:
    def content(folder: Path) -> dict[str, str]:
        files = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
        kept = {name: path for name, path in files.items() if not re.search(r"(^|/)(\.|__pycache__)", name)}
        return {name: sha256(path.read_bytes()).hexdigest() for name, path in kept.items()}

    for name in ("csrc", "fmu_src", "solvers"):
        assert content(installed / "linkwork" / name) == content(checkout / name)


@pytest.mark.slow
def test_installed_package_finds_its_own_sources(installed: Path) -> None:
    found = run_installed(
        installed,
        "import linkwork\n"
        "from linkwork.core.sources import fmu_libraries, source_dir\n"
        "print(linkwork.__file__, source_dir('csrc'), source_dir('fmu_src'), *fmu_libraries().values(), sep='\\n')",
    )
    assert all(Path(line).is_relative_to(installed) for line in found.splitlines())


def test_this_installation_finds_its_sources() -> None:
    assert (source_dir("csrc") / "include" / "linkwork.h").is_file()
    assert list(source_dir("fmu_src").glob("*.c"))
    with pytest.raises(FileNotFoundError, match="nonsense"):
        source_dir("nonsense")


def test_version_stands_in_one_place() -> None:
    assert linkwork.__version__ == version("linkwork") == ffi.string(lib.lw_version()).decode()


def test_run_explains_itself(checkout: Path) -> None:
    shell = shutil.which("bash")
    assert shell
    told = subprocess.run([shell, str(checkout / "run"), "help"], capture_output=True, text=True, check=True)
    assert all(command in told.stdout for command in ("demo", "test", "setup", "clean"))
    refused = subprocess.run([shell, str(checkout / "run"), "nonsense"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "usage" in refused.stderr


def test_the_version_is_the_same_everywhere(checkout):
    citation = (checkout / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {linkwork.__version__}\n" in citation
    newest = re.search(r"^## \[(.*)\]", (checkout / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest is not None
    assert newest[1] == linkwork.__version__
