"""The page of documentation inside an FMU."""

from collections.abc import Iterable
from html import escape
from itertools import islice

from linkwork.export.content import Causality, Content, Entry

MOST = 2000  # rows of a table

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
    causalities: tuple[tuple[str, Causality], ...]
    causalities = (("Inputs", "input"), ("Outputs", "output"), ("Parameters", "parameter"))
    parts = [_table(title, islice(content.each(causality), MOST)) for title, causality in causalities]
    tables = "\n".join(part for part in parts if part)
    return _PAGE.format(
        name=escape(content.name), states=content.count("state"), tool=escape(content.tool), tables=tables
    )


def _table(title: str, entries: Iterable[Entry]) -> str:
    rows = "\n".join(
        f"<tr><td>{escape(v.name)}</td><td>{escape(v.unit)}</td><td>{escape(v.description)}</td></tr>"
        for v in (entry.variable for entry in entries)
    )
    head = "<tr><th>name</th><th>unit</th><th>meaning</th></tr>"
    return f"<h2>{title}</h2>\n<table>\n{head}\n{rows}\n</table>" if rows else ""
