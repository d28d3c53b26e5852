"""Who may know whom: the arrows between the parts, read from the imports and includes themselves."""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from support.arrows import C_ARROWS, circle, folder_of
from support.checkout import TOP
from support.modules import MODULES

C_LIBRARY = {
    f"{name}.h"
    for name in (
        *("assert", "complex", "errno", "float", "inttypes", "limits", "math", "stdarg"),
        *("stdatomic", "stdbool", "stddef", "stdint", "stdio", "stdlib", "string"),
        "omp",  # where it is present
        "cpuid",  # the compiler's
    )
}
CXX_LIBRARY = {
    *(
        "algorithm",
        "array",
        "bitset",
        "cfloat",
        "chrono",
        "cmath",
        "cstddef",
        "cstdint",
        "cstdlib",
        "cstring",
        "memory",
        "new",
    ),
    *("map", "queue", "set", "stdexcept", "string", "type_traits", "unordered_map", "utility", "vector"),
}
IN_CXX = ("tape",)  # folders of csrc that may use the library of C++
PRINTS_OR_EXITS = re.compile(r"\b(?:printf|fprintf|puts|exit|abort|assert|raise)\s*\(")
STANDARD = set(sys.stdlib_module_names)

# What describes and calls FMUs, and knows no exporter and no mechanics.
FMU_READER = {f"linkwork.fmu.{name}" for name in ("description", "combinations", "caller", "scene_place")}

OWN = {"numpy", "linkwork.errors", "linkwork._util"}
DESCRIPTION = {"linkwork.mechanism", "linkwork.core.plan"}

