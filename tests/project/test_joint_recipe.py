"""Leaving out part of a joint type fails the build; each type holds as many directions as it leaves free."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from linkwork.draw.joint_symbols import joint_mark
from linkwork.mechanism.joints import KINDS, AlongPath

TOP = Path(__file__).parents[2]
JOINTS = TOP / "csrc" / "joints"
ENTRIES = ("pose", "columns", "bias", "inverse", "qdot", "normalize", "axes", "frame", "constraints")
LISTED = re.findall(r'^#include "joints/(\w+)_kernel\.h"', (JOINTS / "types_list.h").read_text(), re.MULTILINE)


def compiled(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The table of joint types, with the files of `folder` in place of those of the checkout."""
    folders = [folder, TOP / "csrc", TOP / "csrc" / "include"]
    command = [program, "-std=c11", "-fsyntax-only", "-Wno-psabi", "-x", "c", *(f"-I{path}" for path in folders)]
    return subprocess.run([*command, str(JOINTS / "table_kernel.h")], capture_output=True, text=True, check=False)


def scratch(folder: Path, name: str, text: str) -> Path:
    (folder / "joints").mkdir()
    (folder / "joints" / name).write_text(text)
    return folder


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_that_is_left_out_fails_the_build(entry, tmp_path, needs_program):
    text = (JOINTS / "screw_kernel.h").read_text()
    left_out = re.sub(rf"\bscrew_{entry}\b", f"nowhere_{entry}", text)
    assert left_out != text
    program = needs_program("cc")
    done = compiled(program, scratch(tmp_path, "screw_kernel.h", left_out))
    assert done.returncode != 0
    assert f"screw_{entry}" in done.stderr


@pytest.mark.parametrize(
    ("row", "message"),
    [("JOINT(SCREW, screw, 0, 1, 0, 1, LW_GENERAL, LW_AXIS)", "coordinates, speeds"), ("JOINT(SCREW, screw)", "macro")],
)
def test_a_wrong_row_fails_the_build(row, message, tmp_path, needs_program):
    text = re.sub(r"JOINT\(SCREW.*\)", row, (JOINTS / "screw_kernel.h").read_text())
    done = compiled(needs_program("cc"), scratch(tmp_path, "screw_kernel.h", text))
    assert done.returncode != 0
    assert message in done.stderr


def test_the_table_compiles_as_it_is(tmp_path, needs_program):
    assert compiled(needs_program("cc"), tmp_path).returncode == 0


def test_each_file_is_listed_and_has_its_class():
    files = {path.name.removesuffix("_kernel.h") for path in JOINTS.glob("*_kernel.h")} - {"joint", "table"}
    assert files == set(LISTED) == set(KINDS)


@pytest.mark.parametrize("name", LISTED)
def test_sizes_agree(name):
    """Those of the C core with those of the class, and constrained directions with free ones."""
    text = (JOINTS / f"{name}_kernel.h").read_text()
    row = re.search(r"JOINT\(\w+, (\w+), (\d), (\d), (\w+), (\w+), \w+, \w+\)", text)
    frame = re.search(rf"{name}_frame = {{(\d), (\d),", text)
    assert row
    assert frame
    kind = KINDS[name]
    parameters = "LW_ANY_NUMBER" if issubclass(kind, AlongPath) else str(int(kind.parameter is not None))
    assert (row[1], int(row[2]), int(row[3]), row[5]) == (name, kind.nq, kind.nu, parameters)
    assert int(row[4], 0) == sum(1 << k for k, unit in enumerate(kind.motion_units) if unit == "m")
    assert int(frame[1]) + int(frame[2]) == 6 - kind.nu


@pytest.mark.parametrize("name", sorted(set(KINDS) - {"free"}))
def test_each_has_a_mark_in_the_picture(name):
    assert joint_mark(name, np.zeros(2), np.ones(2), np.array([1.0, 0.0]), 3.0)
