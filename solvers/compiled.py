"""The compiled integrator of csrc/ode behind the contract, the one inside the co-simulation FMU.

Its methods are the explicit ones of Dormand and Prince, 5(4) and, for tight tolerances, 8(5,3), and for stiff problems
the Rosenbrock-Wanner method Rodas5P. The latter takes the problem's Jacobian, and differences of what it is not given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from linkwork.core._core import ffi, lib
from linkwork.errors import SolverError
from linkwork.solvers.base import Failure, Options, Solver
from linkwork.solvers.output import Output
from linkwork.solvers.problem import FloatArray, IntArray, Problem

METHODS: dict[str, int] = {
    "auto": lib.LW_ODE_AUTO,
    "dopri5": lib.LW_ODE_DOPRI5,
    "dop853": lib.LW_ODE_DOP853,
    "rodas5p": lib.LW_ODE_RODAS5P,
}
AUTO, IMPLICIT = "auto", "rodas5p"
SAMPLE_ANGLE: float = lib.LW_ODE_SAMPLE_ANGLE
COUNTED_SAMPLES: int = lib.LW_ODE_COUNTED_SAMPLES
FAILURES = {
    lib.LW_ODE_STOPPED: Failure.STOPPED,
    lib.LW_ODE_STEP_TOO_SMALL: Failure.STEP_TOO_SMALL,
    lib.LW_ODE_TOO_MANY_STEPS: Failure.TOO_MANY_STEPS,
    lib.LW_ODE_NOT_FINITE: Failure.NOT_FINITE,
}


class CompiledSolver(Solver):
    """A run of one of its methods, chosen by name; the problem's C functions are called without Python."""

    def __init__(self, name: str, problem: Problem, t_end: float, options: Options) -> None:
        super().__init__(name, problem, t_end, options)
        self._raised: BaseException | None = None
        self._handle = ffi.new_handle(self)  # C keeps only a pointer to it
        derivative, events, context = lib.lw_py_derivative, lib.lw_py_events, self._handle
        self._on_step = ffi.NULL
        jacobian = ffi.NULL if problem.jacobian is None else lib.lw_py_jacobian
        angular_speed = ffi.NULL if problem.angular_speed is None else lib.lw_py_angular_speed
        if problem.compiled is not None:
            derivative = ffi.cast("lw_ode_function", problem.compiled.derivative)
            events = ffi.cast("lw_ode_function", problem.compiled.events)
            jacobian = ffi.cast("lw_ode_jacobian", problem.compiled.jacobian)
            context = ffi.cast("void *", problem.compiled.context)
            angular_speed = ffi.cast("lw_ode_function", problem.compiled.angular_speed)
            if problem.compiled.on_step:
                self._on_step = ffi.cast("lw_ode_function", problem.compiled.on_step)
        limits = {
            "rtol": options.rtol,
            "atol": options.atol,
            "first_step": options.first_step or 0.0,
            "max_step": options.max_step or 0.0,
            "max_steps": -1,  # the driver counts
            "event_resolution": problem.compiled.event_resolution if problem.compiled is not None else 0.0,
        }
        created = lib.lw_ode_create(
            problem.n, problem.n_events, derivative, events, context, ffi.new("lw_ode_options *", limits)
        )
        if created == ffi.NULL:
            raise MemoryError(f"no memory for an integrator of {problem.n} states")
        self._ode = ffi.gc(created, lib.lw_ode_free)
        if lib.lw_ode_set_method(self._ode, METHODS[name], jacobian) != lib.LW_OK:
            raise MemoryError(f"no memory for the matrices of {problem.n} states")
        if options.atols is not None:
            lib.lw_ode_set_absolute_tolerances(self._ode, _doubles(options.atols))

        counted = 0 if problem.on_step is None else COUNTED_SAMPLES
        lib.lw_ode_set_angular_speed(self._ode, angular_speed, counted)

    def start(self, t: float, y: FloatArray) -> None:
        """Start the integrator at (t, y)."""
        start = np.ascontiguousarray(y, dtype=np.float64)
        self._checked(lib.lw_ode_start, t, _doubles(start))

    def step(self) -> IntArray | None:
        """Take one step in C."""
        return self._crossings(self._checked(lib.lw_ode_step, self.t_end))

    def run(self, output: Output, tries: int) -> IntArray | None:
        """Take many steps in one call of C, fewer where each of them costs a matrix."""
        output.reserve(lib.LW_ODE_MAX_SAMPLES)
        arrays = (_doubles(output.t), _doubles(output.y), _doubles(output.step_values), ffi.NULL)
        rows = ffi.new("lw_ode_output *", (output.times_given, output.t.size, output.count, *arrays, output.follows))
        lib.lw_ode_set_on_step(self._ode, self._on_step, output.latest.size, _doubles(output.latest))
        in_python = self.problem.on_step is not None and self._on_step == ffi.NULL
        if in_python:
            tries = 1
        elif self.name == IMPLICIT:  # those that "auto" has chosen count for several in C
            tries = max(1, tries // (1 + self.problem.n // 2))
        try:
            outcome = self._checked(lib.lw_ode_run, self.t_end, tries, ffi.NULL if output.complete else rows)
        finally:
            output.count = rows.count
        if in_python:
            self.call_on_step()
        return self._crossings(outcome)

    def dense(self, t: FloatArray) -> FloatArray:
        """Evaluate the method's own interpolant: of order 4, that of "dop853" of order 7."""
        states = np.empty((t.size, self.problem.n))
        for time, row in zip(t, states, strict=True):
            status = lib.lw_ode_dense(self._ode, time, _doubles(row))
            self._raise_caught()
            if status != 0:
                raise self.fail(Failure.STOPPED if status < 0 else Failure.NOT_FINITE)
        return states

    def jacobian(self, t: float, y: FloatArray) -> FloatArray:
        """Call the problem's Jacobian, checked."""
        assert self.problem.jacobian is not None
        matrix = np.asarray(self.problem.jacobian(t, y), dtype=np.float64)
        if matrix.shape != (y.size, y.size):
            raise SolverError(f"the jacobian has shape {matrix.shape}; for {y.size} states it must be square")
        return matrix.reshape(-1)

    def call(self, function: Callable[[float, FloatArray], FloatArray], t: float, y: Any, out: Any, size: int) -> int:
        """Call a function of the problem for C; what it raises waits here until C has returned."""
        try:
            values = function(t, _array(y, self.problem.n))
            np.frombuffer(ffi.buffer(out, 8 * size), dtype=np.float64)[:] = values
        except BaseException as error:
            self._raised = error
            return -1
        return 0

    def _checked(self, function: Callable[..., int], *arguments: Any) -> int:
        """Call a function that moves the integrator, and take over where it is then, however the call ends.

        A signal's handler may raise right after C has returned.
        """
        try:
            outcome = function(self._ode, *arguments)
        finally:
            self._take_over()
        self._raise_caught()
        if outcome == lib.LW_ODE_STOPPED and self.problem.compiled is not None and self.problem.compiled.raise_caught:
            self.problem.compiled.raise_caught()
        if outcome in FAILURES:
            raise self.fail(FAILURES[outcome])
        return outcome

    def _raise_caught(self) -> None:
        if self._raised is not None:
            raised, self._raised = self._raised, None
            raise raised

    def _take_over(self) -> None:
        counts, statistics = lib.lw_ode_get_statistics(self._ode), self.statistics
        statistics.steps, statistics.rejected = counts.steps, counts.rejected
        statistics.evaluations, statistics.event_evaluations = counts.evaluations, counts.event_evaluations
        statistics.jacobian_evaluations = counts.jacobian_evaluations
        statistics.switches = counts.switches
        by_method = {name: counts.method_steps[number] for name, number in METHODS.items() if name != AUTO}
        statistics.methods = {name: steps for name, steps in by_method.items() if steps}
        self.t = lib.lw_ode_time(self._ode)
        self.y = _array(lib.lw_ode_y(self._ode), self.problem.n)

    def _crossings(self, outcome: int) -> IntArray | None:
        if outcome != lib.LW_ODE_EVENT:
            return None
        crossings = ffi.buffer(lib.lw_ode_crossings(self._ode), 4 * self.problem.n_events)
        return np.frombuffer(crossings, dtype=np.int32).copy()


def _doubles(array: FloatArray) -> Any:
    return ffi.from_buffer("double[]", array)


def _array(pointer: Any, n: int) -> FloatArray:
    """Copy n doubles; nothing of what Python is given shares memory with C."""
    return np.frombuffer(ffi.buffer(pointer, 8 * n), dtype=np.float64).copy()


@ffi.def_extern()  # type: ignore[untyped-decorator]
def lw_py_derivative(context: Any, t: float, y: Any, ydot: Any) -> int:
    """Serve C's call of a derivative written in Python."""
    solver: CompiledSolver = ffi.from_handle(context)
    return solver.call(solver.derivative, t, y, ydot, solver.problem.n)


@ffi.def_extern()  # type: ignore[untyped-decorator]
def lw_py_events(context: Any, t: float, y: Any, indicators: Any) -> int:
    """Serve C's call of event indicators written in Python."""
    solver: CompiledSolver = ffi.from_handle(context)
    return solver.call(solver.indicators, t, y, indicators, solver.problem.n_events)


@ffi.def_extern()  # type: ignore[untyped-decorator]
def lw_py_angular_speed(context: Any, t: float, y: Any, speeds: Any) -> int:
    """Serve C's call of the angular speed of a problem written in Python."""
    solver: CompiledSolver = ffi.from_handle(context)
    enough, angular_speed = speeds[0], solver.problem.angular_speed
    assert angular_speed is not None
    return solver.call(lambda t, y: np.array(angular_speed(t, y, enough)), t, y, speeds, 2)


@ffi.def_extern()  # type: ignore[untyped-decorator]
def lw_py_jacobian(context: Any, t: float, y: Any, matrix: Any, by_time: Any) -> int:
    """Serve C's call of a Jacobian written in Python; of the time there is none, so that C takes differences."""
    solver: CompiledSolver = ffi.from_handle(context)
    return solver.call(solver.jacobian, t, y, matrix, solver.problem.n**2)
