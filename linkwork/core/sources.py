"""Where the C sources and the compiled FMU libraries lie, in a wheel and in a checkout."""

import importlib.util
import platform
import sys
from pathlib import Path


def source_dir(name: str) -> Path:
    """Return the folder of C sources `csrc` or `fmu_src`.

    A wheel carries them inside the package, a checkout has them next to it.
    """
    package = Path(__file__).resolve().parents[1]
    for folder in (package / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"the installation of linkwork at {package} has no folder {name!r}; reinstall linkwork")


def host_platform() -> str:
    """Return the FMI 3 platform tuple of this Python, such as ``x86_64-linux``, as CMakeLists.txt names it."""
    machine = platform.machine().lower()
    system = "windows" if sys.platform == "win32" else sys.platform
    return f"{ {'amd64': 'x86_64', 'arm64': 'aarch64'}.get(machine, machine) }-{system}"


def fmu_libraries() -> dict[str, Path]:
    """Return the shared libraries that FMUs are made of, by FMI 3 platform tuple such as ``x86_64-linux``.

    A wheel brings those of all platforms, a local build its own. They lie in the package of the compiled extension: an
    editable install leaves the Python files in the checkout and puts the compiled ones into site-packages.
    """
    extension = importlib.util.find_spec("linkwork.core._core")
    if extension is None or extension.origin is None:
        raise FileNotFoundError("linkwork's compiled extension is missing; reinstall linkwork")
    folder = Path(extension.origin).parents[1] / "binaries"
    libraries = {library.parent.name: library for library in sorted(folder.glob("*/linkwork.*"))}
    if not libraries:
        raise FileNotFoundError(f"no FMU library below {folder}; reinstall linkwork")
    return libraries


# As in CMakeLists.txt.
FLAGS = (
    "-O3",
    "-fno-tree-vectorize",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fcx-fortran-rules",
)
_NOT_IN_FMUS = ("csrc/chou/", "csrc/continuation/", "csrc/ode/ida.c", "csrc/tape/")


def fmu_sources() -> dict[str, Path]:
    """Return all sources that an FMU is made of, by their path, such as ``csrc/ode/ode.h``.

    Raises
    ------
    FileNotFoundError
        If the installation does not have them.
    """
    found = {}
    for name in ("csrc", "fmu_src"):
        folder = source_dir(name)
        for path in sorted(folder.rglob("*.[chi]*")):
            inside = f"{name}/{path.relative_to(folder).as_posix()}"
            if path.suffix in (".c", ".h") and not inside.startswith(_NOT_IN_FMUS):
                found[inside] = path
    return found
