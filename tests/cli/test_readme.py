"""The documents: their Python runs, their links and commands exist."""

import re
import shlex
from pathlib import Path

import pytest

from linkwork.cli.main import make_parser
from support.checkout import TOP

PAGES = [TOP / "README.md", TOP / "CHANGELOG.md", TOP / "CONTRIBUTING.md", *sorted((TOP / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
COMMAND = re.compile(r"^ {4}linkwork (.*)$|`linkwork ((?:info|simulate|export|compare) [^`]*/[^`]*)`", re.MULTILINE)


def identify(page: Path) -> str:
    return str(page.relative_to(TOP))


def anchors(page: Path) -> set[str]:
    """Names of the headings, as the sites that show Markdown make them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize(
    "page", [page for page in PAGES if BLOCK.search(page.read_text(encoding="utf-8"))], ids=identify
)
def test_python_in_the_documents_runs(page, tmp_path, monkeypatch, needs):
    needs("matplotlib")
    needs("fmpy")
    needs("pythonfmu")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(TOP)
    monkeypatch.syspath_prepend(TOP / "examples")  # where examples find each other
    names: dict[str, object] = {}
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        exec(compile(block, str(page), "exec"), names)
    assert ("export_fmu" in page.read_text(encoding="utf-8")) == bool(list(tmp_path.glob("*.fmu")))


@pytest.mark.parametrize("page", PAGES, ids=identify)
def test_links_lead_somewhere(page):
    broken = []
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        path, _, anchor = link.partition("#")
        if "://" in path:
            continue
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert not broken


@pytest.mark.parametrize("page", PAGES, ids=identify)
def test_commands_are_understood(page):
    for plain, quoted in COMMAND.findall(page.read_text(encoding="utf-8")):
        arguments = make_parser().parse_args(shlex.split(plain or quoted))
        if "mechanism" in arguments:  # of other commands the file comes from a line before
            assert (TOP / arguments.mechanism).is_file()


def test_pictures_are_small():
    sizes = {path.name: path.stat().st_size for path in (TOP / "docs/images").iterdir()}
    shown = {Path(link).name for page in PAGES for link in LINK.findall(page.read_text(encoding="utf-8"))}
    assert sizes.keys() == {name for name in shown if name.endswith(".png")}
    assert max(sizes.values()) < 150_000
