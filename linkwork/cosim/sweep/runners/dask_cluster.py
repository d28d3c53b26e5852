"""Points on the workers of a Dask cluster.

FMUs go to each worker once. Each worker runs its points in children of its own, so that an FMU that crashes leaves the
worker alone; points of a worker that is lost are run by others.
"""

from __future__ import annotations

import contextlib
import copy
import pickle
import queue
import socket
import time
import uuid
from dataclasses import replace
from importlib.metadata import version
from typing import Any

from linkwork._util.many_runs import LOST, Outcome, Task
from linkwork.cosim.isolated.job import Job
from linkwork.cosim.sweep.identity import digest
from linkwork.cosim.sweep.runners.base import Notify
from linkwork.errors import CosimError

CONNECT = 5.0  # s
LONELY = 5.0  # s without workers, after which that is reported
BATCH = 0.2  # s that a batch of points should take: Dask itself takes some milliseconds for each
BATCH_SIZE = 8e6  # bytes that its results may have
MOST = 64  # points in it
LOOK = 1.0  # s between looks at the workers
MUST_AGREE = ("python", "distributed", "dask")


class ClusterRunner:
    """A connection to a scheduler; see `Runner`."""

    def __init__(
        self,
        job: Job,  # the run, without the parameters of a point
        scheduler: str,  # its address, such as ``tcp://192.168.0.5:8786``
        time_limit: float | None,  # the longest that a point may take [s]
        notify: Notify,  # called with each notice
    ) -> None:
        self._notify = notify
        self._client = _connect(scheduler)
        self._address = scheduler
        self._waiting: list[Task] = []  # for a batch to be full
        self._size = 1  # of a batch
        self._sent = 0  # batches
        self._flying: dict[str, tuple[list[Task], Any]] = {}
        self._landed: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._outcomes: list[Outcome] = []
        self._threads, self._looked, self._seen, self._told = 0, 0.0, time.monotonic(), False
        try:
            _check_versions(self._client, scheduler)
            self._shipment = self._ship(job, time_limit)
            self._look()
        except BaseException:
            self._client.close()
            raise

    @property
    def capacity(self) -> int:
        """How many tasks should be running: two batches for each thread of a worker."""
        return 2 * self._size * max(self._threads, 2)

    def submit(self, task: Task) -> None:
        """Take a task."""
        self._waiting.append(task)
        if len(self._waiting) >= self._size:
            self._send()

    def next(self, timeout: float) -> Outcome | None:
        """The outcome of some task; None if there is none in time."""
        if not self._outcomes:
            self._look()
            self._send()
            self._outcomes = self._gather(self._wait(timeout))
        return self._outcomes.pop() if self._outcomes else None

    def _send(self) -> None:
        from linkwork.cosim.sweep.runners.worker import run_shipped

        if not self._waiting:
            return
        self._sent += 1
        key = f"{self._shipment}-{self._sent}"
        future = self._client.submit(run_shipped, self._shipment, self._waiting, key=key, pure=False)
        self._flying[key] = (self._waiting, future)
        self._waiting = []
        future.add_done_callback(lambda done: self._landed.put(done.key))

    def close(self) -> None:
        """End all running tasks."""
        with contextlib.suppress(Exception):  # the scheduler may have gone
            if self._client.status == "running":
                self._client.cancel([future for _, future in self._flying.values()], force=True)
                self._client.unregister_worker_plugin(self._shipment)
        self._flying.clear()
        with contextlib.suppress(Exception):
            self._client.close(timeout=CONNECT)

    # ---- the cluster ------------------------------------------------------------------------------------

    def _ship(self, job: Job, time_limit: float | None) -> str:
        from linkwork.cosim.sweep.runners.worker import Shipment

        components = job.system.components
        files = {name: (one.fmu.name, one.fmu.read_bytes()) for name, one in components.items()}
        content = "-".join(digest(one.fmu)[:8] for one in components.values())
        name = f"linkwork-{content[:35]}-{uuid.uuid4().hex[:8]}"  # one sweep's end is not another's
        self._client.register_plugin(Shipment(name, _without_folders(job), files, time_limit), name=name)
        return name

    def _look(self) -> None:
        """See who is there."""
        now = time.monotonic()
        if now - self._looked < LOOK:
            return
        self._looked = now
        if self._client.status != "running":
            raise CosimError(
                f"the scheduler at {self._address} is gone; finished points are kept, "
                "and the same sweep continues from there"
            )
        try:
            there = self._client.sync(self._client.scheduler.ncores, callback_timeout=CONNECT)
            self._threads = sum(there.values())
        except OSError:
            return  # it reconnects, or its status shows the failure
        if self._threads:
            self._seen, self._told = now, False
        elif now - self._seen > LONELY and not self._told:
            self._notify(f"the scheduler at {self._address} has no workers; waiting: dask worker {self._address}")
            self._told = True

    # ---- answers

    def _wait(self, timeout: float) -> list[str]:
        keys: list[str] = []
        with contextlib.suppress(queue.Empty):
            keys.append(self._landed.get(timeout=timeout))
            while True:
                keys.append(self._landed.get_nowait())
        return keys

    def _gather(self, keys: list[str]) -> list[Outcome]:
        """Fetch all finished answers at once."""
        flown = [self._flying.pop(key) for key in keys if key in self._flying]
        try:
            batches = self._client.gather([future for _, future in flown]) if flown else []
        except Exception:  # some have failed: one by one
            return [outcome for tasks, future in flown for outcome in self._one(tasks, future)]
        return [outcome for batch in batches for outcome in self._unpacked(batch)]

    def _one(self, tasks: list[Task], future: Any) -> list[Outcome]:
        try:
            return self._unpacked(future.result(timeout=30.0))
        except Exception as problem:  # its worker was lost too often, or it cannot be read
            return [Outcome(task, None, LOST, f"{type(problem).__name__}: {problem}") for task in tasks]

    def _unpacked(self, batch: bytes) -> list[Outcome]:
        """The outcomes of a batch; the next ones get a size by what this one took."""
        seconds, outcomes = pickle.loads(batch)
        count = len(outcomes)
        self._size = max(1, int(min(BATCH * count / max(seconds, 1e-6), BATCH_SIZE * count / len(batch), MOST)))
        found: list[Outcome] = outcomes
        return found


