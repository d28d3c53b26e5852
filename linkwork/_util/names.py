"""Names: lists and counts of them in messages, the nearest one to an unknown name, one that is free."""

from __future__ import annotations

from collections.abc import Container, Iterable
from difflib import get_close_matches

from linkwork._util.synonyms import SYNONYMS

MOST_SUGGESTED = 3
MOST_LISTED = 8


def quoted(names: Iterable[str], most: int = MOST_LISTED) -> str:
    """List names for a message; the middle of a long list is left out.

    >>> quoted(["a", "b"])
    "'a', 'b'"
    """
    listed = [repr(name) for name in names]
    if len(listed) > most:
        listed = [*listed[: most - 1], f"... ({len(listed) - most} more)", listed[-1]]
    return ", ".join(listed)


def number_of(count: int, one: str, many: str = "") -> str:
    """Return a count and the noun that it is of.

    >>> number_of(1, "loop"), number_of(2, "loop"), number_of(0, "body", "bodies")
    ('1 loop', '2 loops', '0 bodies')
    """
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def nearest(name: object, known: Iterable[str]) -> list[str]:
    """Return the known names that an unknown one resembles, the nearest first.

    A name that others begin with, up to a dot or bracket, resembles these, and one that ends in a synonym what that
    stands for.

    >>> nearest("Radua", ["Radau", "RK45"]), nearest("crank", ["crank.r", "rod.r"]), nearest("a-b.q", ["'a-b'.q"])
    (['Radau'], ['crank.r'], ["'a-b'.q"])
    >>> nearest("A.k", ["A.q", "A.stiffness", "A.damping"]), nearest("U.k[2]", ["U.stiffness[1]", "U.stiffness[2]"])
    (['A.stiffness'], ['U.stiffness[2]'])
    """
    names = list(known)
    if not isinstance(name, str):
        return []
    alike = {_letters(other): other for other in reversed(names)}
    if _letters(name) in alike:
        return [alike[_letters(name)]]
    meant = [one for one in _meant(name) if one in names]
    if meant:
        return meant
    beginnings = (f"{_letters(name)}.", f"{_letters(name)}[")
    begun = [other for other in names if name and _letters(other).startswith(beginnings)]
    if begun:
        return begun[:MOST_SUGGESTED]
    return [alike[one] for one in get_close_matches(_letters(name), alike, n=MOST_SUGGESTED)]


def _meant(name: str) -> list[str]:
    """Return the names of variables that a name with a synonym after its last dot stands for."""
    owner, dot, word = name.rpartition(".")
    word, bracket, index = word.partition("[")
    return [f"{owner}.{other}{bracket}{index}" for other in SYNONYMS.get(word.lower(), ()) if dot]


def _letters(name: str) -> str:
    """Return a name without capitals and without the quotes that names of FMUs have: both are easily left out."""
    return name.lower().replace("'", "")


def suggest(name: object, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: the nearest known names, or all of them.

    >>> suggest("cranc", ["crank", "rod"])
    "did you mean 'crank'?"
    >>> suggest("wheel", ["crank", "rod"])
    "known are 'crank', 'rod'"
    """
    names = list(dict.fromkeys(known))
    near = nearest(name, names)
    if near:
        return f"did you mean {' or '.join(map(repr, near))}?"
    return f"known are {quoted(names)}" if names else "there is none yet"


def verbatim(text: str) -> str:
    r"""Return a text for matplotlib that shows as it is: no formula between ``$``, no label left out for its ``_``.

    >>> verbatim("a$b.q"), verbatim("_arm.q")
    ('a\\$b.q', ' _arm.q')
    """
    return (" " if text.startswith("_") else "") + text.replace("$", r"\$")


def free_name(name: str, taken: Container[str]) -> str:
    """Return a name that is not taken: it, or it with the first number from 2 on.

    >>> free_name("arm", {"arm", "arm_2"})
    'arm_3'
    """
    found, number = name, 2
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    return found
