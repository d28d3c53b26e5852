"""Models as functions of CasADi, for optimal control: see `function`."""

from linkwork.casadi.function import function

__all__ = ["function"]
