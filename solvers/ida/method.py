"""The solver: IDA's steps, with events located on its interpolant as for other solvers.

IDA's own root functions are not used: they are checked only where steps end, take a zero for a root both ways,
and stop short of the sign change.
"""

from __future__ import annotations

import numpy as np

from linkwork.errors import SolverError
from linkwork.solvers.base import Failure, Options, failure
from linkwork.solvers.ida import start_checks
from linkwork.solvers.ida.backend import (
    CALLBACK_FAILURE,
    CONVERGENCE_FAILURE,
    ERROR_TEST_FAILURES,
    LINEAR_SOLVER_FAILURES,
    RESIDUAL_FAILURES,
    STOP_TIME,
    TOO_MUCH_WORK,
    MultiStepBackend,
    Settings,
)
from linkwork.solvers.ida.backend_choice import make_backend
from linkwork.solvers.ida.equations import Equations, all_finite
from linkwork.solvers.interpolating import InterpolatingSolver
from linkwork.solvers.output import Output
from linkwork.solvers.problem import FloatArray, IntArray, Problem

# That many steps that together change the time by nothing but its last digits, or the state by nothing that the
# tolerances see, mean that the run is stuck; equations of too high an index continue like that without end.
STRETCH = 50
LAST_DIGITS = 64.0 * STRETCH * float(np.finfo(np.float64).eps)
UNSEEN = 0.01
# Part of the run from one failed step to the next at which the equations are chosen again.
BETWEEN_FAILURES = 1e-3
STUCK = -1000  # in addition to IDA's flags


