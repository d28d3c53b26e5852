"""Formulas in descriptions: checked here for names and units, evaluated by the core."""

from linkwork.formula.formula import Formula, compile_formulas
from linkwork.formula.operations import OPERATIONS
from linkwork.formula.source import Source

__all__ = ["OPERATIONS", "Formula", "Source", "compile_formulas"]
