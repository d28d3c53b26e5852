"""Pages in a browser, and stand-ins for the files that the build of the viewer makes."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.view import document
from support.browser import Browser, OpenPage, chromium, chromium_path
from support.joint_families import JOINT_FAMILIES
from support.random_mechanisms import well_posed
from support.zoo import zoo


@pytest.fixture
def assets(tmp_path, monkeypatch):
    """A folder with a viewer that writes the title, a worker and an empty WebAssembly module."""
    folder = tmp_path / "assets"
    folder.mkdir()
    title = "JSON.parse(document.getElementById('linkwork').textContent).title"
    (folder / document.VIEWER).write_text(f"document.body.append({title});")
    (folder / document.WORKER).write_text("postMessage(1);")
    (folder / document.CORE).write_bytes(b"\0asm\1\0\0\0")
    monkeypatch.setattr(document, "assets", lambda: folder)
    return folder


@pytest.fixture(scope="module")  # while it runs, its thread has an event loop
def browser(needs) -> Iterator[Browser]:
    playwright = needs("playwright.sync_api")
    path = chromium_path()
    if path is None:
        pytest.skip("needs the program chromium")
    with chromium(playwright, path) as found:
        yield found


@pytest.fixture(scope="session")
def result_of(checkout) -> Iterator:
    """`result_of("four_bar")`: a short run of an example or of a mechanism for tests."""
    known: dict[str, lw.Result] = {}

    def result(name: str) -> lw.Result:
        if name not in known:
            if name == "zoo":
                mech = zoo()
            elif name == "stewart":
                mech = well_posed(JOINT_FAMILIES[name][0], 3).mechanism
            else:
                mech = importlib.import_module(name).mechanism()
            known[name] = lw.simulate(mech, 0.3, t_eval=np.linspace(0.0, 0.3, 31))
        return known[name]

    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(checkout / "examples")
        yield result


@pytest.fixture
def open_page(browser, tmp_path):
    """`with open_page(result) as opened`: the page of a result or a mechanism; afterwards nothing was asked or said."""

    @contextmanager
    def opened(shown, options: dict | None = None, **context) -> Iterator[OpenPage]:
        path = Path(lw.page(shown, tmp_path / "page.html", **(options or {})))
        with browser.open(path, **context) as page:
            yield page
            assert [one for one in page.requests if not one.startswith("blob:")] == [path.resolve().as_uri()]
            assert page.messages == []

    return opened
