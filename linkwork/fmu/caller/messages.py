"""Messages of FMUs, brought to the instance that logs them.

The logger of FMI 2.0 takes arguments as printf does, which only C can read. FMPy's proxy formats them, but passes all
messages to the callback that was set last, for any FMU. So there is one callback here, which lives as long as the
process. It prints messages of FMUs that FMPy runs with its own logger, as that logger does.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
from collections.abc import Callable, MutableSequence
from functools import cache
from typing import Any

STATUS = ("ok", "warning", "discard", "error", "fatal", "pending")

_listeners: dict[int, Listener] = {}
_numbers = itertools.count(1)


class Listener:
    """Collects the messages of an instance of FMI 2.0 until it is closed; pass `callbacks` to the instance.

    `plain`: messages have no arguments, and a percent sign is part of the text, as in those of PythonFMU. `least` is
    the lowest status of a message that is collected.
    """

    def __init__(self, name: str, messages: MutableSequence[str], *, plain: bool = False, least: int = 1) -> None:
        self.name = name.encode()
        self.messages, self.least = messages, least
        self.number = next(_numbers)
        self.callbacks = _callback_functions()
        self.callbacks.componentEnvironment = self.number
        if not plain:
            _add_proxy(self.callbacks)
        _listeners[self.number] = self

    def close(self) -> None:
        """Stop collecting."""
        _listeners.pop(self.number, None)


def log_message(messages: MutableSequence[str], *, least: int = 1) -> Callable[[Any, int, bytes, bytes | None], None]:
    """Return the logger of an instance of FMI 3.0."""

    def log(_environment: Any, status: int, _category: bytes, message: bytes | None) -> None:
        if status >= least:
            messages.append(_text(message))

    return log


def _print(*arguments: Any) -> None:
    from fmpy import fmi1

    fmi1.printLogMessage(*arguments)


def _text(message: bytes | None) -> str:
    return (message or b"").decode(errors="replace").strip()


def _add_proxy(callbacks: Any) -> None:
    with contextlib.suppress(Exception):  # on some platforms FMPy has no proxy; the texts come without arguments there
        from fmpy.logging import addLoggerProxy

        addLoggerProxy(ctypes.byref(callbacks))


def _log(environment: int | None, name: bytes | None, status: int, category: Any, message: bytes | None) -> None:
    listener = _listeners.get(environment or 0)
    if listener is None or (name and listener.name != name):  # some FMUs pass another environment than they were given
        listener = next((one for one in reversed(_listeners.values()) if one.name == name), listener)
    if listener is None and not environment:
        _print(environment, name or b"", status, category or b"", message or b"")
    elif listener and status >= listener.least:
        text = _text(message)
        listener.messages.append(text if status < len(STATUS) else f"{text} (status {status})")


@cache
def _functions() -> tuple[Any, Any, Any]:
    """Logger, allocation and release; they live as long as the process."""
    from fmpy import calloc, fmi2, free

    return (
        fmi2.fmi2CallbackLoggerTYPE(_log),
        fmi2.fmi2CallbackAllocateMemoryTYPE(calloc),
        fmi2.fmi2CallbackFreeMemoryTYPE(free),
    )


def _callback_functions() -> Any:
    from fmpy import fmi2

    callbacks = fmi2.fmi2CallbackFunctions()
    callbacks.logger, callbacks.allocateMemory, callbacks.freeMemory = _functions()
    return callbacks
