"""Our declarations of FMI against the standard's own headers, as FMPy carries them."""

import re
import subprocess
from pathlib import Path

import pytest

from linkwork.core.sources import source_dir
from support.fmi_headers import function_names, reference_text


def check_program(text: str, version: int) -> str:
    """A C program that compiles only if fmi2.h or fmi3.h agrees with the reference."""
    lines = [f'#include "fmi{version}.h"']
    # A type may be declared again only as the same type. `()` is no prototype, so ours is stricter there.
    for declaration in re.findall(r"typedef[^;{}]*;", text):
        if not re.search(r"\(\s*\)", declaration):
            lines.append(declaration)
    for body, name in re.findall(r"typedef\s+enum\s*\{([^}]*)\}\s*(\w+)\s*;", text):
        for value, constant in enumerate(re.findall(r"\w+", body)):
            lines.append(f'_Static_assert({constant} == {value}, "{name}");')
    for body, name in re.findall(r"typedef\s+struct\s*\{([^}]*)\}\s*(\w+)\s*;", text):
        lines.append(f"typedef struct {{ {body} }} reference_{name};")
        lines.append(f'_Static_assert(sizeof({name}) == sizeof(reference_{name}), "{name}");')
        for kind, field in re.findall(r"(\w+)\s+(\w+)\s*;", body):
            same = f"offsetof({name}, {field}) == offsetof(reference_{name}, {field})"
            lines.append(f'_Static_assert({same}, "{field}");')
            lines.append(f'_Static_assert(_Generic((({name} *)0)->{field}, {kind}: 1, default: 0), "{field}");')
    for function in function_names(text, version):
        same = f"_Generic(&{function}, {function}TYPE *: 1, default: 0)"
        lines.append(f'_Static_assert({same}, "{function} differs from the standard");')
    return "\n".join([*lines, "int main(void) { return 0; }"])


@pytest.fixture(scope="session")
def reference(needs) -> Path:
    return Path(needs("fmpy").__file__).parent / "c-code"


@pytest.mark.parametrize(("version", "count"), [(2, 44), (3, 75)])
def test_every_declaration_is_the_standards(reference, needs_program, tmp_path, version, count):
    text = reference_text(reference, version)
    assert len(function_names(text, version)) == count
    program = tmp_path / "check.c"
    program.write_text(check_program(text, version))
    command = [needs_program("cc"), "-std=c11", "-Wall", "-Werror", f"-I{source_dir('fmu_src')}", "-fsyntax-only"]
    result = subprocess.run([*command, str(program)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("version", [2, 3])
def test_library_exports_the_standard_and_nothing_else(reference, needs_program, fmu_library, version):
    output = subprocess.run(
        [needs_program("nm"), "-D", "--defined-only", str(fmu_library)], capture_output=True, text=True, check=True
    ).stdout
    exported = {line.split()[-1] for line in output.splitlines()}
    assert {name for name in exported if name.startswith(f"fmi{version}")} == set(
        function_names(reference_text(reference, version), version)
    )
    assert not {name for name in exported if not name.startswith(("fmi2", "fmi3"))}


def test_library_needs_nothing_but_libraries_of_c(needs_program, fmu_library):
    output = subprocess.run(
        [needs_program("readelf"), "-d", str(fmu_library)], capture_output=True, text=True, check=True
    ).stdout
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", output))
    assert needed <= {"libc.so.6", "libm.so.6", "libdl.so.2", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def test_library_takes_from_libm_only_what_is_exact_everywhere(needs_program, fmu_library):
    """Complex functions are not those of C on Windows; sines, exponentials and powers differ in their last bits."""
    output = subprocess.run(
        [needs_program("nm"), "-D", "--undefined-only", str(fmu_library)], capture_output=True, text=True, check=True
    ).stdout
    wanted = {line.split()[-1].partition("@")[0] for line in output.splitlines()}
    assert "malloc" in wanted
    kinds = "sin|cos|tan|asin|acos|atan|atan2|sincos|sinh|cosh|tanh|asinh|acosh|atanh|exp|exp2|exp10|expm1|log|log2"
    kinds += "|log10|log1p|pow|cbrt|hypot|erf|erfc|tgamma|lgamma|fma|abs|arg|sqrt|proj"
    assert not [name for name in wanted if re.fullmatch(rf"c({kinds})[fl]?|(?!abs|sqrt)({kinds})[fl]?", name)]
