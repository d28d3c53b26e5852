"""Who may know whom: the arrows between the parts, read from the imports and includes themselves."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.arrows import C_ARROWS, circle, folder_of
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

# The one reader of model descriptions and caller of FMUs, which knows no exporter and no mechanics.
FMU_READER = {f"linkwork.fmu.{name}" for name in ("description", "combinations", "caller")}

# What pages of any result need: the document, and scenes that FMUs carry, without mechanics.
VIEW = {
    f"linkwork.view.{name}"
    for name in (
        *("page", "document", "part", "payload", "packing", "recording"),
        *("notebook", "fmu_scene", "cosim_run"),
    )
}

# Part: what it may import, besides the standard library and itself. Longer names win over shorter ones.
PYTHON_ARROWS = {
    "linkwork.errors": set(),
    "linkwork._util": {"numpy", "scipy", "threadpoolctl", "linkwork.errors"},
    "linkwork.mechanism": {"numpy", "linkwork.errors", "linkwork._util"},
    "linkwork.variables": {
        *("numpy", "linkwork.errors", "linkwork._util", "linkwork.mechanism"),
        *("linkwork.core.native", "linkwork.core.plan"),
    },
    "linkwork.model": {
        *("numpy", "linkwork.errors", "linkwork._util", "linkwork.mechanism"),
        *("linkwork.core.native", "linkwork.core.plan", "linkwork.core.builder", "linkwork.variables"),
        *("linkwork.draw", "linkwork.view", "scipy"),
        "linkwork.analysis.closure_redundancy",
    },
    "linkwork.analysis": {
        *("numpy", "scipy", "pandas", "matplotlib"),
        *("linkwork.errors", "linkwork._util", "linkwork.mechanism"),
        *("linkwork.core.native", "linkwork.variables", "linkwork.model", "linkwork.results", "linkwork.draw"),
        *("linkwork.view", "linkwork.simulation.result", "linkwork.simulation.inputs"),
        *("linkwork.simulation.running_state", "matplotlib"),
    },
    "linkwork.coarse_graining": {
        *("numpy", "linkwork.errors", "linkwork._util", "linkwork.mechanism", "linkwork.model"),
    },
    "linkwork.formats": {
        *("numpy", "linkwork.errors", "linkwork._util", "linkwork.mechanism"),
        *("linkwork.model.compile", "linkwork.model.model", "linkwork.model.bounded_pose"),
        *("mujoco", "pxr", "yaml"),
    },
    "linkwork._util.names": set(),
    "linkwork.solvers": {
        "numpy",
        "scipy",
        "linkwork.errors",
        "linkwork._util.names",
        "linkwork.core._core",
        "cffi",
        "scikits_odes_sundials",
        "sksundae",
    },
    "linkwork.fmu.check": {"numpy", "fmpy", "linkwork.errors", "linkwork._util", *FMU_READER},
    "linkwork.fmu.description": {"linkwork.fmu.combinations"},
    "linkwork.fmu.combinations": set(),
    "linkwork.fmu.caller": {"fmpy", "linkwork.errors"},
    "linkwork.results": {
        *("numpy", "scipy", "pandas", "pyarrow", "matplotlib"),
        *("linkwork.errors", "linkwork._util", "linkwork.draw.plotting", *VIEW),
    },
    "linkwork.cosim": {
        *("numpy", "scipy", "fmpy", "lxml", "pandas", "pyarrow", "matplotlib", "distributed"),
        *("linkwork.errors", "linkwork._util", "linkwork.draw.plotting", "linkwork.draw.block_diagram"),
        *("linkwork.results", "linkwork.solvers"),  # of FMUs in Model Exchange
        *FMU_READER,
        *VIEW,
    },
    "linkwork.view": {
        *("numpy", "linkwork.errors", "linkwork._util", "linkwork.mechanism"),
        *("linkwork.core.native", "linkwork.core.plan", "linkwork.variables", "linkwork.model", "linkwork.results"),
        *("linkwork.simulation", "linkwork.cosim.recording.result"),
        *("linkwork.draw", "trimesh", "fast_simplification", "PIL", "imageio_ffmpeg", "matplotlib"),
    },
    **{part: {"numpy", "linkwork.errors", "linkwork._util", "linkwork.results", *VIEW} for part in sorted(VIEW)},
    "linkwork.view.cosim_run": {"numpy", "linkwork.errors", "linkwork.cosim.recording.result", *VIEW},
    "linkwork.simulation": {
        *("numpy", "pandas", "linkwork.errors", "linkwork._util", "linkwork.mechanism"),
        *("linkwork.core.native", "linkwork.core.chain_kernels", "linkwork.model", "linkwork.solvers"),
        "linkwork.variables.numbering",
        *("linkwork.results", "linkwork.view"),  # results show themselves
    },
    "linkwork.comparison": {
        *("numpy", "pandas", "matplotlib", "linkwork.errors", "linkwork._util", "linkwork.mechanism"),
        *("linkwork.model", "linkwork.simulation", "linkwork.solvers"),
        "linkwork.draw.plotting",
    },
    "linkwork.draw": {
        *("numpy", "matplotlib", "linkwork.errors", "linkwork._util", "linkwork.mechanism", "linkwork.model"),
        *("linkwork.core.native", *(f"linkwork.cosim.{name}" for name in ("system", "fmu.model"))),  # block diagrams
    },
    "linkwork.draw.plotting": {"numpy", "matplotlib", "linkwork.errors", "linkwork._util"},
    "linkwork.fmu.export": {
        *("numpy", "linkwork.errors", "linkwork._util", "linkwork.mechanism"),
        *("linkwork.core.sources", "linkwork.variables", "linkwork.model", "linkwork.simulation", "linkwork.solvers"),
        *("linkwork.results", "linkwork.draw", "linkwork.view"),
    },
    "linkwork.controllers": {
        *("numpy", "scipy", "pythonfmu", "linkwork.errors", "linkwork._util", "linkwork.mechanism", "linkwork.model"),
        *("linkwork.core.native", "linkwork.simulation.controller", "linkwork.simulation.running_state"),
        "linkwork.fmu.export",
    },
    "linkwork.controllers.builtin": {
        *("numpy", "scipy", "linkwork.errors", "linkwork._util", "linkwork.mechanism", "linkwork.model"),
        *("linkwork.core.native", "linkwork.controllers"),
    },
    "linkwork.cli": {"numpy", "scipy", "pandas", "shtab", "linkwork"},
    "linkwork.controllers.adapter": set(),  # it is copied into FMUs
    "linkwork.controllers.controller": {"pythonfmu"},
    "linkwork.core": {"numpy", "linkwork.errors", "linkwork._util.checks"},
    "linkwork.core.builder": {"numpy", "linkwork.core._core", "linkwork.core.native", "linkwork._util.checks"},
    "linkwork.core.chain_kernels": {"numpy", "linkwork.errors", "linkwork.core._core", "linkwork.solvers"},
    "linkwork.core._core_build": {"cffi"},
    "linkwork.core.native": {"numpy", "linkwork.errors", "linkwork._util.checks", "linkwork.core._core"},
}


def python_files() -> dict[str, Path]:
    """Every module of the package by its dotted name; the solvers are next to it."""
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


def imports(module: str, path: Path, *, types: bool = True) -> Iterator[str]:
    """The dotted names a module imports anywhere in it, relative ones resolved; without `types` those that it runs."""
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = set() if types else for_types_only(tree)
    for node in ast.walk(tree):
        if node in skipped:
            continue
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


def part_of(module: str) -> str | None:
    """The longest name of a part that holds a module."""
    return max((part for part in PYTHON_ARROWS if within(module, part)), key=len, default=None)


@pytest.mark.parametrize("part", PYTHON_ARROWS)
def test_a_part_imports_only_what_it_may_know(part: str) -> None:
    allowed = PYTHON_ARROWS[part] | {part}
    own = {module: path for module, path in MODULES.items() if part_of(module) == part}
    strangers = [
        f"{module} imports {name}"
        for module, path in own.items()
        for name in imports(module, path)
        if name.split(".")[0] not in STANDARD and not any(within(name, known) for known in allowed)
    ]
    assert own
    assert not strangers


def test_each_module_is_part_of_one() -> None:
    faces = {"linkwork", "linkwork.__main__", "linkwork.fmu"}
    assert {module for module in MODULES if part_of(module) is None} == faces


def test_one_module_for_each_thing_in_c_touches_its_ffi() -> None:
    users = {
        module
        for module, path in MODULES.items()
        for name in imports(module, path)
        if within(name, "linkwork.core._core") or within(name, "cffi")
    }
    ida = {"linkwork.solvers.ida.coupled", "linkwork.solvers.ida.sundials"}
    kernels = {
        "linkwork.core.native",
        "linkwork.core.builder",
        "linkwork.solvers.compiled",
        "linkwork.core.chain_kernels",
    }
    assert users == {*kernels, *ida, "linkwork.core._core_build"}


def test_the_root_of_the_package_has_few_modules() -> None:
    assert {path.name for path in (TOP / "linkwork").glob("*.py")} == {"__init__.py", "__main__.py", "errors.py"}


def test_the_checkout_holds_no_links() -> None:
    assert not [path for folder in ("linkwork", "solvers") for path in (TOP / folder).rglob("*") if path.is_symlink()]


def for_types_only(tree: ast.Module) -> set[ast.AST]:
    """The imports below `if TYPE_CHECKING`."""
    blocks = [node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    return {inner for block in blocks for statement in block.body for inner in ast.walk(statement)}


def arrows(module: str, path: Path, *, types: bool = False) -> set[str]:
    """The files of the package that a file imports, inside functions as well; those for types alone on request."""
    found = {name if name in MODULES else name.rpartition(".")[0] for name in imports(module, path, types=types)}
    return (found & MODULES.keys()) - {module}


def test_files_import_each_other_in_no_circle() -> None:
    assert not circle({module: arrows(module, path) for module, path in MODULES.items()})


@pytest.mark.parametrize(
    "package",
    [
        *(
            "_util",
            "cli",
            "coarse_graining",
            "comparison",
            "controllers",
            "core",
            "cosim",
            "draw",
            "fmu",
            "formats",
        ),
        *("results", "simulation", "solvers", "variables"),
    ],
)
def test_files_of_a_package_import_each_other_in_no_circle_for_types_either(package: str) -> None:
    own = {module: path for module, path in MODULES.items() if within(module, f"linkwork.{package}")}
    assert own
    assert not circle({module: arrows(module, path, types=True) for module, path in own.items()})


def c_files(folder: str) -> list[Path]:
    return [path for path in (TOP / folder).rglob("*") if path.suffix in (".c", ".h")]


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


def included(by: Path, name: str) -> Path:
    """The file that an #include means, from csrc."""
    beside, below = by.parent / name, TOP / "csrc" / name
    found = below if below.exists() else beside if beside.exists() else TOP / "csrc" / "include" / name
    assert found.exists()
    return found.relative_to(TOP / "csrc")


