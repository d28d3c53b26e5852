"""States between the rows of a trajectory, with closed loops."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.core.native import ASSEMBLY_TOLERANCE, Stage
from linkwork.errors import AssemblyError, LinkworkError
from linkwork.model.model import Model
from linkwork.results.time_axis import IntArray, Places
from linkwork.simulation.row_numbers import RowNumbers
from linkwork.simulation.trajectory import Trajectory


def counted(model: Model, trajectory: Trajectory, numbers: RowNumbers, rows: IntArray) -> Trajectory:
    """Return rows of a trajectory with the coordinates of the cut joints, which state their revolutions."""
    cut, found = numbers.of(model.fields["q_cut"].span, rows), trajectory.at(rows)
    return replace(found, revolutions=np.where(np.isfinite(cut), cut, found.revolutions))


def between(model: Model, nodes: Trajectory, numbers: RowNumbers, places: Places) -> Trajectory:
    """Return the states at places between nodes, whose numbers are given.

    States are interpolated by cubic Hermite polynomials from states and derivatives, inputs linearly, and the loops are
    then closed.

    Raises
    ------
    AssemblyError
        If the loops cannot be closed from the interpolated states.
    """
    found = counted(model, nodes, numbers, places.rows)
    exact = places.weights == 0.0
    if exact.all():
        return found
    y = found.y.copy()
    k, following = places.rows[~exact], places.rows[~exact] + 1
    w, h = places.weights[~exact, np.newaxis], (nodes.t[following] - nodes.t[k])[:, np.newaxis]
    first = model.fields["qdot"].first
    rates = (numbers.of(slice(first, first + y.shape[1]), rows) for rows in (k, following))
    y[~exact] = hermite(w, h, nodes.y[k], nodes.y[following], *rates)
    inputs, turns = found.inputs.copy(), found.revolutions.copy()
    inputs[~exact] = _inputs_between(model, w, h, nodes.inputs[k], nodes.inputs[following])
    turns[~exact] += w * (counted(model, nodes, numbers, following).revolutions - turns[~exact])
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
