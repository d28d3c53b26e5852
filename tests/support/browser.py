"""Chromium without a screen or a network, which opens pages from the disk."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

# Nothing is asked of the network. All is drawn by one software renderer: with two, Chromium warns of its own copying.
_OPTIONS = (
    *("--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
    *("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"),
)


@dataclass
class OpenPage:
    """A page with its messages and requests.

    Attributes
    ----------
    page
        As Playwright has it.
    messages
        On the console, errors included.
    requests
        Addresses, but for data and blobs that the page made itself.
    """

    page: Any
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def ask(self, code: str, argument: object = None) -> Any:
        """Return the value of a JavaScript function of one argument."""
        return self.page.evaluate(code, argument)


class Browser:
    """A running Chromium.

    Parameters
    ----------
    chromium
        As Playwright has it.
    """

    def __init__(self, chromium: Any) -> None:
        self._chromium = chromium

    @contextmanager
    def open(self, path: Path, size: tuple[int, int] = (1280, 800), **context: Any) -> Iterator[OpenPage]:
        """Open a page that the viewer fills, and wait for its first frame."""
        options = {"viewport": {"width": size[0], "height": size[1]}, "offline": True, **context}
        found = self._chromium.new_context(**options)
        try:
            page = found.new_page()
            opened = OpenPage(page)
            page.on("console", lambda message: opened.messages.append(f"{message.type}: {message.text}"))
            page.on("pageerror", lambda error: opened.messages.append(f"error: {error}"))
            page.on("request", lambda request: opened.requests.append(request.url))
            page.goto(path.resolve().as_uri())
            page.wait_for_function("() => window.linkworkPage !== undefined")
            page.evaluate("() => window.linkworkPage.ready")
            yield opened
        finally:
            found.close()


def chromium_path() -> str | None:
    """Return the Chromium of the system; None: there is none."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextmanager
def chromium(playwright: ModuleType, path: str) -> Iterator[Browser]:
    """Start a Chromium."""
    with playwright.sync_playwright() as play:
        running = play.chromium.launch(executable_path=path, args=list(_OPTIONS))
        try:
            yield Browser(running)
        finally:
            running.close()
