"""Runs dynamic checks in processes of their own: a crash or a hang is a finding, and the others continue."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

from linkwork._util.child_process import ChildProcess
from linkwork._util.progress import Progress
from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.report import Outcome, error

# Of the time limit, for each check after one in which the FMU hung: others will call the same function.
_AFTER_A_HANG = 0.05


def run_in_processes(fmu: Fmu, names: Sequence[str], limit: float, progress: Progress) -> list[Outcome]:
    """Run checks by name in other processes; `limit` is the longest a single one may take, in seconds.

    After a hang the others have a small part of it; what they do not finish in that time is left open.
    """
    outcomes: list[Outcome] = []
    hung = False
    with ChildProcess("linkwork.fmu.check.child") as child:
        while len(outcomes) < len(names):
            rest = names[len(outcomes) :]
            more = _one_process(child, fmu, rest, limit * (_AFTER_A_HANG if hung else 1.0), progress)
            if hung and child.late:
                more[-1].findings.pop()
                more[-1].skipped = f"given up after {_AFTER_A_HANG * limit:g} s, because the FMU hangs in another check"
            outcomes += more
            hung |= child.late
    return outcomes


def _one_process(
    child: ChildProcess, fmu: Fmu, names: Sequence[str], limit: float, progress: Progress
) -> list[Outcome]:
    """Run until the end, the first crash or the first hang; return the outcomes, at least one."""
    outcomes: list[Outcome] = []
    done = False
    child.start(fmu.folder)
    for kind, content in _answers(child, (fmu.path.absolute(), fmu.folder, names), limit):
        if kind == "begin":
            progress.show(content)
            outcomes.append(Outcome(content))
        elif kind == "skipped":
            outcomes[-1].skipped = content
        elif kind == "finding":
            outcomes[-1].findings.append(content)
        else:
            done = True
    with child.limited(limit):
        code = child.wait()
    if code or not done:
        outcomes = outcomes or [Outcome(names[0])]
        outcomes[-1].findings.append(error(_how_it_ended(child, limit)))
    return outcomes


def _answers(child: ChildProcess, job: object, limit: float) -> Iterator[tuple[str, Any]]:
    """What it answers until it ends."""
    with contextlib.suppress(EOFError, OSError):
        child.send(job)
        while True:
            with child.limited(limit):
                answer = child.receive()
            yield answer


def _how_it_ended(child: ChildProcess, limit: float) -> str:
    found = re.search(r" in (fmi[23]\w+)", child.output())
    where = f" in {found[1]}" if found else ""
    if child.late:
        return f"the FMU hangs{where}: no answer within {limit:g} s; --time-limit gives it more"
    return f"the FMU {child.how_it_ended(where)}"
