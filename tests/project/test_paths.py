"""The files and folders that the documents name exist."""

import re

import pytest

from support.checkout import TOP

DOCUMENTS = [TOP / "README.md", TOP / "CONTRIBUTING.md", *sorted((TOP / "docs").glob("*.md"))]
PATH = re.compile(r"(?<![\w/.-])(?:csrc|linkwork|fmu_src|solvers|tests)/[\w./-]*+(?![*{<])")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_paths_in_documents(document):
    named = {path.rstrip(".") for path in PATH.findall(document.read_text(encoding="utf-8"))}
    assert sorted(path for path in named if not (TOP / path).exists()) == []
