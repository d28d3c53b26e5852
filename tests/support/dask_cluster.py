"""A Dask cluster of processes that can be killed one by one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType


class DaskCluster:
    """A scheduler on this machine, and as many workers of one thread as are started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workers: list[subprocess.Popen[bytes]] = []
        self._log = (folder / "log").open("ab")
        file = folder / "scheduler.json"
        place = ("--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file))
        self.scheduler = self._start("distributed.cli.dask_scheduler", *place)
        end = time.monotonic() + 60
        while not file.exists() or not file.read_text():
            if time.monotonic() > end or self.scheduler.poll() is not None:
                raise RuntimeError(f"no scheduler: {(folder / 'log').read_text()}")
            time.sleep(0.02)
        self.address: str = json.loads(file.read_text())["address"]

    def __enter__(self) -> DaskCluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()
        self._log.close()

    def add_worker(self) -> subprocess.Popen[bytes]:
        """Start another worker; it need not be ready yet."""
        own = self.folder / f"worker{len(self.workers)}"
        settings = ("--no-nanny", "--nthreads", "1", "--memory-limit", "0", "--local-directory", str(own))
        self.workers.append(self._start("distributed.cli.dask_worker", self.address, *settings))
        return self.workers[-1]

    def await_workers(self) -> None:
        """Wait until all that were started are there."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(sum(one.poll() is None for one in self.workers), timeout=60)

    def _start(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", module, *arguments, "--no-dashboard"]
        return subprocess.Popen(command, stdout=self._log, stderr=self._log, env=dict(os.environ))
