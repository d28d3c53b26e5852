"""In what order values are exchanged at a communication point, so that direct feedthrough is honoured.

An output that depends on inputs is read after these are written. Outputs and inputs are nodes of a graph, with arrows
from an input to the outputs that depend on it and along connections; its levels are the order, and
a circle is an algebraic loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter

Node = tuple[str, str]  # instance, variable


@dataclass(frozen=True)
class Level:
    """One round of an exchange.

    `reads` names the instances whose outputs are read first, `writes` those whose inputs are written then; `loops` are
    algebraic loops, each as the inputs on it, which are solved between the two.
    """

    reads: tuple[str, ...]
    writes: tuple[str, ...]
    loops: tuple[tuple[Node, ...], ...] = ()


def make_levels(
    connections: Iterable[tuple[Node, Node]], feedthrough: Mapping[Node, Iterable[str]], external: Iterable[Node] = ()
) -> list[Level]:
    """Return the levels.

    `feedthrough` gives the connected inputs of the same instance that an output depends on; `external` are external
    inputs.
    """
    feeds = [(("in", *target), ("out", *source)) for source, target in connections]
    passes = [(("out", *output), ("in", output[0], name)) for output, names in feedthrough.items() for name in names]
    needs = feeds + passes
    alone = {("out", *output) for output in feedthrough} | {("in", *taker) for taker in external}
    nodes = sorted({node for arrow in needs for node in arrow} | alone)
    if not nodes:
        return []
    groups = _strongly_connected(nodes, needs)
    depth = _depths(groups, nodes, needs)
    levels = []
    for k in range(max(depth) + 1):
        here = [members for members, at in zip(groups, depth, strict=True) if at == k]
        loops = tuple(tuple(node[1:] for node in one if node[0] == "in") for one in here if len(one) > 1)
        flat = [node for one in here for node in one]
        levels.append(
            Level(
                tuple(dict.fromkeys(node[1] for node in flat if node[0] == "out")),
                tuple(dict.fromkeys(node[1] for node in flat if node[0] == "in")),
                loops,
            )
        )
    return levels


Typed = tuple[str, str, str]  # "in" or "out", instance, variable


def _strongly_connected(nodes: list[Typed], needs: list[tuple[Typed, Typed]]) -> list[list[Typed]]:
    """Tarjan, Depth-first search and linear graph algorithms, 1972; SciPy's takes half a second to load."""
    after: dict[Typed, list[Typed]] = {node: [] for node in nodes}
    for node, need in needs:
        after[node].append(need)
    number: dict[Typed, int] = {}
    low: dict[Typed, int] = {}
    owner: dict[Typed, Typed] = {}  # of each node, the member of its group that was met first
    met: list[Typed] = []  # and of no group yet
    for root in nodes:
        path = [] if root in number else [root]
        rests: dict[Typed, Iterator[Typed]] = {}
        while path:
            node = path[-1]
            if node not in number:
                number[node] = low[node] = len(number)
                met.append(node)
                rests[node] = iter(after[node])
            other = next((one for one in rests[node] if one not in owner), None)
            if other is None:
                path.pop()
                if path:
                    low[path[-1]] = min(low[path[-1]], low[node])
                if low[node] == number[node]:
                    while node not in owner:
                        owner[met.pop()] = node
            elif other in number:
                low[node] = min(low[node], number[other])
            else:
                path.append(other)
    groups: dict[Typed, list[Typed]] = {}
    for node in nodes:
        groups.setdefault(owner[node], []).append(node)
    return [*groups.values()]


def _depths(groups: list[list[Typed]], nodes: list[Typed], needs: list[tuple[Typed, Typed]]) -> list[int]:
    """How many rounds come before each group: what needs a loop, and an output that needs an input, is one deeper."""
    owner = {node: i for i, members in enumerate(groups) for node in members}
    needed: list[set[tuple[int, int]]] = [set() for _ in groups]
    for node, need in needs:
        if owner[node] != owner[need]:
            needed[owner[node]].add((owner[need], node[0] == "out" or len(groups[owner[need]]) > 1))
    depth = [0] * len(groups)
    for group in TopologicalSorter({i: [other for other, _ in of] for i, of in enumerate(needed)}).static_order():
        depth[group] = max((depth[other] + step for other, step in needed[group]), default=0)
    return depth
