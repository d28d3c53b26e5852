"""The documents: their Python and the README's commands run, their links and commands exist."""

import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli.main import make_parser
from support.checkout import TOP
from support.forking import Forking
from support.pages import PAGES, python_of

UNMARKED = re.compile(r"^ {4}(?:import \w|from \w+(?:\.\w+)* import )", re.MULTILINE)  # Python in an indented block
LINKWORK = "import sys; from linkwork.cli.main import main; sys.exit(main())"
SLOW = {"comparison.md", "fmu.md"}  # fmu.md compiles for other platforms
LINK = re.compile(r"\]\(([^)\s]+)\)")
COMMAND = re.compile(r"^ {4}linkwork (.*)$|`linkwork ((?:info|simulate|export|compare) [^`]*/[^`]*)`", re.MULTILINE)


def identify(page: Path) -> str:
    return str(page.relative_to(TOP))


def anchors(page: Path) -> set[str]:
    """Names of the headings, as the sites that show Markdown make them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.fixture(scope="module")
def run_python() -> Iterator[Callable[..., None]]:
    """Run Python in a folder, as a user does who has installed Linkwork and no more: nothing else is on the path."""
    forking = Forking()

    def run(code: str, folder: Path, *arguments: str) -> None:
        status, output = forking.run(code, folder, *arguments)
        assert status == 0, output[-4000:]

    yield run
    forking.close()


@pytest.fixture
def root(tmp_path, needs) -> Path:
    """A folder with the examples, as the checkout has them, which the documents may fill."""
    for package in ("matplotlib", "fmpy", "pythonfmu", "pyarrow"):
        needs(package)
    shutil.copytree(TOP / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.slow] if page.name in SLOW else [], id=identify(page))
        for page in PAGES
        if python_of(page)
    ],
)
def test_python_in_the_documents_runs_at_the_top_of_the_checkout(page, root, run_python):
    code = "\n".join(python_of(page))
    run_python(code, root)
    assert ("export_fmu" in code) == bool(list(root.glob("*.fmu")))
    if page == PAGES[0]:
        for plain, _ in COMMAND.findall(page.read_text(encoding="utf-8")):
            if plain:
                run_python(LINKWORK, root, *shlex.split(plain))
        assert (root / "comparison.png").stat().st_size > 10_000


@pytest.mark.parametrize("page", PAGES, ids=identify)
def test_python_stands_in_marked_blocks(page):
    assert not UNMARKED.search(page.read_text(encoding="utf-8"))


def test_the_lid_latches_at_90_degrees_and_is_released_at_2_s(monkeypatch):
    block = next(block for block in python_of(PAGES[0]) if "lid = lw." in block)
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
        if getattr(arguments, "mechanism", None):  # of other commands the file comes from a line before
            assert (TOP / arguments.mechanism).is_file()


def test_pictures_are_small():
    sizes = {path.name: path.stat().st_size for path in (TOP / "docs/images").iterdir()}
    shown = {Path(link).name for page in PAGES for link in LINK.findall(page.read_text(encoding="utf-8"))}
    assert sizes.keys() == {name for name in shown if name.endswith(".png")}
    assert max(sizes.values()) < 150_000
