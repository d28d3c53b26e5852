"""Python blocks of the documents, as files, so that types can be checked: `python -m support.pages FOLDER`."""

import re
import sys
from pathlib import Path

from support.checkout import TOP

PAGES = [TOP / "README.md", TOP / "CHANGELOG.md", TOP / "CONTRIBUTING.md", *sorted((TOP / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def python_of(page: Path) -> list[str]:
    """Return the blocks of a page in their order."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def write(folder: Path) -> None:
    """Write a module for each page that has Python."""
    folder.mkdir(parents=True, exist_ok=True)
    for page in PAGES:
        if blocks := python_of(page):
            (folder / f"page_{page.stem.lower()}.py").write_text("\n".join(blocks), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
