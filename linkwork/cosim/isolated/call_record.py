"""Where a run is: which call of which instance at what time, kept in memory that outlives the process.

`note` is called before each call of an FMU. In a child (`isolated.child`) it writes to a file that the parent reads
after a crash; elsewhere to memory that nobody reads.
"""

from __future__ import annotations

import mmap
import os
import struct
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import NamedTuple

VARIABLE = "LINKWORK_BREADCRUMB"  # of the environment: the file, set by the parent alone
_LAYOUT = struct.Struct("=iid")  # instance, call, time


class Call(IntEnum):
    """The calls of an FMU that are distinguished, by one name for all versions."""

    load = 0
    instantiate = 1
    setupExperiment = 2
    enterInitializationMode = 3
    exitInitializationMode = 4
    set = 5
    get = 6
    doStep = 7
    getDerivatives = 8
    getState = 9
    setState = 10
    freeState = 11
    enterEventMode = 12
    updateDiscreteStates = 13
    enterStepMode = 14
    terminate = 15
    reset = 16
    freeInstance = 17
    configure = 18


class Place(NamedTuple):
    """An instance by its position in `System.components`, the call, and the time [s]."""

    instance: int
    call: Call
    t: float


def _buffer() -> mmap.mmap | bytearray:
    path = os.environ.pop(VARIABLE, None)  # what an FMU starts is not to write there
    if path is None:
        return bytearray(_LAYOUT.size)
    with open(path, "r+b") as file:
        return mmap.mmap(file.fileno(), _LAYOUT.size)


#: ``note(instance, call, t)``; no Python runs in it, so it takes a tenth of a microsecond.
note = partial(_LAYOUT.pack_into, _buffer(), 0)


def forget() -> None:
    """Record that no FMU is being called."""
    note(-1, 0, 0.0)


def write_nowhere(path: Path) -> None:
    """Prepare a file for a child."""
    path.write_bytes(_LAYOUT.pack(-1, 0, 0.0))


def last_place(path: Path) -> Place | None:
    """Read where a child has been last; None if no FMU had been called."""
    instance, call, t = _LAYOUT.unpack(path.read_bytes())
    return None if instance < 0 else Place(instance, Call(call), t)
