"""What a comparison gives back: a row for each run at each tolerance."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from linkwork.comparison.reference import Reference
from linkwork.comparison.runs import ComparisonRun
from linkwork.results.base import TableResult


@dataclass(frozen=True)
class ComparisonRow:
    """One run at one tolerance. What does not exist, or could not be computed, is None."""

    # run, rtol: as text, and the accuracy asked for; `atol` is the same
    run: str
    rtol: float
    # error, error_q, error_u: against the reference: of the compared variables, of all coordinates, of all speeds. Of a
    # value x' the error is |x - x'| / max(1, largest |x'|), in SI units
    error: float | None = None
    error_q: float | None = None
    error_u: float | None = None
    # Twice what the reference may be wrong by itself: a smaller `error` means at most about this.
    error_floor: float | None = None
    # Largest residual of all loops, couplings and distances, m, or in the unit of the coupling.
    residual: float | None = None
    # Largest change of the energy, relative to the energy in motion; None where it need not stay constant.
    energy_drift: float | None = None
    # steps, rejected, evaluations, jacobian_evaluations: as the solver counts them
    steps: int | None = None
    rejected: int | None = None
    evaluations: int | None = None
    jacobian_evaluations: int | None = None
    cpu_time: float | None = None  # s, of a run with rows at every step, best of several
    message: str = ""  # why the run failed; empty if it did not

    @property
    def failed(self) -> bool:
        """Whether it did not reach its end."""
        return bool(self.message)


@dataclass
class ComparisonTable(TableResult):
    """Formulations and solvers compared with each other."""

    # name, t_end: of the mechanism; s
    name: str
    t_end: float
    columns: list[str] | None = None  # variables that `error` measures; None: all coordinates and speeds
    reference: Reference | None = None  # what they were compared with; None as long as it was not computed
    rows: list[ComparisonRow] = field(default_factory=list)  # by run, and by tolerance from the largest on

    @property
    def floor(self) -> float:
        """Smallest error that the reference resolves."""
        return self.reference.floor().columns if self.reference else 0.0

    def of(self, run: str) -> list[ComparisonRow]:
        """Return the rows of one run, such as "rcr/dopri5"."""
        wanted = str(ComparisonRun.parse(run))
        return [row for row in self.rows if row.run == wanted]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON has it."""
        return {
            "name": self.name,
            "t_end": self.t_end,
            "columns": self.columns,
            "reference": self.reference and self.reference.to_dict(),
            "rows": [{name: _known(value) for name, value in asdict(row).items()} for row in self.rows],
        }

    def _table(self) -> dict[str, Any]:
        return {name: [getattr(row, name) for row in self.rows] for name in HEADER}


def _known(value: Any) -> Any:
    """JSON has no infinity."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


HEADER = [one.name for one in fields(ComparisonRow)]
