"""The methods by which loops are solved: what each is, what it is expected to cost, and what it cannot take.

Costs are multiplications of one evaluation of the derivatives, four in one vector operation counted as one, where the
methods differ: pivoting the closures, the motion of the links by independent coordinates, the reduced system, and
the feedback. Where each link is, its inertia and the closing points cost the same with all of them. Numbers that depend
on the pose, as the ranks do, are those expected of regular poses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from linkwork.compiler.serialise import (
    EMBEDDING,
    LOOP_BY_LOOP,
    MULTIPLIERS_ABOUT_CENTROIDS,
    MULTIPLIERS_ABOUT_JOINTS,
    MULTIPLIERS_ABOUT_ORIGIN,
)
from linkwork.compiler.topology import Cluster, Topology

MOST_EMBEDDED_ROWS = 1000  # of closures as one matrix


class Expected(NamedTuple):
    """What a cluster is expected to be like in regular poses, as the core counts it at its start.

    Attributes
    ----------
    columns, rows
        Speeds of its tree and cut joints; equations of its closures, redundant ones included.
    independents, dof
        Columns that its loops leave independent, each for itself; those that all closures leave.
    """

    columns: int
    rows: int
    independents: int
    dof: int


@dataclass(frozen=True)
class Size:
    """What the cost of a cluster depends on.

    Attributes
    ----------
    loop_steps
        How often each (tree columns, cut columns) occurs among its loops.
    links, expected
        How many links it has, and what the core counted.
    moves
        Its root is a moving body.
    """

    loop_steps: Counter[tuple[int, int]]
    links: int
    expected: Expected
    moves: bool


def _takes_all(_: Size) -> str | None:
    return None


@dataclass(frozen=True)
class Method:
    """A way to solve loops.

    Attributes
    ----------
    name, meaning
        As `compile` takes it; in words.
    code
        Of a cluster in the serialised model; -1: it takes the whole mechanism, and cannot be chosen for a cluster.
    cost
        Expected multiplications of an evaluation, for one cluster.
    refusal
        Why it cannot take a cluster; None: it can.
    """

    name: str
    meaning: str
    code: int = -1
    cost: Callable[[Size], float] = lambda size: float("inf")
    refusal: Callable[[Size], str | None] = _takes_all


def size_of(topology: Topology, cluster: Cluster, columns: Callable[[int], int], expected: Expected) -> Size:
    """Return the size of a cluster; `columns` gives the number of columns of each joint, by its position."""
    loop_steps = Counter(
        (
            sum(columns(topology.links[link].joint) for link in step.links),
            columns(topology.loops[step.loop].joint) if step.loop >= 0 else 6,
        )
        for step in cluster.loop_steps
    )
    return Size(loop_steps, len(cluster.links), expected, cluster.root >= 0)


# ---- recursive coordinate reduction -----------------------------------------------------------------


def _rcr(size: Size) -> float:
    """Loop by loop, then the constraints that are left among the independent columns."""
    independents, dof = size.expected.independents, size.expected.dof
    fours = _fours(independents + 2)
    tree_columns = sum(columns * count for (columns, _), count in size.loop_steps.items())
    share = 1 - independents / tree_columns if tree_columns else 0.0  # of its columns that a loop makes dependent
    total = 0.0
    for (columns, cuts), count in size.loop_steps.items():
        rows = 6 - cuts
        rank = min(share * columns, rows)
        pivots = 3 * rank * rows * _fours(columns) + rank * rank * (rows + columns) / 2
        bases, own = 24 + 18, columns * (cuts if rank == rows else 6)
        total += count * (pivots + (bases + rank * rows + own) * fours)
    left = independents - dof
    if left:
        total += _elimination(independents, left + 3.0, left, 2) + left * left * dof / 2
        total += 2 * (independents**2 * dof + independents * dof**2)
    return total + _reduction(size, independents, dof)


# ---- constraint embedding ---------------------------------------------------------------------------


def _embedding(size: Size) -> float:
    """All closures as one matrix, pivoted as a whole, one number after the other (constraint_embedding_kernel.h)."""
    columns, rows, dof = size.expected.columns, size.expected.rows, size.expected.dof
    rank = columns - dof
    back = (rank * columns - rank * rank / 2) * 4 * _fours(dof + 2)
    return _elimination(columns, rows, rank, 2) + back + _reduction(size, dof, dof)


def _too_many_rows(size: Size) -> str | None:
    if size.expected.rows <= MOST_EMBEDDED_ROWS:
        return None
    return f"{size.expected.rows} equations are too many for one matrix, which holds {MOST_EMBEDDED_ROWS} at most"


# ---- what they have in common -----------------------------------------------------------------------


def _fours(count: int) -> int:
    return -(-count // 4)


def _elimination(columns: float, rows: float, rank: float, sides: int) -> float:
    """Pivoted Gram-Schmidt: before each pivot the sizes of what remains, then its elimination."""
    return rows * rank * (3 * (columns - rank / 2) + 2 * sides)


def _reduction(size: Size, independents: int, dof: int) -> float:
    """Motion of the links by independent columns, inertia times it, the reduced system; the stabilisation."""
    fours, columns = _fours(independents + 2), size.expected.columns
    links = size.links * (6 + 36 + 6 * independents + (6 if size.moves else 0)) * fours + 3 * columns * fours
    return links + columns * fours * (independents + 3) + dof**3 / 3


def without_reduced_dynamics(size: Size) -> float:
    """Return the multiplications of closures and stabilisation: those of `rcr` but for what gives the accelerations."""
    independents, dof = size.expected.independents, size.expected.dof
    fours = _fours(independents + 2)
    links = size.links * (36 + 6 * independents + (6 if size.moves else 0)) * fours
    left = independents - dof
    constraints = independents**2 * dof + independents * dof**2 if left else 0
    return _rcr(size) - links - 3 * size.expected.columns * fours - dof**3 / 6 - constraints


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("rcr", "recursive coordinate reduction, loop by loop", LOOP_BY_LOOP, _rcr),
        Method("embedding", "constraint embedding, all closures as one matrix", EMBEDDING, _embedding, _too_many_rows),
        Method("multipliers", "Lagrange multipliers of all loops at once, on the open tree"),
        Method("dca", "divide and conquer, bodies joined to ever larger subassemblies"),
    )
}

MULTIPLIERS_ABOUT: dict[str, int] = {  # by reference
    "auto": MULTIPLIERS_ABOUT_JOINTS,
    "joint": MULTIPLIERS_ABOUT_JOINTS,
    "centroid": MULTIPLIERS_ABOUT_CENTROIDS,
    "origin": MULTIPLIERS_ABOUT_ORIGIN,
}
REFERENCES = ("auto", "centroid", "joint", "origin")
