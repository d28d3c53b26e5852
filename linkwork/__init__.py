"""Closed-chain multibody dynamics in linear time, as FMUs.

A mechanism is described once (`Mechanism`), compiled (`compile`), and then computed, simulated (`simulate`) or exported
as a functional mock-up unit (`export_fmu`).
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from linkwork.coarse_graining import CoarseGrained, coarse_grain
from linkwork.comparison import Comparison, compare
from linkwork.compiler.compile import compile
from linkwork.description import (
    Crossing,
    Cylindrical,
    Fixed,
    Frame,
    Free,
    Impulse,
    Input,
    Lock,
    Mechanism,
    Motion,
    Pin,
    Planar,
    PointDistance,
    Prismatic,
    Release,
    Revolute,
    Spherical,
    SpringDamper,
    Stop,
    Time,
    Universal,
    Unlock,
    Wrench,
    inertia,
)
from linkwork.errors import (
    AssemblyError,
    CosimError,
    ExportError,
    FmuError,
    LinkworkError,
    MechanismError,
    SingularityError,
    SolverError,
)
from linkwork.jumps import Event, Jump
from linkwork.linearization import LinearModel, linearize
from linkwork.result import Result
from linkwork.simulate import simulate
from linkwork.state import State
from linkwork.system import System

if TYPE_CHECKING:
    from linkwork.checking import check_fmu
    from linkwork.export import export_fmu

try:
    __version__ = version("linkwork")
except PackageNotFoundError:  # a checkout that was never installed
    __version__ = "0"

__all__ = [
    "AssemblyError",
    "CoarseGrained",
    "Comparison",
    "CosimError",
    "Crossing",
    "Cylindrical",
    "Event",
    "ExportError",
    "Fixed",
    "FmuError",
    "Frame",
    "Free",
    "Impulse",
    "Input",
    "Jump",
    "LinearModel",
    "LinkworkError",
    "Lock",
    "Mechanism",
    "MechanismError",
    "Motion",
    "Pin",
    "Planar",
    "PointDistance",
    "Prismatic",
    "Release",
    "Result",
    "Revolute",
    "SingularityError",
    "SolverError",
    "Spherical",
    "SpringDamper",
    "State",
    "Stop",
    "System",
    "Time",
    "Universal",
    "Unlock",
    "Wrench",
    "check_fmu",
    "coarse_grain",
    "compare",
    "compile",
    "export_fmu",
    "inertia",
    "linearize",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name == "export_fmu":  # loaded when asked for: computing needs no XML
        from linkwork.export import export_fmu

        return export_fmu
    if name == "check_fmu":
        from linkwork.checking import check_fmu

        return check_fmu
    if name == "cosim":
        return import_module("linkwork.cosim")
    raise AttributeError(f"module 'linkwork' has no attribute {name!r}")
