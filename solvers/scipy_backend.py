"""SciPy's methods behind the contract: its stepping classes, with events located here on their dense output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import BDF, DOP853, LSODA, RK23, RK45, DenseOutput, OdeSolver, Radau

from linkwork.solvers.base import Failure, Options
from linkwork.solvers.interpolating import InterpolatingSolver
from linkwork.solvers.problem import FloatArray, Problem

METHODS: dict[str, type[OdeSolver]] = {
    "RK23": RK23,
    "RK45": RK45,
    "DOP853": DOP853,
    "Radau": Radau,
    "BDF": BDF,
    "LSODA": LSODA,
}
EXPLICIT = (RK23, RK45, DOP853)


class SciPySolver(InterpolatingSolver):
    """A run of one of SciPy's `OdeSolver` classes, chosen by name."""

    def __init__(self, name: str, problem: Problem, t_end: float, options: Options) -> None:
        super().__init__(name, problem, t_end, options)
        self._method: OdeSolver
        self._dense_output: DenseOutput | None = None
        self._jacobians_before = 0
        self._raised: BaseException | None = None
        if METHODS[name] not in EXPLICIT:
            self.statistics.rejected = None

    def start(self, t: float, y: FloatArray) -> None:
        """Start a new method at (t, y); SciPy's cannot be started again."""
        self.t, self.y = t, y
        self._dense_output = None
        self._jacobians_before = self.statistics.jacobian_evaluations
        if not (np.isfinite(y).all() and np.isfinite(self.derivative(t, y.copy())).all()):
            raise self.fail(Failure.NOT_FINITE)
        self._watch_from(t, y)
        self._method = self._guarded(self._new_method)

    @property
    def _reached(self) -> float:
        return float(self._method.t)

    def _new_method(self) -> OdeSolver:
        options, remaining = self.options, abs(self.t_end - self.t)
        keywords: dict[str, Any] = {"rtol": options.rtol, "atol": self._absolute_tolerance()}
        keywords["max_step"] = np.inf if options.max_step is None else options.max_step
        if options.first_step is not None:
            keywords["first_step"] = min(options.first_step, remaining)
        # LSODA refuses an interval of a few units in the last place
        is_remainder = remaining <= 64 * np.finfo(np.float64).eps * abs(self.t_end)
        method = RK45 if is_remainder else METHODS[self.name]
        if method not in EXPLICIT and self.problem.jacobian is not None and self.problem.n:
            keywords["jac"] = self._remembering(self.problem.jacobian)
        # SciPy's norms divide by the number of states, so a problem without any gets one that stands still
        y = self.y if self.problem.n else np.zeros(1)
        derivative = self._remembering(self.derivative) if self.problem.n else lambda t, y: np.zeros(1)
        return method(derivative, self.t, y.copy(), self.t_end, **keywords)

    def _absolute_tolerance(self) -> float | FloatArray:
        """Return that of the options, or those of the states, where they are known."""
        options = self.options
        if options.atols is None or not self.problem.n:
            return options.atol
        return np.where(options.atols > 0.0, options.atols, options.atol)

    def _advance(self) -> None:
        evaluations = self.statistics.evaluations
        self._guarded(self._method.step)
        if self._method.status == "failed" or self._method.t == self.t:
            raise self.fail(Failure.STEP_TOO_SMALL)
        if not np.isfinite(self._method.y).all():
            raise self.fail(Failure.NOT_FINITE)
        self._dense_output = None
        self.statistics.steps += 1
        self.statistics.jacobian_evaluations = self._jacobians_before + int(self._method.njev)
        if self.statistics.rejected is not None and self.problem.n:
            stages: int = getattr(self._method, "n_stages")  # noqa: B009 (only the explicit methods have it)
            tries = (self.statistics.evaluations - evaluations) // stages
            self.statistics.rejected += tries - 1

    def _state(self, t: float) -> FloatArray:
        if t == self.t:
            return self.y
        if t == self._method.t:
            return self._method.y[: self.problem.n].copy()
        if self._dense_output is None:
            self._dense_output = self._guarded(self._method.dense_output)
        state: FloatArray = self._dense_output(t)[: self.problem.n]
        return state

    def _remembering(self, function: Callable[[float, FloatArray], Any]) -> Callable[[float, FloatArray], Any]:
        """Wrap a function of the problem so that what it raises is distinguished from SciPy's own exceptions."""

        def call(t: float, y: FloatArray) -> Any:
            try:
                return function(float(t), np.array(y))
            except BaseException as error:
                self._raised = error
                raise

        return call

    def _guarded(self, call: Callable[[], Any]) -> Any:
        try:
            result = call()
        except BaseException as error:
            if self._raised is not None:
                raise self._raised from None
            if isinstance(error, ValueError | ArithmeticError | np.linalg.LinAlgError):
                raise self.fail(Failure.NOT_CONVERGED) from error
            raise
        if self._raised is not None:
            raise self._raised
        return result
