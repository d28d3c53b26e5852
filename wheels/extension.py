"""The extension module `linkwork.core._core` of the stable ABI for any platform, compiled by zig.

No Python of the platform is needed: the headers are those of the Python that builds, with `pyconfig.h` of this folder.
The library of C++ becomes a part of the module, whose operators `exports.map` hides on Linux.
Undefined symbols stay open on Linux and macOS until Python loads the module. Windows wants the library that has
them, python3.dll, of which an import library is made from the list of the stable ABI.
"""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from abi3info import DATAS, FUNCTIONS
from abi3info.models import PyVersion

from linkwork._util.progress import Progress
from linkwork.core.sources import source_dir
from linkwork.errors import ExportError
from linkwork.fmu.export.cross_compile import compile_library
from wheels.targets import Target

OLDEST = PyVersion(3, 11)  # as in pyproject.toml
BINDING = Path(__file__).parents[1] / "linkwork" / "core" / "_core_build.py"
EXPORTS = Path(__file__).parent / "exports.map"
LINK = {"darwin": ["-Wl,-undefined,dynamic_lookup"], "linux": [f"-Wl,--version-script={EXPORTS}"], "windows": []}


def build_extension(target: Target, folder: Path, progress: Progress) -> Path:
    """Compile the extension module of a platform in an empty folder; return the file.

    It is compiled without OpenMP, because no system has a library of OpenMP at a known place.
    """
    folder.mkdir(parents=True)
    generated = folder / "_core_cffi.c"
    _run(sys.executable, "-m", "cffi.gen_src", "exec-python", BINDING, generated)
    # GNU C for alloca, as in CMake.
    binding = [
        "-std=gnu11",
        f"-I{python_headers(folder / 'include')}",
        f"-DPy_LIMITED_API=0x{OLDEST.major:02x}{OLDEST.minor:02x}0000",
    ]
    system = target.platform.rpartition("-")[2]
    link = [*LINK[system], *([str(import_library(folder))] if system == "windows" else [])]
    sources = {**core_sources(), generated.name: generated}
    flags = {generated.name: binding, "csrc/tape/record_kernels.cpp": ["-O1"]}  # as in CMakeLists.txt
    return compile_library(target.platform, sources, folder / target.extension, progress, flags, [*link, "-lc++"])


def core_sources() -> dict[str, Path]:
    """Return all files in C and C++ of the core and of the controllers by name."""
    core, wrapper = source_dir("csrc"), source_dir("fmu_src")
    found = [(core, path) for suffix in ("c", "cpp") for path in core.rglob(f"*.{suffix}")]
    found += [(wrapper, path) for path in wrapper.glob("controllers/*.c")]
    return {path.relative_to(folder.parent).as_posix(): path for folder, path in sorted(found)}


def python_headers(folder: Path) -> Path:
    """Copy Python's headers to a folder, with the `pyconfig.h` for all platforms; return the folder."""
    shutil.copytree(sysconfig.get_path("include"), folder, ignore=shutil.ignore_patterns("pyconfig.h"))
    shutil.copy(Path(__file__).parent / "pyconfig.h", folder)
    return folder


def stable_names() -> dict[str, bool]:
    """Return the names in the stable ABI of the oldest Python, and whether each is a variable.

    >>> stable_names()["PyLong_FromLong"], stable_names()["PyLong_Type"], "PyType_GetName" in stable_names()
    (False, True, True)
    """
    entries = [*((one, False) for one in FUNCTIONS.values()), *((one, True) for one in DATAS.values())]
    return {one.symbol.name: variable for one, variable in entries if one.added <= OLDEST}


def import_library(folder: Path) -> Path:
    """Write the import library of python3.dll."""
    rows = [f"  {name}{' DATA' if variable else ''}" for name, variable in sorted(stable_names().items())]
    definition, library = folder / "python3.def", folder / "python3.lib"
    definition.write_text("\n".join(["LIBRARY python3.dll", "EXPORTS", *rows, ""]), encoding="ascii")
    _run(sys.executable, "-m", "ziglang", "dlltool", "-m", "i386:x86-64", "-d", definition, "-l", library)
    return library


def _run(*command: object) -> None:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise ExportError(f"{' '.join(map(str, command[1:4]))} failed:\n{(done.stderr or done.stdout).strip()}")
