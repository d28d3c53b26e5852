"""Each header opens alone, as each .c file does in the build; no file includes itself by way of others."""

import re
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
FOLDERS = [TOP / "csrc" / "include", TOP / "csrc", TOP / "fmu_src"]
FLAGS = ["-fsyntax-only", "-ffp-contract=off", "-Wno-psabi", *(f"-I{f}" for f in FOLDERS)]
C, CXX = ("cc", "-std=c11", "-x", "c"), ("c++", "-std=gnu++17", "-x", "c++")
FILES = sorted(p for f in ("csrc", "fmu_src") for p in (TOP / f).rglob("*") if p.suffix in (".c", ".cpp", ".h"))
IN_CXX = {
    *(f"csrc/tape/{name}.h" for name in ("differentiate", "record", "record_kernels", "recorded_scalar", "recorder")),
    *(f"csrc/tape/{name}.h" for name in ("columns", "recorded_tape", "tape_parts", "write_c", "write_tape")),
}
DOUBLE, COMPLEX = 1, 2
ONLY_COMPLEX = {"csrc/assembly/sensitivity_kernel.h", "csrc/dca/solve_complex_kernel.h"}
ONLY_DOUBLE = {
    *(f"csrc/assembly/{name}_kernel.h" for name in ("assemble", "changed_starts", "consistency", "dof_at_pose")),
    *(f"csrc/assembly/{name}_kernel.h" for name in ("exact_loops", "loop_frames", "mobile_loops", "position")),
    *(f"csrc/assembly/{name}_kernel.h" for name in ("close", "regular_dof", "search", "step_by_loops")),
    *(f"csrc/dca/{name}_kernel.h" for name in ("solve", "solve_double", "velocity_jump")),
    "csrc/dynamics/load_columns_kernel.h",
    "csrc/dynamics/load_equations_kernel.h",
    "csrc/dynamics/reduced_jump_kernel.h",
    "csrc/math/number_functions_kernel.h",
    "csrc/tape/interpret_kernel.h",
}


def name_of(path: Path) -> str:
    return path.relative_to(TOP).as_posix()


def scalars(path: Path) -> list[int]:
    """Return the scalar types that a file is compiled for; kernels for double and complex numbers."""
    if not path.name.endswith("_kernel.h") or name_of(path) in ONLY_DOUBLE:
        return [DOUBLE]
    return [COMPLEX] if name_of(path) in ONLY_COMPLEX else [DOUBLE, COMPLEX]


def included(path: Path) -> list[Path]:
    """Return the project's files that a file includes; a list of joint types is rows, which include nothing."""
    found = []
    text = re.sub(r"(?ms)^#define JOINT\b.*?^#undef JOINT$", "", path.read_text(encoding="utf-8"))
    for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.MULTILINE):
        candidates = [folder / name for folder in (path.parent, *FOLDERS) if (folder / name).is_file()]
        assert candidates or name in {"windows.h"}, f"{name_of(path)} includes {name}, which is not there"
        found += candidates[:1]
    return found


@pytest.mark.parametrize("path", [path for path in FILES if path.suffix == ".h"], ids=name_of)
def test_header_compiles_alone(path, needs_program):
    compiler, *language = CXX if name_of(path) in IN_CXX else C
    for scalar in scalars(path):
        kernel = [f"-DLW_ARITHMETIC={scalar}"] if path.name.endswith("_kernel.h") else []
        command = [needs_program(compiler), *language, *FLAGS, *kernel, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_the_files_of_one_scalar_or_language_exist():
    assert set(map(name_of, FILES)) >= ONLY_COMPLEX | ONLY_DOUBLE | IN_CXX


def test_no_file_includes_itself():
    done: set[Path] = set()

    def visit(path: Path, way: list[Path]) -> None:
        assert path not in way, " -> ".join(map(name_of, [*way, path]))
        if path in done:
            return
        for one in included(path):
            visit(one, [*way, path])
        done.add(path)

    for path in FILES:
        visit(path, [])
    assert done == set(FILES)
