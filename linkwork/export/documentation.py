"""The page of documentation inside an FMU."""

from collections.abc import Iterable
from html import escape

from linkwork.export.content import Content, Entry

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{name}</title></head>
<body>
<h1>{name}</h1>
<p>A mechanism of rigid bodies with {states} continuous states, written by {tool}. Start values are guesses: loops are
closed in initialisation. SI units, world axes; reactions act on the child of a joint.</p>
{tables}
</body>
</html>
"""


def index_page(content: Content) -> str:
    """Return a short HTML page that lists inputs, outputs and parameters."""
    parts = [
        _table(title, [entry for entry in content.entries if entry.causality == causality])
        for title, causality in (("Inputs", "input"), ("Outputs", "output"), ("Parameters", "parameter"))
    ]
    tables = "\n".join(part for part in parts if part)
    return _PAGE.format(
        name=escape(content.name), states=len(content.derivatives), tool=escape(content.tool), tables=tables
    )


def _table(title: str, entries: Iterable[Entry]) -> str:
    rows = "\n".join(
        f"<tr><td>{escape(v.name)}</td><td>{escape(v.unit)}</td><td>{escape(v.description)}</td></tr>"
        for v in (entry.variable for entry in entries)
    )
    head = "<tr><th>name</th><th>unit</th><th>meaning</th></tr>"
    return f"<h2>{title}</h2>\n<table>\n{head}\n{rows}\n</table>" if rows else ""