class IDA(InterpolatingSolver):
    """A run of IDA on an explicit problem, F = y' - derivative, or an implicit one."""

    takes_implicit = True

    def __init__(self, name: str, problem: Problem, t_end: float, options: Options) -> None:
        super().__init__(name, problem, t_end, options)
        self.statistics.rejected = None
        self._differential = _differential(problem)
        self._equations = Equations(problem, t_end, options, self.statistics)
        settings = Settings(options, np.flatnonzero(~self._differential))
        self._backend = make_backend(self._equations, settings)
        self._gliding = self._backend if isinstance(self._backend, MultiStepBackend) else None
        self._tip = self._tip_s = self._began_s = 0.0  # where IDA is, in its own time too, and where the step began
        self._tip_y = self.y
        self._steps = 0  # since the start
        self._start_y = self.y
        self._failed_at: float | None = None  # where a failed step was tried again after a new start
        self._mark = 0, 0.0, self.y  # steps, time s and state when progress was last looked at

    def start(self, t: float, y: FloatArray) -> None:
        """Start IDA at (t, y), with y' from the problem's derivative."""
        self._begin(t, y)
        self._watch_from(t, y)

    def _begin(self, t: float, y: FloatArray) -> None:
        self.t, self.y = t, y
        ydot = self.derivative(t, y.copy())
        if not (np.isfinite(y).all() and np.isfinite(ydot).all()):
            raise self.fail(Failure.NOT_FINITE)
        self._tip, self._tip_s, self._tip_y = t, 0.0, y
        self._steps, self._mark, self._start_y = 0, (0, 0.0, y), y
        span = abs(self.t_end - t)
        if span == 0.0:
            return
        weights = self._weights(y)
        step = self.options.first_step or start_checks.first_step(weights, ydot, span, self.options.max_step)
        self._equations.restart(t, min(step, span))
        if self.problem.implicit is not None and y.size:
            self._check_start(ydot, weights, min(step, span))
        padding = self._equations.n - y.size
        self._backend.start(np.pad(y, (0, padding)), np.pad(ydot * self._equations.scale, (0, padding)))

    def run(self, output: Output, tries: int) -> IntArray | None:
        """Take many steps, within IDA where nothing looks at them."""
        if self._gliding is not None and output.times_given and not self._watched:
            self._glide(self._gliding, output, tries)
            return None
        return super().run(output, tries)

    @property
    def _watched(self) -> bool:
        return bool(self.problem.n_events) or self.problem.on_step is not None

    def _glide(self, backend: MultiStepBackend, output: Output, tries: int) -> None:
        """Integrate from one output time to the next."""
        while tries > 0 and self.t != self.t_end:
            wanted = not output.complete
            target = float(output.t[output.count]) if wanted else self.t_end
            ahead = min(self._equations.own_time(target), self._equations.span)
            flag, s, y, steps = backend.go_to(ahead, tries)
            tries -= steps
            self._follow(flag, s, y, steps)
            if self._is_stuck():
                raise self._failed(STUCK)
            self.t, self.y = self._tip, self._tip_y
            if wanted and flag != TOO_MUCH_WORK:
                # IDA takes a time next to the end for the end
                rows = 1 if self.t != self.t_end else output.t.size - output.count
                output.fill(np.tile(self.y, (rows, 1)))

    @property
    def _reached(self) -> float:
        return self._tip

    def _advance(self) -> None:
        if self._steps:
            self._renewed(failed=False)
        while True:
            if self._is_stuck() and not self._tried_again():
                raise self._failed(STUCK)
            self._began_s = self._tip_s
            flag, s, y = self._backend.step()
            if flag < TOO_MUCH_WORK and self._tried_again():
                continue
            self._follow(flag, s, y, steps=int(flag >= TOO_MUCH_WORK))
            if self._tip != self.t:
                return

    def _renewed(self, *, failed: bool) -> bool:
        """Start again where IDA is if the problem chooses its equations again."""
        implicit, t = self.problem.implicit, self._tip
        y = None if implicit is None or implicit.renew is None else implicit.renew(t, self._tip_y.copy(), failed)
        if y is None:
            return False
        self.statistics.restarts += 1
        self._failed_at = t if failed else self._failed_at
        self._begin(t, y)
        return True

    def _tried_again(self) -> bool:
        """Start again with equations chosen again if they may help after a failure: not twice at the same place."""
        if self._equations.raised is not None or not self._steps:
            return False
        last, run = self._failed_at, abs(self.t_end - self.problem.t0)
        far = last is None or abs(self._tip - last) > BETWEEN_FAILURES * run
        return far and self._renewed(failed=True)

    def _follow(self, flag: int, s: float, y: FloatArray, steps: int) -> None:
        """Take over IDA's time and state after so many successful steps, then report a failure."""
        if self._equations.raised is not None:
            raised, self._equations.raised = self._equations.raised, None
            raise raised
        failed = flag < TOO_MUCH_WORK
        if steps or not failed:
            self._arrive(flag, s, y, steps)
        if failed:
            self.t, self.y = self._tip, self._tip_y
            raise self._failed(flag)

    def _arrive(self, flag: int, s: float, y: FloatArray, steps: int) -> None:
        if not all_finite(y):
            raise self.fail(Failure.NOT_FINITE)
        self._tip = self.t_end if flag == STOP_TIME or s >= self._equations.span else self._equations.time(s)
        self._tip_s, self._tip_y = s, y[: self.problem.n]
        self.statistics.steps += steps
        self._steps += steps

    def _is_stuck(self) -> bool:
        """Whether the steps since the last look, if they are enough to judge, have led nowhere."""
        steps, s, y = self._mark
        if self._steps - steps < STRETCH:
            return False
        self._mark = self._steps, self._tip_s, self._tip_y
        elapsed = self._tip_s - s
        seen = np.abs(self._tip_y - y) * self._weights(y) > UNSEEN
        held = elapsed > 0.5 * STRETCH * (self.options.max_step or np.inf)
        growing = elapsed > 10.0 * s
        stuck = elapsed <= LAST_DIGITS * abs(self._tip) or not (seen.any() or held or growing or y.size == 0)
        if not stuck:
            self._equations.singular = None
        return bool(stuck)

    def _weights(self, y: FloatArray) -> FloatArray:
        """Return 1 / tolerance of the states in the error test and 0 of the others, (n,)."""
        weights: FloatArray = self._differential / (self.options.rtol * np.abs(y) + self.options.atol)
        return weights

    def _state(self, t: float) -> FloatArray:
        if t == self._tip:
            return self._tip_y
        if t == self.t:
            return self.y
        s = min(max(self._equations.own_time(t), self._began_s), self._tip_s)
        return self._backend.at(s)[: self.problem.n]

    # ---- failures ----

    def _check_start(self, ydot: FloatArray, weights: FloatArray, step: float) -> None:
        """Refuse start values that do not fit the equations."""
        t, y, equations = self.t, self.y, self._equations
        f = equations.f(t, y, ydot)
        if not np.isfinite(f).all():
            raise self.fail(Failure.NOT_FINITE)
        try:
            correction = start_checks.correction(equations, t, y, ydot, f, step)
        except start_checks.SingularError as error:
            raise self._because(Failure.SINGULAR, str(error)) from None
        if not np.isfinite(correction).all():
            raise self._because(Failure.NOT_CONVERGED, "the Newton matrix is not finite")
        if np.abs(correction * weights).max() > start_checks.HARMLESS:
            raise self._because(Failure.INCONSISTENT_START, start_checks.largest(f))

    def _failed(self, flag: int) -> SolverError:
        """Return the exception for a step that IDA could not take."""
        equations = self._equations
        if equations.singular is not None:
            return self._because(Failure.SINGULAR, equations.singular)
        if flag == CALLBACK_FAILURE:
            return self.fail(Failure.STOPPED)
        if flag in (STUCK, *ERROR_TEST_FAILURES):
            return self.fail(self._or_start(Failure.STEP_TOO_SMALL))
        if equations.not_finite:
            return self.fail(Failure.STEP_TOO_SMALL)
        if flag != CONVERGENCE_FAILURE and flag not in LINEAR_SOLVER_FAILURES:
            return self.fail(Failure.STEP_TOO_SMALL if flag in RESIDUAL_FAILURES else Failure.NOT_CONVERGED)
        reason = None if equations.last_matrix is None else start_checks.deficiency(equations.last_matrix)
        if reason is not None:
            return self._because(Failure.SINGULAR, reason)
        return self.fail(self._or_start(Failure.NOT_CONVERGED))

    def _or_start(self, kind: Failure) -> Failure:
        """Blame the start values while the solution is still there."""
        change = np.abs(self.y - self._start_y) * self._weights(self.y)
        moved = change.max(initial=0.0)
        near = self._steps <= 2 * STRETCH and moved < start_checks.PROBE_STEP and self._failed_at is None
        return Failure.START_NOT_LEFT if near and self.problem.implicit is not None else kind

    def _because(self, kind: Failure, reason: str) -> SolverError:
        return failure(kind, self.name, self.t, self.y, reason)


def _differential(problem: Problem) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which states are in the error test, (n,)."""
    implicit = problem.implicit
    if implicit is None or implicit.algebraic is None:
        return np.ones(problem.n, dtype=np.bool_)
    algebraic = np.asarray(implicit.algebraic)
    if algebraic.shape != (problem.n,) or algebraic.dtype != np.bool_:
        raise SolverError(
            f"algebraic has shape {algebraic.shape} and type {algebraic.dtype}; give {problem.n} booleans, one a state"
        )
    if problem.n and algebraic.all():
        raise SolverError("algebraic leaves no state in the error test; leave it out for equations of index 1")
    return ~algebraic
