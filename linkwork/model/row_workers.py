"""Threads that compute numbers of a model at rows of given ones, by tapes."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from linkwork._util.checks import FloatArray, whole_number
from linkwork.core.native import Block, OffsetArray, Stage
from linkwork.core.tapes import Tapes
from linkwork.errors import LinkworkError
from linkwork.model.base import ModelBase, State

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

NO_OFFSETS: OffsetArray = np.empty(0, np.uint32)
_ROWS_FOR_A_THREAD = 256  # fewer are computed before a thread has begun


@dataclass
class Worker:
    """The memory of one thread: a block, and tapes by their given and computed numbers."""

    block: Block
    compiles: bool = True
    kept: dict[tuple[bytes, ...], Tapes] = field(default_factory=dict)

    def tapes(
        self,
        given: OffsetArray,
        computed: OffsetArray,
        stage: Stage,
        by: OffsetArray = NO_OFFSETS,
        chosen_at: FloatArray | None = None,
    ) -> Tapes:
        """Return the tapes of these numbers, as of `Tapes`; `chosen_at`: as of `Tapes.choose_by_row`."""
        key = given.tobytes(), computed.tobytes(), by.tobytes(), b"" if chosen_at is None else chosen_at.tobytes()
        if key not in self.kept:
            self.kept[key] = Tapes(given, computed, stage, by, compiles=self.compiles)
            if chosen_at is not None:
                self.kept[key].choose_by_row(self.block, chosen_at)
        return self.kept[key]


class RowWorkers:
    """Computes rows by several threads. One call at a time may use it.

    Parameters
    ----------
    model
        Of which numbers are computed.
    state
        Its transitions are those of all rows; None: they are as at first.
    threads
        The largest number of them; 0: as many as there are processors.
    gains
        Of the feedback on loops, (2,); None: those of the model.
    compiles
        Whether tapes that are used much are compiled.
    """

    def __init__(
        self,
        model: ModelBase,
        state: State | None,
        threads: int,
        *,
        gains: FloatArray | None = None,
        compiles: bool = True,
    ) -> None:
        self._model, self._state, self._gains, self._compiles = model, state, gains, compiles
        self._threads = whole_number(threads, "threads") or os.cpu_count() or 1
        self._workers: list[Worker] = []

    @property
    def tapes(self) -> tuple[Tapes, ...]:
        """The tapes of each thread."""
        return tuple(tapes for worker in self._workers for tapes in worker.kept.values())

    def new_block(self) -> Block:
        """Return a block with the transitions of the state."""
        block = self._model.block()
        if self._gains is not None:
            block.put("correction_gain", self._gains, Stage.NONE)
        if self._state is not None and self._model.sizes.transitions:
            block.put_discrete_state(self._state.discrete_state)
        return block

    def numbers(
        self,
        given: FloatArray,
        offsets: OffsetArray,
        computed: OffsetArray,
        stage: Stage,
        by: OffsetArray = NO_OFFSETS,
        discrete: FloatArray | None = None,
        for_a_thread: int = _ROWS_FOR_A_THREAD,
    ) -> tuple[FloatArray, dict[int, LinkworkError]]:
        """Return numbers of the block for each row of given ones, NaN where there are none, and the reasons by row.

        Parameters
        ----------
        given
            (rows, n).
        offsets
            Of the given numbers in the block.
        computed, stage, by
            As of `Tapes`.
        discrete
            Discrete states of the rows (rows, n); None: all have that of the state.
        for_a_thread
            As of `run`.
        """
        numbers = np.empty((len(given), computed.size * (by.size or 1)))

        def compute(worker: Worker, rows: slice) -> dict[int, LinkworkError]:
            tapes, found = worker.tapes(offsets, computed, stage, by), dict[int, LinkworkError]()
            for part in [rows] if discrete is None else _alike(discrete, rows):
                errors = dict[int, LinkworkError]()
                if discrete is not None:
                    worker.block.put_discrete_state(discrete[part][0])
                numbers[part] = tapes.evaluate(worker.block, given[part], errors)
                places = range(rows.start, rows.stop) if isinstance(part, slice) else part
                found |= {int(places[row]): error for row, error in errors.items()}
            return found

        return numbers, self.run(compute, len(given), for_a_thread)

    def run(
        self,
        work: Callable[[Worker, slice], dict[int, LinkworkError]],
        rows: int,
        for_a_thread: int = _ROWS_FOR_A_THREAD,
    ) -> dict[int, LinkworkError]:
        """Let threads work on parts of so many rows at least, and return the errors of all."""
        count = min(self._threads, -(-rows // for_a_thread)) or 1
        ends = [rows * k // count for k in range(count + 1)]
        parts = [slice(*pair) for pair in pairwise(ends)]
        workers = self._first(count)
        try:
            found = (map if count == 1 else self._pool.map)(work, workers, parts)
        except RuntimeError:  # no thread begins while the interpreter ends, which JAX lets wait for its calls
            found = map(work, workers, parts)
        return {row: error for one in found for row, error in one.items()}

    def _first(self, count: int) -> list[Worker]:
        self._workers += (Worker(self.new_block(), self._compiles) for _ in range(len(self._workers), count))
        return self._workers[:count]

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        from concurrent.futures import ThreadPoolExecutor

        return ThreadPoolExecutor(self._threads)


def _alike(discrete: FloatArray, rows: slice) -> Sequence[slice | NDArray[np.intp]]:
    """Return the rows of each discrete state."""
    if (discrete[rows] == discrete[rows.start]).all():
        return [rows]
    _, which = np.unique(discrete[rows], axis=0, return_inverse=True)
    which = which.reshape(-1)
    order = np.argsort(which, kind="stable")
    return np.split(rows.start + order, np.flatnonzero(np.diff(which[order])) + 1)
