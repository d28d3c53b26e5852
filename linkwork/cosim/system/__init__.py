"""What a system of FMUs consists of: its components, connections and parameter sets, as plain data."""

from linkwork.cosim.system.system import Component, Connection, Experiment, System, Value

__all__ = ["Component", "Connection", "Experiment", "System", "Value"]