# Part: what it may import, besides the standard library and itself. Longer names win over shorter ones. Imports of
# types and imports inside functions count; an entry that nothing uses is refused.
PYTHON_ARROWS = {
    "linkwork.errors": set(),
    "linkwork._util": {"numpy", "scipy", "threadpoolctl", "linkwork.errors"},
    "linkwork._util.names": {"linkwork._util.synonyms"},
    "linkwork._util.registered": set(),
    # ---- the core and the solvers
    "linkwork.core": {"numpy", "linkwork._util.checks"},
    "linkwork.core.chain_kernels": {"numpy", "linkwork.errors", "linkwork.core._core"},
    "linkwork.core.controllers": {"numpy", "linkwork.core._core"},
    "linkwork.core.curves": {"numpy", "linkwork._util.checks", "linkwork.core._core", "linkwork.core.native"},
    "linkwork.core._core_build": {"cffi"},
    "linkwork.core.native": {"numpy", "linkwork.errors", "linkwork._util.checks", "linkwork.core._core"},
    "linkwork.core.native_run": {
        *("numpy", "linkwork.errors", "linkwork._util.checks", "linkwork.core._core", "linkwork.core.native"),
    },
    "linkwork.core.tapes": {
        *("numpy", "linkwork.errors", "linkwork._util.checks", "linkwork.core._core", "linkwork.core.native"),
        "linkwork.core.compiled_tapes",
    },
    "linkwork.core.compiled_tapes": {"linkwork._util.cache_folder"},
    "linkwork.solvers": {
        *("numpy", "scipy", "cffi", "scikits_odes_sundials", "sksundae"),
        *("linkwork.errors", "linkwork._util.names", "linkwork.core._core"),
    },
    # ---- mechanics
    "linkwork.formula": OWN,
    "linkwork.mechanism": {*OWN, "linkwork.formula"},
    "linkwork.variables": {
        *(*OWN, "linkwork.mechanism", "linkwork.core.native"),
        "linkwork.core.plan",
    },
    "linkwork.model": {
        *OWN,
        *DESCRIPTION,
        "scipy",
        "linkwork.core.native",
        "linkwork.core.builder",
        "linkwork.core.tapes",
        "linkwork.variables",
    },
    "linkwork.results": {"numpy", "scipy", "pandas", "pyarrow", "matplotlib", "linkwork.errors", "linkwork._util"},
    "linkwork.simulation": {
        *(*OWN, "pandas", "linkwork.mechanism", "linkwork.variables.numbering"),
        *("linkwork.core.native", "linkwork.core.native_run", "linkwork.core.chain_kernels"),
        *("linkwork.model", "linkwork.solvers", "linkwork.results"),
    },
    "linkwork.analysis": {
        *(*OWN, *DESCRIPTION, "scipy", "pandas", "matplotlib", "linkwork.core.native", "linkwork.variables"),
        *(
            "linkwork.core.curves",
            "linkwork.model",
            "linkwork.results",
            "linkwork.simulation.result",
            "linkwork.simulation.inputs",
        ),
        "linkwork.simulation.running_state",
    },
    "linkwork.comparison": {
        *(*OWN, "matplotlib", "linkwork.mechanism", "linkwork.model.methods", "linkwork.model.compile"),
        *("linkwork.model.model", "linkwork.solvers", "linkwork.results.base"),
        *(f"linkwork.simulation.{name}" for name in ("inputs", "result", "simulate")),
    },
    "linkwork.c_code": {
        *("numpy", "linkwork.errors", "linkwork._util", "linkwork.mechanism", "linkwork.core.native"),
        *("linkwork.core.tapes", "linkwork.model.compile", "linkwork.model.model", "linkwork.model.recorded"),
        "linkwork.model.state",
    },
    "linkwork.casadi": {
        *("numpy", "casadi", "linkwork._util", "linkwork.errors", "linkwork.core.tapes"),
        *("linkwork.model.model", "linkwork.model.recorded", "linkwork.model.state"),
    },
    "linkwork.gym": {
        *("numpy", "gymnasium", "linkwork._util", "linkwork.errors"),
        *("linkwork.model.batch", "linkwork.model.model", "linkwork.model.state"),
    },
    "linkwork.jax": {
        *("numpy", "jax", "linkwork._util", "linkwork.errors"),
        *("linkwork.model.model", "linkwork.model.rollout_function", "linkwork.model.row_function"),
        "linkwork.model.state",
    },
    "linkwork.torch": {
        *("torch", "linkwork._util", "linkwork.errors"),
        *("linkwork.model.model", "linkwork.model.rollout_function", "linkwork.model.row_function"),
        "linkwork.model.state",
    },
    "linkwork.coarse_graining": {*OWN, "linkwork.mechanism", "linkwork.model.compile", "linkwork.model.state"},
    "linkwork.formats": {
        *(*OWN, "mujoco", "pxr", "yaml", "linkwork.mechanism", "linkwork.results.base"),
        *("linkwork.model.compile", "linkwork.model.model", "linkwork.model.bounded_pose"),
    },
    # ---- FMUs
    "linkwork.fmu.check": {*OWN, "fmpy", "linkwork.results.base", *FMU_READER - {"linkwork.fmu.scene_place"}},
    "linkwork.fmu.description": {"linkwork.fmu.combinations"},
    "linkwork.fmu.combinations": set(),
    "linkwork.fmu.scene_place": {"linkwork.errors", "linkwork._util.files"},
    "linkwork.fmu.caller": {"fmpy", "linkwork.errors", "linkwork.fmu.description"},
    "linkwork.fmu.export": {
        *(*OWN, "linkwork.mechanism", "linkwork.variables"),
        *("linkwork.core.sources", "linkwork.variables", "linkwork.model", "linkwork.solvers.thresholds"),
        *("linkwork.core.compiled_tapes", "linkwork.core.tapes"),
        *("linkwork.simulation.result", "linkwork.simulation.simulate", "linkwork.results.files"),
        "linkwork.fmu.scene_place",
    },
    "linkwork.cosim": {
        *("numpy", "scipy", "fmpy", "lxml", "pandas", "pyarrow", "matplotlib", "distributed"),
        *("linkwork.errors", "linkwork._util", "linkwork.results", "linkwork.solvers"),  # of FMUs in Model Exchange
        *FMU_READER - {"linkwork.fmu.combinations"},
    },
    "linkwork.controllers": {
        *("pythonfmu", "linkwork.errors", "linkwork._util", "linkwork.core.controllers"),
        *("linkwork.simulation.controller", "linkwork.simulation.running_state", "linkwork.fmu.export"),
    },
    "linkwork.controllers.builtin": {
        *(*OWN, "scipy", "linkwork.mechanism", "linkwork.model", "linkwork.core.native", "linkwork.controllers"),
    },
    "linkwork.controllers.adapter": set(),  # it is copied into FMUs
    "linkwork.controllers.controller": {"pythonfmu"},
    # ---- pictures and pages: plots of any result and pages of FMUs without mechanics
    "linkwork.draw": {
        *(*OWN, "matplotlib", "linkwork.core.native", "linkwork.mechanism", "linkwork.analysis"),
        *("linkwork.model.base", "linkwork.model.compile", "linkwork.model.state", "linkwork.comparison"),
        "linkwork.results.base",
    },
    "linkwork.draw.plotting": {"numpy", "matplotlib", "linkwork.errors", "linkwork._util"},
    "linkwork.draw.result_plot": {
        *("matplotlib", "linkwork.results.base", "linkwork.results.in_time", "linkwork.draw.plotting"),
    },
    "linkwork.draw.sweep_plot": {"matplotlib", "linkwork._util", "linkwork.cosim"},
    "linkwork.draw.block_layout": set(),
    "linkwork.draw.block_diagram": {
        *("matplotlib", "linkwork.errors", "linkwork._util", "linkwork.draw.plotting", "linkwork.draw.block_layout"),
        *(f"linkwork.cosim.{name}" for name in ("fmu.model", "system.definition", "system.units")),
    },
    "linkwork.view": {
        *(*OWN, *DESCRIPTION, "trimesh", "fast_simplification", "PIL", "imageio_ffmpeg", "matplotlib"),
        *("linkwork.core.native", "linkwork.variables", "linkwork.results", "linkwork.draw"),
        *(f"linkwork.model.{name}" for name in ("compile", "compiled", "impacts", "model")),
        *("linkwork.simulation.result", "linkwork.fmu.scene_place"),
    },
    "linkwork.view.payload": set(),
    "linkwork.view.packing": {"numpy"},
    "linkwork.view.part": {"linkwork.view.payload"},
    "linkwork.view.document": {"linkwork.errors", "linkwork._util", "linkwork.view.packing", "linkwork.view.payload"},
    "linkwork.view.recording": {
        *("numpy", "linkwork._util", "linkwork.results.time_axis", "linkwork.view.packing", "linkwork.view.payload"),
    },
    "linkwork.view.page": {
        *("linkwork.errors", "linkwork._util"),
        *(f"linkwork.view.{name}" for name in ("document", "part", "payload")),
    },
    "linkwork.view.notebook": {
        *("linkwork.errors", "linkwork.results.in_time", "linkwork.view.page", "linkwork.view.part"),
    },
    "linkwork.view.fmu_scene": {"linkwork.errors", "linkwork.view.payload"},
    "linkwork.view.cosim_run": {
        *("numpy", "linkwork.errors", "linkwork.cosim.recording.result"),
        *(f"linkwork.view.{name}" for name in ("fmu_scene", "part", "payload", "recording")),
    },
    "linkwork.cli": {"numpy", "shtab", "linkwork"},
}


