"""What FMUs of FMI 2.0 say, brought to the instance that says it.

Their logger takes arguments as printf does, which only C can read. FMPy's proxy does so, but passes all on to the one
callback that it was given last, whosever that is: so there is one callback here, which lives as long as the process.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
from collections import deque
from typing import Any

from fmpy import calloc, fmi2, free

from linkwork.cosim.fmu.instance import STATUS

_listening: dict[int, LoopStep] = {}
_numbers = itertools.count(1)


class LoopStep:
    """Takes the messages of an instance until it is closed.

    `plain`: they have no arguments, and a percent sign in them is one. Those of PythonFMU are so.
    """

    def __init__(self, name: str, messages: deque[str], *, plain: bool = False) -> None:
        self.name = name.encode()
        self.messages = messages
        self.number = next(_numbers)
        self.callbacks = fmi2.fmi2CallbackFunctions()
        self.callbacks.logger = _CALLBACK
        self.callbacks.allocateMemory = _ALLOCATE
        self.callbacks.freeMemory = _FREE
        self.callbacks.componentEnvironment = self.number
        if not plain:
            _add_proxy(self.callbacks)
        _listening[self.number] = self

    def close(self) -> None:
        """Listen no more."""
        _listening.pop(self.number, None)


def _add_proxy(callbacks: Any) -> None:
    with contextlib.suppress(Exception):  # FMPy has no proxy for some platforms; arguments stay out of texts there
        from fmpy.logging import addLoggerProxy

        addLoggerProxy(ctypes.byref(callbacks))


def _log(environment: int | None, name: bytes | None, status: int, _category: Any, message: bytes | None) -> None:
    if status <= 0:
        return
    ear = _listening.get(environment or 0)
    if ear is None or (name and ear.name != name):  # an FMU may hand over another environment than it was given
        ear = next((one for one in reversed(_listening.values()) if one.name == name), ear)
    if ear:
        text = (message or b"").decode(errors="replace").strip()
        ear.messages.append(text if status < len(STATUS) else f"{text} (status {status})")


_CALLBACK = fmi2.fmi2CallbackLoggerTYPE(_log)
_ALLOCATE = fmi2.fmi2CallbackAllocateMemoryTYPE(calloc)
_FREE = fmi2.fmi2CallbackFreeMemoryTYPE(free)
