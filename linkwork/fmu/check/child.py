"""The process in which an FMU's library is called: it may crash or hang there without harm.

Run as ``python -P -m linkwork.fmu.check.child``. It is sent the archive, the folder in which it is unpacked, and the
names of checks, and answers with the begin, the findings and the end of each, and at last that it is done.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from linkwork._util.child_pipes import listen, send
from linkwork.fmu.caller.library import NotLoaded
from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.instance import EndlessEvent, EndOfSimulation
from linkwork.fmu.check.registry import Check, all_checks
from linkwork.fmu.check.report import Finding, NotApplicable, error, note

Tell = Callable[[tuple[str, Any]], None]


def main() -> None:
    """Run the checks named."""
    messages, answers = listen()
    path, folder, names = messages.get()
    fmu, known, tell = Fmu(path, folder), all_checks(), partial(send, answers)
    loads = True
    for name in names:
        tell(("begin", name))
        if loads:
            loads = _run(known[name], fmu, tell)
        else:
            tell(("skipped", "the library cannot be loaded"))
    tell(("done", None))


def _run(check: Check, fmu: Fmu, tell: Tell) -> bool:
    """Run one; return False if there is no library to call."""
    try:
        for finding in check.body(fmu):
            tell(("finding", finding))
    except NotApplicable as why:
        tell(("skipped", str(why)))
    except NotLoaded as problem:
        tell(("finding", error(str(problem))))
        return False
    except Exception as problem:  # any error of a call is a finding, not an end
        tell(("finding", _finding(problem)))
    return True


def _finding(problem: Exception) -> Finding:
    if isinstance(problem, EndOfSimulation):
        return note(str(problem))
    if isinstance(problem, EndlessEvent):
        return error("discrete states request another update for ever; let them converge")
    messages = "; ".join(getattr(problem, "__notes__", ()))
    return error(f"{problem or type(problem).__name__}" + (f" The FMU reports: {messages}" if messages else ""))


if __name__ == "__main__":
    main()
