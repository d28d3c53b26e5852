"""The plot of an identification: residuals of the loads over time."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from linkwork.analysis.identify import UNACTUATED
from linkwork.draw.plotting import plot_columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linkwork.analysis.identify import Identification


def plot_residuals(found: Identification, path: str | os.PathLike[str] | None = None) -> Figure:
    """Plot the residuals; see `Identification.plot`."""
    names = [*found.motors, *(f"{UNACTUATED} {k + 1}" for k in range(found.residuals.shape[1] - len(found.motors)))]
    columns = {f"residual of {name}": found.residuals[:, k] for k, name in enumerate(names)}
    units = {f"residual of {name}": found.units.get(name, "1") for name in names}
    return plot_columns(found.t, columns, units, f"Residuals of {found.name}", path)
