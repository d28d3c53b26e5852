"""Ctrl-C while FMUs are called.

An FMU that is written in Python takes a KeyboardInterrupt for a failure of its own, and one within a callback is lost:
so the first Ctrl-C is only noted, and asked for between steps. The second one interrupts at once. A process that has no
keyboard is interrupted by `interrupt`.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType


class Interruption:
    """Notes Ctrl-C while it is entered, where that would raise KeyboardInterrupt otherwise.

    `told` is called when that happens.
    """

    def __init__(self, told: Callable[[], None] | None = None) -> None:
        self.asked = False
        self._told = told
        self._ours = False

    def __enter__(self) -> Interruption:
        main = threading.current_thread() is threading.main_thread()
        self._ours = main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._ours:
            signal.signal(signal.SIGINT, self._note)
        _entered.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _entered.remove(self)
        if self._ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def check(self) -> None:
        """Interrupt if that was asked for."""
        if self.asked:
            raise KeyboardInterrupt

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            signal.default_int_handler(number, frame)
        self.asked = True
        if self._told:
            self._told()


_entered: list[Interruption] = []


def interrupt() -> None:
    """End all runs of this process, from any thread, as a first Ctrl-C does."""
    for one in list(_entered):
        one.asked = True
