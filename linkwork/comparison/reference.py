"""The reference of a comparison: a tight run, and an estimate of its own error from a second, different run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.comparison.measure import BoolArray, Errors, errors
from linkwork.comparison.runs import ComparisonRun, in_short
from linkwork.errors import LinkworkError, SingularityError, SolverError
from linkwork.mechanism import Mechanism
from linkwork.model.compile import compile
from linkwork.model.model import Model
from linkwork.simulation.inputs import InputValue
from linkwork.simulation.result import Result
from linkwork.simulation.simulate import simulate

TIGHTER = 1e-3  # than the tightest run
TIGHTEST = 1e-13  # each step has a tenth of it, which is what double precision can keep
USUAL = ComparisonRun("auto", "DOP853")
NEAR_EVENT = (
    1e-3  # of the spacing of the output: times so near an event are not compared, since runs differ in the order
)


@dataclass(frozen=True)
class Task:
    """What all runs of a comparison have in common.

    Attributes
    ----------
    mechanism, inputs
        As `simulate` takes them.
    t_eval
        Times at which runs are compared, (nt,), s, to the end of the run.
    columns
        Variables compared; None: all coordinates and speeds.
    """

    mechanism: Mechanism
    t_eval: FloatArray
    columns: Sequence[str] | None
    inputs: Mapping[str, InputValue] | None
    _systems: dict[str, Model] = field(default_factory=dict)

    def system(self, method: str) -> Model:
        """Return the mechanism compiled for a method, once for all."""
        if method not in self._systems:
            self._systems[method] = compile(self.mechanism, method)
        return self._systems[method]

    def solve(self, run: ComparisonRun, rtol: float, *, every_step: bool = False) -> Result:
        """Run once, with rows at the times of the comparison or at every step."""
        return simulate(
            self.system(run.method),
            float(self.t_eval[-1]),
            inputs=self.inputs,
            rtol=rtol,
            t_eval=None if every_step else self.t_eval,
            progress=False,
            **run.keywords,
        )


@dataclass(frozen=True)
class Reference:
    """The motion that counts as right."""

    result: Result  # at the times of the comparison
    origin: str  # in words
    errors: Errors | None  # how wrong it may be; None: unknown
    checked_by: str  # source of this estimate, in words
    compared: BoolArray  # which times count, (nt,), booleans

    @property
    def accuracy(self) -> str:
        """How wrong it may be, in words."""
        if self.errors is None:
            return "how wrong it is itself is not known"
        return f"off by at most about {self.errors.columns:.1e}, by {self.checked_by}"

    def to_dict(self) -> dict[str, Any]:
        """Return what it is and how wrong it may be, as JSON has it."""
        found = self.errors and dict(zip(("error", "error_q", "error_u"), self.errors, strict=True))
        return {"run": self.origin, "checked_by": self.checked_by or None, **(found or {"error": None})}

    def floor(self) -> Errors:
        """Smallest error that the reference resolves: twice its own, and not less than rounding."""
        rounding = float(np.finfo(np.float64).eps)
        return Errors(*(2.0 * max(rounding, value) for value in self.errors or (0.0, 0.0, 0.0)))


def find_reference(
    task: Task, given: Result | ComparisonRun | None, tightest: float, tell: Callable[[str], None]
) -> Reference:
    """Return the reference: a result that was given, or a run that is tighter than the `tightest` of those compared."""
    if isinstance(given, Result):
        return Reference(given, "a result that was given", None, "", _compared(given))
    rtol = max(TIGHTEST, TIGHTER * tightest)
    run = given or USUAL
    tell(f"reference {run} at {in_short(rtol)}")
    try:
        result = task.solve(run, rtol)
    except (SolverError, SingularityError) as error:
        raise SolverError(
            f"the reference, {run} at rtol {in_short(rtol)}, failed: {error}. Give another, such as "
            "reference='auto/Radau', or a Result"
        ) from error
    compared = _compared(result)
    found, by = _check(task, run, rtol, result, compared, tell)
    return Reference(result, f"{run} at rtol {in_short(rtol)}", found, by, compared)


def _checks(run: ComparisonRun) -> list[ComparisonRun]:
    """Runs with another solver, first those of another formulation too."""
    explicit = [ComparisonRun(name, solver) for name in ("multipliers", "auto") for solver in ("dopri5", "DOP853")]
    others = [other for other in explicit if other.solver != run.solver]
    return sorted(others, key=lambda other: other.formulation == run.formulation)


def _check(
    task: Task, run: ComparisonRun, rtol: float, result: Result, compared: BoolArray, tell: Callable[[str], None]
) -> tuple[Errors | None, str]:
    """Return how far the reference is from the first check that comes to its end, and which that is."""
    for other in _checks(run):
        tell(f"check of the reference, {other} at {in_short(rtol)}")
        with suppress(LinkworkError):
            found = errors(task.solve(other, rtol), result, compared, task.columns)
            return found, f"{other} at rtol {in_short(rtol)}"
    return None, ""


def _compared(result: Result) -> BoolArray:
    """Which times are not those of an event, before or after which a run is by chance."""
    t = result.t
    near = NEAR_EVENT * (t[-1] - t[0]) / max(1, len(t) - 1)
    happened = np.array([event.t for event in result.events])
    found: BoolArray = (np.abs(t[:, np.newaxis] - happened) > near).all(axis=1)
    return found
