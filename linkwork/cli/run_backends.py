"""Ways to run a plan of the command line: in this process, or in one of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from linkwork._util.progress import Progress
from linkwork.cosim.recording.result import Result
from linkwork.cosim.recording.tee import Tee
from linkwork.errors import CosimError

if TYPE_CHECKING:
    from linkwork.cli.run_plan import Plan
    from linkwork.cosim.isolated.parent import Child

RunOutcome = tuple[Result, CosimError | None]


def in_process(plan: Plan, tee: Tee, *, quiet: bool) -> RunOutcome:
    """Run here."""
    from linkwork.cosim.running import run as run_system

    return _outcome(
        plan,
        lambda: run_system(plan.system, **plan.settings, sink=tee, progress=False if quiet else None),
    )


def isolated(child: Child, plan: Plan, tee: Tee, *, quiet: bool) -> RunOutcome:
    """Run in a process of its own, from which rows come as they are made."""
    from linkwork.cosim.isolated.job import Job

    with Progress(False if quiet else None, plan.t_start, plan.t_end) as shown:
        tee.watch = shown.reach
        result, problem = _outcome(plan, lambda: child.run(Job(plan.system, plan.settings), tee))
    try:
        tee.end(result.about())
    except CosimError as another:
        problem = problem or another
    return result, problem


def _outcome(plan: Plan, work: Callable[[], Result]) -> RunOutcome:
    nothing = Result(plan.system.name, [], {}, aborted=True)
    try:
        return work(), None
    except KeyboardInterrupt:
        return nothing, None
    except CosimError as problem:
        return problem.result if isinstance(problem.result, Result) else nothing, problem
