"""Tables of the documents: their rows are contiguous and have the same number of cells, else rows are lost."""

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

from support.checkout import TOP
from support.prose import FENCED, INDENTED, blank

PAGES = [
    *TOP.glob("*.md"),
    *(page for folder in ("docs", "bench", "tests", "examples") for page in (TOP / folder).rglob("*.md")),
]
RULE = re.compile(r"\|(?: *:?-+:? *\|)+")  # below the header


def cells(row: str) -> int:
    return len(re.findall(r"(?<!\\)\|", row)) - 1


def problems(text: str) -> Iterator[str]:
    """A line for each mistake in the tables of a page."""
    for pattern in (FENCED, INDENTED):
        text = blank(pattern, text)
    lines = enumerate(text.splitlines(), start=1)
    for is_table, block in groupby(lines, key=lambda line: line[1].startswith("|")):
        rows = [(number, row.rstrip()) for number, row in block]
        if not is_table:
            continue
        if len(rows) < 2 or not RULE.fullmatch(rows[1][1]):
            yield f"line {rows[0][0]}: rows without a header: {rows[0][1]:.60}"
            continue
        expected = cells(rows[0][1])
        for number, row in rows:
            if not row.endswith("|") or cells(row) != expected:
                yield f"line {number}: not {expected} cells: {row:.60}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(TOP).as_posix())
def test_tables_are_whole(page: Path) -> None:
    assert not list(problems(page.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("text", "mistakes"),
    [
        ("| a | b |\n| --- | --- |\n| 1 | 2 |\n", 0),
        ("| a | b |\n| --- | --- |\n| 1 | 2 |\n\n| 3 | 4 |\n| 5 | 6 |\n", 1),  # a blank line cuts rows off
        ("| a | b |\n| --- | --- |\n| 1 |\n| `x | y` | 2 |\n| `x \\| y` | 2 |\n| 1 | 2\n", 3),
        ("```\n| a | no table\n```\n    | code |\n", 0),
    ],
)
def test_mistakes_are_found(text: str, mistakes: int) -> None:
    assert len(list(problems(text))) == mistakes
