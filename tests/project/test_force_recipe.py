"""A force parameter is one row of fields.h and one line of the writer; a table is one row and one function."""

import subprocess
from pathlib import Path

import pytest

CSRC = Path(__file__).parents[2] / "csrc"
NEW_FIELD = '  X(spring_preload, SPRING, 1, LW_PARAMETER, LW_STAGE_NONE, "force at the free length [N]") \\\n'
NEW_LINE = "PUT_EACH(spring_preload, springs, &b->spring[k].damping, 1)\n"
NEW_TABLE = "  X(bushing, spring, c->springs, NULL, LW_A_LINK, LW_LINK_OR_GROUND) \\\n"


def inserted(text: str, before: str, line: str) -> str:
    assert before in text
    return text.replace(before, line + before, 1)


def compiled(program: str, folder: Path, source: Path) -> subprocess.CompletedProcess[str]:
    """A file of the core, with the files of `folder` in place of those of the checkout."""
    folders = [folder, CSRC, CSRC / "include", CSRC / "builder"]
    command = [program, "-std=c11", "-fsyntax-only", "-Wno-psabi", *(f"-I{path}" for path in folders)]
    return subprocess.run([*command, str(source)], capture_output=True, text=True, check=False)


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """A copy of fields.h with one parameter more, for springs between points."""
    (tmp_path / "model").mkdir()
    text = (CSRC / "model" / "fields.h").read_text(encoding="utf-8")
    (tmp_path / "model" / "fields.h").write_text(inserted(text, "  X(spring_damping,", NEW_FIELD), encoding="utf-8")
    return tmp_path


def test_reading_and_layout_follow_from_the_row_of_a_parameter(scratch, needs_program):
    for name in ("load/reader.c", "load/layout.c", "model/names.c", "api/state.c", "kernels_double.c"):
        done = compiled(needs_program("cc"), scratch, CSRC / name)
        assert done.returncode == 0, done.stderr


def test_the_writer_misses_a_parameter_and_takes_one_line(scratch, needs_program):
    program, writer = needs_program("cc"), scratch / "writer.c"
    text = (CSRC / "builder" / "writer.c").read_text(encoding="utf-8")
    writer.write_text(text, encoding="utf-8")
    done = compiled(program, scratch, writer)
    assert "put_spring_preload" in done.stderr
    writer.write_text(inserted(text, "PUT_EACH(spring_damping,", NEW_LINE), encoding="utf-8")
    done = compiled(program, scratch, writer)
    assert done.returncode == 0, done.stderr
    assert "put_spring_preload" not in done.stderr


def test_a_table_is_one_row_and_one_function(tmp_path, needs_program):
    (tmp_path / "load").mkdir()
    program, tables = needs_program("cc"), tmp_path / "tables.c"
    text = (CSRC / "load" / "reader.h").read_text(encoding="utf-8")
    changed = inserted(text, "  X(wrench,", NEW_TABLE)
    (tmp_path / "load" / "reader.h").write_text(changed, encoding="utf-8")
    text = (CSRC / "load" / "tables.c").read_text(encoding="utf-8")
    tables.write_text(text, encoding="utf-8")
    assert "read_bushing" in compiled(program, tmp_path, tables).stderr
    function = "static lw_status read_bushing(reader *r, lw_model *m, table_cursor *at, const int32_t *v) {\n"
    body = "  (void)r, (void)m, (void)at, (void)v;\n  return LW_OK;\n}\n"
    tables.write_text(inserted(text, "static lw_status read_wrench(", function + body), encoding="utf-8")
    done = compiled(program, tmp_path, tables)
    assert done.returncode == 0, done.stderr
    assert "read_bushing" not in done.stderr
