"""A comparison of formulations and solvers, as the user gets it: a table that prints and plots itself."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from linkwork._util.registered import registered
from linkwork.comparison.table import ComparisonTable
from linkwork.comparison.text import as_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Comparison(ComparisonTable):
    """Formulations and solvers compared with each other; attributes as of `ComparisonTable`."""

    @registered
    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Plot error over CPU time, a line for each run; needs matplotlib (extra `viz`)."""
        raise NotImplementedError

    def __str__(self) -> str:
        return as_text(self)

    def __repr__(self) -> str:
        failed = sum(row.failed for row in self.rows)
        runs = len({row.run for row in self.rows})
        return f"Comparison({self.name!r}: {len(self.rows)} rows of {runs} runs{f', {failed} failed' * (failed > 0)})"