def _connect(scheduler: str) -> Any:
    try:
        from distributed import Client
        from distributed.comm.addressing import get_address_host_port
    except ImportError as missing:
        raise CosimError("clusters need Dask: pip install 'linkwork[sweep]'") from missing
    try:
        # A client that finds nobody takes long to go: see first whether there is somebody.
        socket.create_connection(get_address_host_port(scheduler), CONNECT).close()
        client: Any = Client
        return client(scheduler, timeout=CONNECT, set_as_default=False, name="linkwork-sweep")
    except Exception as problem:  # OSError, TimeoutError, ValueError, CommClosedError, ...
        raise CosimError(
            f"no scheduler answers at {scheduler} ({type(problem).__name__}: {problem}); "
            "start one with 'dask scheduler' and give the address that it prints, such as tcp://192.168.0.5:8786"
        ) from problem


def _check_versions(client: Any, scheduler: str) -> None:
    """See that all can talk to each other, and give the same results."""
    from linkwork.cosim.sweep.runners.worker import version_here

    found = client.get_versions(check=False)
    ours = _packages(found["client"])
    others = {f"the scheduler at {scheduler}": found["scheduler"], **found["workers"]}
    for where, theirs in others.items():
        if theirs and _packages(theirs) != ours:
            raise CosimError(f"{where} has {_packages(theirs)}, this process {ours}; install the same versions")
    try:
        workers = client.run(version_here)
    except Exception as problem:
        raise CosimError(
            f"workers at {scheduler} cannot load linkwork ({type(problem).__name__}: {problem}); "
            "install it there: pip install 'linkwork[sweep]'"
        ) from problem
    for where, theirs in workers.items():
        if theirs != version("linkwork"):
            raise CosimError(
                f"the worker {where} has linkwork {theirs}, this process {version('linkwork')}; install the same there"
            )


def _packages(one: Any) -> dict[str, str]:
    """Versions that must agree; of Python the minor one."""
    packages = {**one["packages"], "python": ".".join(str(one["packages"]["python"]).split(".")[:2])}
    return {name: str(packages.get(name)) for name in MUST_AGREE}


def _without_folders(job: Job) -> Job:
    """A job whose description can be sent anywhere."""
    return replace(job, system=copy.deepcopy(job.system))
