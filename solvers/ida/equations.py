"""A problem in the form that IDA takes.

IDA's time s begins at 0 with every start and always runs forwards: t = origin + scale s, dy/dt = (dy/ds) / scale, and
the Newton matrix for IDA's cj is that of the problem for cj / scale. The scale is +1 or -1 but for rounding, which
makes the end of the run a number of single precision: scikits.odes takes options, the stop time too, in no better one.

An operator (linkwork.solvers.implicit) serves IDA's GMRES without a preconditioner hook: the residual is multiplied by
P^-1, P being the Newton matrix at an earlier iterate and ck, and so the product is

    P^-1 (dF/dy + cj dF/dy') v  ~  v + (cj - ck) P^-1 dF/dy' v,

which is v alone while cj stays. IDA prepares products after the residual they belong to, so the P for a new cj waits
for the next residual.
"""

from __future__ import annotations

from math import isfinite

import numpy as np
import numpy.typing as npt

from linkwork.errors import SolverError
from linkwork.solvers.base import Options
from linkwork.solvers.implicit import Residual
from linkwork.solvers.problem import FloatArray, Problem
from linkwork.solvers.solution import Statistics

# Status that a callback returns to IDA.
DONE, SHORTER, FATAL = 0, 1, -1

FEW = 1000  # numbers
_ROOT_EPS = float(np.sqrt(np.finfo(np.float64).eps))


