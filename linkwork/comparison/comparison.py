"""A comparison of formulations and solvers, as the user gets it: a table that prints and plots itself."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from linkwork._util.registered import registered
from linkwork._util.text import aligned
from linkwork.comparison.runs import in_short
from linkwork.comparison.table import ComparisonRow, ComparisonTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Comparison(ComparisonTable):
    """Formulations and solvers compared with each other; attributes as of `ComparisonTable`."""

    @registered
    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Plot error over CPU time, a line for each run; needs matplotlib (extra `viz`)."""
        raise NotImplementedError

    def summary(self) -> str:
        """Return the table with a heading and notes."""
        return as_text(self)

    __str__ = summary

    def __repr__(self) -> str:
        failed = sum(row.failed for row in self.rows)
        runs = len({row.run for row in self.rows})
        return f"Comparison({self.name!r}: {len(self.rows)} rows of {runs} runs{f', {failed} failed' * (failed > 0)})"


HEADINGS = (
    "run",
    "rtol",
    "error",
    "error q",
    "error u",
    "residual",
    "energy",
    "steps",
    "evals",
    "jac",
    "rej",
    "CPU ms",
)
NONE = "-"


def as_text(comparison: ComparisonTable) -> str:
    """Return the table with a heading and notes."""
    good = [row for row in comparison.rows if not row.failed]
    lines = [f"{comparison.name}: {comparison.t_end:g} s, {_compared(comparison)}"]
    rows = [HEADINGS, *(_cells(comparison, row) for row in good)]
    lines += aligned(rows, "<>") if good else ["  no run came to its end"]
    lines += _failures(comparison.rows)
    return "\n".join([*lines, *_notes(comparison)])


def _failures(rows: list[ComparisonRow]) -> Iterator[str]:
    """A failure common to several tolerances is printed once."""
    alike: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row.failed:
            alike.setdefault((row.run, row.message), []).append(in_short(row.rtol))
    for (run, message), tolerances in alike.items():
        yield f"  {run} at rtol {', '.join(tolerances)} failed: {message}"


def _compared(comparison: ComparisonTable) -> str:
    if comparison.columns is None:
        return "errors of all coordinates q and speeds u"
    return f"errors of {', '.join(comparison.columns)}, of all coordinates q and of all speeds u"


def _cells(comparison: ComparisonTable, row: ComparisonRow) -> tuple[str, ...]:
    floor = comparison.reference.floor() if comparison.reference else (0.0, 0.0, 0.0)
    errors = zip((row.error, row.error_q, row.error_u), floor, strict=True)
    counts = (row.steps, row.evaluations, row.jacobian_evaluations, row.rejected)
    return (
        row.run,
        in_short(row.rtol),
        *(_error(value, least) for value, least in errors),
        *(NONE if value is None else f"{value:.1e}" for value in (row.residual, row.energy_drift)),
        *(NONE if count is None else str(count) for count in counts),
        NONE if row.cpu_time is None else f"{1e3 * row.cpu_time:.4g}",
    )


def _error(value: float | None, least: float) -> str:
    if value is None:
        return NONE
    return f"<= {least:.1e}" if value <= least else f"{value:.1e}"


def _notes(comparison: ComparisonTable) -> Iterator[str]:
    reference = comparison.reference
    if reference is not None:
        yield f"reference: {reference.origin}; {reference.accuracy}"
        if comparison.rows and comparison.floor > max(row.rtol for row in comparison.rows):
            yield "this motion amplifies what even tight runs differ by: compare less of it, with a shorter t_end"
    yield "errors: in SI units, relative where a value passes 1; CPU: the run alone, rows at every step, best of a few"
