"""Solvers of initial value problems behind one contract.

`solve` integrates a `Problem` with a solver chosen by name and returns a `Solution`. A solver knows the problem and its
own backend, nothing else; what it promises stands in `linkwork.solvers.base`.

>>> import numpy as np
>>> from linkwork.solvers import Problem, solve
>>> decay = Problem(lambda t, y: -y, t0=0.0, y0=[1.0])
>>> bool(abs(solve(decay, 1.0, solver="DOP853", rtol=1e-10).y[-1, 0] - np.exp(-1.0)) < 1e-9)
True
"""

from linkwork.solvers.base import Options, Solver
from linkwork.solvers.driver import solve
from linkwork.solvers.implicit import CompiledImplicit, Implicit, NewtonOperator
from linkwork.solvers.problem import (
    Action,
    CompiledFunctions,
    Continue,
    Problem,
    Restart,
    Terminate,
)
from linkwork.solvers.registry import solver_names
from linkwork.solvers.solution import EventRecord, Solution, Statistics, Status

__all__ = [
    "Action",
    "CompiledFunctions",
    "CompiledImplicit",
    "Continue",
    "EventRecord",
    "Implicit",
    "NewtonOperator",
    "Options",
    "Problem",
    "Restart",
    "Solution",
    "Solver",
    "Statistics",
    "Status",
    "Terminate",
    "solve",
    "solver_names",
]
