"""Many runs of one kind of work: who runs them, which are run again, and their progress."""

from __future__ import annotations

import multiprocessing
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import Any, Protocol

from linkwork._util.progress import Progress

WAIT = 0.5  # s between looks at the clock
ERROR, DIED, LOST = "error", "died", "lost"  # it failed; it ended its process; nobody answers for it


@dataclass(frozen=True)
class Task:
    """A point to be run: its number, the values of its parameters, and how often it has been tried with this one."""

    point: int
    parameters: Mapping[str, Any]
    attempt: int = 1


@dataclass(frozen=True)
class Outcome:
    """What a task came to: an answer, or the kind and reason of a failure."""

    task: Task
    answer: Any
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
        """Return the outcome of some task; None if there is none in time."""
        ...

    def close(self) -> None:
        """End all running tasks."""
        ...


def run_tasks(
    tasks: Iterable[Task],
    runner: Runner,
    take: Callable[[Outcome], None],
    progress: RunsProgress,
    *,
    retries: int = 0,
    look: Callable[[], None] | None = None,
) -> bool:
    """Run tasks, those that died or got lost again; return True if that was interrupted from the keyboard.

    `take` gets what each came to in the end, and `look` is called now and then. What reports an error is run again once
    at most, as it will do so again.
    """
    fresh, again = iter(tasks), deque[Task]()
    under_way = 0
    try:
        while True:
            while under_way < runner.capacity and (task := again.popleft() if again else next(fresh, None)):
                runner.submit(task)
                under_way += 1
            if not under_way:
                return False
            if outcome := runner.next(WAIT):
                under_way -= 1
                task = outcome.task
                if outcome.failure and task.attempt <= (min(retries, 1) if outcome.failure == ERROR else retries):
                    again.append(replace(task, attempt=task.attempt + 1))
                else:
                    take(outcome)
                    progress.count(bool(outcome.failure))
            if look is not None:
                look()
            progress.show()
    except KeyboardInterrupt:
        return True
    finally:
        runner.close()


class RunsProgress:
    """Counts finished and failed points, and shows them with their rate and the remaining time."""

    def __init__(self, progress: Progress, total: int, done: int = 0) -> None:
        self._progress, self._total, self._at_first = progress, total, done
        self._done, self._failed, self._began = done, 0, time.monotonic()

    def count(self, failed: bool) -> None:
        """Count a point."""
        self._done, self._failed = self._done + (not failed), self._failed + failed

    def show(self) -> None:
        """Show the numbers of finished and of failed points, if due."""
        if not self._progress.due:
            return
        ended, total = self._done + self._failed, self._total
        speed = (ended - self._at_first) / max(time.monotonic() - self._began, 1e-9)
        left = f", {_duration((total - ended) / speed)} left" if speed > 0 else ""
        text = f"{self._done} of {total} points, {self._failed} failed, {speed:.3g} points/s{left}"
        self._progress.show(text, ended / total if total else None)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


# ---- runners of functions ----

Work = Callable[[Task], Outcome]


class InThisProcess:
    """Runs one task after another in this process; see `Runner`."""

    capacity = 1

    def __init__(self, work: Work) -> None:
        self._work = work

    def submit(self, task: Task) -> None:
        """Take a task."""
        self._task = task

    def next(self, timeout: float) -> Outcome:
        """Run the task."""
        return self._work(self._task)

    def close(self) -> None:
        """Do nothing: no task is running."""


def forks() -> bool:
    """Whether other processes begin with the memory of this one, so that nothing need be sent to them."""
    return "fork" in multiprocessing.get_all_start_methods()


class ProcessPool:
    """Runs a function in other processes, several tasks at once, so that many short ones cost little; see `Runner`."""

    def __init__(self, work: Work, processes: int, together: int) -> None:
        context = multiprocessing.get_context("fork" if forks() else "spawn")
        self._pool = ProcessPoolExecutor(processes, context, _begin, (work,))
        self._together, self.capacity = together, 2 * processes * together
        self._waiting: list[Task] = []
        self._running: set[Future[list[Outcome]]] = set()
        self._outcomes: list[Outcome] = []

    def submit(self, task: Task) -> None:
        """Take a task."""
        self._waiting.append(task)
        if len(self._waiting) >= self._together:
            self._send()

    def _send(self) -> None:
        if self._waiting:
            self._running.add(self._pool.submit(_run, self._waiting))
            self._waiting = []

    def next(self, timeout: float) -> Outcome | None:
        """Return the outcome of some task; None if there is none in time."""
        if not self._outcomes:
            self._send()
            done, self._running = wait(self._running, timeout, FIRST_COMPLETED)
            self._outcomes = [outcome for future in done for outcome in future.result()]
        return self._outcomes.pop() if self._outcomes else None

    def close(self) -> None:
        """End the processes after their present tasks."""
        self._pool.shutdown(wait=False, cancel_futures=True)


_work: Work | None = None  # of this process


def _begin(work: Work) -> None:
    """Prepare a process; an interruption is the matter of the first one."""
    import signal

    global _work
    _work = work
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run(tasks: list[Task]) -> list[Outcome]:
    assert _work is not None
    return [_work(task) for task in tasks]
