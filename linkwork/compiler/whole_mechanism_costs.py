"""Expected multiplications of the methods that solve the whole mechanism: multipliers, divide and conquer.

Both replace the reduced dynamics of the clusters only. The closures of all loops and the stabilisation remain, because
the derivatives contain the projection on the closed pose and on the admissible speeds. Costs are counted as in
`methods`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from linkwork.compiler.methods import Expected, size_of, without_reduced_dynamics
from linkwork.compiler.topology import Cluster, Topology

MAX_ROWS_COUNTED = 1_000_000  # of links: to count more would take seconds

ARTICULATED_COLUMN = 90.0  # U, D, I - U U'/D and the shift to the parent
ROW_ACROSS_COLUMN = 20.0  # z, its square, Phi - z U'/D, gamma
ROW_SHIFT = 6.0
DCA_SHARE = 0.4  # time of a multiplication of long rows, compared with the others: measured


def whole_mechanism_costs(
    topology: Topology, speeds: Callable[[int], int], expected: Sequence[Expected], dca_multiplications: float
) -> dict[str, float]:
    """Return the expected multiplications of one evaluation by "multipliers" and "dca".

    Parameters
    ----------
    speeds
        The number of speeds of each joint, by its position.
    expected
        Of each cluster.
    dca_multiplications
        Of the subassemblies alone, from the core.
    """
    closures = sum(
        without_reduced_dynamics(size_of(topology, cluster, speeds, count))
        for cluster, count in zip(topology.clusters, expected, strict=True)
    )
    costs = {"dca": closures + DCA_SHARE * dca_multiplications}
    rows = _rows_across_links(topology, speeds)
    if rows is not None:
        costs["multipliers"] = closures + _multipliers(topology, speeds, expected, rows)
    return costs


def _multipliers(
    topology: Topology, speeds: Callable[[int], int], expected: Sequence[Expected], rows_across: Sequence[int]
) -> float:
    """Propagate all rows over the open tree, then factor the matrix of all of them."""
    total = 0.0
    for link, rows in zip(topology.links, rows_across, strict=True):
        columns = speeds(link.joint)
        total += columns * (ARTICULATED_COLUMN + rows * (ROW_ACROSS_COLUMN + rows / 8)) + ROW_SHIFT * rows
    rows = sum(_own_rows(topology, cluster, speeds) for cluster in topology.clusters)
    cuts = sum(speeds(topology.loops[loop].joint) for cluster in topology.clusters for loop in cluster.loops)
    rank = min(rows, sum(count.columns - count.dof for count in expected) - cuts)
    return total + _pivoted(rows, rank)


def _pivoted(rows: int, rank: int) -> float:
    """Symmetric elimination with pivots; with redundant rows also the solution of least norm."""
    elimination = (rank * rows * rows - rank * rank * rows + rank**3 / 3) / 8 + 2 * rank * rows
    if rank == rows:
        return elimination + rows * rows
    return elimination + rank * rank * rows / 12 + rank**3 / 24 + 2 * rank * rows


def _own_rows(topology: Topology, cluster: Cluster, speeds: Callable[[int], int]) -> int:
    loops = sum(6 - speeds(topology.loops[loop].joint) for loop in cluster.loops)
    return loops + len(cluster.couplings) + len(cluster.distances)


def _rows_across_links(topology: Topology, speeds: Callable[[int], int]) -> list[int] | None:
    """Return how many rows cross each link on the path to the ground; None: far too many to count."""
    rows = [0] * len(topology.links)
    stamp = [-1] * len(topology.links)
    steps = 0
    for group, (ends, count) in enumerate(_groups(topology, speeds)):
        for end in ends:
            link = end
            while link >= 0 and stamp[link] != group:
                stamp[link] = group
                rows[link] += count
                link = topology.links[link].parent
                steps += 1
        if steps > MAX_ROWS_COUNTED:
            return None
    return rows


def _groups(topology: Topology, speeds: Callable[[int], int]) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield the links at the ends of each loop, coupling and distance, and its number of rows."""
    link_of = {link.joint: number for number, link in enumerate(topology.links)}
    loop_of = {loop.joint: loop for loop in topology.loops}
    for cluster in topology.clusters:
        for number in cluster.loops:
            loop = topology.loops[number]
            yield (loop.parent, loop.child), 6 - speeds(loop.joint)
    for coupling in topology.couplings:
        ends: list[int] = []
        for joint, _ in coupling.terms if coupling.cluster >= 0 else ():
            cut = loop_of.get(joint)
            ends += [link_of[joint]] if cut is None else [cut.parent, cut.child]
        yield tuple(ends), 1
    for distance in topology.distances:
        yield distance.ends, 1
