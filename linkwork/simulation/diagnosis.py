"""Causes of failed runs, as far as the mechanics know them."""

from __future__ import annotations

import numpy as np

from linkwork.core.native import Stage
from linkwork.errors import LinkworkError, MechanismError, SolverError
from linkwork.model.base import ASSEMBLY_TOLERANCE
from linkwork.simulation.result import Result
from linkwork.simulation.run import Run
from linkwork.solvers.base import Failure
from linkwork.solvers.driver import ChatteringError

VIOLATION_SHARE = 0.01  # part of its range by which a motion may be missed before its function is the cause
EVENT_SHARE = 0.2  # events for each step from which on they are what the steps were used for
PROBE_SHARE = 1e-3  # part of the run: distance beyond its last row at which the cause of its end is searched

CHATTERING_REMEDY = "; lower the restitution, do not let a lock and its release cause each other, or raise the limit"


def explain(error: SolverError, run: Run, result: Result) -> LinkworkError | None:
    """Add the cause of a failure to its message and return the cause, if it is known."""
    fault = _fault(run)
    beyond = _out_of_reach(run, result) if fault is None else None
    if isinstance(error, ChatteringError) or _spent_on_events(error, run):
        error.args = (f"{error}. The last transitions were {run.recent_transitions()}{CHATTERING_REMEDY}",)
    if fault is not None or beyond is not None:
        error.args = (f"{error}. {f'There, {fault}' if fault else f'Beyond that, {beyond}'}",)
    elif run.formulation and run.system.loop_names and result.t.size and Failure.TOO_MANY_STEPS not in str(error):
        error.args = (f"{error}. There, {_least_conditioned_loop(run, result)}",)
    return fault or beyond


def _least_conditioned_loop(run: Run, result: Result) -> str:
    """Describe the loop that is nearest to a singular pose at the last row."""
    run.enter(float(result.t[-1]), result.y[-1])
    conditioning = run.block["loop_conditioning"]
    loop = int(np.argmin(conditioning))
    return (
        f"the loop closed by joint {run.system.loop_names[loop]!r} is the nearest to a singular pose, "
        f"with conditioning {conditioning[loop]:.2g}"
    )


def _spent_on_events(error: SolverError, run: Run) -> bool:
    """Whether the steps were used up, a large part of them between events."""
    statistics = run.recorder.statistics
    return str(Failure.TOO_MANY_STEPS) in str(error) and statistics.events > EVENT_SHARE * statistics.steps


def _fault(run: Run) -> LinkworkError | None:
    """Return the error at the last state that the solver tried, if there is one."""
    try:
        run.block.evaluate(Stage.DERIVATIVES)
    except LinkworkError as fault:
        return fault
    return None


def _out_of_reach(run: Run, result: Result) -> LinkworkError | None:
    """Return the error if the mechanism cannot follow its prescribed motions beyond the last row."""
    system = run.system
    if not system.numbering.motions or not result.t.size:
        return None
    y, nq, block = result.y[-1], system.numbering.nq, system.block()
    ahead = float(result.t[-1]) + PROBE_SHARE * (run.recorder.t_end - run.recorder.t_start)
    block.reals[system.fields["q_start"].span][:nq] = y[:nq]
    try:
        block.put_motion(ahead, run.inputs.at(ahead)[system.numbering.driven])
        block.assemble(ASSEMBLY_TOLERANCE)
    except LinkworkError as fault:
        return fault
    return None


def check_motions(run: Run, result: Result, rtol: float) -> None:
    """Raise an error if a motion given as a function is missed: value, rate and acceleration do not fit each other."""
    if not run.inputs.driving or result.t.size < 2:
        return
    given, n = run.inputs.over(result.t), run.system.numbering
    run.enter(float(result.t[-1]), result.y[-1])
    residuals = run.block["coupling_residual"]
    for span in run.inputs.driving:
        number = (span.start - n.n_loads) // 3
        if abs(residuals[number]) > (VIOLATION_SHARE + 10 * rtol) * float(np.ptp(given[:, span.start])) > 0:
            raise MechanismError(
                f"inputs: the motion of {run.system.coupling_names[number]!r} is not followed, it is off by "
                f"{abs(residuals[number]):.3g} at t = {result.t[-1]:.6g} s: the rate and the acceleration that its "
                "function returns must be the derivatives of the value"
            )
