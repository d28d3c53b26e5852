"""Causes of failed runs, as far as the mechanics know them."""

from __future__ import annotations

import numpy as np

from linkwork.core.native import Stage
from linkwork.errors import LinkworkError, MechanismError, SolverError
from linkwork.simulation.lock_up import find_lock_up
from linkwork.simulation.result import Result
from linkwork.simulation.run import Run
from linkwork.solvers.base import Failure
from linkwork.solvers.driver import ChatteringError

VIOLATION_SHARE = 0.01  # part of its range by which a motion may be missed before its function is the cause
EVENT_SHARE = 0.2  # events for each step from which on they are what the steps were used for
NEARLY_SINGULAR = 1e-3  # conditioning of a loop below which a singular pose is the probable cause

CHATTERING_REMEDY = "; lower the restitution, do not let a lock and its release cause each other, or raise the limit"


def explain(error: SolverError, run: Run, result: Result) -> LinkworkError | None:
    """Add the cause of a failure to its message and return the cause, if it is known."""
    fault = _fault(run)
    if isinstance(error, ChatteringError) or _spent_on_events(error, run):
        error.args = (f"{error}. The last transitions were {run.recent_transitions()}{CHATTERING_REMEDY}",)
    lock_up = find_lock_up(run, result)
    if lock_up is not None:
        error.args = (f"{error}. {lock_up}",)
        return lock_up.fault
    if fault is not None:
        error.args = (f"{error}. There, {fault}",)
    elif run.system.loop_names and result.t.size and not _is_too_long(error):
        error.args = (f"{error}{_near_singular(run, result)}",)
    return fault


def _near_singular(run: Run, result: Result) -> str:
    """Name the loop that is nearest to a singular pose at the last row, and its joint that moves fastest there.

    With explicit equations a pose that is far from singular is no cause.
    """
    try:
        run.enter(float(result.t[-1]), result.y[-1])
        conditioning = run.block["loop_conditioning"]
    except LinkworkError:
        return ""
    loop = int(np.argmin(conditioning))
    if run.formulation is None and conditioning[loop] > NEARLY_SINGULAR:
        return ""
    joint, speed = _fastest(run, loop)
    return (
        f". There, the loop closed by joint {run.system.loop_names[loop]!r} is the nearest to a singular pose, "
        f"with conditioning {conditioning[loop]:.2g}; of its joints {joint!r} moves fastest, at {speed:.3g}"
    )


def _fastest(run: Run, loop: int) -> tuple[str, float]:
    """Return the joint of a loop with the largest speed, rad/s or m/s, and that speed."""
    system, names = run.system, list(run.system.mechanism.joints)
    around = [system.topology.links[link].joint for link in system.topology.around(system.topology.loops[loop])]
    joints = [names[joint] for joint in (*around, system.topology.loops[loop].joint)]
    speeds = np.concatenate([run.block["u"], run.block["u_cut"]])
    sizes = {joint: float(np.abs(speeds[system.numbering.u[joint]]).max(initial=0.0)) for joint in joints}
    joint = max(sizes, key=lambda name: sizes[name])
    return joint, sizes[joint]


def _is_too_long(error: SolverError) -> bool:
    """Whether the run needed too many steps."""
    return any(str(kind) in str(error) for kind in (Failure.TOO_MANY_STEPS, Failure.TOO_SLOW))


def _spent_on_events(error: SolverError, run: Run) -> bool:
    """Whether the steps were used up, a large part of them between events."""
    statistics = run.recorder.statistics
    return _is_too_long(error) and statistics.events > EVENT_SHARE * statistics.steps


def _fault(run: Run) -> LinkworkError | None:
    """Return the error at the last state that the solver tried, if there is one.

    Unknowns of Newton's method that are no numbers are the solver's: what it solved had no solution.
    """
    if run.formulation is not None and not all(np.isfinite(run.block[name]).all() for name in ("q", "u")):
        return None
    try:
        run.block.evaluate(Stage.DERIVATIVES)
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
