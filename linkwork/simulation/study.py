"""Many runs of one mechanism: over parameters, start values and constant loads, on all cores."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.cores import cores
from linkwork._util.keywords import checks_keywords, checks_keywords_with
from linkwork._util.many_runs import (
    ERROR,
    InThisProcess,
    Outcome,
    ProcessPool,
    Runner,
    RunsProgress,
    Task,
    forks,
    run_tasks,
)
from linkwork._util.named import NamedColumns
from linkwork._util.names import suggest
from linkwork._util.progress import Progress, ProgressOption
from linkwork.errors import LinkworkError, MechanismError, MechanismNameError
from linkwork.mechanism import Mechanism
from linkwork.model.compile import compile
from linkwork.model.model import Model
from linkwork.results.base import TableResult
from linkwork.simulation.result import Result
from linkwork.simulation.simulate import simulate

CHUNKS = 8  # for each process: few enough to cost little, enough to share the work evenly

Measure = Callable[[Result], Mapping[str, float]]


@dataclass(frozen=True)
class _Job:
    """What each run has in common."""

    model: Model
    t_end: float
    columns: tuple[str, ...]
    measure: Measure | None
    options: dict[str, Any]

    def run(self, task: Task) -> Outcome:
        """Return the final values of the columns and the measured ones, or why there are none."""
        loads = {name: value for name, value in task.parameters.items() if name in self.model.numbering.inputs}
        parameters = {name: value for name, value in task.parameters.items() if name not in loads}
        options = self.options | {"inputs": {**(self.options.get("inputs") or {}), **loads}}
        if self.measure is None:
            options["t_eval"] = [self.t_end]  # which changes no step
        try:
            result = simulate(self.model.with_parameters(parameters), self.t_end, progress=False, **options)
        except LinkworkError as error:
            return Outcome(task, None, ERROR, str(error))
        values = result._columns_of(self.columns)
        found = {name: float(one[-1]) for name, one in zip(self.columns, values, strict=True)}
        return Outcome(task, found | ({} if self.measure is None else dict(self.measure(result))))


@checks_keywords
@dataclass
class Study(TableResult, NamedColumns):
    """The table of a study: a row for each point; a loop over it gives the names of its columns.

    Attributes
    ----------
    points
        Values that were set, (n,) each, by name.
    values
        Results, (n,) each, by name; not a number where a run failed or was not reached.
    errors
        By number of the point, why it failed.
    aborted
        The study was interrupted from the keyboard; points that had not been reached have no values.
    """

    _index: ClassVar[str | None] = "point"

    points: dict[str, FloatArray]
    values: dict[str, FloatArray]
    errors: dict[int, str] = field(default_factory=dict)
    aborted: bool = False

    def __len__(self) -> int:
        return len(next(iter(self.points.values())))

    @property
    def names(self) -> list[str]:
        """Names of the points and of the values; of a name of both `[name]` gives the values."""
        return list(self.points | self.values)

    def __getitem__(self, name: str) -> FloatArray:
        for columns in (self.values, self.points):
            if name in columns:
                return columns[name]
        raise MechanismNameError(f"the study has no column {name!r}: {suggest(name, (*self.points, *self.values))}")

    def _table(self) -> dict[str, Any]:
        both = {name: f"{name} (final)" for name in self.values if name in self.points}
        columns: dict[str, Any] = {"point": np.arange(len(self)), **self.points}
        columns |= {both.get(name, name): value for name, value in self.values.items()}
        return columns | ({"error": [self.errors.get(i) for i in range(len(self))]} if self.errors else {})

    def __repr__(self) -> str:
        done = len(self) - len(self.errors)
        state = "; interrupted" if self.aborted else ""
        return f"Study({len(self)} points over {', '.join(self.points)}: {done} without error{state})"


@checks_keywords_with(simulate)
def study(
    mechanism: Mechanism | Model,
    t_end: float,
    points: Any,
    *,
    columns: str | Sequence[str] | None = None,
    measure: Measure | None = None,
    workers: int | None = None,
    progress: ProgressOption = None,
    **options: Any,
) -> Study:
    """Simulate a mechanism for many values of parameters, start values and constant loads.

    It is compiled once; the results are those of `simulate` with `parameters`, whatever the number of processes.

    Parameters
    ----------
    mechanism, t_end
        As of `simulate`.
    points
        Values by name, (n,) each, a pandas table, or points made by `grid` or `latin` of `linkwork.cosim.sweep`. Names
        are those of parameters ("damper.damping"), start values ("A.q_start") and inputs ("A").
    columns
        Variables whose final values are kept; by default coordinates and speeds.
    measure
        (result) to numbers by name, to be kept as well, such as a largest value.
    workers
        Number of processes; by default one for each core; 1: in this one.
    progress
        Show progress on standard error; a function gets each `ProgressUpdate` instead. Default: only on a terminal.
    **options
        Further arguments of `simulate`, the same in each run.

    Returns
    -------
    Study
        A point that fails has its error there. An interruption from the keyboard ends the study and keeps the
        points that are done.

    Raises
    ------
    MechanismError
        If a name is unknown or values do not fit. On platforms without fork, such as Windows, also of a function that
        cannot be sent to another process, such as a lambda, unless `workers` is 1.

    Examples
    --------
    >>> import linkwork as lw
    >>> mech = lw.Mechanism("pendulum")
    >>> mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    >>> table = lw.study(mech, 1.0, {"A.q_start": [0.0, 0.5, 1.0]}, columns="A.q", workers=1)
    >>> table["A.q"].shape
    (3,)
    """
    model = mechanism if isinstance(mechanism, Model) else compile(mechanism)
    table = _table(model, points)
    names = _scalars(model, columns)
    job = _Job(model, t_end, names, measure, options)
    n = len(next(iter(table.values())))
    tasks = (Task(i, {name: float(values[i]) for name, values in table.items()}) for i in range(n))
    rows: list[dict[str, float]] = [{} for _ in range(n)]
    errors: dict[int, str] = {}

    def take(outcome: Outcome) -> None:
        if outcome.failure:
            errors[outcome.task.point] = outcome.error
        else:
            rows[outcome.task.point] = outcome.answer

    with Progress(progress) as shown:
        aborted = n > 0 and run_tasks(tasks, _runner(job, n, workers), take, RunsProgress(shown, n))
    errors = dict(sorted(errors.items()))
    kept = dict.fromkeys([*names, *(name for row in rows for name in row)])
    values = {name: np.array([row.get(name, np.nan) for row in rows]) for name in kept}
    return Study(table, values, errors, aborted)


def _table(model: Model, points: Any) -> dict[str, FloatArray]:
    """Return values by name, all of one length, of known names."""
    given = points.columns if isinstance(getattr(points, "columns", None), Mapping) else points
    if not isinstance(given, Mapping) and not hasattr(given, "to_numpy"):
        raise MechanismError(f"points must be values by name such as {{'damper.damping': [1, 2, 3]}}, not {points!r}")
    table = {}
    for name in given:
        try:
            table[str(name)] = np.asarray(given[name], dtype=np.float64)
        except (TypeError, ValueError):
            raise MechanismError(f"points: the values of {name!r} must be numbers, (n,), not {given[name]!r}") from None
    counts = {name: values.shape for name, values in table.items()}
    if not table or any(len(shape) != 1 for shape in counts.values()) or len(set(counts.values())) > 1:
        raise MechanismError(f"points need a name, and as many values for each; there are {counts}")
    for name in table:
        if name not in model.numbering.inputs:
            model.with_parameters({name: table[name][0]} if table[name].size else {})
    return table


def _scalars(model: Model, columns: str | Sequence[str] | None) -> tuple[str, ...]:
    if columns is None:
        return (*model.q_names, *model.u_names)
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    for name in names:
        if model.column(name).vector:
            raise MechanismError(f"columns: {name!r} has {model.column(name).count} numbers: name one, as {name}[1]")
    return names


def _runner(job: _Job, n: int, workers: int | None) -> Runner:
    processes = min(n, workers or cores())
    if processes <= 1:
        return InThisProcess(job.run)
    if not forks():
        _check_sent(job)
    return ProcessPool(job.run, processes, max(1, n // (CHUNKS * processes)))


def _check_sent(job: _Job) -> None:
    """Refuse values that cannot be sent to another process, such as a lambda."""
    for name, value in {"measure": job.measure, **job.options}.items():
        try:
            pickle.dumps(value)
        except (pickle.PicklingError, AttributeError, TypeError) as problem:
            raise MechanismError(
                f"{name} cannot be sent to the processes of the study, which share no memory here: {problem}; "
                "define its functions by def at the top of a module, or give workers=1"
            ) from problem
