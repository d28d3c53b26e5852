"""The library of SUNDIALS itself, found next to the package that installed it and called without compiling anything."""

from __future__ import annotations

import ctypes.util
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cffi import FFI

# Of the releases 6 and 7, whose realtype is double; vectors, solvers and contexts are pointers.
_FUNCTIONS = """
int SUNDIALSGetVersionNumber(int *major, int *minor, int *patch, char *label, int length);
int SUNContext_Create(void *communicator, void **context);
int SUNContext_Free(void **context);
void *N_VMake_Serial(int64_t n, double *data, void *context);
void N_VDestroy(void *vector);
double *N_VGetArrayPointer(void *vector);
void *SUNLinSol_SPGMR(void *vector, int preconditioning, int most, void *context);
int SUNLinSolFree(void *solver);
void *IDACreate(void *context);
void IDAFree(void **ida);
int IDAInit(void *ida, void *residual, double t, void *y, void *rate);
int IDAReInit(void *ida, double t, void *y, void *rate);
int IDASStolerances(void *ida, double rtol, double atol);
int IDASetId(void *ida, void *differential);
int IDASetSuppressAlg(void *ida, int suppressed);
int IDASetUserData(void *ida, void *user);
int IDASetLinearSolver(void *ida, void *solver, void *matrix);
int IDASetJacTimes(void *ida, void *prepare, void *product);
int IDASetInitStep(void *ida, double step);
int IDASetMaxStep(void *ida, double step);
int IDASetMaxConvFails(void *ida, int most);
int IDASetMaxNumSteps(void *ida, long most);
int IDASetStopTime(void *ida, double t);
int IDASolve(void *ida, double t, double *reached, void *y, void *rate, int task);
int IDAGetDky(void *ida, double t, int order, void *y);
int IDAGetNumSteps(void *ida, long *steps);
int IDAGetCurrentTime(void *ida, double *t);
"""
_QUIET = {6: "int IDASetErrFile(void *ida, void *file);", 7: "void SUNContext_ClearErrHandlers(void *context);"}


@dataclass(frozen=True)
class Sundials:
    """The library: its functions, by `lib`, and the FFI they came by."""

    ffi: Any
    lib: Any
    major: int

    def silence(self, context: Any, ida: Any) -> None:
        """Print no messages: the flags are enough."""
        if self.major == 6:
            self.lib.IDASetErrFile(ida, self.ffi.NULL)
        else:
            self.lib.SUNContext_ClearErrHandlers(context)


@cache
def find_sundials() -> Sundials | None:
    """Return the library that scikits.odes or scikit-sundae uses, or None where it is not as expected here."""
    candidates = []
    if find_spec("scikits_odes_sundials") is not None and (name := ctypes.util.find_library("sundials_ida")):
        candidates.append((name, 6))  # release 7 may be built with MPI, whose contexts are made in another way
    if (spec := find_spec("sksundae")) is not None and spec.origin is not None:
        beside = Path(spec.origin).parent.parent / "scikit_sundae.libs"
        candidates += [(str(path), 7) for path in sorted(beside.glob("libsundials_ida-*"))]
    found = (_open(name, major) for name, major in candidates)
    return next((library for library in found if library is not None), None)


def _open(name: str, major: int) -> Sundials | None:
    ffi = FFI()
    ffi.cdef(_FUNCTIONS + _QUIET[major])
    try:
        lib = ffi.dlopen(name)
        numbers = [ffi.new("int *") for _ in range(3)]
        label = ffi.new("char[32]")
        lib.SUNDIALSGetVersionNumber(*numbers, label, len(label))
        is_whole = all(hasattr(lib, function) for function in dir(lib))
    except (OSError, AttributeError):
        return None
    return Sundials(ffi, lib, major) if numbers[0][0] == major and is_whole else None
