"""A point of a sweep in a process of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from linkwork._util.many_runs import DIED, ERROR, Outcome, Task
from linkwork.cosim.isolated.job import Job
from linkwork.cosim.isolated.parent import Child, Died
from linkwork.errors import CosimError

Notify = Callable[[str], None]


def run_task(child: Child, job: Job, task: Task) -> Outcome:
    """Run a point in a child; `job` is without its parameters."""
    settings = {**job.settings, "parameters": dict(task.parameters)}
    try:
        return Outcome(task, child.run(replace(job, settings=settings, outlive=False)))
    except Died as problem:
        return Outcome(task, None, DIED, str(problem))
    except CosimError as problem:
        return Outcome(task, None, ERROR, str(problem))
