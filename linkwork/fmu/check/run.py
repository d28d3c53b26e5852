"""Checks an FMU: static checks here; others in processes of their own, where a crash or a hang is a finding."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from linkwork._util.child_process import ChildProcess
from linkwork._util.keywords import checks_keywords
from linkwork._util.progress import Progress, ProgressOption
from linkwork.errors import FmuError
from linkwork.fmu.check.fmu import Fmu, unpack
from linkwork.fmu.check.registry import Check, choose
from linkwork.fmu.check.report import NotApplicable, Outcome, Report, error

TIME_LIMIT = 60.0  # s, of a single check


@checks_keywords
def check_fmu(
    path: str | os.PathLike[str],
    *,
    only: Iterable[str] | None = None,
    skip: Iterable[str] | None = None,
    time_limit: float = TIME_LIMIT,
    progress: ProgressOption = None,
) -> Report:
    """Check any FMU of FMI 2.0 or 3.0: its archive, its model description and the behaviour of its library.

    Parameters
    ----------
    path
        The FMU.
    only, skip
        Names of checks to run, or to leave out.
    time_limit
        The longest a single check may take [s]; a crash or a hang of the FMU is a finding, and the others continue.
    progress
        Show progress on standard error; a function gets each `ProgressUpdate` instead. Default: only on a terminal.

    Returns
    -------
    Report
        The findings of each check; `report.passed` is True if there is no error, and `print(report)` shows all.
    """
    checks = choose(only, skip)
    if not time_limit > 0:
        raise FmuError(f"time_limit is {time_limit!r}; give a positive number of seconds")
    if any(one.needs_fmpy for one in checks) and importlib.util.find_spec("fmpy") is None:
        raise FmuError("checking an FMU needs FMPy: pip install 'linkwork[fmu]'")
    with tempfile.TemporaryDirectory(prefix="linkwork-check-", ignore_cleanup_errors=True) as folder:
        fmu = unpack(Path(path), Path(folder).resolve())
        report = Report(str(path))
        with Progress(progress) as shown:
            _run_all(fmu, checks, report, time_limit, shown)
    return report


def _run_all(fmu: Fmu, checks: list[Check], report: Report, limit: float, progress: Progress) -> None:
    here, dynamic_ones = ([one for one in checks if one.dynamic is dynamic] for dynamic in (False, True))
    essential = [one for one in here if one.essential]
    report.outcomes += [_run_here(one, fmu, progress) for one in essential]
    unreadable = _unreadable(fmu)
    if unreadable:
        report.outcomes[-1].findings.append(error(unreadable))
        report.outcomes += [Outcome(one.name, skipped="nothing to read") for one in checks if not one.essential]
        return
    report.version = fmu.description.version
    report.outcomes += [_run_here(one, fmu, progress) for one in here if not one.essential]
    if dynamic_ones and not (fmu.description.fmi2 or fmu.description.fmi3):
        report.outcomes += [Outcome(one.name, skipped="not of FMI 2.0 or 3.0") for one in dynamic_ones]
    else:
        report.outcomes += run_in_processes(fmu, [one.name for one in dynamic_ones], limit, progress)


def _unreadable(fmu: Fmu) -> str | None:
    """Return the reason why the model description cannot be read, if so."""
    try:
        if fmu.root.tag != "fmiModelDescription":
            return f"modelDescription.xml begins with {fmu.root.tag!r}, not fmiModelDescription"
    except OSError:
        return "without modelDescription.xml nothing else can be checked"
    except ElementTree.ParseError as problem:
        return f"modelDescription.xml is no XML that can be read: {problem}"
    return None


def _run_here(check: Check, fmu: Fmu, progress: Progress) -> Outcome:
    progress.show(check.name)
    outcome = Outcome(check.name)
    try:
        for finding in check.body(fmu):
            outcome.findings.append(finding)
    except NotApplicable as why:
        outcome.skipped = str(why)
    return outcome


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
