"""The states of a run at its rows and at its events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.core.native import Block
from linkwork.results.time_axis import IntArray


@dataclass(frozen=True, eq=False)
class Trajectory:
    """States at times in the order of a run."""

    t: FloatArray  # times, (nt,), s
    y: FloatArray  # states: [q; u] of the tree joints, then those of elements, (nt, n)
    inputs: FloatArray  # (nt, n_inputs)
    revolutions: FloatArray  # coordinates of the cut joints from which their revolutions are counted, (nt, nq_cut)
    discrete: Sequence[FloatArray]  # the discrete states, (nt,); empty without transitions
    events: IntArray  # number of events before each, (nt,)
    x: FloatArray  # continuous states of the controller, (nt, n)
    # What the solver's step size control remembered, (nt, 3), where a step ended; else not a number.
    control: FloatArray

    def __len__(self) -> int:
        return len(self.t)

    def at(self, rows: IntArray) -> Trajectory:
        """Return some of them."""
        discrete = [self.discrete[i] for i in rows] if self.discrete else []
        return Trajectory(
            self.t[rows],
            self.y[rows],
            self.inputs[rows],
            self.revolutions[rows],
            discrete,
            self.events[rows],
            self.x[rows],
            self.control[rows],
        )

    def followed(self, other: Trajectory) -> Trajectory:
        """Return both, one after the other."""
        return Trajectory(
            np.concatenate([self.t, other.t]),
            np.concatenate([self.y, other.y]),
            np.concatenate([self.inputs, other.inputs]),
            np.concatenate([self.revolutions, other.revolutions]),
            [*self.discrete, *other.discrete],
            np.concatenate([self.events, other.events]),
            np.concatenate([self.x, other.x]),
            np.concatenate([self.control, other.control]),
        )

    def enter(self, i: int, block: Block, nq: int) -> None:
        """Bring a block to the i-th states."""
        if self.discrete:
            block.put_discrete_state(self.discrete[i])
        block.count_revolutions(self.revolutions[i])
        block.enter(self.y[i, :nq], self.y[i, nq:], self.inputs[i], float(self.t[i]))


def merged(rows: Trajectory, nodes: Trajectory | None, backward: bool) -> tuple[Trajectory, IntArray]:
    """Return rows and nodes in the order of time, and where the rows are among them.

    Nodes are states before or after an event, or at the end of the run; one that is a row as well occurs once. Where
    the cut joints are at a node is interpolated between the rows.
    """
    sign = -1.0 if backward else 1.0
    added = None if nodes is None else nodes.at(_no_rows(rows, nodes, sign))
    if added is None or not len(added):
        return rows, np.arange(len(rows))
    t = sign * added.t
    turns = [np.interp(t, sign * rows.t, turn) if len(rows) else np.zeros(len(t)) for turn in rows.revolutions.T]
    both = rows.followed(replace(added, revolutions=np.array(turns).T.reshape(len(t), -1)))
    order = np.lexsort((both.events, sign * both.t))
    places = np.empty(len(order), dtype=np.intp)
    places[order] = np.arange(len(order))
    return both.at(order), places[: len(rows)]


def _no_rows(rows: Trajectory, nodes: Trajectory, sign: float) -> IntArray:
    """Return the nodes that are no rows, which are sorted by time and events; `sign` is that of the direction."""
    pairs = (sign * rows.t, sign * nodes.t), (rows.events, nodes.events)
    first, last = (
        [np.searchsorted(of_rows, of_nodes, where) for of_rows, of_nodes in pairs] for where in ("left", "right")
    )
    return np.flatnonzero(np.maximum(*first) >= np.minimum(*last))
