"""Who may know whom: the arrows between the parts, read from the imports and includes themselves."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.checkout import TOP

C_LIBRARY = {
    f"{name}.h"
    for name in (
        *("complex", "errno", "float", "inttypes", "limits", "math", "stdarg"),
        *("stdatomic", "stdbool", "stddef", "stdint", "stdio", "stdlib", "string"),
        "omp",  # where it is present
        "cpuid",  # the compiler's
    )
}
PRINTS_OR_EXITS = re.compile(r"\b(?:printf|fprintf|puts|exit|abort|assert|raise)\s*\(")
STANDARD = set(sys.stdlib_module_names)

# Part: what it may import, besides the standard library and itself. Longer names win over shorter ones.
PYTHON_ARROWS = {
    "linkwork.errors": set(),
    "linkwork.mechanism": {"numpy", "linkwork.errors"},
    "linkwork.compiler": {"numpy", "linkwork.errors", "linkwork.mechanism", "linkwork.model.model"},
    "linkwork.coarse_graining": {
        *("numpy", "linkwork.errors", "linkwork.mechanism", "linkwork.compiler", "linkwork.model.state"),
    },
    "linkwork.solvers": {
        "numpy",
        "scipy",
        "linkwork.errors",
        "linkwork.core._core",
        "cffi",
        "scikits_odes_sundials",
        "sksundae",
    },
    "linkwork.fmu.check": {"numpy", "fmpy", "linkwork.errors"},
    "linkwork.cosim": {
        *("numpy", "scipy", "fmpy", "lxml", "pandas", "pyarrow", "matplotlib", "distributed"),
        *("linkwork.errors", "linkwork._util.progress", "linkwork.draw.plotting", "linkwork.cli.shared"),
    },
    "linkwork.controllers.adapter": set(),  # it is copied into FMUs
    "linkwork.controllers.controller": {"pythonfmu"},
    "linkwork.core._core_build": {"cffi"},
    "linkwork.core.native": {"numpy", "linkwork.errors", "linkwork.mechanism.checks", "linkwork.core._core"},
}


def python_files() -> dict[str, Path]:
    """Every module of the package by its dotted name; the solvers are found through their link."""
    files = [*(TOP / "linkwork").rglob("*.py"), *(TOP / "solvers").rglob("*.py")]
    names = {}
    for path in files:
        parts = list(path.relative_to(TOP).with_suffix("").parts)
        if parts[0] == "solvers":
            parts.insert(0, "linkwork")
        if parts[-1] == "__init__":
            parts.pop()
        names[".".join(parts)] = path
    return names


def imports(module: str, path: Path) -> Iterator[str]:
    """The dotted names a module imports anywhere in it, relative ones resolved."""
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{source}.{alias.name}" for alias in node.names]
            yield from names if source in PACKAGES else [source]


MODULES = python_files()
PACKAGES = {name for name, path in MODULES.items() if path.name == "__init__.py"}


def within(name: str, part: str) -> bool:
    return name == part or name.startswith(part + ".")


@pytest.mark.parametrize("part", PYTHON_ARROWS)
def test_a_part_imports_only_what_it_may_know(part: str) -> None:
    allowed = PYTHON_ARROWS[part] | {part}
    strangers = [
        f"{module} imports {name}"
        for module, path in MODULES.items()
        if within(module, part)
        for name in imports(module, path)
        if name.split(".")[0] not in STANDARD and not any(within(name, known) for known in allowed)
    ]
    assert not strangers


def test_one_module_for_each_thing_in_c_touches_its_ffi() -> None:
    users = {
        module
        for module, path in MODULES.items()
        for name in imports(module, path)
        if within(name, "linkwork.core._core") or within(name, "cffi")
    }
    ida = {"linkwork.solvers.ida.coupled", "linkwork.solvers.ida.sundials"}
    kernels = {"linkwork.core.native", "linkwork.solvers.compiled", "linkwork.core.chain_kernels"}
    assert users == {*kernels, *ida, "linkwork.core._core_build"}


def test_the_solvers_are_one_package_under_two_paths() -> None:
    link = TOP / "linkwork" / "solvers"
    assert link.resolve() == TOP / "solvers"
    if link.is_symlink():  # an unpacked sdist holds a copy
        assert link.readlink() == Path("../solvers")


def c_files(folder: str) -> list[Path]:
    return [path for path in (TOP / folder).rglob("*") if path.suffix in (".c", ".h", ".inc")]


@pytest.mark.parametrize(("folder", "knows"), [("csrc", set()), ("fmu_src", {"linkwork.h", "windows.h"})])
def test_c_includes_stay_within_their_folder(folder: str, knows: set[str]) -> None:
    own = {path.name for path in c_files(folder)}
    strangers = [
        f"{path.relative_to(TOP)} includes {name}"
        for path in c_files(folder)
        for name in re.findall(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', path.read_text(encoding="utf-8"), re.MULTILINE)
        if name not in C_LIBRARY | knows and Path(name).name not in own
    ]
    assert own
    assert not strangers


@pytest.mark.parametrize("folder", ["csrc", "fmu_src"])
def test_c_neither_prints_nor_exits(folder: str) -> None:
    calls = [
        f"{path.relative_to(TOP)}: {call}"
        for path in c_files(folder)
        for call in PRINTS_OR_EXITS.findall(path.read_text(encoding="utf-8"))
    ]
    assert not calls
