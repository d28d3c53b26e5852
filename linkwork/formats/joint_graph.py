"""Bodies or links and the joints between them as a graph: spanning trees, and the order in which they grow outward."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from linkwork._util.disjoint_sets import DisjointSets


class _Joining(Protocol):
    """A joint, by the names of what it joins; None is the world of a robot."""

    @property
    def parent(self) -> str | None: ...
    @property
    def child(self) -> str | None: ...


J = TypeVar("J", bound=_Joining)
Name = TypeVar("Name", str, str | None)


def split(joints: Iterable[J], rank: Callable[[J], Any]) -> tuple[list[J], list[J]]:
    """Return the joints of a spanning tree, preferably those of low rank, and those that close loops."""
    joints = list(joints)
    joined = DisjointSets[str | None](end for joint in joints for end in (joint.parent, joint.child))
    tree = {id(joint) for joint in sorted(joints, key=rank) if joined.unite(joint.parent, joint.child)}
    return [joint for joint in joints if id(joint) in tree], [joint for joint in joints if id(joint) not in tree]


def outward(joints: Iterable[J], starts: Iterable[Name]) -> Iterator[tuple[J, Name, Name]]:
    """Yield joints from the starts outward, breadth first: each with the end that is known and the new one."""
    at: dict[str | None, list[J]] = {}
    for joint in joints:
        at.setdefault(joint.parent, []).append(joint)
        at.setdefault(joint.child, []).append(joint)
    waiting = list(starts)
    known = set(waiting)
    for here in waiting:
        for joint in at.get(here, ()):
            new = joint.child if joint.parent == here else joint.parent
            if new not in known:
                known.add(new)  # type: ignore[arg-type]
                waiting.append(new)  # type: ignore[arg-type]
                yield joint, here, new  # type: ignore[misc]


def connected_sets(names: Iterable[Name], joints: Sequence[J]) -> list[list[Name]]:
    """Return the names in sets that joints connect; the first of each is the first of the names."""
    sets: list[list[Name]] = []
    known: set[Name] = set()
    for name in names:
        if name not in known:
            sets.append([name])
            sets[-1] += [new for _, _, new in outward(joints, [name])]
            known.update(sets[-1])
    return sets
