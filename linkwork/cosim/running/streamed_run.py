"""A run whose rows go to files as they come, in this process or in one of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from linkwork._util.progress import Progress
from linkwork.cosim.recording.result import Result
from linkwork.cosim.recording.sink import SUFFIXES
from linkwork.cosim.recording.sink_choice import open_sink
from linkwork.cosim.recording.tee import Tee
from linkwork.cosim.running.outcome import Outcome, Plan
from linkwork.cosim.running.preparation import models_of, scenes_of
from linkwork.cosim.running.run_system import run
from linkwork.errors import CosimError
from linkwork.results.base import PAGES, PICTURES

if TYPE_CHECKING:
    from linkwork.cosim.isolated.parent import Child

_Found = tuple[Result, CosimError | None]


def run_to_files(plan: Plan, paths: Sequence[Path], child: Child | None, *, quiet: bool) -> Outcome:
    """Run a plan in a child process, or without one here, and write its files, also of a run that ended early."""
    streamed = [path for path in paths if path.suffix.lower() in SUFFIXES]
    later = [path for path in paths if path not in streamed]
    tee = Tee(plan.kept if later else (), open_sink(streamed) if streamed else None)
    found, problem = _isolated(child, plan, tee, quiet) if child else _here(plan, tee, quiet)
    wall = time.perf_counter() - tee.started if tee.started is not None else 0.0
    if tee.reached is not None:
        kept = tee.kept(found)
        for path in later:
            if path.suffix.lower() in PAGES:
                kept.scenes = scenes_of(models_of(plan.system, None))
            kept.save(path, plan.columns if path.suffix.lower() in PICTURES else None)
    return Outcome(plan, found, tee, wall, problem, list(paths) if tee.last else [])


def _here(plan: Plan, tee: Tee, quiet: bool) -> _Found:
    progress = False if quiet else None
    return _caught(plan, lambda: run(plan.system, **plan.settings, sink=tee, progress=progress))


def _isolated(child: Child, plan: Plan, tee: Tee, quiet: bool) -> _Found:
    """Run in a process of its own, from which rows come as they are made."""
    from linkwork.cosim.isolated.job import Job

    with Progress(False if quiet else None, plan.t_start, plan.t_end) as shown:
        tee.watch = shown.reach
        result, problem = _caught(plan, lambda: child.run(Job(plan.system, plan.settings), tee))
    try:
        tee.end(result.about())
    except CosimError as another:
        problem = problem or another
    return result, problem


def _caught(plan: Plan, work: Callable[[], Result]) -> _Found:
    nothing = Result(plan.system.name, [], {}, aborted=True)
    try:
        return work(), None
    except KeyboardInterrupt:
        return nothing, None
    except CosimError as problem:
        return problem.result if isinstance(problem.result, Result) else nothing, problem
