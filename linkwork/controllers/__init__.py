"""Controllers as FMUs: built-in ones, and packaging of custom ones.

They are FMUs for Co-Simulation. Built-in controllers but `computed_torque` run in C, with FMI 2.0 or 3.0; custom ones
run in Python by PythonFMU, with FMI 2.0. To write any of them takes PythonFMU: ``pip install 'linkwork[cosim]'``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwork.controllers.builtin.computed_torque import computed_torque
    from linkwork.controllers.builtin.latch_supervisor import latch_supervisor
    from linkwork.controllers.builtin.pid import pid
    from linkwork.controllers.builtin.signal import signal
    from linkwork.controllers.builtin.skyhook import skyhook
    from linkwork.controllers.builtin.state_feedback import gain, state_feedback
    from linkwork.controllers.builtin.trajectory import trajectory
    from linkwork.controllers.controller import Controller
    from linkwork.controllers.in_loop import connect
    from linkwork.controllers.packaging import package

__all__ = [
    "Controller",
    "computed_torque",
    "connect",
    "gain",
    "latch_supervisor",
    "package",
    "pid",
    "signal",
    "skyhook",
    "state_feedback",
    "trajectory",
]

BUILTIN = ("pid", "state_feedback", "computed_torque", "skyhook", "latch_supervisor", "trajectory", "signal")
_HOMES = {
    **{name: f"builtin.{name}" for name in BUILTIN},
    "Controller": "controller",
    "connect": "in_loop",
    "gain": "builtin.state_feedback",
    "package": "packaging",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'linkwork.controllers' has no attribute {name!r}")
    try:
        return getattr(import_module(f"linkwork.controllers.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:  # loaded when asked for: the rest of Linkwork needs no PythonFMU
        if error.name != "pythonfmu":
            raise
        raise ImportError("controllers need PythonFMU: pip install 'linkwork[cosim]'", name=error.name) from error


def __dir__() -> list[str]:
    return sorted(__all__)
