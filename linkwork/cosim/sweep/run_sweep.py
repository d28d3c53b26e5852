"""`sweep`: a system run at many points, locally or on a cluster."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from linkwork._util.keywords import checks_keywords
from linkwork._util.many_runs import Outcome, Runner, RunsProgress, Task, run_tasks
from linkwork._util.progress import Progress, ProgressOption
from linkwork.cosim.fmu.model import read_model
from linkwork.cosim.isolated.job import KEEP, Job
from linkwork.cosim.masters import Master
from linkwork.cosim.sweep.identity import identity
from linkwork.cosim.sweep.result import SweepResult
from linkwork.cosim.sweep.result_parts import arrow
from linkwork.cosim.sweep.runners.base import Notify
from linkwork.cosim.sweep.runners.local import LocalRunner
from linkwork.cosim.sweep.sampling import Points, table
from linkwork.cosim.sweep.store import Store
from linkwork.cosim.system import System
from linkwork.cosim.system.value_checks import misfit
from linkwork.errors import CosimError
from linkwork.fmu.description import Variable

SETTABLE = ("parameter", "structuralParameter", "input", "output", "local")  # the latter two by their start values


@checks_keywords
def sweep(
    system: System | str | os.PathLike[str],
    points: Points | Any,
    folder: str | os.PathLike[str],
    *,
    t_end: float | None = None,
    master: Master | None = None,
    columns: str | Iterable[str] | None = None,
    keep: str = "all",
    workers: int | None = None,
    scheduler: str | None = None,
    retries: int = 2,
    time_limit: float | None = None,
    progress: ProgressOption = None,
    notify: Callable[[str], None] | None = None,
) -> SweepResult:
    """Run a system at many points.

    Each point runs in its own process, so that an FMU that crashes or hangs costs that point alone. Finished points are
    in the folder; the same call resumes from there, and repeats failed points. Results do not depend on the process
    that computed them. An interruption from the keyboard ends the sweep and keeps finished points.

    Parameters
    ----------
    system
        The system, or the path of an ``.ssp`` or ``.fmu``.
    points
        From `grid`, `latin`, `table` and products of them; or what `table` takes.
    folder
        For the results, of this sweep alone.
    t_end, master, columns
        As of `linkwork.cosim.run`: when each run ends [s], its master algorithm, patterns of recorded variables.
    keep
        ``"all"`` recorded values, the ``"final"`` ones, or a ``"summary"``: min, max, final and rms.
    workers
        The number of processes on this machine. By default one for each core.
    scheduler
        The address of a Dask cluster's scheduler, such as ``tcp://192.168.0.5:8786``, to run there.
    retries
        How often a point that crashed or took too long is run again; one that reported an error is run again once.
    time_limit
        The longest that a point may take [s]; by default there is no limit.
    progress
        Show progress on standard error; a function gets each `ProgressUpdate` instead. Default: only on a terminal.
    notify
        Takes notices as they come; they are in `SweepResult.notices` as well.

    Returns
    -------
    SweepResult
        With the points that failed, and why, as `failures`.

    Raises
    ------
    CosimError
        If there is nothing to sweep, the folder belongs to another sweep, or no scheduler answers.

    Examples
    --------
    >>> import linkwork as lw
    >>> from tempfile import TemporaryDirectory
    >>> from linkwork.cosim import Jacobi
    >>> from linkwork.cosim.sweep import grid, sweep
    >>> mech = lw.Mechanism("pendulum")
    >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
    >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    >>> with TemporaryDirectory() as folder:
    ...     fmu = lw.export_fmu(mech, f"{folder}/pendulum.fmu", outputs=["A.q"])
    ...     points = grid({"pendulum.rod.mass": [1.0, 2.0, 3.0]})
    ...     found = sweep(fmu, points, f"{folder}/out", t_end=0.1, master=Jacobi(0.01), workers=1)
    ...     len(found.final()), len(found.failures)
    (3, 0)
    """
    begin = time.perf_counter()
    arrow()  # a missing package is reported before anything is written
    system = system if isinstance(system, System) else System.load(system)
    points = points if isinstance(points, Points) else table(points)
    _check(system, points, keep, workers, scheduler, retries, time_limit)
    patterns = [columns] if isinstance(columns, str) else columns
    settings = {"t_end": t_end, "master": master, "columns": None if patterns is None else list(patterns)}
    header = identity(system, points, settings, keep)
    notices: list[str] = []
    shown = Progress(progress)

    def tell(text: str) -> None:
        notices.append(text)
        shown.clear()
        if notify:
            notify(text)
        else:
            shown.note(text)

    store = Store(Path(folder), header, points, tell)
    aborted = False
    try:
        if not store.finished.all():
            runner = _runner(Job(system, settings, keep), workers, scheduler, time_limit, tell)
            aborted = _run(store, points, runner, retries, shown)
    finally:
        shown.clear()
        store.close()
    result = SweepResult(folder)
    result.aborted, result.notices, result.wall_time = aborted, notices, time.perf_counter() - begin
    return result


def _runner(job: Job, workers: int | None, scheduler: str | None, time_limit: float | None, tell: Notify) -> Runner:
    if scheduler is None:
        return LocalRunner(job, workers, time_limit)
    from linkwork.cosim.sweep.runners.dask_cluster import ClusterRunner

    return ClusterRunner(job, scheduler, time_limit, tell)


def _run(store: Store, points: Points, runner: Runner, retries: int, shown: Progress) -> bool:
    """Run the points that are not finished; return True if that was interrupted."""

    def take(outcome: Outcome) -> None:
        task = outcome.task
        if outcome.failure:
            store.fail(task.point, task.attempt, outcome.error, task.parameters)
        else:
            store.add(task.point, outcome.answer)

    left = (Task(int(i), points[int(i)]) for i in np.flatnonzero(~store.finished))
    progress = RunsProgress(shown, len(points), int(store.finished.sum()))
    return run_tasks(left, runner, take, progress, retries=retries, look=store.flush_if_due)


def _check_values(values: Any, component: str, variable: Variable, fmu: str) -> None:
    """A value that does not fit fails its own point, unless all of them do."""
    wrong = None
    for value in dict.fromkeys(values.tolist()):
        misfits = list(misfit(component, value, variable, fmu))
        if not misfits:
            return
        wrong = wrong or misfits[0]
    raise CosimError(f"no value of the sweep fits: {wrong}")


def _check(
    system: System,
    points: Points,
    keep: str,
    workers: int | None,
    scheduler: str | None,
    retries: int,
    time_limit: float | None,
) -> None:
    """Refuse before the first run what would fail in each."""
    if keep not in KEEP:
        raise CosimError(f"keep is one of {', '.join(KEEP)}, not {keep!r}")
    if workers is not None and scheduler is not None:
        raise CosimError("workers counts processes of this machine; a cluster has its own: give one of the two")
    if workers is not None and workers < 1:
        raise CosimError(f"a sweep needs at least one worker, not {workers}")
    if retries < 0:
        raise CosimError(f"retries is 0 or more, not {retries}")
    if time_limit is not None and not 0 < time_limit < math.inf:
        raise CosimError(f"time_limit is a time above zero [s], not {time_limit:g}")
    models = {name: read_model(one.fmu) for name, one in system.components.items()}
    for reference in points.columns:
        place = system.reference(reference)
        component, found = place.component, models[place.component].variable(place.variable)
        if found.causality not in SETTABLE:
            raise CosimError(
                f"{reference} is {found.causality} and cannot be swept; sweep parameters, inputs or start values"
            )
        _check_values(points.columns[reference], component, found, models[component].path.name)
