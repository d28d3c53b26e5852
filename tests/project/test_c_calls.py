"""No file of C or C++ calls one that calls it, directly or through others."""

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from support.arrows import C_ARROWS, circle, folder_of
from support.c_calls import Calls, Function, uses_of_functions
from support.checkout import TOP

pytest.importorskip("clang.cindex", reason="needs libclang")
pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="needs cc")
FOLDERS = {"csrc": ("csrc", "csrc/include"), "fmu_src": ("fmu_src", "csrc/include")}
# gcc's own header of atomic numbers, which clang does not take, in one file that calls nothing of ours.
KNOWN_ERRORS = re.compile(r"threads\.c.*atomic operation")


@cache
def calls_of(folder: str) -> Calls:
    # The kernels for AVX2 are those in double. What C has is read as C.
    units = [path for suffix in (".c", ".cpp") for path in sorted((TOP / folder).rglob(f"*{suffix}"))]
    units = [path for path in units if not path.stem.endswith("avx2")]
    return uses_of_functions(TOP / folder, units, [f"-I{TOP / known}" for known in FOLDERS[folder]])


def in_words(calls: Calls, files: set[str]) -> list[str]:
    graph = calls.of_files()
    return [
        line for user in sorted(files) for used in sorted(files & graph[user]) for line in calls.between(user, used)
    ]


@pytest.mark.parametrize("folder", FOLDERS)
def test_files_of_c_call_each_other_in_no_circle(folder: str) -> None:
    calls = calls_of(folder)
    assert not [error for error in calls.errors if not KNOWN_ERRORS.search(error)]
    assert len(calls.uses) > 300
    assert not in_words(calls, circle(calls.of_files()))


def test_a_folder_of_c_calls_only_what_it_may_know() -> None:
    calls = calls_of("csrc")
    strangers = [
        line
        for user, used in calls.of_files().items()
        for one in used
        if folder_of(Path(one)) not in C_ARROWS[folder_of(Path(user))] | {folder_of(Path(user))}
        for line in calls.between(user, one)
    ]
    assert not strangers


def test_folders_of_c_know_each_other_in_no_circle() -> None:
    assert not circle({folder: set(known) for folder, known in C_ARROWS.items()})


# ---- the reading itself ----


def read(tmp_path: Path, files: dict[str, str]) -> Calls:
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return uses_of_functions(tmp_path, sorted(tmp_path.glob("*.c*")), [f"-I{tmp_path}"])


LOWER = {"lower.h": "int lower(int);\n", "upper.h": "int upper(int);\n"}
UPPER = '#include "lower.h"\n#include "upper.h"\nint upper(int x) { return lower(x); }\n'


@pytest.mark.parametrize(
    "text",
    [
        '#include "upper.h"\nint lower(int x) { return x ? upper(x - 1) : 0; }',
        "int upper(int);\nint lower(int x) { return x ? upper(x - 1) : 0; }",  # hidden by a declaration of its own
        '#include "upper.h"\nint lower(int x) { int (*f)(int) = upper; return x ? f(x - 1) : 0; }',
        '#include "upper.h"\n#define NAME(end) up##end\nint lower(int x) { return x ? NAME(per)(x - 1) : 0; }',
    ],
)
def test_a_planted_circle_is_found(tmp_path: Path, text: str) -> None:
    calls = read(tmp_path, LOWER | {"lower.c": text, "upper.c": UPPER})
    assert circle(calls.of_files()) == {"lower.c", "upper.c"}
    assert "lower of lower.c uses upper of upper.c" in in_words(calls, {"lower.c", "upper.c"})


