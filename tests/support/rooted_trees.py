"""Rooted trees: one order condition of a one-step method belongs to each."""

import math
from collections.abc import Iterator


# A tree is the tuple of its subtrees.
def trees(size: int) -> Iterator[tuple]:
    def forests(total: int, largest: int) -> Iterator[tuple]:
        if total == 0:
            yield ()
        for first in range(min(total, largest), 0, -1):
            for tree in trees(first):
                yield from (
                    (tree, *rest) for rest in forests(total - first, first) if not rest or (first, tree) >= key(rest[0])
                )

    yield from forests(size - 1, size - 1)


def nodes(tree: tuple) -> int:
    return 1 + sum(nodes(branch) for branch in tree)


def key(tree: tuple) -> tuple:
    return nodes(tree), tree


def density(tree: tuple) -> int:
    return nodes(tree) * math.prod(density(branch) for branch in tree)
