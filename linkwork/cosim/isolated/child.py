"""The process in which FMUs run: it does one job after another.

Run as ``python -P -m linkwork.cosim.isolated.child``.
"""

from __future__ import annotations

import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from linkwork._util.child_pipes import listen, send
from linkwork.cosim.isolated.call_record import forget
from linkwork.cosim.isolated.job import Job
from linkwork.cosim.isolated.run_summary import SINKS
from linkwork.cosim.running.interruption import interrupt
from linkwork.errors import LinkworkError


def main() -> None:
    """Do jobs until nobody asks for more."""
    jobs, answers = listen(interrupt)
    _get_ready()
    models: dict[Path, Any] = {}
    while True:
        _do(jobs.get(), answers, models)


def _get_ready() -> None:
    """Load what jobs need before the first one comes."""
    with suppress(ImportError):  # the job will name the missing package
        import fmpy.fmi2
        import fmpy.fmi3  # noqa: F401


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
