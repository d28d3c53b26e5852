"""Which way to IDA a run takes: scikits.odes on the system's SUNDIALS, or scikit-sundae with its own."""

from __future__ import annotations

from importlib import import_module

from linkwork.errors import SolverError
from linkwork.solvers.ida.backend import Backend, Settings
from linkwork.solvers.ida.equations import Equations
from linkwork.solvers.ida.sundials import find_sundials

# Module and class here, by the module whose presence decides, in order of preference.
BACKENDS = {
    "scikits_odes_sundials.ida": "linkwork.solvers.ida.scikits:ScikitsIDA",
    "sksundae.ida": "linkwork.solvers.ida.sundae:SundaeIDA",
}


def make_backend(equations: Equations, settings: Settings) -> Backend:
    """Return a backend for a run: without Python in between where the equations are compiled and SUNDIALS is found."""
    implicit = equations.problem.implicit
    if implicit is not None and implicit.compiled is not None and (sundials := find_sundials()) is not None:
        from linkwork.solvers.ida.compiled import CompiledIDA

        return CompiledIDA(equations, settings, sundials)
    return find_backend()(equations, settings)


def find_backend() -> type[Backend]:
    """Return the first backend that can be imported."""
    for needed, here in BACKENDS.items():
        try:
            import_module(needed)
        except ImportError:
            continue
        module, attribute = here.split(":")
        found: type[Backend] = getattr(import_module(module), attribute)
        return found
    raise SolverError(
        "solver 'ida' needs scikit-sundae or scikits.odes: pip install scikit-sundae; or, where SUNDIALS is on the "
        "system (Debian's libsundials-dev and gfortran), pip install 'linkwork[dae]'"
    )
