"""Runs dynamic checks in processes of their own: a crash or a hang is a finding, and the others continue."""

from __future__ import annotations

import contextlib
import json
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from typing import IO, Any

from linkwork._util.progress import Progress
from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.report import Finding, Outcome, error

# Of the time limit, for each check after one in which the FMU hung: others will call the same function.
_AFTER_A_HANG = 0.05


def run_in_processes(fmu: Fmu, names: Sequence[str], limit: float, progress: Progress) -> list[Outcome]:
    """Run checks by name in other processes; `limit` is the longest a single one may take, in seconds.

    After a hang the others have a small part of it; what they do not finish in that time is left open.
    """
    outcomes: list[Outcome] = []
    hung = False
    while len(outcomes) < len(names):
        rest = names[len(outcomes) :]
        more, hangs = _one_process(fmu, rest, limit * (_AFTER_A_HANG if hung else 1.0), progress)
        if hung and hangs:
            more[-1].findings.pop()
            more[-1].skipped = f"given up after {_AFTER_A_HANG * limit:g} s, because the FMU hangs in another check"
        outcomes += more
        hung |= hangs
    return outcomes


def _one_process(fmu: Fmu, names: Sequence[str], limit: float, progress: Progress) -> tuple[list[Outcome], bool]:
    """Run until the end or the first crash; return the outcomes, at least one, and whether the last one hung."""
    # -P: nothing is imported from the folder in which it stands.
    command = [
        sys.executable,
        "-P",
        "-m",
        "linkwork.fmu.check.child",
        str(fmu.path.absolute()),
        str(fmu.folder),
        *names,
    ]
    outcomes: list[Outcome] = []
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, encoding="utf-8", cwd=fmu.folder)
        try:
            ended = _listen(process, outcomes, limit, progress)
        finally:
            with contextlib.suppress(OSError):
                process.kill()
            process.wait()
        if ended and process.returncode == 0:
            return outcomes, False
        if not outcomes:
            outcomes.append(Outcome(names[0]))
        outcomes[-1].findings.append(error(_how_it_ended(process.returncode, ended, limit, said)))
    return outcomes, not ended


def _listen(process: subprocess.Popen[str], outcomes: list[Outcome], limit: float, progress: Progress) -> bool:
    """Gather its output; return False if it hung."""
    lines: queue.Queue[str | None] = queue.Queue()
    threading.Thread(target=_read, args=(process.stdout, lines), daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=limit)
        except queue.Empty:
            _abort(process)
            return False
        if line is None:
            process.wait()
            return True
        _note(json.loads(line), outcomes, progress)


def _read(stream: IO[str], lines: queue.Queue[str | None]) -> None:
    for line in stream:
        lines.put(line)
    lines.put(None)


def _note(line: dict[str, Any], outcomes: list[Outcome], progress: Progress) -> None:
    if "begin" in line:
        progress.show(line["begin"])
        outcomes.append(Outcome(line["begin"]))
    elif "skipped" in line:
        outcomes[-1].skipped = line["skipped"]
    elif "level" in line:
        outcomes[-1].findings.append(Finding(line["level"], line["text"]))


def _abort(process: subprocess.Popen[str]) -> None:
    """End a process that hangs so that it still reports where it was."""
    process.send_signal(signal.SIGABRT if sys.platform != "win32" else signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5)


def _how_it_ended(code: int, ended: bool, limit: float, said: IO[str]) -> str:
    said.seek(0)
    found = re.search(r" in (fmi[23]\w+)", said.read())
    where = f" in {found[1]}" if found else ""
    if not ended:
        return f"the FMU hangs{where}: no answer within {limit:g} s; --time-limit gives it more"
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"the FMU crashed{where} with {signal.Signals(-code).name}"
    return f"the FMU ended the process{where} with exit code {code}"
