"""How variables of components are named: ``component.variable``, where either may have dots in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from linkwork._util.names import suggest
from linkwork.errors import CosimError

T = TypeVar("T")


def known(name: str, table: Mapping[str, T], what: str, where: str = "") -> T:
    """Look a name up.

    Raises
    ------
    CosimError
        If it is not there, with the nearest names.
    """
    if name in table:
        return table[name]
    place = f" in {where}" if where else ""
    raise CosimError(f"there is no {what} {name!r}{place}; {suggest(name, table)}")


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
