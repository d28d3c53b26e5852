"""The step of the default experiment: with it importers that integrate by fixed explicit steps get through the run.

Euler's method is stable in steps up to 2 / |lambda|, Dormand-Prince 5(4) in steps up to 3.3 / |lambda|. Its step
control, at a coarse tolerance, shows what a mechanism allows: fast turns open loops, stiff springs grow without bound.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from linkwork.errors import LinkworkError

if TYPE_CHECKING:
    from linkwork._util.checks import FloatArray
    from linkwork.model.model import Model
    from linkwork.simulation.result import Result

LARGEST, SMALLEST = 0.01, 1e-5  # s
MOST_STATES = 1000  # beyond which the simulation would take longer than the rest of the export
SOLVER_STEPS = 100_000  # of the solver, times states
FEWEST_SOLVER_STEPS = 200
RTOL = 1e-3  # of the simulation
SHARE = 0.1  # of its time, spent in shorter steps
SLOW = 3.0 * LARGEST  # steps of the solver with which the largest one does
STEPS = 10.0  # of the default experiment, in one of the solver that is shorter


def default_step(system: Model, stop: float) -> float:
    """Return a step for a run from the default start, 1, 2 or 5 times a power of ten, at most 0.01 s [s]."""
    states = system.sizes.nq + system.sizes.nu
    if not 0 < states <= MOST_STATES:
        return LARGEST
    lengths = _lengths(system, stop, max(FEWEST_SOLVER_STEPS, SOLVER_STEPS // states))
    if not lengths.size:
        return LARGEST
    covered = np.cumsum(lengths)
    typical = lengths[np.searchsorted(covered, SHARE * covered[-1])]
    return LARGEST if typical >= SLOW else _rounded_down(max(typical / STEPS, SMALLEST))


def _lengths(system: Model, stop: float, most: int) -> FloatArray:
    """The solver's steps, ascending; empty: there is no run."""
    from linkwork.simulation.simulate import simulate

    found: Result | None
    try:
        found = simulate(system, stop, solver="dopri5", rtol=RTOL, atol=RTOL, max_steps=most, progress=False)
    except LinkworkError as problem:
        found = getattr(problem, "result", None)
    if found is None:
        return np.empty(0)
    ends = np.isfinite(found._trajectory.control).all(axis=1)  # of steps; what turns has rows within them
    lengths: FloatArray = np.sort(np.diff(found.t[ends]))
    return lengths[lengths > 0.0]


def _rounded_down(step: float) -> float:
    """As people write it."""
    power = math.floor(math.log10(step) + 1e-9)
    digit = next(one for one in (5, 2, 1) if one * 10.0**power <= step * (1 + 1e-9))
    return float(f"{digit}e{power}")
