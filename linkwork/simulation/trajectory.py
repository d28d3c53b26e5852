"""The states of a run at its rows and at its events, and between them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.core.native import ASSEMBLY_TOLERANCE, Block, Stage
from linkwork.errors import AssemblyError, LinkworkError
from linkwork.model.model import Model
from linkwork.results.time_axis import IntArray, Places


class Node(NamedTuple):
    """States at a time that may be no row: before or after an event, or at the end of the run."""

    # t, y, inputs: time, states [q; u] and inputs, as of a `Trajectory`
    t: float
    y: FloatArray
    inputs: FloatArray
    discrete: FloatArray | None  # the discrete state; None without transitions
    events: int  # number of events before it
    x: FloatArray  # continuous states of the controller, (n,)


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


def merged(rows: Trajectory, nodes: Sequence[Node], backward: bool) -> tuple[Trajectory, IntArray]:
    """Return rows and nodes in the order of time, and where the rows are among them.

    A node that is a row as well occurs once. Where the cut joints are at a node is interpolated between the rows.
    """
    sign = -1.0 if backward else 1.0
    present = set(zip(rows.t.tolist(), rows.events.tolist(), strict=True))
    nodes = [node for node in nodes if (node.t, node.events) not in present]
    if not nodes:
        return rows, np.arange(len(rows))
    t = np.array([node.t for node in nodes])
    turns = [np.interp(sign * t, sign * rows.t, turn) if len(rows) else np.zeros(len(t)) for turn in rows.revolutions.T]
    added = Trajectory(
        t,
        np.array([node.y for node in nodes]),
        np.array([node.inputs for node in nodes]),
        np.array(turns).T.reshape(len(t), -1),
        [node.discrete for node in nodes if node.discrete is not None],
        np.array([node.events for node in nodes]),
        np.array([node.x for node in nodes]).reshape(len(t), -1),
        np.full((len(t), 3), np.nan),
    )
    both = rows.followed(added)
    order = np.lexsort((both.events, sign * both.t))
    places = np.empty(len(order), dtype=np.intp)
    places[order] = np.arange(len(order))
    return both.at(order), places[: len(rows)]


def values_of(model: Model, trajectory: Trajectory, gains: FloatArray) -> FloatArray:
    """Return every number of the block that is computed, (nt, numbers); the angles of cut joints are unwrapped.

    Where a quantity does not exist it is not a number.
    """
    block, nq = model.block(), model.numbering.nq
    block.put("correction_gain", gains, Stage.NONE)
    span = span_of(model)
    computed = model.fields["qdot"].first
    at = block.model.discrete_state
    happened = slice(at.start - span.start, at.stop - span.start)
    values = np.full((len(trajectory), span.stop - span.start), np.nan)
    discrete, turns = trajectory.discrete, trajectory.revolutions
    for i, (t, y, inputs) in enumerate(zip(trajectory.t, trajectory.y, trajectory.inputs, strict=True)):
        if discrete and (i == 0 or discrete[i] is not discrete[i - 1]):
            block.put_discrete_state(discrete[i])
        if i == 0 or not np.array_equal(turns[i], turns[i - 1]):
            block.count_revolutions(turns[i])
        block.enter(y[:nq], y[nq:], inputs, t)
        block.step_accepted()
        values[i, : computed - span.start] = block.reals[span.start : computed]
        values[i, happened] = block.discrete_state
        with suppress(LinkworkError):
            block.evaluate(Stage.OUTPUTS)
            values[i] = block.reals[span]
    return values


def span_of(model: Model) -> slice:
    """Return where the numbers of `values_of` are in the block."""
    return slice(model.fields["time"].first, model.fields["formula_output"].span.stop)


def between(model: Model, nodes: Trajectory, values: FloatArray, places: Places) -> Trajectory:
    """Return the states at places between nodes; `values` are those of `values_of` at the nodes.

    States are interpolated by cubic Hermite polynomials from states and derivatives, inputs linearly, and the loops are
    then closed.

    Raises
    ------
    AssemblyError
        If the loops cannot be closed from the interpolated states.
    """
    found = nodes.at(places.rows)
    exact = places.weights == 0.0
    if exact.all():
        return found
    y = found.y.copy()
    k, following = places.rows[~exact], places.rows[~exact] + 1
    w, h = places.weights[~exact, np.newaxis], (nodes.t[following] - nodes.t[k])[:, np.newaxis]
    rates = values[:, model.fields["qdot"].first - span_of(model).start :][:, : y.shape[1]]
    y[~exact] = hermite(w, h, nodes.y[k], nodes.y[following], rates[k], rates[following])
    inputs, turns = found.inputs.copy(), found.revolutions.copy()
    inputs[~exact] = _inputs_between(model, w, h, nodes.inputs[k], nodes.inputs[following])
    turns[~exact] += w * (nodes.revolutions[following] - nodes.revolutions[k])
    x, control = found.x.copy(), found.control.copy()
    x[~exact] += w * (nodes.x[following] - nodes.x[k])
    control[~exact] = np.nan
    result = Trajectory(places.times, y, inputs, turns, found.discrete, found.events, x, control)
    _close_loops(model, result, np.flatnonzero(~exact))
    return result


def hermite(w: FloatArray, h: FloatArray, a: FloatArray, b: FloatArray, da: FloatArray, db: FloatArray) -> FloatArray:
    """Return the cubic that has values a, b and derivatives da, db at both ends of a step h, at part w of it.

    Where a derivative does not exist, that of the straight line is taken.
    """
    secant = (b - a) / h
    da, db = (np.where(np.isfinite(one), one, secant) for one in (da, db))
    line = a + w * (b - a)
    bend: FloatArray = w * (1.0 - w) * h * ((1.0 - w) * (da - secant) - w * (db - secant))
    return line + bend


def _inputs_between(model: Model, w: FloatArray, h: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Return inputs at part w of a step h: loads on a line, motions as their rates have it, commands as before."""
    n = model.numbering
    inputs = a + w * (b - a)
    motions = slice(n.n_loads, n.n_loads + n.n_motion)
    values, rates, accelerations = (slice(motions.start + i, motions.stop, 3) for i in range(3))
    inputs[:, values] = hermite(w, h, a[:, values], b[:, values], a[:, rates], b[:, rates])
    inputs[:, rates] = hermite(w, h, a[:, rates], b[:, rates], a[:, accelerations], b[:, accelerations])
    inputs[:, motions.stop :] = a[:, motions.stop :]
    return inputs


def _close_loops(model: Model, trajectory: Trajectory, rows: IntArray) -> None:
    """Project states on the closed poses near them and on the speeds that keep these closed; normalise quaternions."""
    block, nq = model.block(), model.numbering.nq
    start = block.reals[model.fields["q_start"].span]
    for name in ("q_priority", "u_priority"):
        block.reals[model.fields[name].span] = 0.0
    block.put("correction_gain", 0.0, Stage.NONE)
    for i in rows:
        trajectory.enter(i, block, nq)
        start[:] = np.concatenate([trajectory.y[i, :nq], trajectory.revolutions[i]])
        with suppress(LinkworkError):  # the cut joints count in the distance to the closed pose
            start[nq:] = block["q_cut"]
        with suppress(AssemblyError):  # pins may leave no degree of freedom: the pose between the rows stays
            block.assemble(ASSEMBLY_TOLERANCE)
            trajectory.y[i, :nq], trajectory.revolutions[i] = block["q"], block["cut_reference"]
        trajectory.enter(i, block, nq)
        with suppress(LinkworkError):  # at a singular pose every speed stays
            trajectory.y[i, nq : nq + model.numbering.nu] = block["rate"]