@pytest.mark.parametrize(
    "text",
    [
        "int lower::of(int x) { return x ? upper(x - 1) : 0; }",
        "namespace { int f(int x) { return upper(x); } }\nint lower::of(int x) { return x ? f(x - 1) : 0; }",
        "int lower::of(int x) { auto f = [](int y) { return upper(y); }; return x ? f(x - 1) : 0; }",
    ],
)
def test_a_planted_circle_of_methods_is_found(tmp_path: Path, text: str) -> None:
    header = 'extern "C" {\n#include "upper.h"\n}\nstruct lower { int of(int x); };\n'
    upper = '#include "lower.h"\nint upper(int x) { lower made; return made.of(x); }\n'
    files = {"upper.h": LOWER["upper.h"], "lower.h": header, "upper.cpp": upper}
    calls = read(tmp_path, files | {"lower.cpp": f'#include "lower.h"\n{text}\n'})
    assert circle(calls.of_files()) == {"lower.cpp", "upper.cpp"}


def test_a_declaration_ahead_hides_no_circle_of_headers(tmp_path: Path) -> None:
    lower = "static int upper(int x);\nstatic int lower(int x) { return x ? upper(x - 1) : 0; }\n"
    upper = '#include "lower.h"\nstatic int upper(int x) { return lower(x); }\n'
    calls = read(
        tmp_path, {"lower.h": lower, "upper.h": upper, "unit.c": '#include "upper.h"\nint f(void) { return upper(1); }'}
    )
    assert {"lower.h", "upper.h"} <= circle(calls.of_files())


def test_static_functions_of_one_name_are_different(tmp_path: Path) -> None:
    lower = "static int same(int x) { return x; }\nint lower(int x) { return same(x); }\n"
    upper = '#include "lower.h"\nstatic int same(int x) { return lower(x); }\nint upper(int x) { return same(x); }\n'
    calls = read(tmp_path, LOWER | {"lower.c": lower, "upper.c": upper})
    assert not circle(calls.of_files())
    assert calls.uses[Function("lower.c", "lower")] == {Function("lower.c", "same")}
    assert calls.uses[Function("upper.c", "upper")] == {Function("upper.c", "same")}


def test_a_table_is_a_seam(tmp_path: Path) -> None:
    table = "typedef struct table { int (*upper)(int); } table;\nextern const table above;\n"
    lower = '#include "table.h"\nint lower(int x) { return x ? above.upper(x - 1) : 0; }\n'
    upper = '#include "table.h"\n' + UPPER + "const table above = {upper};\n"
    calls = read(tmp_path, LOWER | {"table.h": table, "lower.c": lower, "upper.c": upper})
    assert not circle(calls.of_files())


@pytest.mark.skipif(not all(map(shutil.which, ("gcc", "nm"))), reason="needs gcc and nm")
@pytest.mark.parametrize(
    "name", ["ode/integrator", "events/impact", "load/layout", "builder/compile", "chou/newton_correction"]
)
def test_what_a_compiler_leaves_to_the_linker_is_what_was_read(name: str, tmp_path: Path) -> None:
    unit, made = f"{name}.c", tmp_path / "unit.o"
    flags = ["-std=c11", "-O0", "-Wno-psabi", "-fkeep-static-functions", "-fkeep-inline-functions"]
    folders = [f"-I{TOP / known}" for known in FOLDERS["csrc"]]
    subprocess.run(["gcc", *flags, *folders, "-c", TOP / "csrc" / unit, "-o", made], check=True)
    table = subprocess.run(["nm", "-u", made], capture_output=True, text=True, check=True).stdout
    calls = calls_of("csrc")
    functions = {used.name for uses in calls.uses.values() for used in uses if used.file.endswith(".c")}  # no tables
    left = set(re.findall(r"\b\w+$", table, re.MULTILINE)) & functions
    own = {used for one in calls.uses if one.file == unit for used in calls.uses[one]}
    elsewhere = {used.name for used in own if used.file.endswith(".c") and used.file != unit}
    by_headers = {used.name for one in calls.uses if one.file.endswith(".h") for used in calls.uses[one]}
    assert elsewhere
    assert elsewhere <= left <= elsewhere | by_headers
