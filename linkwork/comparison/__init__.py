"""Comparing formulations and solvers on one mechanism: error, residuals, energy drift and cost over tolerances."""

from linkwork.comparison.compare import compare
from linkwork.comparison.runs import ComparisonRun
from linkwork.comparison.table import Comparison, ComparisonRow

__all__ = ["Comparison", "ComparisonRow", "ComparisonRun", "compare"]
