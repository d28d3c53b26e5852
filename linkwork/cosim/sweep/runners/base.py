"""What a sweep asks of who runs its points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from linkwork.cosim.isolated.job import Job
from linkwork.cosim.isolated.parent import Child, Died
from linkwork.cosim.recording.result import Result
from linkwork.cosim.sweep.sampling import Value
from linkwork.errors import CosimError

Notify = Callable[[str], None]
ERROR, DIED, LOST = (
    "error",
    "died",
    "lost",
)  # a run that failed; one that ended its process; one that nobody answers for


@dataclass(frozen=True)
class Task:
    """A point to be run."""

    point: int
    parameters: Mapping[str, Value]
    attempt: int = 1


@dataclass(frozen=True)
class Outcome:
    """The outcome: an answer, or the kind and reason of a failure."""

    task: Task
    answer: Result | None
    failure: str = ""
    error: str = ""


class Runner(Protocol):
    """Runs tasks in any order.

    `capacity` tasks should be running at a time: enough to keep all busy, few enough to fit into memory.
    """

    @property
    def capacity(self) -> int:
        """How many tasks should be running."""
        ...

    def submit(self, task: Task) -> None:
        """Take a task."""
        ...

    def next(self, timeout: float) -> Outcome | None:
        """The outcome of some task; None if there is none in time."""
        ...

    def close(self) -> None:
        """End all running tasks."""
        ...


def run_task(child: Child, job: Job, task: Task) -> Outcome:
    """Run a point in a child; `job` is without its parameters."""
    settings = {**job.settings, "parameters": dict(task.parameters)}
    try:
        return Outcome(task, child.run(replace(job, settings=settings, outlive=False)))
    except Died as problem:
        return Outcome(task, None, DIED, str(problem))
    except CosimError as problem:
        return Outcome(task, None, ERROR, str(problem))
