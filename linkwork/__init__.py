"""Closed-chain multibody dynamics without multipliers, as FMUs.

A mechanism is described once (`Mechanism`), compiled (`compile`), and then computed, simulated (`simulate`) or exported
as a functional mock-up unit (`export_fmu`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from linkwork._util.registered import implemented_in
from linkwork.errors import (
    AssemblyError,
    CosimError,
    DegreesWarning,
    EquilibriumError,
    ExportError,
    ExportWarning,
    FmuError,
    InertiaWarning,
    InitializationWarning,
    JointFrameWarning,
    KinkWarning,
    LinkworkError,
    LinkworkWarning,
    LoadsError,
    MechanismError,
    RoundingWarning,
    RowsWarning,
    SingularityError,
    SolverError,
    SolverTypeError,
    SolverValueError,
    SpringWarning,
    StartValueWarning,
    UnitWarning,
    UnknownNameError,
    UnreachableError,
)

if TYPE_CHECKING:
    from linkwork.analysis.assembly_modes import AssemblyModes, assembly_modes
    from linkwork.analysis.closure_redundancy import RedundantConstraints, redundant_constraints
    from linkwork.analysis.design import Design, design
    from linkwork.analysis.equilibrium import equilibria, equilibrium
    from linkwork.analysis.equilibrium_result import Equilibria, Equilibrium
    from linkwork.analysis.identify import BaseParameters, Identification, base_parameters, identify
    from linkwork.analysis.inverse_dynamics import inverse_dynamics
    from linkwork.analysis.inverse_kinematics import InverseKinematics, inverse_kinematics
    from linkwork.analysis.kinematic_result import KinematicResult, SpecialPose
    from linkwork.analysis.kinematics import kinematics
    from linkwork.analysis.motor_jacobian import MotorJacobian, motor_jacobian
    from linkwork.analysis.motor_loads import MotorLoads
    from linkwork.analysis.parameter_jacobian import ParameterJacobian, parameter_jacobian
    from linkwork.analysis.rest_range import RestRange, rest_range
    from linkwork.analysis.workspace import Workspace, workspace
    from linkwork.c_code.export import export_c
    from linkwork.coarse_graining import CoarseGrained, coarse_grain
    from linkwork.comparison import Comparison, compare
    from linkwork.fmu.check import check_fmu
    from linkwork.fmu.export import export_fmu
    from linkwork.formats.files import load, save
    from linkwork.formula import LookupTable
    from linkwork.mechanism import (
        Actuator,
        Backlash,
        Brake,
        BumpStop,
        Bushing,
        Command,
        Crossing,
        CurvedSlide,
        CurvedSlot,
        Cylindrical,
        DCMotor,
        Detent,
        FirstOrderActuator,
        Fixed,
        Force,
        Frame,
        Free,
        Freewheel,
        Friction,
        GasPressure,
        GravityCompensation,
        HydraulicCylinder,
        Impulse,
        Lock,
        Mechanism,
        Motion,
        MotorCharacteristic,
        NonlinearDamper,
        NonlinearSpring,
        PathSlide,
        PathSlot,
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
        Tendon,
        Thrust,
        Time,
        TorsionBar,
        Tyre,
        Universal,
        Unlock,
        Wrench,
        inertia,
        shape,
    )
    from linkwork.model.batch import Batch
    from linkwork.model.compile import compile
    from linkwork.model.impacts import Event, VelocityJump
    from linkwork.model.linear_model import LinearModel
    from linkwork.model.linearize import linearize
    from linkwork.model.model import Model
    from linkwork.model.rollout import Rollout
    from linkwork.model.state import State
    from linkwork.simulation.controller import Controller
    from linkwork.simulation.event_functions import EventFunction
    from linkwork.simulation.input_table import Table
    from linkwork.simulation.result import Result
    from linkwork.simulation.running_state import RunningState
    from linkwork.simulation.simulate import simulate
    from linkwork.simulation.study import Study, study
    from linkwork.view.page import page

    __version__: str

__all__ = [
    "Actuator",
    "AssemblyError",
    "AssemblyModes",
    "Backlash",
    "BaseParameters",
    "Batch",
    "Brake",
    "BumpStop",
    "Bushing",
    "CoarseGrained",
    "Command",
    "Comparison",
    "Controller",
    "CosimError",
    "Crossing",
    "CurvedSlide",
    "CurvedSlot",
    "Cylindrical",
    "DCMotor",
    "DegreesWarning",
    "Design",
    "Detent",
    "Equilibria",
    "Equilibrium",
    "EquilibriumError",
    "Event",
    "EventFunction",
    "ExportError",
    "ExportWarning",
    "FirstOrderActuator",
    "Fixed",
    "FmuError",
    "Force",
    "Frame",
    "Free",
    "Freewheel",
    "Friction",
    "GasPressure",
    "GravityCompensation",
    "HydraulicCylinder",
    "Identification",
    "Impulse",
    "InertiaWarning",
    "InitializationWarning",
    "InverseKinematics",
    "JointFrameWarning",
    "KinematicResult",
    "KinkWarning",
    "LinearModel",
    "LinkworkError",
    "LinkworkWarning",
    "LoadsError",
    "Lock",
    "LookupTable",
    "Mechanism",
    "MechanismError",
    "Model",
    "Motion",
    "MotorCharacteristic",
    "MotorJacobian",
    "MotorLoads",
    "NonlinearDamper",
    "NonlinearSpring",
    "ParameterJacobian",
    "PathSlide",
    "PathSlot",
    "Pin",
    "PinInSlot",
    "Planar",
    "PointDistance",
    "Prismatic",
    "RedundantConstraints",
    "Release",
    "RestRange",
    "Result",
    "Revolute",
    "Rollout",
    "RoundingWarning",
    "RowsWarning",
    "RunningState",
    "Screw",
    "SingularityError",
    "SolverError",
    "SolverTypeError",
    "SolverValueError",
    "SpecialPose",
    "Spherical",
    "SpringDamper",
    "SpringWarning",
    "StartValueWarning",
    "State",
    "Stop",
    "Study",
    "Table",
    "Tendon",
    "Thrust",
    "Time",
    "TorsionBar",
    "Tyre",
    "UnitWarning",
    "Universal",
    "UnknownNameError",
    "Unlock",
    "UnreachableError",
    "VelocityJump",
    "Workspace",
    "Wrench",
    "assembly_modes",
    "base_parameters",
    "check_fmu",
    "coarse_grain",
    "compare",
    "compile",
    "design",
    "equilibria",
    "equilibrium",
    "export_c",
    "export_fmu",
    "identify",
    "inertia",
    "inverse_dynamics",
    "inverse_kinematics",
    "kinematics",
    "linearize",
    "load",
    "motor_jacobian",
    "page",
    "parameter_jacobian",
    "redundant_constraints",
    "rest_range",
    "save",
    "shape",
    "simulate",
    "study",
    "workspace",
]

# Loaded when asked for: running FMUs needs no mechanics, computing no XML. What is not here is of the description.
_HOMES = {
    name: home
    for home, names in {
        "analysis.assembly_modes": ("AssemblyModes", "assembly_modes"),
        "analysis.closure_redundancy": ("RedundantConstraints", "redundant_constraints"),
        "analysis.design": ("Design", "design"),
        "analysis.equilibrium": ("equilibria", "equilibrium"),
        "analysis.equilibrium_result": ("Equilibria", "Equilibrium"),
        "analysis.rest_range": ("RestRange", "rest_range"),
        "analysis.identify": ("BaseParameters", "Identification", "base_parameters", "identify"),
        "analysis.inverse_dynamics": ("inverse_dynamics",),
        "analysis.inverse_kinematics": ("InverseKinematics", "inverse_kinematics"),
        "analysis.kinematic_result": ("KinematicResult", "SpecialPose"),
        "analysis.kinematics": ("kinematics",),
        "analysis.motor_jacobian": ("MotorJacobian", "motor_jacobian"),
        "analysis.motor_loads": ("MotorLoads",),
        "analysis.parameter_jacobian": ("ParameterJacobian", "parameter_jacobian"),
        "analysis.workspace": ("Workspace", "workspace"),
        "c_code.export": ("export_c",),
        "coarse_graining": ("CoarseGrained", "coarse_grain"),
        "comparison": ("Comparison", "compare"),
        "fmu.check": ("check_fmu",),
        "fmu.export": ("export_fmu",),
        "formats.files": ("load", "save"),
        "formula": ("LookupTable",),
        "model.batch": ("Batch",),
        "model.compile": ("compile",),
        "model.impacts": ("Event", "VelocityJump"),
        "model.linear_model": ("LinearModel",),
        "model.linearize": ("linearize",),
        "model.model": ("Model",),
        "model.rollout": ("Rollout",),
        "model.state": ("State",),
        "simulation.controller": ("Controller",),
        "simulation.event_functions": ("EventFunction",),
        "simulation.result": ("Result",),
        "simulation.running_state": ("RunningState",),
        "simulation.simulate": ("simulate",),
        "simulation.study": ("Study", "study"),
        "simulation.input_table": ("Table",),
        "view.page": ("page",),
    }.items()
    for name in names
}
# Folders that implement methods which are declared below them, as those that draw results do.
implemented_in("linkwork.analysis", "linkwork.draw", "linkwork.formats", "linkwork.simulation", "linkwork.view")

# Modules for users, besides the names above.
_PARTS = ("casadi", "controllers", "cosim", "errors", "gym", "jax", "solvers", "torch")


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
