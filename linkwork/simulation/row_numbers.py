"""Numbers of the block at the rows of a trajectory, each computed when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from linkwork._util.checks import FloatArray
from linkwork.core.native import Stage, offsets_of
from linkwork.mechanism.joints import AlongCircle, AlongPath
from linkwork.model.model import Model
from linkwork.model.row_workers import RowWorkers
from linkwork.results.time_axis import IntArray
from linkwork.simulation.trajectory import Trajectory

_ROWS_AT_ONCE = 1 << 14  # whose given numbers are in memory
_ROWS_FOR_A_THREAD = 1 << 12  # a thread begins in the time of some hundred
_SAME_REVOLUTION = 3.0  # rad from its reference, less than half a turn
_COMPUTED_AT_ONCE = 1 << 22  # numbers: all of them, 32 MB, where one is asked for


class RowNumbers:
    """Numbers of the block at the rows of a trajectory; where they do not exist they are not numbers.

    States, inputs and the discrete state are those of the trajectory. All others are computed, and kept: of short
    trajectories all as soon as one is asked for, of long ones only those that are. The angles of cut joints are counted
    from row to row.

    Parameters
    ----------
    model
        Whose block it is.
    trajectory
        Its rows.
    gains
        Of the feedback on loops, (2,).
    """

    def __init__(self, model: Model, trajectory: Trajectory, gains: FloatArray) -> None:
        self._model, self._rows, self._gains = model, trajectory, gains
        fields = model.fields
        self._span = slice(fields["time"].first, fields["formula_output"].span.stop)  # what there is
        self._first = fields["qdot"].first  # before it stand times, inputs and states
        self._discrete = slice(fields["joint_closed"].first, fields["acceleration"].first)
        self._kept: dict[tuple[int, int], FloatArray] = {}
        self._is_short = len(trajectory) * (self._span.stop - self._first) <= _COMPUTED_AT_ONCE

    def has(self, first: int) -> bool:
        """Return whether a number of the block differs from row to row: parameters and start values do not."""
        return bool(self._span.start <= first < self._span.stop)

    def of(self, span: slice, rows: IntArray | None = None) -> FloatArray:
        """Return numbers (rows, n) that stand next to each other; read-only.

        Parameters
        ----------
        span
            Offsets in the block, all within one field or all within states or inputs.
        rows
            Some rows; by default all.
        """
        given = self._given(span)
        key = span.start, span.stop
        if given is None and key in self._kept:
            given = self._kept[key]
        if given is None and self._is_short:
            given = self._all[:, span.start - self._first : span.stop - self._first]
        if given is None and rows is None:
            given = self._kept[key] = self._computed([span], None)[0]
        if given is None:
            assert rows is not None
            return self._computed([span], rows)[0]
        found = given if rows is None else given[rows]
        found.setflags(write=False)
        return found

    def of_each(self, spans: Sequence[slice]) -> list[FloatArray]:
        """Return the numbers of several parts of the block, as of `of`, computed together and not kept."""
        ends = [(one.start, one.stop) for one in spans]
        missing = {
            pair: one
            for pair, one in zip(ends, spans, strict=True)
            if not self._is_short and pair not in self._kept and self._given(one) is None
        }
        found = dict(zip(missing, self._computed([*missing.values()], None), strict=True)) if missing else {}
        return [found[pair] if pair in found else self.of(one) for pair, one in zip(ends, spans, strict=True)]

    def _given(self, span: slice) -> FloatArray | None:
        """Return numbers that the trajectory has; None: they are computed."""
        rows, model = self._rows, self._model
        if span.start < self._first:
            inputs = model.numbering.n_inputs
            states = self._first - rows.y.shape[1]
            if span.start >= states:
                return rows.y[:, span.start - states : span.stop - states]
            at = span.start - self._span.start
            return rows.inputs[:, at - 1 : at - 1 + span.stop - span.start] if 0 < at <= inputs else rows.t[:, None]
        if not self._discrete.start <= span.start < self._discrete.stop:
            return None
        at, count = span.start - self._discrete.start, span.stop - span.start
        if not rows.discrete:
            return np.tile(model.initial_discrete_state[at : at + count], (len(rows), 1))
        return np.array([one[at : at + count] for one in rows.discrete]).reshape(-1, count)

    @cached_property
    def _all(self) -> FloatArray:
        """All numbers that are computed; those of the discrete state between them stay empty."""
        found = np.full((len(self._rows), self._span.stop - self._first), np.nan)
        parts = slice(self._first, self._discrete.start), slice(self._discrete.stop, self._span.stop)
        for part, numbers in zip(parts, self._computed(parts, None), strict=True):
            found[:, part.start - self._first : part.stop - self._first] = numbers
        return found

    # ---- computed ----

    def _computed(self, spans: Sequence[slice], rows: IntArray | None) -> list[FloatArray]:
        """Compute the numbers of each span (rows, n); without rows those of all."""
        workers, references = self._workers(), self._references
        count = len(self._rows) if rows is None else len(rows)
        found = [np.empty((count, one.stop - one.start)) for one in spans]
        for first in range(0, count, _ROWS_AT_ONCE):
            part = slice(first, first + _ROWS_AT_ONCE)
            at = part if rows is None else rows[part]
            numbers = self._numbers(workers, spans, at, references[at])
            for into, values in zip(found, numbers, strict=True):
                into[part] = values
        return found

    def _workers(self) -> RowWorkers:
        return RowWorkers(self._model, None, 0, gains=self._gains, compiles=False)

    def _numbers(
        self, workers: RowWorkers, spans: Sequence[slice], rows: slice | IntArray, references: FloatArray
    ) -> list[FloatArray]:
        """Compute the numbers of each span (rows, n) at once, with coordinates of the cut joints next to references."""
        trajectory, t = self._rows, self._rows.t[rows, None]
        discrete = None
        if trajectory.discrete:
            indices = range(len(trajectory))[rows] if isinstance(rows, slice) else rows
            discrete = np.array([trajectory.discrete[i] for i in indices])
        numbers, _ = workers.numbers(
            np.concatenate([trajectory.y[rows], trajectory.inputs[rows], t, t, references], axis=1),
            np.concatenate([self._model.entry_offsets, offsets_of(self._model.fields["cut_reference"].span)]),
            np.concatenate([offsets_of(one) for one in spans]),
            Stage.OUTPUTS,
            discrete=discrete,
            for_a_thread=_ROWS_FOR_A_THREAD,
        )
        ends = np.cumsum([0, *(one.stop - one.start for one in spans)])
        return [numbers[:, first:last] for first, last in pairwise(ends)]

    @cached_property
    def _references(self) -> FloatArray:
        """Coordinates (rows, nq_cut) of the cut joints, next to which they are at each row.

        The trajectory repeats them between steps: there they are next to those of the row before.
        """
        turns = found = self._rows.revolutions
        repeated = np.append(False, (turns[1:] == turns[:-1]).all(axis=1))[: len(turns)]
        if not turns.size or not repeated.any():
            return turns
        workers, last = self._workers(), turns[0]
        for first in range(0, len(turns), _ROWS_AT_ONCE):
            rows = slice(first, min(first + _ROWS_AT_ONCE, len(turns)))
            references, last = self._located(workers, rows, repeated[rows], last)
            if references is not None:
                found = turns.copy() if found is turns else found
                found[rows] = references
        return found

    def _located(
        self, workers: RowWorkers, rows: slice, repeated: NDArray[np.bool_], last: FloatArray
    ) -> tuple[FloatArray | None, FloatArray]:
        """Return the references of rows, and the coordinates at the last of them; `last`: at the row before them.

        First all are located next to those of the trajectory, then again where the row before asks for others. Each
        round makes one more row final; nearly always all are after the first one. None: it is, and those of the
        trajectory will do.
        """
        turns = self._rows.revolutions[rows]
        found, cuts, again, located_again = turns, np.zeros_like(turns), np.arange(len(turns)), False
        while again.size:
            at = rows.start + again
            cuts[again] = self._numbers(workers, [self._model.fields["q_cut"].span], at, found[again])[0]
            located = np.where(np.isfinite(cuts).all(axis=1, keepdims=True), cuts, found)
            before = np.where(repeated[:, None], np.concatenate([last[None], located[:-1]]), turns)
            others = (before != found) & ~np.isnan(before)
            again = np.flatnonzero(self._may_differ(cuts, before) & others.any(axis=1))
            located_again = located_again or bool(again.size)
            found = before
        return found if located_again else None, located[-1]

    def _may_differ(self, cuts: FloatArray, references: FloatArray) -> NDArray[np.bool_]:
        """Return whether cut joints at such coordinates (rows, nq_cut) may have others next to references."""
        numbering, joints = self._model.numbering, self._model.mechanism.joints
        angles = np.zeros(cuts.shape[1], np.bool_)
        for name in numbering.cut:
            kind, first = joints[name].kind, numbering.q[name].start - numbering.nq
            if isinstance(kind, AlongCircle | AlongPath) or kind.quaternion is not None:
                return np.ones(len(cuts), np.bool_)
            angles[first : first + kind.nq] = [unit == "rad" for unit in kind.coordinate_units]
        turned = np.abs(references - cuts)[:, angles].max(axis=1, initial=0.0)
        found: NDArray[np.bool_] = np.logical_not(turned < _SAME_REVOLUTION)  # where there are no coordinates, too
        return found