class Equations:
    """F(t, y, y') and its Newton matrix for IDA, counted and guarded."""

    def __init__(self, problem: Problem, t_end: float, options: Options, statistics: Statistics) -> None:
        self.problem = problem
        self.n = problem.n or 1  # number of states IDA has: one that stands still where the problem has none
        self.t_end = t_end
        # origin, scale, span: of IDA's time s; the run ends at s = span
        self.origin = problem.t0
        self.span = 0.0
        self.scale = 1.0
        self.raised: BaseException | None = None  # what a function of the problem has raised; IDA ends at it
        self.not_finite = False  # the last callback asked for a shorter step, because of a number that is not finite
        # Message of the operator when it last found no inverse; cleared after a successful step.
        self.singular: str | None = None
        self.last_matrix: FloatArray | None = None  # the last Newton matrix that IDA was given
        self.operator = None if problem.implicit is None else problem.implicit.operator
        self._options = options
        self._statistics = statistics
        self._f = self._function()
        # cj: for which the operator is to be factored next
        self._ck = self.cj = 0.0
        self._stale = True

    def restart(self, t: float, first_step: float) -> None:
        """Let s begin at t, before the end; the length of the first step is only a guess."""
        self.origin = t
        self.span = float(np.float32(abs(self.t_end - t))) or 1.0
        self.scale = (self.t_end - t) / self.span
        self.raised, self.not_finite, self.singular, self.last_matrix = None, False, None, None
        self.cj, self._stale = 1.0 / first_step, True

    def time(self, s: float) -> float:
        """Return the time of the problem, never beyond the end."""
        t = self.origin + self.scale * s
        return t if (self.t_end - t) * self.scale > 0.0 else self.t_end

    def own_time(self, t: float) -> float:
        """Return the s of a time of the problem."""
        return (t - self.origin) / self.scale

    def f(self, t: float, y: FloatArray, ydot: FloatArray) -> FloatArray:
        """Return F, (n,), counted and its shape checked."""
        self._statistics.evaluations += 1
        values = np.asarray(self._f(t, y.copy(), ydot.copy()), dtype=np.float64)
        if values.shape != y.shape:
            raise SolverError(f"the residual has shape {values.shape}, the state {y.shape}; they must agree")
        return values

    def note(self, residuals: int, factorisations: int, *, not_finite: bool, singular: bool) -> None:
        """Take over what compiled equations have counted and met."""
        self._statistics.evaluations += residuals
        self._statistics.jacobian_evaluations += factorisations
        self.not_finite = not_finite
        self.singular = "it has no inverse" if singular else None

    # ---- callbacks of IDA ----

    def residual(self, s: float, y: FloatArray, rate: FloatArray, out: FloatArray) -> int:
        """Give F, or P^-1 F where there is an operator."""
        self._statistics.evaluations += 1
        try:
            t, ydot = self.time(s), rate.copy() if self.scale == 1.0 else rate / self.scale
            values = self._f(t, y.copy(), ydot)
            if self.operator is not None:
                values = np.asarray(values, dtype=np.float64)
                if not all_finite(values):
                    self.not_finite = True
                    return SHORTER
                if self._stale and not self._factored(t, y, rate):
                    return SHORTER
                values = self.operator.solve(values)
            out[:] = values
            self.not_finite = not all_finite(out)
        except BaseException as error:
            self.raised = error
            return FATAL
        return SHORTER if self.not_finite else DONE

    def newton_matrix(
        self, s: float, y: FloatArray, rate: FloatArray, residual: FloatArray, cj: float, out: FloatArray
    ) -> int:
        """Give dF/dy + cj dF/dy', (n, n)."""
        if not all_finite(residual):
            return SHORTER
        try:
            out[:] = self.matrix(self.time(s), y, rate / self.scale, cj / self.scale, residual)
            self.not_finite, self.last_matrix = not np.isfinite(out).all(), out
        except BaseException as error:
            self.raised = error
            return FATAL
        return SHORTER if self.not_finite else DONE

    def prepare_products(self, s: float, y: FloatArray, rate: FloatArray, residual: FloatArray, cj: float) -> int:
        """Take over cj for products, and for the P of the next residual."""
        self.cj, self._stale = cj, True
        return DONE

    def product(
        self, s: object, y: FloatArray, rate: FloatArray, f: FloatArray, v: FloatArray, out: FloatArray, cj: float
    ) -> int:
        """Give P^-1 (dF/dy + cj dF/dy') v, (n,)."""
        try:
            out[:] = v
            if self.operator is not None and cj != self._ck and all_finite(v):
                factor = (cj - self._ck) / self.scale
                out += factor * np.asarray(self.operator.solve(np.asarray(self.operator.rate_times(v.copy()))))
        except BaseException as error:
            self.raised = error
            return FATAL
        return DONE

    # ---- Newton matrix ----

    def matrix(self, t: float, y: FloatArray, ydot: FloatArray, cj: float, f: FloatArray) -> FloatArray:
        """Return dF/dy + cj dF/dy', (n, n), of the problem, by differences from F = f where it has none of its own."""
        self._statistics.jacobian_evaluations += 1
        implicit = self.problem.implicit
        if implicit is not None and implicit.jacobian is not None:
            return self._square(implicit.jacobian(t, y.copy(), ydot.copy(), cj))
        if implicit is not None:
            return self._differences(t, y, ydot, f, cj, cj)
        if self.problem.jacobian is not None and self.problem.n:
            matrix = np.negative(self._square(self.problem.jacobian(t, y.copy())))
        else:
            matrix = self._differences(t, y, ydot, f, cj, 0.0)
        matrix.flat[:: self.n + 1] += cj
        return matrix

    def _square(self, values: npt.ArrayLike) -> FloatArray:
        matrix = np.asarray(values, dtype=np.float64)
        if matrix.shape != (self.n, self.n):
            raise SolverError(f"the jacobian has shape {matrix.shape}; {self.n} states need {(self.n, self.n)}")
        return matrix

    def _differences(
        self, t: float, y: FloatArray, ydot: FloatArray, f: FloatArray, cj: float, along: float
    ) -> FloatArray:
        """Return dF/dy + along dF/dy' by differences; the step of IDA is about 1 / cj."""
        matrix = np.empty((self.n, self.n))
        y, ydot = y.copy(), ydot.copy()
        for j, width in enumerate(self._widths(y, ydot / cj)):
            before, rate_before = y[j], ydot[j]
            y[j] += width
            width = y[j] - before
            ydot[j] += along * width
            matrix[:, j] = (self.f(t, y, ydot) - f) / width
            y[j], ydot[j] = before, rate_before
        return matrix

    def _widths(self, y: FloatArray, coming: FloatArray) -> FloatArray:
        """Return steps of differences, (n,), towards the coming change.

        A state near zero is stepped by its tolerance, as IDA does, but within bounds that the largest state sets: below
        them rounding is all that is seen, above them curvature.
        """
        sizes = np.maximum(np.abs(y), np.abs(coming))
        tolerance, largest = self._options.rtol * np.abs(y) + self._options.atol, sizes.max()
        if largest > 0.0:
            tolerance = np.clip(tolerance, 1e-3 * _ROOT_EPS * largest, _ROOT_EPS * largest)
        return np.copysign(np.maximum(_ROOT_EPS * sizes, tolerance), coming)

    def _factored(self, t: float, y: FloatArray, rate: FloatArray) -> bool:
        """Factor the operator for the last cj; return whether that succeeded."""
        assert self.operator is not None
        self._statistics.jacobian_evaluations += 1
        try:
            self.operator.factor(t, y.copy(), rate / self.scale, self.cj / self.scale)
        except np.linalg.LinAlgError as error:
            self.singular = f"the operator reports: {error}"
            self.cj *= 4.0  # IDA tries a step of a quarter next
            return False
        self._ck, self._stale = self.cj, False
        return True

    def _function(self) -> Residual:
        if not self.problem.n:
            return lambda t, y, ydot: ydot
        if self.problem.implicit is not None:
            return self.problem.implicit.residual
        derivative = self.problem.derivative
        return lambda t, y, ydot: ydot - np.asarray(derivative(t, y), dtype=np.float64)


def all_finite(values: FloatArray) -> bool:
    """Return whether all numbers of a vector are finite."""
    # the sum of squares is found in less time, which may overflow; of many numbers BLAS may use threads for it
    return (values.size <= FEW and isfinite(values.dot(values))) or bool(np.isfinite(values).all())
