"""Comparison of runs: each is simulated and measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray, finite, number, whole_number
from linkwork._util.keywords import checks_keywords
from linkwork._util.progress import Progress, ProgressOption
from linkwork.comparison.comparison import Comparison
from linkwork.comparison.measure import cpu_time, energy_drift, errors, keeps_energy, loop_residual
from linkwork.comparison.reference import Reference, Task, find_reference
from linkwork.comparison.runs import ComparisonRun, in_short, parse_runs
from linkwork.comparison.table import ComparisonRow
from linkwork.errors import LinkworkError, MechanismError
from linkwork.mechanism import Mechanism
from linkwork.model.compile import compile
from linkwork.model.model import Model
from linkwork.simulation.inputs import InputValue
from linkwork.simulation.result import Result
from linkwork.solvers import Statistics

TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10)
POINTS = 101


@checks_keywords
def compare(
    mechanism: Mechanism | Model,
    t_end: float,
    *,
    runs: Sequence[str | ComparisonRun] | str | None = None,
    rtol: ArrayLike = TOLERANCES,
    reference: Result | ComparisonRun | str | None = None,
    columns: Sequence[str] | None = None,
    t_eval: ArrayLike | None = None,
    inputs: Mapping[str, InputValue] | None = None,
    repeat: int = 3,
    progress: ProgressOption = None,
) -> Comparison:
    """Compare formulations and solvers on one mechanism: error, loop residuals, energy drift and cost.

    Parameters
    ----------
    mechanism
        A description, or a system, whose description is taken.
    t_end
        s; runs begin at 0.
    runs
        Each "FORMULATION/SOLVER", such as "rcr/dopri5", or "SOLVER" alone. Formulations are "rcr", "embedding",
        "multipliers", "dca" and "auto" with any solver, and "ggl", "chou1" to "chou4" with "ida". By default every
        method that can take the mechanism with "dopri5", the first of them with "DOP853" and "Radau", and "ggl/ida"
        where a backend of "ida" is installed.
    rtol
        Tolerances, (n,); absolute ones are the same.
    reference
        Reference solution: a `Result` of the same times, or a run, which is then a thousand times tighter than the
        tightest of the others, but not below 1e-13. By default "auto/DOP853". Another formulation and solver show how
        wrong that may be itself.
    columns
        Columns to compare in addition to coordinates and speeds, such as "coupler.r"; the plot shows this.
    t_eval
        Times at which runs are compared, (nt,), s; by default 101 over the run. Times of events are left out.
    inputs
        As `simulate` takes them.
    repeat
        How often a run is timed, at least; those of more than a second are timed once.
    progress
        Show progress on standard error; a function gets each `ProgressUpdate` instead. Default: only on a terminal.

    Returns
    -------
    Comparison
        Rows, as a table when printed; `to_csv`, `to_dataframe`, and `plot` for error over CPU time. A run that fails is
        a row with its message.

    Raises
    ------
    SolverError
        If the reference fails.
    KeyboardInterrupt
        When interrupted; its attribute `comparison` holds the rows so far.

    Examples
    --------
    >>> import linkwork as lw
    >>> mech = lw.Mechanism("pendulum")
    >>> mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    >>> found = lw.compare(mech, t_end=1.0, runs=["dopri5", "DOP853"], rtol=[1e-5, 1e-9])
    >>> found
    Comparison('pendulum': 4 rows of 2 runs)
    >>> found.rows[0].run, found.rows[0].rtol, found.rows[0].error < 1e-4, found.rows[1].error < 1e-8
    ('auto/dopri5', 1e-05, True, True)
    """
    mech = mechanism.mechanism if isinstance(mechanism, Model) else mechanism
    if not isinstance(mech, Mechanism):
        raise MechanismError(f"compare takes a Mechanism, not {type(mech).__name__}")
    system = compile(mech)
    chosen, tolerances = parse_runs(runs, mech), _tolerances(rtol)
    given = _reference(reference)
    times = _times(t_eval, number(t_end, "t_end"), system, given)
    task = Task(mech, times, _columns(columns, system), inputs)
    comparison = Comparison(mech.name, float(t_end), None if task.columns is None else list(task.columns))
    try:
        with Progress(progress) as shown:
            _fill(comparison, task, chosen, tolerances, given, whole_number(repeat, "repeat", 1), shown)
    except KeyboardInterrupt as interrupt:
        interrupt.comparison = comparison  # type: ignore[attr-defined]
        raise
    return comparison


def _fill(
    comparison: Comparison,
    task: Task,
    runs: list[ComparisonRun],
    tolerances: list[float],
    given: Result | ComparisonRun | None,
    repeat: int,
    progress: Progress,
) -> None:
    """Add reference and rows."""
    total = len(runs) * len(tolerances)
    comparison.reference = find_reference(task, given, tolerances[-1], lambda what: progress.count(0, total, what))
    for run in runs:
        for rtol in tolerances:
            progress.count(len(comparison.rows), total, f"{run} at rtol {in_short(rtol)}")
            comparison.rows.append(_row(task, run, rtol, comparison.reference, repeat))


def _row(task: Task, run: ComparisonRun, rtol: float, right: Reference, repeat: int) -> ComparisonRow:
    """Run at one tolerance: once for the errors, and then for the time."""
    try:
        result = task.solve(run, rtol)
        off = errors(result, right.result, right.compared, task.columns)
        taken, timed = cpu_time(lambda: task.solve(run, rtol, every_step=True), repeat)
    except (LinkworkError, ImportError) as error:
        return _failed(run, rtol, error)
    return ComparisonRow(
        str(run),
        rtol,
        *(off.columns, off.q, off.u, right.floor().columns),
        loop_residual(result),
        energy_drift(result) if keeps_energy(task.mechanism, task.inputs) else None,
        *_counts(timed.statistics),  # without those of the dense output
        cpu_time=taken,
    )


def _failed(run: ComparisonRun, rtol: float, error: Exception) -> ComparisonRow:
    """What it had cost until then stays known."""
    partial = getattr(error, "result", None)
    counts = _counts(partial.statistics) if isinstance(partial, Result) else ()
    names = ("steps", "rejected", "evaluations", "jacobian_evaluations")
    return ComparisonRow(str(run), rtol, **dict(zip(names, counts, strict=False)), message=str(error))


def _counts(statistics: Statistics) -> tuple[int, int | None, int, int]:
    """Steps, rejected ones, evaluations, and those of the Jacobian."""
    return statistics.steps, statistics.rejected, statistics.evaluations, statistics.jacobian_evaluations


# ---- arguments --------------------------------------------------------------------------------------


def _tolerances(rtol: ArrayLike) -> list[float]:
    """From the largest on, each once."""
    given = finite(np.atleast_1d(rtol), (np.size(rtol),), "rtol")
    if not given.size or (given <= 0).any() or (given >= 1).any():
        raise MechanismError(f"rtol must be numbers between 0 and 1, such as [1e-4, 1e-8], not {given.tolist()}")
    return sorted(set(given.tolist()), reverse=True)


def _reference(given: object) -> Result | ComparisonRun | None:
    if not isinstance(given, Result | ComparisonRun | str | None):
        raise MechanismError(f"reference must be a Result or a run such as 'auto/DOP853', not {given!r}")
    return ComparisonRun.parse(given) if isinstance(given, str) else given


def _columns(columns: Iterable[str] | None, system: Model) -> list[str] | None:
    if columns is None:
        return None
    listed = [columns] if isinstance(columns, str) else list(columns)
    if not listed:
        raise MechanismError("columns is empty: name some, such as ['coupler.r'], or leave it out")
    for name in listed:
        system.column(name)
    return listed


def _times(t_eval: ArrayLike | None, t_end: float, system: Model, given: Result | ComparisonRun | None) -> FloatArray:
    """The times of a result that was given, or those that were asked for."""
    if t_end <= 0:
        raise MechanismError(f"t_end must be a positive time, s, not {t_end:g}")
    if isinstance(given, Result):
        return _times_of(given, t_end, system, t_eval)
    if t_eval is None:
        return np.linspace(0.0, t_end, POINTS)
    return _rising(finite(t_eval, (np.size(t_eval),), "t_eval"), t_end, "t_eval")


def _times_of(given: Result, t_end: float, system: Model, t_eval: ArrayLike | None) -> FloatArray:
    if t_eval is not None:
        raise MechanismError("t_eval: a reference that was computed before has its own times: leave t_eval out")
    if given.model.q_names != system.q_names or given.model.u_names != system.u_names:
        raise MechanismError(f"reference is a result of another mechanism than {system.mechanism.name!r}")
    return _rising(given.t, t_end, "the times of the reference")


def _rising(times: FloatArray, t_end: float, what: str) -> FloatArray:
    if not times.size or times[0] < 0 or times[-1] != t_end or (np.diff(times) <= 0).any():
        raise MechanismError(f"{what} must rise from 0 or later to t_end = {t_end:g} s, each once")
    return times
