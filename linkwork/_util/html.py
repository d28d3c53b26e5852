"""Tables in HTML, as notebooks show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

MOST_ROWS = 12  # of a table


def html_table(caption: str, header: Sequence[str], rows: Sequence[Sequence[object]], omitted: str = "more") -> str:
    """Return an HTML table of at most `MOST_ROWS` rows; `omitted` names those that are left out.

    >>> html_table("a < b", ["name", "value"], [["A.q", 0.5]])
    '<table><caption>a &lt; b</caption><tr><th>name</th><th>value</th></tr><tr><td>A.q</td><td>0.5</td></tr></table>'
    """
    lines = [_row("th", header), *(_row("td", row) for row in rows[:MOST_ROWS])]
    if len(rows) > MOST_ROWS:
        lines.append(f'<tr><td colspan="{len(header)}">... {len(rows) - MOST_ROWS} {escape(omitted)}</td></tr>')
    return f"<table><caption>{escape(caption)}</caption>{''.join(lines)}</table>"


def _row(tag: str, cells: Iterable[object]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(shown(cell))}</{tag}>" for cell in cells) + "</tr>"


def shown(value: Any) -> str:
    """Return a value as a table shows it.

    >>> shown(1 / 3), shown("on"), shown(True)
    ('0.333333', 'on', 'True')
    """
    return f"{value:.6g}" if isinstance(value, float) else str(value)
