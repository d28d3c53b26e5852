"""Rows of a batch as its assembly and its gradients see them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from linkwork._util.checks import FloatArray
from linkwork.core.native import OffsetArray
from linkwork.core.tapes import StepMethod
from linkwork.errors import LinkworkError
from linkwork.model.base import ModelBase, State
from linkwork.model.row_workers import RowWorkers


class BatchRows(Protocol):
    """Numbers given for rows, what computes them, and steps; the members are those of `Batch`."""

    model: ModelBase
    columns: dict[str, FloatArray]
    parameters: dict[str, FloatArray]
    _discrete: FloatArray | None
    _given: FloatArray
    _offsets: OffsetArray
    _state: State
    _workers: RowWorkers

    @property
    def _given_offsets(self) -> OffsetArray: ...

    @property
    def _rates(self) -> OffsetArray: ...

    @property
    def _cut_joints_turn(self) -> bool: ...

    def __len__(self) -> int: ...

    def _column(self, name: str) -> slice | None: ...

    def _offsets_of(self, name: str) -> OffsetArray: ...

    def _by_name(self, names: Iterable[str], derivatives: FloatArray) -> dict[str, FloatArray]: ...

    def _end_of_steps(self, done: int, steps: int, every: int, alone: bool) -> int: ...

    def _move(
        self,
        step: float,
        count: int,
        failed: dict[int, LinkworkError],
        method: StepMethod = StepMethod.RK4,
        stages: FloatArray | None = None,
    ) -> None: ...

    def _locate_cuts(self, failed: dict[int, LinkworkError]) -> None: ...
