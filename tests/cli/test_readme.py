"""The documents: their Python runs, their links and commands exist."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
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


def test_the_lid_latches_at_90_degrees_and_is_released_at_2_s(monkeypatch):
    block = next(block for block in BLOCK.findall(PAGES[0].read_text(encoding="utf-8")) if "lid = lw." in block)
    monkeypatch.setattr(lw, "export_fmu", lambda *_: None)
    names = {"lw": lw}
    exec(compile(block, "README.md", "exec"), names)
    result = names["result"]
    latch, free = result.events
    assert (latch.transitions, free.transitions, free.t) == (("latch",), ("free",), 2.0)
    held = result["hinge.q"][(result.t >= latch.t) & (result.t <= free.t)]
    np.testing.assert_allclose(held, np.pi / 2, rtol=0, atol=1e-9)
    assert latch.t < free.t
    assert abs(result["hinge.q"][-1] - np.pi / 2) > 0.1


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
