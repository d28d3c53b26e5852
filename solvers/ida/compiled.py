"""IDA on equations that are compiled: its steps are taken without a call of Python."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from linkwork.core._core import ffi as core_ffi
from linkwork.core._core import lib as core
from linkwork.errors import SolverError
from linkwork.solvers.ida.backend import MOST_FAILURES, Settings
from linkwork.solvers.ida.equations import Equations
from linkwork.solvers.ida.sundials import Sundials
from linkwork.solvers.implicit import CompiledImplicit
from linkwork.solvers.problem import FloatArray

NORMAL, ONE_STEP = 1, 2  # tasks of IDASolve
PRECONDITIONED_NOT_AT_ALL = 0

Pointer = Any


class CompiledIDA:
    """A `Backend` that calls the library of SUNDIALS directly."""

    def __init__(self, equations: Equations, settings: Settings, sundials: Sundials) -> None:
        implicit = equations.problem.implicit
        assert implicit is not None
        assert implicit.compiled is not None
        self._equations = equations
        self._sun = sundials
        self._user = core_ffi.new("lw_ida *")
        self._y, self._rate, self._between, self._work = np.zeros((4, equations.n))
        _enter(self._user, implicit.compiled, self._work, sundials)
        self._made = _Made(sundials, (self._y, self._rate, self._between))
        self._reached = sundials.ffi.new("double *")
        self._steps = sundials.ffi.new("long *")
        self._taken = 0  # steps reported so far
        self._first_step = settings.first_step
        self._set_up(settings)

    def start(self, y: FloatArray, rate: FloatArray) -> None:
        """Make IDA ready, or ready again."""
        equations, user = self._equations, self._user
        self._y[:], self._rate[:] = y, rate
        user.t0, user.time_scale, user.cj, user.factor_needed = equations.origin, equations.scale, equations.cj, 1
        self._taken = 0
        self._call("IDAReInit", 0.0, *self._made.vectors[:2])
        self._call("IDASetStopTime", equations.span)
        # IDA's own choice would depend on the first requested time
        self._call("IDASetInitStep", self._first_step or 1.0 / equations.cj)

    def step(self) -> tuple[int, float, FloatArray]:
        """Take one step."""
        self._call("IDASetMaxNumSteps", -1)
        flag = self._solve(self._equations.span, ONE_STEP)
        return flag, float(self._reached[0]), self._y.copy()

    def at(self, s: float) -> FloatArray:
        """Interpolate."""
        self._call("IDAGetDky", s, 0, self._made.vectors[2])
        return self._between.copy()

    def go_to(self, s: float, most: int) -> tuple[int, float, FloatArray, int]:
        """Take up to `most` steps towards a time s; return the flag, the time reached, the state and the steps."""
        lib, ida, before = self._sun.lib, self._made.ida, self._taken
        lib.IDASetMaxNumSteps(ida, most)
        flag = self._solve(s, NORMAL)
        lib.IDAGetNumSteps(ida, self._steps)
        self._taken = int(self._steps[0])
        return flag, float(self._reached[0]), self._y.copy(), self._taken - before

    def _set_up(self, settings: Settings) -> None:
        made, options = self._made, settings.options
        y, rate, scratch = made.vectors
        self._call("IDAInit", _function(self._sun, "lw_ida_residual"), 0.0, y, rate)
        self._call("IDASStolerances", options.rtol, options.atol)
        self._call("IDASetUserData", _moved(self._sun, self._user))
        self._call("IDASetLinearSolver", made.solver, self._sun.ffi.NULL)
        functions = (_function(self._sun, f"lw_ida_{name}") for name in ("jac_times_setup", "jac_times"))
        self._call("IDASetJacTimes", *functions)
        self._call("IDASetMaxStep", settings.max_step)
        self._call("IDASetMaxConvFails", MOST_FAILURES)
        if settings.algebraic.size:
            self._between[:] = 1.0
            self._between[settings.algebraic] = 0.0
            self._call("IDASetId", scratch)
            self._call("IDASetSuppressAlg", 1)

    def _solve(self, s: float, task: int) -> int:
        user = self._user
        user.residuals = user.factorisations = user.not_finite = user.singular = 0
        y, rate, _ = self._made.vectors
        flag = int(self._sun.lib.IDASolve(self._made.ida, s, self._reached, y, rate, task))
        self._equations.note(
            user.residuals, user.factorisations, not_finite=bool(user.not_finite), singular=bool(user.singular)
        )
        return flag

    def _call(self, name: str, *arguments: Any) -> None:
        flag = getattr(self._sun.lib, name)(self._made.ida, *arguments)
        if flag < 0:
            raise SolverError(f"{name} of SUNDIALS {self._sun.major} failed with flag {flag}")


class _Made:
    """What SUNDIALS has made, freed with this object; arrays (n,) as its vectors."""

    def __init__(self, sundials: Sundials, arrays: tuple[FloatArray, ...]) -> None:
        ffi, lib = sundials.ffi, sundials.lib
        context = ffi.new("void **")
        if lib.SUNContext_Create(ffi.NULL, context):
            raise MemoryError("SUNDIALS could not make a context")
        n = arrays[0].size
        self.vectors = [lib.N_VMake_Serial(n, ffi.from_buffer("double[]", a), context[0]) for a in arrays]
        self.ida = lib.IDACreate(context[0])
        can_solve = ffi.NULL not in self.vectors  # which the library takes for granted
        kind = PRECONDITIONED_NOT_AT_ALL
        self.solver = lib.SUNLinSol_SPGMR(self.vectors[0], kind, 0, context[0]) if can_solve else ffi.NULL
        weakref.finalize(self, _free, sundials, context, self.ida, self.solver, self.vectors)
        if ffi.NULL in (self.ida, self.solver, *self.vectors):
            raise MemoryError(f"no memory for IDA on {n} unknowns")
        sundials.silence(context[0], self.ida)


def _free(sundials: Sundials, context: Pointer, ida: Pointer, solver: Pointer, vectors: list[Pointer]) -> None:
    ffi, lib = sundials.ffi, sundials.lib
    if ida != ffi.NULL:
        lib.IDAFree(ffi.new("void **", ida))
    if solver != ffi.NULL:
        lib.SUNLinSolFree(solver)
    for vector in vectors:
        if vector != ffi.NULL:
            lib.N_VDestroy(vector)
    lib.SUNContext_Free(context)


def _enter(user: Pointer, compiled: CompiledImplicit, work: FloatArray, sundials: Sundials) -> None:
    """Give the core the functions to call."""
    for name in ("context", "residual", "factor", "solve", "rate_times"):
        kind = core_ffi.typeof(getattr(user.equations, name))
        setattr(user.equations, name, core_ffi.cast(kind, getattr(compiled, name)))
    array = sundials.ffi.addressof(sundials.lib, "N_VGetArrayPointer")
    user.get_array = core_ffi.cast("double *(*)(void *)", int(sundials.ffi.cast("uintptr_t", array)))
    user.n, user.work = work.size, core_ffi.from_buffer("double[]", work)


def _function(sundials: Sundials, name: str) -> Pointer:
    """Return a function of the core as SUNDIALS is given it."""
    return _moved(sundials, core_ffi.addressof(core, name))


def _moved(sundials: Sundials, pointer: Pointer) -> Pointer:
    return sundials.ffi.cast("void *", int(core_ffi.cast("uintptr_t", pointer)))
