"""Formulas and tables in descriptions: checked here for names and units, evaluated by the core."""

from linkwork.formula.formula import Formula, compile_formulas
from linkwork.formula.operations import KINKED, NUMBER, OPERATIONS
from linkwork.formula.source import Source
from linkwork.formula.table import INTERPOLATIONS, OUTSIDES, LookupTable, read_table

__all__ = [
    "INTERPOLATIONS",
    "KINKED",
    "NUMBER",
    "OPERATIONS",
    "OUTSIDES",
    "Formula",
    "LookupTable",
    "Source",
    "compile_formulas",
    "read_table",
]
