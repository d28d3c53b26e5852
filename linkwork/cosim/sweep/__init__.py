"""Sweeps: one system run for many values of its parameters, on the cores of this machine or of a cluster.

`sweep` runs the points that `grid`, `latin` and `table` make, keeps results in a folder, and resumes where it was
stopped. `SweepResult` reads such a folder.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from linkwork.cosim.sweep.sampling import Points, grid, latin, table

if TYPE_CHECKING:
    from linkwork.cosim.sweep.result import SweepResult
    from linkwork.cosim.sweep.run_sweep import sweep

__all__ = ["Points", "SweepResult", "grid", "latin", "sweep", "table"]

_HOME = {"SweepResult": "result", "sweep": "run_sweep"}  # they load PyArrow, when they are asked for


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
