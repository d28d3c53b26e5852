"""A force is one record in C and one in Python: a line left out or falsified fails the build, or a test here."""

import re
import subprocess
from pathlib import Path

import pytest

import linkwork as lw
from linkwork.core.native import NativeModel, Stage
from linkwork.mechanism.forces import FORCES, POWER, ForceElement
from support.zoo import zoo

CSRC = Path(__file__).parents[2] / "csrc"
RECORDS = [kind for kind in FORCES.values() if kind.record]
# Of all fields those of forces stand between these, which belong to none.
BETWEEN = {
    "parameter": ("distance_points", "force_gear"),
    "input": ("tau", "formula_input"),
    "output": ("coupling_residual", "body_position"),
    "discrete": ("impulse_torque", "acceleration"),
}


def stated(force, kind):
    """The quantities of a record but for the power; outputs that events alone change are a kind of their own."""
    if kind in ("output", "discrete"):
        own = [one for one in force.fields_of("output") if one is not POWER]
        return [one for one in own if one.discrete == (kind == "discrete")]
    return force.fields_of(kind)


@pytest.fixture(scope="module")
def fields():
    return NativeModel(lw.compile(zoo()).model_bytes).fields


@pytest.mark.parametrize("kind", BETWEEN)
def test_records_of_python_have_the_fields_of_the_core(kind, fields):
    names = list(fields)
    first, last = (names.index(name) for name in BETWEEN[kind])
    found = [one.field for force in RECORDS for one in stated(force, kind)]
    assert sorted(name for name in names[first + 1 : last] if not fields[name].internal) == sorted(found)


@pytest.mark.parametrize("force", RECORDS, ids=lambda force: force.type_name)
def test_records_of_python_have_numbers_and_units_of_the_core(force, fields):
    for one in force.record:
        field = fields[one.field]
        assert field.columns == one.count, one.field
        stages = [Stage.NONE] if one.discrete else [Stage.ACCELERATIONS, Stage.OUTPUTS]
        assert one.kind != "output" or field.stage in stages, one.field
        assert field.tunable == (one.kind == "parameter"), one.field
        unit = re.search(r"\[(.*)\]", field.meaning)
        stated_unit = one.unit if isinstance(one.unit, str) else ", ".join(dict.fromkeys(one.unit))
        assert "{" in stated_unit or stated_unit == (unit[1] if unit else "1"), one.field
        if force.core_value is ForceElement.core_value:  # else a parameter may follow from several arguments
            assert one.kind != "parameter" or one.stem in force.__dataclass_fields__, one.field


def test_records_are_in_the_order_of_the_core(fields):
    for kind in BETWEEN:
        for force in RECORDS:
            places = [fields[one.field].first for one in stated(force, kind)]
            assert places == sorted(places)


# ---- what the compiler finds ----


def compiled(program: str, folder: Path, source: str) -> subprocess.CompletedProcess[str]:
    """A file of the core, with the files of `folder` in place of those of the checkout."""
    folders = [folder, CSRC, CSRC / "include"]
    command = [
        program,
        "-std=c11",
        "-fsyntax-only",
        "-Wall",
        "-Werror",
        "-Wno-psabi",
        *(f"-I{path}" for path in folders),
    ]
    return subprocess.run([*command, str(CSRC / source)], capture_output=True, text=True, check=False)


def lines_of_record(name: str) -> list[str]:
    """The fields of a record."""
    text = (CSRC / "forces" / f"{name}_kernel.h").read_text(encoding="utf-8")
    return re.findall(r"\bX\((\w+), [A-Z_]+, \d", text)


FILES = ("spring", "bushing", "wrench", "actuator", "joint_formula", "line_formula", "point_formula", "frame_formula")
CASES = [(name, row) for name in FILES for row in lines_of_record(name)]


@pytest.mark.parametrize(("name", "row"), CASES)
def test_a_row_that_is_left_out_fails_the_build(name, row, tmp_path, needs_program):
    (tmp_path / "forces").mkdir()
    text = (CSRC / "forces" / f"{name}_kernel.h").read_text(encoding="utf-8")
    changed = re.sub(rf'\bX\({row},.*?"\)', "", text, count=1, flags=re.DOTALL)
    assert changed != text
    (tmp_path / "forces" / f"{name}_kernel.h").write_text(changed, encoding="utf-8")
    assert compiled(needs_program("cc"), tmp_path, "kernels_double.c").returncode
