"""What a worker of a cluster has: the FMUs of a sweep, and children that run them.

It comes to each worker once, to those that join later too, as a plugin of the scheduler's.
"""

from __future__ import annotations

import pickle
import queue
import shutil
import threading
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from distributed import WorkerPlugin, get_worker

from linkwork._util.many_runs import LOST, Outcome, Task
from linkwork.cosim.isolated.job import Job
from linkwork.cosim.isolated.parent import Child
from linkwork.cosim.sweep.runners.base import run_task

IDLE = 60.0  # s after which a child that nobody asks ends


class Shipment(WorkerPlugin):
    """FMUs, and the run to be done with them."""

    def __init__(
        self,
        name: str,  # of its own among all shipments
        job: Job,  # the run, without the parameters of a point
        files: Mapping[str, tuple[str, bytes]],  # for each component its FMU's file name and content
        time_limit: float | None,  # the longest that a point may take [s]
    ) -> None:
        self.name = name
        self._version = version("linkwork")
        self._job = pickle.dumps(job)  # read where it is used
        self._files = dict(files)
        self._time_limit = time_limit

    def setup(self, worker: Any) -> None:
        """Write the FMUs to a folder; called by the worker."""
        self._folder = Path(worker.local_directory) / self.name
        self._children: queue.SimpleQueue[tuple[float, Child]] = queue.SimpleQueue()
        self._over = threading.Event()
        job: Job = pickle.loads(self._job)
        for number, (component, (name, content)) in enumerate(self._files.items()):
            path = self._folder / str(number) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            job.system.components[component].fmu = path
        self._ready = job
        self._files = {}  # they are on the disk
        threading.Thread(target=self._tidy, daemon=True).start()

    def teardown(self, worker: Any) -> None:
        """The sweep is over, or the worker is; called by the worker."""
        self._over.set()
        self._end_idle(0.0)
        shutil.rmtree(self._folder, ignore_errors=True)

    def run(self, task: Task) -> Outcome:
        """Run a point in a child that is free."""
        if version("linkwork") != self._version:
            text = f"a worker has linkwork {version('linkwork')}, the sweep {self._version}; install the same there"
            return Outcome(task, None, LOST, text)
        try:
            _, child = self._children.get_nowait()
        except queue.Empty:
            child = Child(time_limit=self._time_limit)
        try:
            return run_task(child, self._ready, task)
        finally:
            self._children.put((time.monotonic(), child))
            if self._over.is_set():
                self._end_idle(0.0)

    def _tidy(self) -> None:
        while not self._over.wait(IDLE / 4):
            self._end_idle(IDLE)

    def _end_idle(self, longer: float) -> None:
        for _ in range(self._children.qsize()):
            try:
                since, child = self._children.get_nowait()
            except queue.Empty:
                return
            if time.monotonic() - since >= longer:
                child.close()
            else:
                self._children.put((since, child))


def run_shipped(name: str, tasks: Sequence[Task]) -> bytes:
    """Run points on the worker that calls this; return pickled how long it took [s] and the outcomes."""
    worker, begin = get_worker(), time.monotonic()
    shipment = worker.plugins.get(name)
    if isinstance(shipment, Shipment):
        outcomes = [shipment.run(task) for task in tasks]
    else:
        text = f"the worker {worker.address} has not got the FMUs; its log has the reason"
        outcomes = [Outcome(task, None, LOST, text) for task in tasks]
    return pickle.dumps((time.monotonic() - begin, outcomes), protocol=5)  # one piece: Dask is slow with many


def version_here() -> str:
    """The version of linkwork on the worker that calls this."""
    return version("linkwork")
