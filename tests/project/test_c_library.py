"""What a user of C or C++ gets: a library that find_package and pkg-config find, and examples that use it."""

import importlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from support.checkout import TOP

LANGUAGES = {"c": ("four_bar.c", ["gcc", "-std=c99"]), "cpp": ("four_bar.cpp", ["g++", "-std=c++17"])}
OF_THE_LINKER = {"completed", "__dso_handle", "__TMC_END__", "_DYNAMIC", "_GLOBAL_OFFSET_TABLE_"}
PROGRAMS = ("bash", "flock", "cmake", "ninja", "gcc", "g++")

pytestmark = [
    pytest.mark.skipif(not all(map(shutil.which, PROGRAMS)), reason=f"needs {', '.join(PROGRAMS)}"),
]


def run(*command: object, **options: object) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a shared library is installed, from the build of `./run test`."""
    prefix = tmp_path_factory.mktemp("prefix")
    (TOP / "build").mkdir(exist_ok=True)
    run("flock", "build/c-warnings.lock", "bash", "-c", "source ./run; c_library", cwd=TOP)
    run("cmake", "--install", TOP / "build" / "c-warnings", "--prefix", prefix)
    return prefix


@pytest.fixture
def expected(monkeypatch: pytest.MonkeyPatch) -> tuple[dict[str, float], np.ndarray]:
    """Accelerations of the four-bar at its assembled start, and rows of time, angle and speed of its crank."""
    monkeypatch.syspath_prepend(TOP / "examples")
    system = lw.compile(importlib.import_module("four_bar").mechanism())
    state = system.assemble()
    found = system.accelerations(state)
    accelerations = dict(zip("ABCD", [*found, *found.cut], strict=True))
    times = np.linspace(0.0, 5.0, 51)
    result = lw.simulate(system, t_end=5.0, rtol=1e-9, atol=1e-11, t_eval=times)
    return accelerations, np.column_stack([times, result["A.q"], result["A.u"]])


def check_output(text: str, expected: tuple[dict[str, float], np.ndarray]) -> None:
    accelerations, motion = expected
    found = {name: float(value) for name, value in re.findall(r"^acceleration (\w) (\S+)$", text, re.MULTILINE)}
    assert found == pytest.approx(accelerations, rel=1e-12)
    rows = np.array([line.split()[1:] for line in text.splitlines() if line.startswith("motion")], float)
    np.testing.assert_allclose(rows, motion, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("language", LANGUAGES)
def test_examples_by_find_package(prefix, expected, tmp_path, language):
    run("cmake", "-G", "Ninja", "-S", TOP / "examples" / language, "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path)
    check_output(run(tmp_path / "four_bar"), expected)


@pytest.mark.skipif(not shutil.which("pkg-config"), reason="needs pkg-config")
@pytest.mark.parametrize("language", LANGUAGES)
def test_examples_by_pkg_config(prefix, expected, tmp_path, language):
    source, compiler = LANGUAGES[language]
    found = os.environ | {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    flags = run("pkg-config", "--cflags", "--libs", "linkwork", env=found).split()
    warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    program = tmp_path / "four_bar"
    run(*compiler, *warnings, TOP / "examples" / language / source, "-o", program, *flags)
    check_output(run(program, env=os.environ | {"LD_LIBRARY_PATH": str(prefix / "lib")}), expected)
    assert run("pkg-config", "--modversion", "linkwork", env=found).strip() == lw.__version__


def test_quick_start_of_the_documents(prefix, tmp_path):
    (code,) = re.findall(r"```c\n(.*?)```", (TOP / "docs" / "c_library.md").read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "pendulum.c").write_text(code, encoding="utf-8")
    flags = [
        "-I",
        prefix / "include",
        "-DLW_SHARED",
        "-L",
        prefix / "lib",
        "-llinkwork",
        f"-Wl,-rpath,{prefix / 'lib'}",
    ]
    run("gcc", "-std=c99", tmp_path / "pendulum.c", "-o", tmp_path / "pendulum", *flags)
    fall = -9.81 * 0.5 * np.sin(0.3) / (0.1 + 0.25)
    assert float(run(tmp_path / "pendulum").split()[2]) == pytest.approx(fall, rel=1e-5)


@pytest.mark.skipif(not shutil.which("objdump"), reason="needs objdump")
def test_the_library_has_no_global_state_but_the_number_of_threads(prefix):
    rows = [line.split() for line in run("objdump", "-t", prefix / "lib" / "liblinkwork.so").splitlines()]
    variables = {row[-1] for row in rows if "O" in row[1:4] and {".data", ".bss"} & set(row[1:5])}
    assert {name for name in variables if name.partition(".")[0] not in OF_THE_LINKER} == {"requested_threads"}


@pytest.mark.skipif(not shutil.which("nm"), reason="needs nm")
def test_the_library_exports_the_header_and_nothing_else(prefix):
    table = run("nm", "-D", "--defined-only", prefix / "lib" / "liblinkwork.so")
    exported = {line.split()[-1] for line in table.splitlines()}
    header = (prefix / "include" / "linkwork.h").read_text(encoding="utf-8")
    declared = set(re.findall(r"^LW_API [\w *]*?\*?(lw_\w+)\(", header, re.MULTILINE))
    assert exported == declared
    assert len(declared) > 100
