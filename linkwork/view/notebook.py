"""Pages inside notebooks: a frame that holds the whole page, without a server, so that exported notebooks keep it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from linkwork.errors import LinkworkError
from linkwork.view.page import page
from linkwork.view.part import Pageable

if TYPE_CHECKING:
    from linkwork.results.in_time import TimeResult

HEIGHT = 520  # pixels
LARGEST = 4_000_000  # characters of a page
MAX_ROWS = 1000


def frame(shown: Pageable) -> str | None:
    """Return the page of a mechanism or model; None where there is none."""
    return embedded(shown) or None


def frame_and_table(result: TimeResult) -> str:
    """Return the page of a result, and its table."""
    return embedded(result) + result._table()


def embedded(shown: Pageable) -> str:
    """Return an `iframe` with the page of an object; a note where it is too large; "" where there is none.

    The frame has an origin of its own: what it runs cannot reach the notebook.
    """
    try:
        text = page(shown, max_rows=MAX_ROWS)
    except LinkworkError:
        return ""
    if len(text) > LARGEST:
        size = f"{len(text) / 1e6:.1f} MB"
        return f"<p>The page has {size}, too much for a notebook: write it to a file by <code>page(path)</code>.</p>"
    return (
        f'<iframe srcdoc="{escape(text)}" sandbox="allow-scripts allow-downloads" title="Linkwork" loading="lazy" '
        f'style="width: 100%; height: {HEIGHT}px; border: 1px solid #8884; border-radius: 4px"></iframe>'
    )
