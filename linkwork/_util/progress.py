"""A line on standard error that tells how far a long run has come."""

from __future__ import annotations

import sys
import time
from types import TracebackType


class Progress:
    """Shows the time that a run from `start` to `end` has reached, from its second second on.

    `wanted` None means: on a terminal only.
    """

    def __init__(self, wanted: bool | None, start: float, end: float) -> None:
        self.wanted = sys.stderr.isatty() if wanted is None else wanted
        self._start, self._end = start, end
        self._next = time.monotonic() + 1.0
        self._shown = False

    def __enter__(self) -> Progress:
        return self

    def show(self, t: float) -> None:
        """Tell that the run is at time t."""
        if not self.wanted or time.monotonic() < self._next:
            return
        part = (t - self._start) / (self._end - self._start)
        sys.stderr.write(f"\r  {part:6.1%}  t = {t:.6g} s of {self._end:.6g} s ")
        sys.stderr.flush()
        self._next = time.monotonic() + 0.2
        self._shown = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            sys.stderr.write("\r" + 60 * " " + "\r")
            sys.stderr.flush()


class Steps:
    """Shows what is under way and how many of its steps are done, on one line.

    `wanted` None means: on a terminal only.
    """

    def __init__(self, wanted: bool | None) -> None:
        self.wanted = sys.stderr.isatty() if wanted is None else wanted
        self._width = 0

    def __enter__(self) -> Steps:
        return self

    def show(self, what: str, done: int, of: int) -> None:
        """Tell that so many steps are done."""
        if not self.wanted:
            return
        line = f"  {done:3d} of {of}  {what}"
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._width:
            sys.stderr.write("\r" + self._width * " " + "\r")
            sys.stderr.flush()
