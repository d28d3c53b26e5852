"""The process in which FMUs run: it takes jobs from its standard input and answers on its standard output.

Run as ``python -P -m linkwork.cosim.isolated.child``. What FMUs print goes to standard error. It ends with its parent,
also in the middle of a job and however the parent ended: then the pipe of the jobs is closed.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from pathlib import Path
from typing import Any, BinaryIO

from linkwork.cosim.isolated.breadcrumb import forget
from linkwork.cosim.isolated.job import TO_SINK, Job
from linkwork.cosim.isolated.messages import receive, send
from linkwork.cosim.isolated.reduction import SINKS, Numbers, Passing
from linkwork.errors import LinkworkError


def main() -> None:
    """Do jobs until nobody asks for more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interruption means
    asked, answers = _own_pipes()
    jobs: queue.Queue[Job | Exception] = queue.Queue()
    threading.Thread(target=_listen, args=(asked, jobs), daemon=True).start()
    models: dict[Path, Any] = {}
    while True:
        _do(jobs.get(), answers, models)


def _own_pipes() -> tuple[BinaryIO, BinaryIO]:
    """The pipes to the parent, out of the way of whoever reads standard input or prints."""
    asked, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return asked, answers


def _listen(stream: BinaryIO, jobs: queue.Queue[Job | Exception]) -> None:
    """Take jobs as they come; without a parent there is nothing left to do."""
    while True:
        try:
            jobs.put(receive(stream))
        except (EOFError, OSError):
            os._exit(0)
        except Exception as problem:  # what it names cannot be imported here
            jobs.put(problem)


def _do(job: Job | Exception, answers: BinaryIO, models: dict[Path, Any]) -> None:
    from linkwork.cosim.running import run

    if isinstance(job, Exception):
        send(answers, ("error", f"the job cannot be read: {type(job).__name__}: {job}", *_known_of(None)))
        return
    forget()
    for path in set(models) - {one.fmu for one in job.system.components.values()}:
        del models[path]  # another system begins
    sink = _sink(job.keep, answers)
    try:
        result = run(job.system, **job.settings, sink=sink, models=models)
    except LinkworkError as problem:
        sink.end({})
        send(answers, ("error", str(problem), *_known_of(getattr(problem, "result", None))))
    except Exception as problem:
        import traceback

        traceback.print_exc()
        sink.end({})
        send(answers, ("error", f"{type(problem).__name__}: {problem}", *_known_of(None)))
    else:
        sink.end({})
        send(answers, ("done", *_known_of(result)))
    forget()
    sys.stderr.flush()


def _sink(keep: str, answers: BinaryIO) -> Numbers | Passing:
    if keep == TO_SINK:
        return Passing(lambda message: send(answers, message))
    return Numbers(
        SINKS[keep](
            lambda names, units: send(answers, ("begin", names, units)),
            lambda t, values: send(answers, ("rows", t, values)),
        )
    )


def _known_of(result: Any) -> tuple[Any, ...]:
    """Notices, statistics and events."""
    if result is None:
        return (), {}, ()
    return tuple(result.notices), _plain(result.statistics), tuple(result.events)


def _plain(statistics: Any) -> dict[str, Any]:
    return dict(vars(statistics)) if hasattr(statistics, "__dict__") else dict(statistics)


if __name__ == "__main__":
    main()
