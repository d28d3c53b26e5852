"""docs/walk.md follows the code: each name in it is a link to the file that defines it."""

import re

import pytest

from support.checkout import TOP

TEXT = (TOP / "docs" / "walk.md").read_text(encoding="utf-8")
LINKS = re.findall(r"\[`([\w.]+)`\]\(\.\./([\w./]+)\)", TEXT)
WALKED = ("csrc/", "linkwork/", "fmu_src/")


def defines(text: str, name: str, is_python: bool) -> bool:
    """Whether a file defines a name: in Python a class, a function or a method; in C a function or a table."""
    if is_python:
        return all(re.search(rf"^\s*(class|def) {part}\b", text, re.MULTILINE) for part in name.split("."))
    return re.search(rf"^\w[^;\n]*\b{name}(\(|\[)[^;]*\{{", text, re.MULTILINE) is not None


@pytest.mark.parametrize(("name", "place"), LINKS)
def test_the_file_defines_the_name(name: str, place: str) -> None:
    path = TOP / place
    assert path.is_file()
    assert defines(path.read_text(encoding="utf-8"), name, path.suffix == ".py"), f"{place} does not define {name}"


def test_each_name_of_the_code_is_a_link() -> None:
    assert len(LINKS) > 50
    assert all(place.startswith(WALKED) for _, place in LINKS)
    unlinked = re.findall(r"(?<!\[)`([A-Za-z_]\w*_\w+)`", TEXT)
    assert unlinked == []


def test_a_name_that_is_only_called_is_not_defined() -> None:
    assert defines("static int solve(const view *v) {\n", "solve", False)
    assert not defines("  return solve(v);\n", "solve", False)
    assert not defines("int solve(const view *v);\n", "solve", False)
    assert not defines("class Block:\n    pass\n", "Block.enter", True)
