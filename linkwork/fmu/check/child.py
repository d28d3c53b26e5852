"""The process in which an FMU's library is called: it may crash or hang there without harm.

Run as ``python -m linkwork.fmu.check.child ARCHIVE FOLDER NAME...``. It writes a line of JSON for each begin, finding
and end; the output of the FMU goes to standard error.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from linkwork.fmu.caller.library import NotLoaded
from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.instance import EndlessEvent, EndOfSimulation
from linkwork.fmu.check.registry import Check, all_checks
from linkwork.fmu.check.report import NotApplicable


def main(arguments: Sequence[str]) -> None:
    """Run the checks named."""
    own = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # the output of the FMU does not belong among the findings
    faulthandler.enable()
    fmu, known = Fmu(Path(arguments[0]), Path(arguments[1])), all_checks()
    loads = True
    for name in arguments[2:]:
        _report(own, begin=name)
        if loads:
            loads = _run(known[name], fmu, own)
        else:
            _report(own, skipped="the library cannot be loaded")
        _report(own, end=name)


def _run(check: Check, fmu: Fmu, out: IO[str]) -> bool:
    """Run one; return False if there is no library to call."""
    try:
        for finding in check.body(fmu):
            _report(out, level=finding.level, text=finding.text)
    except NotApplicable as why:
        _report(out, skipped=str(why))
    except NotLoaded as problem:
        _report(out, level="error", text=str(problem))
        return False
    except EndOfSimulation as end:
        _report(out, level="note", text=str(end))
    except EndlessEvent:
        _report(out, level="error", text="discrete states request another update for ever; let them converge")
    except Exception as problem:  # any error of a call is a finding, not an end
        messages = "; ".join(getattr(problem, "__notes__", ()))
        _report(
            out,
            level="error",
            text=f"{problem or type(problem).__name__}" + (f" The FMU reports: {messages}" if messages else ""),
        )
    return True


def _report(out: IO[str], **line: Any) -> None:
    out.write(json.dumps(line) + "\n")
    out.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
