"""Memory over many instances."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.instance import enter, new_instance, runnable, start
from linkwork.fmu.check.registry import check
from linkwork.fmu.check.report import Finding, NotApplicable, note

_CYCLES, _WARM_UP, _LONGEST = 200, 50, 20.0
_ALLOWED = 4096  # bytes of an instance
_STATISTICS = Path("/proc/self/statm")


@check("memory", "memory stays flat while instances come and go", dynamic=True)
def memory(fmu: Fmu) -> Iterator[Finding]:
    """Make, start and free instances, and look at what the process holds."""
    if not _STATISTICS.exists():
        raise NotApplicable("this system does not report the memory of a process")
    for kind in runnable(fmu, "ME", "CS"):
        instance, began = new_instance(fmu, kind), time.monotonic()
        before = count = 0
        for cycle in range(_CYCLES):
            if cycle == _WARM_UP:
                before = _held()
            enter(instance)
            start(instance)
            instance.release()
            instance.instantiate()
            instance.messages.clear()
            count = cycle - _WARM_UP
            if time.monotonic() - began > _LONGEST:
                break
        grown = (_held() - before) / count if count > 0 else 0.0
        instance.free()
        if grown > _ALLOWED:
            yield note(f"{kind}: each instance leaves {grown / 1024:.0f} kB behind; free all that it was given")


def _held() -> int:
    return int(_STATISTICS.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