@cache
def imports(module: str, path: Path, *, types: bool = True) -> tuple[str, ...]:
    """The dotted names a module imports anywhere in it, relative ones resolved; without `types` those that it runs."""
    return tuple(_imports(module, path, types))


def _imports(module: str, path: Path, types: bool) -> Iterator[str]:
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


@pytest.mark.parametrize("part", PYTHON_ARROWS)
def test_a_part_uses_what_it_may_know(part: str) -> None:
    """The table is no wider than the truth."""
    own = {module: path for module, path in MODULES.items() if part_of(module) == part}
    used = {name for module, path in own.items() for name in imports(module, path)}
    assert not [known for known in PYTHON_ARROWS[part] if not any(within(name, known) for name in used)]


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
    ida = {"linkwork.solvers.ida.compiled", "linkwork.solvers.ida.sundials"}
    kernels = {
        "linkwork.core.native",
        "linkwork.core.native_run",
        "linkwork.core.builder",
        "linkwork.core.tapes",
        "linkwork.solvers.compiled",
        "linkwork.core.chain_kernels",
        "linkwork.core.controllers",
        "linkwork.core.curves",
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


def graph_of_files(modules: dict[str, Path]) -> dict[str, set[str]]:
    return {module: arrows(module, path, types=True) for module, path in modules.items()}


def graph_of_folders(modules: dict[str, Path]) -> dict[str, set[str]]:
    """Folders of linkwork with all that is in them; the files at the root stand for themselves."""

    def folder(module: str) -> str:
        return ".".join(module.split(".")[:2])

    graph: dict[str, set[str]] = {}
    for module, targets in graph_of_files(modules).items():
        graph.setdefault(folder(module), set()).update(map(folder, targets - {module}))
    return {one: targets - {one} for one, targets in graph.items()}


def test_files_import_each_other_in_no_circle_for_types_either() -> None:
    assert not circle(graph_of_files(MODULES))


def test_folders_import_each_other_in_no_circle() -> None:
    assert not circle(graph_of_folders(MODULES))


TYPES = "\nif TYPE_CHECKING:\n    from {} import {}\n"
INSIDE = "\ndef planted():\n    from {} import {}\n"


@pytest.mark.parametrize("way", [TYPES, INSIDE])
@pytest.mark.parametrize(
    ("module", "name", "files", "folders"),
    [
        ("linkwork.model.base", "linkwork.model.state.State", {"linkwork.model.base", "linkwork.model.state"}, set()),
        (
            "linkwork.results.in_time",
            "linkwork.view.notebook.embedded",
            {"linkwork.results.in_time", "linkwork.view.notebook"},
            {"linkwork.results", "linkwork.view"},
        ),
    ],
)
def test_a_planted_circle_is_found(
    way: str, module: str, name: str, files: set[str], folders: set[str], tmp_path: Path
) -> None:
    planted = tmp_path / MODULES[module].name
    source, _, what = name.rpartition(".")
    planted.write_text(MODULES[module].read_text(encoding="utf-8") + way.format(source, what), encoding="utf-8")
    modules = MODULES | {module: planted}
    assert circle(graph_of_files(modules)) >= files
    assert circle(graph_of_folders(modules)) >= folders
    assert bool(circle(graph_of_folders(modules))) == bool(folders)


def c_files(folder: str) -> list[Path]:
    return [path for path in (TOP / folder).rglob("*") if path.suffix in (".c", ".cpp", ".h")]


@pytest.mark.parametrize(("folder", "knows"), [("csrc", set()), ("fmu_src", {"linkwork.h", "windows.h", "dlfcn.h"})])
def test_c_includes_stay_within_their_folder(folder: str, knows: set[str]) -> None:
    own = {path.name for path in c_files(folder)}
    strangers = [
        f"{path.relative_to(TOP)} includes {name}"
        for path in c_files(folder)
        for name in re.findall(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', path.read_text(encoding="utf-8"), re.MULTILINE)
        if name not in C_LIBRARY | knows | (CXX_LIBRARY if path.parent.name in IN_CXX else set())
        and Path(name).name not in own
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
