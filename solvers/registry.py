"""Solvers by name. Their modules are imported when one is asked for, so that a missing backend hurts nobody else."""

from __future__ import annotations

from importlib import import_module

from linkwork._util.names import suggest
from linkwork.errors import SolverError, SolverNameError
from linkwork.solvers.base import Options, Solver
from linkwork.solvers.problem import Problem

_CLASSES = {
    "auto": "linkwork.solvers.compiled:CompiledSolver",
    "dopri5": "linkwork.solvers.compiled:CompiledSolver",
    "dop853": "linkwork.solvers.compiled:CompiledSolver",
    "rodas5p": "linkwork.solvers.compiled:CompiledSolver",
    "RK23": "linkwork.solvers.scipy_backend:SciPySolver",
    "RK45": "linkwork.solvers.scipy_backend:SciPySolver",
    "DOP853": "linkwork.solvers.scipy_backend:SciPySolver",
    "Radau": "linkwork.solvers.scipy_backend:SciPySolver",
    "BDF": "linkwork.solvers.scipy_backend:SciPySolver",
    "LSODA": "linkwork.solvers.scipy_backend:SciPySolver",
    "ida": "linkwork.solvers.ida:IDA",
}


def solver_names() -> tuple[str, ...]:
    """Return the names that `solve` accepts."""
    return tuple(_CLASSES)


def solver_class(name: str) -> type[Solver]:
    """Return the class behind a name."""
    if not isinstance(name, str) or name not in _CLASSES:
        raise SolverNameError(f"there is no solver {name!r}: {suggest(name, _CLASSES)}")
    module, attribute = _CLASSES[name].split(":")
    found: type[Solver] = getattr(import_module(module), attribute)
    return found


def create(name: str, problem: Problem, t_end: float, options: Options) -> Solver:
    """Return a solver by name, not yet started."""
    found = solver_class(name)
    if problem.implicit is not None and not found.takes_implicit:
        raise SolverError(f"solver {name!r} takes no implicit equations F(t, y, y') = 0; choose solver 'ida'")
    return found(name, problem, t_end, options)


def ida_is_available() -> bool:
    """Return whether a backend of "ida" is installed."""
    from linkwork.solvers.ida.backend_choice import find_backend

    try:
        find_backend()
    except SolverError:
        return False
    return True
