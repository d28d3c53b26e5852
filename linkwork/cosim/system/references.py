"""How variables of components are named: ``component.variable``, where either may have dots in it."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TypeVar

from linkwork.errors import CosimError

T = TypeVar("T")


def known(name: str, table: Mapping[str, T], what: str, where: str = "") -> T:
    """Look a name up.

    Raises
    ------
    CosimError
        If it is not there; names that are near are suggested.
    """
    if name in table:
        return table[name]
    near = get_close_matches(name, table, n=3, cutoff=0.6)
    few = list(table) if len(table) <= 8 else []
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are: {', '.join(few)}" if few else ""
    place = f" in {where}" if where else ""
    raise CosimError(f"there is no {what} {name!r}{place}{'; ' + hint if hint else ''}")


def split(reference: str, components: Mapping[str, object]) -> tuple[str, str]:
    """Return component and variable of a reference; of components that fit, the one with the longest name.

    Raises
    ------
    CosimError
        If there is no such component, or no variable is named.
    """
    head, dot, _ = reference.rpartition(".")
    while dot and head not in components:
        head, dot, _ = head.rpartition(".")
    if dot:
        return head, reference[len(head) + 1 :]
    if "." not in reference:
        raise CosimError(f"{reference!r} names no variable; write component.variable, such as 'plant.A.q'")
    known(reference.partition(".")[0], components, "component", f"the reference {reference!r}")
    raise AssertionError(reference)
