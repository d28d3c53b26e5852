"""What a system of FMUs consists of: its components, connections and parameter sets, as plain data."""

from linkwork.cosim.system.definition import Component, Connection, Experiment, Value
from linkwork.cosim.system.system import System

__all__ = ["Component", "Connection", "Experiment", "System", "Value"]
