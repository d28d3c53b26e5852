"""The site of the documentation: each page has a place in it, and the target of each link exists."""

import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.checkout import TOP


def pages(entries: list) -> Iterator[str]:
    for entry in entries:
        for place in entry.values():
            if isinstance(place, str):
                yield place
            else:
                yield from pages(place)


def test_each_page_has_one_place() -> None:
    nav = tomllib.loads((TOP / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"]
    listed = sorted(pages(nav))
    ours = [path.relative_to(TOP).as_posix() for path in (TOP / "docs").glob("*.md")]
    assert listed == sorted([*ours, "README.md", "CHANGELOG.md", "CONTRIBUTING.md"])


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(needs) -> None:
    needs("zensical")
    script = "source ./run; setup() { :; }; install_group() { :; }; build_docs"
    done = subprocess.run(["bash", "-c", script], cwd=TOP, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    start = Path(TOP, "build", "docs", "site", "index.html").read_text(encoding="utf-8")
    assert "docs/images/spatial_ladder.png" in start
