"""Points on the cores of this machine: a process for each, driven by a thread."""

from __future__ import annotations

import queue
import threading

from linkwork._util.cores import cores
from linkwork._util.many_runs import LOST, Outcome, Task
from linkwork.cosim.isolated.job import Job
from linkwork.cosim.isolated.parent import Child
from linkwork.cosim.sweep.runners.base import run_task


class LocalRunner:
    """Some children; see `Runner`."""

    def __init__(
        self,
        job: Job,  # the run, without the parameters of a point
        workers: int | None = None,  # the number of processes; None: one for each core this process may use
        time_limit: float | None = None,  # the longest that a point may take [s]
    ) -> None:
        self._job, self._time_limit = job, time_limit
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._outcomes: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        self._children: list[Child] = []
        self._closing = False
        self._most = workers or cores()
        self._threads: list[threading.Thread] = []

    @property
    def capacity(self) -> int:
        """How many tasks should be running: a child that is done finds its next one waiting."""
        return 2 * self._most

    def submit(self, task: Task) -> None:
        """Take a task; children are started as they are needed."""
        self._tasks.put(task)
        if len(self._threads) < self._most:
            child = Child(time_limit=self._time_limit)
            self._children.append(child)
            self._threads.append(threading.Thread(target=self._work, args=(child,), daemon=True))
            self._threads[-1].start()

    def next(self, timeout: float) -> Outcome | None:
        """The outcome of some task; None if there is none in time."""
        try:
            return self._outcomes.get(timeout=timeout)
        except queue.Empty:
            return None

    def close(self) -> None:
        """End all running tasks."""
        self._closing = True
        for _ in self._threads:
            self._tasks.put(None)
        while any(one.is_alive() for one in self._threads):
            for child in self._children:
                child.kill()
            for one in self._threads:
                one.join(0.2)

    def _work(self, child: Child) -> None:
        with child:
            while not self._closing and (task := self._tasks.get()):
                try:
                    self._outcomes.put(run_task(child, self._job, task))
                except Exception as problem:  # such as a process that cannot be started
                    self._outcomes.put(Outcome(task, None, LOST, f"{type(problem).__name__}: {problem}"))
