"""Columns by name, by pattern and as groups of elements."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from fnmatch import fnmatchcase


def fits(name: str, pattern: str) -> bool:
    """Return whether a name fits a pattern: ``*`` is any text, ``?`` any character, brackets are themselves.

    >>> fits("crank.r[1]", "*.r[1]"), fits("A.q", "*.u")
    (True, False)
    """
    return fnmatchcase(name, pattern.replace("[", "[[]"))


def is_pattern(text: str) -> bool:
    """Return whether a text has ``*`` or ``?``, which no name has."""
    return "*" in text or "?" in text


def group_of(name: str) -> str:
    """Return the name of the quantity of which a column is an element; its own name if it is none.

    >>> group_of("crank.r[1]"), group_of("der(S.q[1])"), group_of("A.q")
    ('crank.r', 'der(S.q)', 'A.q')
    """
    base, bracket, rest = name.rpartition("[")
    return base + rest.partition("]")[2] if bracket else name


def groups_of(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the elements of every quantity of several columns; a column of the same name takes precedence.

    >>> groups_of(["A.q", "crank.r[1]", "crank.r[2]"])
    {'crank.r': ['crank.r[1]', 'crank.r[2]']}
    """
    given = dict.fromkeys(names)
    found: dict[str, list[str]] = {}
    for name in given:
        group = group_of(name)
        if group not in given:
            found.setdefault(group, []).append(name)
    return found


def fitting(pattern: str, names: Iterable[str]) -> list[str]:
    """Return the names that fit a pattern themselves, or by the quantity of which they are elements.

    >>> fitting("*.r", ["A.q", "crank.r[1]", "crank.r[2]"])
    ['crank.r[1]', 'crank.r[2]']
    """
    return [name for name in names if fits(name, pattern) or fits(group_of(name), pattern)]


def selected(
    columns: str | Iterable[str] | None,
    names: Sequence[str],
    known: Collection[str],
    unknown: Callable[[str], Exception],
) -> list[str]:
    """Return the names that names or patterns choose, each once; all without any. `unknown` makes the error."""
    if columns is None:
        return list(names)
    found: dict[str, None] = {}
    for one in [columns] if isinstance(columns, str) else columns:
        fit = [one] if one in known else fitting(one, names) if isinstance(one, str) and is_pattern(one) else []
        if not fit:
            raise unknown(one)
        found |= dict.fromkeys(fit)
    return list(found)
