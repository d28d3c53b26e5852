"""The order in which a cluster's loops are added to one another: loop by loop, by an ear decomposition.

A loop adds links to those of the loops before it. The first starts at the cluster's root, each other one at links that
are there already: its new links are a branch to the parent of its cut joint and a branch to its child, disjoint, one
or both perhaps empty. The loop that adds the fewest links comes next, so that neighbours follow one another, whatever
the order in which joints were added.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linkwork.compiler.links import Link, Loop

NEAR = 16


@dataclass(frozen=True, slots=True)
class LoopStep:
    """A loop and what it adds to a cluster.

    Attributes
    ----------
    loop
        Position in `Topology.loops`; -1: none, a link that only a coupling or distance brings into the cluster.
    links
        The links that it adds, parents first: those towards the parent of the loop's cut joint, then those towards
        its child. None, if its cut joint joins links of earlier loops.
    """

    loop: int
    links: tuple[int, ...]


def loop_steps(
    links: Sequence[Link], depth: Sequence[int], root: int, loops: Mapping[int, Loop], unlooped: Sequence[int]
) -> tuple[LoopStep, ...]:
    """Return the steps by which a cluster grows.

    Parameters
    ----------
    links, depth
        Those of the whole mechanism, and how many joints each is away from the ground, which is the last.
    root
        The root link of the cluster, -1: ground.
    loops
        Its loops by position.
    unlooped
        Its links that lie on no loop, ascending. Each is a step of its own, just before the first loop outboard of it.
    """
    growth = _Growth(links, depth, root, loops, unlooped)
    found: list[LoopStep] = []
    for number in growth.order():
        loop = loops[number]
        found += [LoopStep(-1, (link,)) for link in growth.take_branch(loop.root)]
        found.append(LoopStep(number, (*growth.take_branch(loop.parent), *growth.take_branch(loop.child))))
    found += [LoopStep(-1, (link,)) for end in unlooped for link in growth.take_branch(end)]
    return tuple(found)


class _Growth:
    """One cluster while its loops are added.

    What a loop would add is counted on each of its two branches, and falls when links of a branch are taken. So that
    this costs little, only the NEAR links next to a branch's end report to the loop; while none of them is taken the
    whole branch counts. Loops that add fewer than NEAR are thus counted right.
    """

    def __init__(
        self, links: Sequence[Link], depth: Sequence[int], root: int, loops: Mapping[int, Loop], unlooped: Sequence[int]
    ) -> None:
        self._links = links
        self._taken = {root}
        self._adds = {
            k: [depth[end] - depth[loop.root] for end in (loop.parent, loop.child)] for k, loop in loops.items()
        }
        self._reports: dict[
            int, list[tuple[int, int, int]]
        ] = {}  # by link: loop, branch, and what that adds from then on
        self._waiting: dict[int, list[int]] = {}  # by link: the loops that can be added once it is taken
        self._offers: list[tuple[int, int]] = []  # a heap of loops by what they add, with outdated ones between
        carrier: dict[int, int] = {}  # of the unlooped links: the one below that is taken with a loop
        for link in unlooped:
            parent = links[link].parent
            carrier[link] = carrier.get(parent, parent)
        for number, loop in loops.items():
            self._waiting.setdefault(carrier.get(loop.root, loop.root), []).append(number)
            for branch, end in enumerate((loop.parent, loop.child)):
                self._report_to(number, branch, end)
        self._offer(self._waiting.pop(root, []))

    def _report_to(self, number: int, branch: int, end: int) -> None:
        for distance in range(min(NEAR, self._adds[number][branch])):
            self._reports.setdefault(end, []).append((number, branch, distance))
            end = self._links[end].parent

    def _offer(self, loops: Iterable[int]) -> None:
        for number in loops:
            heapq.heappush(self._offers, (sum(self._adds[number]), number))

    def order(self) -> Iterator[int]:
        """Return the loops one by one; the links of each are to be taken before the next."""
        laid = set()
        while self._offers:
            _, number = heapq.heappop(self._offers)
            if number not in laid:
                laid.add(number)
                yield number

    def take_branch(self, end: int) -> list[int]:
        """Take the links up to `end` that are not taken; return them, parents first."""
        new = []
        while end not in self._taken:
            new.append(end)
            end = self._links[end].parent
        new.reverse()
        changed: dict[int, None] = {}
        for link in new:
            self._taken.add(link)
            changed.update(dict.fromkeys(self._waiting.pop(link, ())))
            for number, branch, distance in self._reports.pop(link, ()):
                self._adds[number][branch] = distance
                changed[number] = None
        self._offer(changed)
        return new
