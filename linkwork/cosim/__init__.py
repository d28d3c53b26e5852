"""Co-simulation: systems of any FMUs, run together by a master algorithm.

A `System` is described (or read from an ``.ssp``), run (`run`) by a master (`Jacobi`, `GaussSeidel`, `Adaptive`), and
gives a `Result`. Nothing here knows the core of Linkwork.
"""

from linkwork.cosim.masters import Adaptive, GaussSeidel, Jacobi
from linkwork.cosim.recording.result import Result
from linkwork.cosim.running import run
from linkwork.cosim.system import Component, Connection, Experiment, System

__all__ = ["Adaptive", "Component", "Connection", "Experiment", "GaussSeidel", "Jacobi", "Result", "System", "run"]
