"""Names chosen by patterns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from linkwork.cosim.system.references import known
from linkwork.errors import CosimError


def fits(name: str, pattern: str) -> bool:
    """Whether a name fits a pattern, in which brackets are what they are in names."""
    return fnmatchcase(name, pattern.replace("[", "[[]"))


def chosen(patterns: str | Iterable[str], names: Sequence[str], what: str = "variable", where: str = "") -> list[str]:
    """Return the names that fit a pattern, each once, in the order of the patterns.

    A pattern is a name, or has ``*`` for any text and ``?`` for any letter; brackets are what they are in names.

    >>> chosen(["*.u", "crank.r[1]"], ["A.q", "A.u", "crank.r[1]", "crank.r[2]"])
    ['A.u', 'crank.r[1]']

    Raises
    ------
    CosimError
        If no name fits a pattern; names that are near are suggested.
    """
    table = dict.fromkeys(names)
    found: dict[str, None] = {}
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        fitting = [pattern] if pattern in table else [name for name in names if fits(name, pattern)]
        if not fitting:
            try:
                known(pattern, table, what, where)  # raises an error with the nearest names
            except CosimError as problem:
                if not names or ";" in str(problem):
                    raise
                raise CosimError(f"{problem}; there are such as {names[-1]!r}") from None
        found |= dict.fromkeys(fitting)
    return list(found)
