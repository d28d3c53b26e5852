"""Closed-chain multibody dynamics without multipliers, as FMUs.

A mechanism is described once (`Mechanism`), compiled (`compile`), and then computed, simulated (`simulate`) or exported
as a functional mock-up unit (`export_fmu`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from linkwork.errors import (
    AssemblyError,
    CosimError,
    DegreesWarning,
    ExportError,
    FmuError,
    InertiaWarning,
    JointFrameWarning,
    LinkworkError,
    LinkworkWarning,
    MechanismError,
    SingularityError,
    SolverError,
    SpringWarning,
    UnknownNameError,
)

if TYPE_CHECKING:
    from linkwork.analysis.design import Design, design
    from linkwork.analysis.identify import BaseParameters, Identification, base_parameters, identify
    from linkwork.analysis.parameter_jacobian import ParameterJacobian, parameter_jacobian
    from linkwork.coarse_graining import CoarseGrained, coarse_grain
    from linkwork.comparison import Comparison, compare
    from linkwork.fmu.check import check_fmu
    from linkwork.fmu.export import export_fmu
    from linkwork.formats.files import load, save
    from linkwork.mechanism import (
        Actuator,
        Command,
        Crossing,
        Cylindrical,
        Fixed,
        Frame,
        Free,
        Impulse,
        Lock,
        Mechanism,
        Motion,
        Pin,
        PinInSlot,
        Planar,
        PointDistance,
        Prismatic,
        Release,
        Revolute,
        Screw,
        Spherical,
        SpringDamper,
        Stop,
        Time,
        Universal,
        Unlock,
        Wrench,
        inertia,
        shape,
    )
    from linkwork.model.compile import compile
    from linkwork.model.impacts import Event, VelocityJump
    from linkwork.model.linear_model import LinearModel
    from linkwork.model.linearize import linearize
    from linkwork.model.model import Model
    from linkwork.model.state import State
    from linkwork.simulation.controller import Controller
    from linkwork.simulation.event_functions import EventFunction
    from linkwork.simulation.result import Result
    from linkwork.simulation.running_state import RunningState
    from linkwork.simulation.simulate import simulate
    from linkwork.simulation.study import Study, study
    from linkwork.view.page import page

    __version__: str

__all__ = [
    "Actuator",
    "AssemblyError",
    "BaseParameters",
    "CoarseGrained",
    "Command",
    "Comparison",
    "Controller",
    "CosimError",
    "Crossing",
    "Cylindrical",
    "DegreesWarning",
    "Design",
    "Event",
    "EventFunction",
    "ExportError",
    "Fixed",
    "FmuError",
    "Frame",
    "Free",
    "Identification",
    "Impulse",
    "InertiaWarning",
    "JointFrameWarning",
    "LinearModel",
    "LinkworkError",
    "LinkworkWarning",
    "Lock",
    "Mechanism",
    "MechanismError",
    "Model",
    "Motion",
    "ParameterJacobian",
    "Pin",
    "PinInSlot",
    "Planar",
    "PointDistance",
    "Prismatic",
    "Release",
    "Result",
    "Revolute",
    "RunningState",
    "Screw",
    "SingularityError",
    "SolverError",
    "Spherical",
    "SpringDamper",
    "SpringWarning",
    "State",
    "Stop",
    "Study",
    "Time",
    "Universal",
    "UnknownNameError",
    "Unlock",
    "VelocityJump",
    "Wrench",
    "base_parameters",
    "check_fmu",
    "coarse_grain",
    "compare",
    "compile",
    "design",
    "export_fmu",
    "identify",
    "inertia",
    "linearize",
    "load",
    "page",
    "parameter_jacobian",
    "save",
    "shape",
    "simulate",
    "study",
]

# Loaded when asked for: running FMUs needs no mechanics, computing no XML. What is not here is of the description.
_HOMES = {
    "Design": "analysis.design",
    "design": "analysis.design",
    "BaseParameters": "analysis.identify",
    "Identification": "analysis.identify",
    "base_parameters": "analysis.identify",
    "identify": "analysis.identify",
    "ParameterJacobian": "analysis.parameter_jacobian",
    "parameter_jacobian": "analysis.parameter_jacobian",
    "CoarseGrained": "coarse_graining",
    "Comparison": "comparison",
    "Event": "model.impacts",
    "VelocityJump": "model.impacts",
    "LinearModel": "model.linear_model",
    "Result": "simulation.result",
    "State": "model.state",
    "Model": "model.model",
    "check_fmu": "fmu.check",
    "coarse_grain": "coarse_graining",
    "compare": "comparison",
    "Controller": "simulation.controller",
    "EventFunction": "simulation.event_functions",
    "RunningState": "simulation.running_state",
    "compile": "model.compile",
    "export_fmu": "fmu.export",
    "linearize": "model.linearize",
    "load": "formats.files",
    "page": "view.page",
    "save": "formats.files",
    "simulate": "simulation.simulate",
    "Study": "simulation.study",
    "study": "simulation.study",
}
_PARTS = ("controllers", "cosim", "errors", "solvers")  # the modules for users, besides the names above


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = import_module("linkwork._util.version").version()
    elif name in __all__:
        value = getattr(import_module(f"linkwork.{_HOMES.get(name, 'mechanism')}"), name)
    else:
        value = _part(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_PARTS, "__version__"])


def _part(name: str) -> Any:
    """A part of the package, such as `linkwork.cosim`."""
    home = f"linkwork.{name}"
    try:
        if not name.startswith("_"):
            return import_module(home)
    except ModuleNotFoundError as missing:
        if missing.name != home:
            raise
    raise AttributeError(f"module 'linkwork' has no attribute {name!r}")
