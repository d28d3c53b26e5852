"""Disjoint sets that are united: union-find."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class DisjointSets(Generic[T]):
    """Sets of members, each alone at first.

    Examples
    --------
    >>> sets = DisjointSets("abc")
    >>> sets.unite("a", "b"), sets.unite("b", "a")
    (True, False)
    >>> sets.find("a") == sets.find("b"), sets.find("a") == sets.find("c")
    (True, False)
    """

    def __init__(self, members: Iterable[T]) -> None:
        self._above = {member: member for member in members}

    def find(self, member: T) -> T:
        """Return the representative of a member's set."""
        above = self._above
        while above[member] != member:
            above[member] = member = above[above[member]]
        return member

    def unite(self, first: T, second: T) -> bool:
        """Make one set of those of two members; the second's representative stays. Return whether they were two."""
        one, other = self.find(first), self.find(second)
        self._above[one] = other
        return one != other
