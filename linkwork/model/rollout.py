"""Gradients through steps of fixed size: a reverse sweep between checkpoints (Griewank and Walther 2008, chapter 12).

Of weights of the states at some times, their adjoints, the sweep makes those of the states before each step, and adds
up those of loads and parameters. Numbers given to the rows are kept at checkpoints, as many as the root of the number
of steps; the steps behind one are taken again from there, by the same calls, so that their stages have the same bits.
The matrices of all stages of these steps are computed together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork._util.checks import FloatArray, names_of, real_array
from linkwork._util.keywords import checks_keywords
from linkwork.core.native import Stage
from linkwork.errors import LinkworkError, MechanismError
from linkwork.model.arguments import Loads
from linkwork.model.batch_rows import BatchRows
from linkwork.model.row_assembly import closed_derivatives
from linkwork.model.row_workers import NO_OFFSETS

# Of the slopes of the four stages, in a step; and of each in the state of the next stage (csrc/tape/move_states.cpp).
_WEIGHTS, _SHARES = (1 / 6, 1 / 3, 1 / 3, 1 / 6), (0.5, 0.5, 1.0, 0.0)
_MATRICES_AT_ONCE = 1 << 13


class RolloutGradient(NamedTuple):
    """Derivatives of a weighted sum of the states of a `Rollout`.

    Attributes
    ----------
    start
        By the states at the start, (size, n).
    loads
        By the loads of each step, (size, steps, n_loads); for loads that hold throughout these are to be summed.
    parameters
        By parameters and others, by name, (size,), or (size, n) for a quantity of several.
    """

    start: FloatArray
    loads: FloatArray
    parameters: dict[str, FloatArray]


class Rollout:
    """States of rows at steps of fixed size, with their gradients; made by `Batch.differentiable_rollout`.

    Later changes of the batch do not count.

    Attributes
    ----------
    states
        (size, 1 + steps // every, n), from those at the start on. Rows that came to an error are NaN from there on.
    errors
        By row, why it has no states, or no gradient.
    """

    states: FloatArray
    errors: dict[int, LinkworkError]

    def __init__(self, batch: BatchRows, step: float, steps: int, every: int, tau: Loads) -> None:
        self.errors = {}
        self._batch, self._step, self._steps, self._every = batch, step, steps, every
        self._begin = batch.columns["time"].copy()
        self._each = self._loads(tau)
        self._spacing = math.isqrt(steps - 1) + 1  # of the checkpoints, in steps
        self._checkpoints: list[FloatArray] = []
        states = batch.columns["states"]
        self.states = np.empty((len(batch), 1 + steps // every, states.shape[1]))
        self.states[:, 0] = states
        for first in range(0, steps, self._spacing):
            self._checkpoints.append(batch._given.copy())
            for done, _ in self._take(first, self.errors):
                if done % every == 0:
                    self.states[:, done // every] = states

    def __len__(self) -> int:
        return len(self.states)

    def __repr__(self) -> str:
        name, count = self._batch.model.mechanism.name, len(self._checkpoints)
        return f"Rollout({name!r}: {len(self)} rows, {self._steps} steps of {self._step:g} s, {count} checkpoints)"

    @checks_keywords
    def gradient(
        self, weights: ArrayLike, by: Iterable[str] = (), closed: Iterable[str] | None = None
    ) -> RolloutGradient:
        """Return the derivatives of the sum of weights times states.

        They are those of the steps, exact to rounding: of the numbers that `states` has, not of the motion without
        errors of steps.

        Parameters
        ----------
        weights
            Derivatives of a quantity by `states`, of the same shape, or of one that is repeated to it. Those of rows
            with errors do not count.
        by
            Names of parameters, and of inputs that hold throughout.
        closed
            Tree joints as of `Batch.gradient`. Then the states at the start follow, too: `parameters` has derivatives
            by parameters with the loops closed again, and `by` may name coordinates and speeds of these joints and
            states of elements at the start. `start` stays the derivative by all of them.

        Raises
        ------
        MechanismError
            On weights of another shape and on other names. A row without gradient is NaN, and `errors` has the reason.
        """
        weights = self._weights(weights)
        chosen, batch = names_of(by, "by"), self._batch
        starting = [name for name in chosen if self._is_state(name)]
        if starting and closed is None:
            raise MechanismError(
                f"by: {starting[0]!r} is a state, whose derivative is in `start`; give closed=, the joints that others "
                "follow, for one with closed loops"
            )
        throughout = [name for name in chosen if name not in starting]
        sweep = _Sweep(batch, throughout, self._step, self._steps)
        failed = dict(self.errors)
        for number in reversed(range(len(self._checkpoints))):
            batch._given[:] = self._checkpoints[number]
            self._back(number * self._spacing, sweep, weights, failed)
        sweep.adjoint += weights[:, 0]
        found = sweep.others_by_name()
        if closed is not None and chosen:
            batch._given[:] = self._checkpoints[0]
            states = batch._offsets[: sweep.n]
            matrices, errors = closed_derivatives(batch, states, chosen, names_of(closed, "closed"))
            failed |= errors
            moved = np.einsum("rn,rnm->rm", sweep.adjoint, matrices)
            for name, values in batch._by_name(chosen, moved).items():
                values = values.reshape(len(self), -1)
                found[name] = found[name] + values if name in found else values
        for values in (sweep.adjoint, sweep.loads, *found.values()):
            values[list(failed)] = np.nan
        self.errors = failed
        joined = np.concatenate([np.empty((len(self), 0)), *(found[name] for name in chosen)], axis=1)
        return RolloutGradient(sweep.adjoint, sweep.loads, batch._by_name(chosen, joined))

    # ---- steps ----

    def _loads(self, tau: Loads) -> FloatArray | None:
        """Return the loads of each step (size, steps, n); None where those of the batch, now set, hold throughout."""
        if tau is None:
            return None
        if callable(tau):
            raise MechanismError(
                "tau: a function of the state has derivatives that are not known; give the loads of each step, "
                "(size, steps, n), or chain rollouts of one step"
            )
        size, n_loads = self._batch.columns["tau"].shape
        is_whole = not isinstance(tau, Mapping) and np.ndim(tau) == 3 and np.shape(tau)[-1] == n_loads
        loads = real_array(tau) if is_whole else self._batch.model.arguments.loads(tau)
        if loads.ndim < 3:
            self._batch.columns["tau"][:] = loads
            return None
        if not np.isfinite(loads).all():
            raise MechanismError("tau has loads that are not finite")
        if loads.shape[0] not in (1, size) or loads.shape[1:-1] != (self._steps,):
            shape = size, self._steps
            raise MechanismError(f"tau has loads of each step for {loads.shape[:-1]} rows and steps, not {shape}")
        return np.broadcast_to(loads, (size, *loads.shape[1:]))

    def _take(
        self, first: int, failed: dict[int, LinkworkError], stages: list[FloatArray] | None = None
    ) -> Iterable[tuple[int, int]]:
        """Take the steps behind a checkpoint, as `Batch.rollout` does, and iterate over how many are done."""
        batch, done, width = self._batch, first, self._checkpoints[0].shape[1]
        last = min(first + self._spacing, self._steps)
        alone = self._each is not None or not batch._cut_joints_turn
        width += sum(values.shape[1] for values in batch.parameters.values())
        while done < last:
            if self._each is not None:
                batch.columns["tau"][:] = self._each[:, done]
            end = batch._end_of_steps(done, self._steps, self._every, alone)
            count = min(end, last) - done
            into = None if stages is None else np.empty((len(batch) - len(failed), count, 4, width))
            batch._move(self._step, count, failed, stages=into)
            if into is not None and stages is not None:
                stages.append(into)
            done += count
            if done == end:
                batch.columns["time"][:] = self._begin + done * self._step
                if not batch._cut_joints_turn or done == self._steps:
                    batch._locate_cuts(failed)
            yield done, count

    def _back(self, first: int, sweep: _Sweep, weights: FloatArray, failed: dict[int, LinkworkError]) -> None:
        """Sweep from the end of the steps behind a checkpoint to it, over the rows that have not failed."""
        if len(failed) == len(self):
            return
        rows = np.delete(np.arange(len(self)), list(failed))
        stages: list[FloatArray] = []
        done = max(done for done, _ in self._take(first, dict(failed), stages))
        at_once = max(1, _MATRICES_AT_ONCE // (4 * rows.size))
        for part in reversed(stages):
            for last in range(part.shape[1], 0, -at_once):
                part_of = part[:, max(last - at_once, 0) : last]
                matrices, errors = sweep.matrices(part_of, rows)
                failed |= errors
                for step in reversed(range(part_of.shape[1])):
                    if done % self._every == 0:
                        sweep.adjoint[rows] += weights[rows, done // self._every]
                    done -= 1
                    sweep.step_back(rows, done, matrices[:, step])

    # ---- arguments ----

    def _weights(self, weights: ArrayLike) -> FloatArray:
        try:
            whole = np.broadcast_to(real_array(weights), self.states.shape).copy()
        except (TypeError, ValueError) as error:
            raise MechanismError(f"weights must be numbers {self.states.shape}, as states has: {error}") from None
        whole[list(self.errors)] = 0.0  # as NaN as the states of these rows
        if not np.isfinite(whole).all():
            raise MechanismError(f"weights are not finite in row {np.argwhere(~np.isfinite(whole))[0, 0]}")
        return whole

    def _is_state(self, name: str) -> bool:
        batch, column = self._batch, self._batch._column(name)
        return column is not None and column.start < batch.columns["states"].shape[1]


class _Sweep:
    """Adjoints of states, loads and others, which steps back change."""

    def __init__(self, batch: BatchRows, names: list[str], step: float, steps: int) -> None:
        self._batch, self._step = batch, step
        self.n, n_loads = batch.columns["states"].shape[1], batch.columns["tau"].shape[1]
        self._spans = {name: batch._offsets_of(name) for name in names}
        own = np.concatenate([NO_OFFSETS, *self._spans.values()])
        self._by = np.concatenate([batch._offsets[: self.n + n_loads], own])
        given = batch._given_offsets
        self._more = own[~np.isin(own, given)]  # parameters that are alike in all rows
        self._offsets = np.concatenate([given, self._more])
        self._values = batch.model.block().reals[self._more]
        self.adjoint = np.zeros((len(batch), self.n))
        self.loads = np.zeros((len(batch), steps, n_loads))
        self.others = np.zeros((len(batch), own.size))

    def others_by_name(self) -> dict[str, FloatArray]:
        """Return the derivatives by others, (rows, n) each."""
        ends = np.cumsum([0, *(span.size for span in self._spans.values())]).tolist()
        return {name: self.others[:, slice(*pair)] for name, pair in zip(self._spans, pairwise(ends), strict=True)}

    def matrices(self, stages: FloatArray, rows: NDArray[np.intp]) -> tuple[FloatArray, dict[int, LinkworkError]]:
        """Return the derivatives of the rates (rows, steps, 4, n, m) at stages, and by row why there are none."""
        given = stages.reshape(-1, stages.shape[-1])
        if self._more.size:
            given = np.hstack([given, np.tile(self._values, (len(given), 1))])
        found, errors = self._batch._workers.numbers(
            np.ascontiguousarray(given), self._offsets, self._batch._rates, Stage.DERIVATIVES, self._by
        )
        of_a_row = 4 * stages.shape[1]
        named = {int(rows[place // of_a_row]): error for place, error in sorted(errors.items(), reverse=True)}
        return found.reshape(*stages.shape[:-1], self.n, self._by.size), named

    def step_back(self, rows: NDArray[np.intp], step: int, matrices: FloatArray) -> None:
        """From the states after a step to those before it."""
        after = self.adjoint[rows]
        before, back = after.copy(), np.zeros_like(after)
        loads, others = (np.zeros((rows.size, one.shape[-1])) for one in (self.loads, self.others))
        for stage in (3, 2, 1, 0):
            slope = self._step * (_WEIGHTS[stage] * after + _SHARES[stage] * back)
            moved = (slope[:, None] @ matrices[:, stage])[:, 0]
            back = moved[:, : self.n]
            before += back
            loads += moved[:, self.n : self.n + loads.shape[1]]
            others += moved[:, self.n + loads.shape[1] :]
        self.adjoint[rows] = before
        self.loads[rows, step] = loads
        self.others[rows] += others
