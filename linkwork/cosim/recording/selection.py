"""Names chosen by patterns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from linkwork.cosim.system.references import known
from linkwork.results.selection import fits

Name = TypeVar("Name", bound=str)


def chosen(patterns: str | Iterable[str], names: Sequence[Name], what: str = "variable", where: str = "") -> list[Name]:
    """Return the names that fit a pattern, each once, in the order of the patterns.

    A pattern is a name, or has ``*`` for any text and ``?`` for any letter; brackets are what they are in names.

    >>> chosen(["*.u", "crank.r[1]"], ["A.q", "A.u", "crank.r[1]", "crank.r[2]"])
    ['A.u', 'crank.r[1]']
    """
    table = {name: name for name in names}
    found: dict[Name, None] = {}
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        fitting = [table[pattern]] if pattern in table else [name for name in names if fits(name, pattern)]
        if not fitting:
            known(pattern, dict.fromkeys(names), what, where)  # raises with the nearest names
        found |= dict.fromkeys(fitting)
    return list(found)
