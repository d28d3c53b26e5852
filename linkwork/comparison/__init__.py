"""Comparing formulations and solvers on one mechanism: error, residuals, energy drift and cost over tolerances."""

from linkwork.comparison.compare import compare
from linkwork.comparison.comparison import Comparison
from linkwork.comparison.runs import ComparisonRun
from linkwork.comparison.table import ComparisonRow

__all__ = ["Comparison", "ComparisonRow", "ComparisonRun", "compare"]