@pytest.mark.parametrize(
    "folder", sorted({folder_of(path.relative_to(TOP / "csrc")) for path in c_files("csrc")} - {"include"})
)
def test_a_folder_of_c_includes_only_what_it_may_know(folder: str) -> None:
    known = C_ARROWS[folder] | {folder, "include"}
    strangers = [
        f"{path.relative_to(TOP)} includes {name}"
        for path in c_files("csrc")
        if folder_of(path.relative_to(TOP / "csrc")) == folder
        for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(encoding="utf-8"), re.MULTILINE)
        if folder_of(included(path, name)) not in known
    ]
    assert not strangers


def test_files_of_c_include_each_other_in_no_circle() -> None:
    assert not circle(
        {
            str(path.relative_to(TOP / "csrc")): {
                str(included(path, name))
                for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(encoding="utf-8"), re.MULTILINE)
            }
            for path in c_files("csrc")
        }
    )


@pytest.mark.parametrize("folder", ["csrc", "fmu_src"])
def test_c_neither_prints_nor_exits(folder: str) -> None:
    calls = [
        f"{path.relative_to(TOP)}: {call}"
        for path in c_files(folder)
        for call in PRINTS_OR_EXITS.findall(path.read_text(encoding="utf-8"))
    ]
    assert not calls
