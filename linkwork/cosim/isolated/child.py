"""The process in which FMUs run: it takes jobs from its standard input and answers on its standard output.

Run as ``python -P -m linkwork.cosim.isolated.child``. What FMUs print goes to standard error. It ends with its parent,
also in the middle of a job and however the parent ended: then the pipe of the jobs is closed.
"""

from __future__ import annotations

import os
import queue
import shutil
import signal
import sys
import threading
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from linkwork.cosim.isolated.call_record import forget
from linkwork.cosim.isolated.job import Job
from linkwork.cosim.isolated.messages import STOP, receive, send
from linkwork.cosim.isolated.run_summary import SINKS
from linkwork.cosim.running.interruption import interrupt
from linkwork.errors import LinkworkError

FOLDER = "LINKWORK_CHILD_FOLDER"  # of the environment: what the parent made for this process


def main() -> None:
    """Do jobs until nobody asks for more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interruption means
    asked, answers = _own_pipes()
    jobs: queue.Queue[Job | Exception] = queue.Queue()
    threading.Thread(target=_listen, args=(asked, jobs, os.environ.pop(FOLDER, None)), daemon=True).start()
    _get_ready()
    models: dict[Path, Any] = {}
    while True:
        _do(jobs.get(), answers, models)


def _own_pipes() -> tuple[BinaryIO, BinaryIO]:
    """The pipes to the parent, separate from standard input and output."""
    asked, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return asked, answers


def _get_ready() -> None:
    """Load what jobs need before the first one comes."""
    with suppress(ImportError):  # the job will name the missing package
        import fmpy.fmi2
        import fmpy.fmi3  # noqa: F401


def _listen(stream: BinaryIO, jobs: queue.Queue[Job | Exception], folder: str | None) -> None:
    """Take jobs as they come; without a parent there is nothing left to do."""
    while True:
        try:
            message = receive(stream)
            if message == STOP:
                interrupt()
            else:
                jobs.put(message)
        except (EOFError, OSError):
            if folder:
                shutil.rmtree(folder, ignore_errors=True)  # a parent that was killed cannot
            os._exit(0)
        except Exception as problem:  # what it names cannot be imported here
            jobs.put(problem)


def _do(job: Job | Exception, answers: BinaryIO, models: dict[Path, Any]) -> None:
    from linkwork.cosim.running import run

    if isinstance(job, Exception):
        send(answers, ("error", (f"the job cannot be read: {type(job).__name__}: {job}", None)))
        return
    forget()
    for path in set(models) - {one.fmu for one in job.system.components.values()}:
        del models[path]  # another system begins
    sink = SINKS[job.keep](lambda kind, content: send(answers, (kind, content)))
    if not job.outlive:
        sink.memory = None  # type: ignore[method-assign,assignment]
    try:
        result = run(job.system, **job.settings, progress=False, sink=sink, models=models)
        send(answers, ("done", result.about()))
    except LinkworkError as problem:
        so_far = getattr(problem, "result", None)
        send(answers, ("error", (str(problem), so_far.about() if so_far else None)))
    except Exception as problem:
        traceback.print_exc()
        send(answers, ("error", (f"{type(problem).__name__}: {problem}", None)))
    forget()
    sys.stderr.flush()


if __name__ == "__main__":
    main()
