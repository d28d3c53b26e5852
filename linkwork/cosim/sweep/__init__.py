"""Sweeps: one system run for many values of its parameters, on the cores of this machine or of a cluster.

`sweep` runs the points that `grid`, `latin` and `table` make, keeps results in a folder, and resumes where it was
stopped. `SweepResult` reads such a folder.
"""

from linkwork.cosim.sweep.result import SweepResult
from linkwork.cosim.sweep.run_sweep import sweep
from linkwork.cosim.sweep.sampling import Points, grid, latin, table

__all__ = ["Points", "SweepResult", "grid", "latin", "sweep", "table"]


def __dir__() -> list[str]:
    return sorted(__all__)
