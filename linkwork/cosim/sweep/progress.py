"""A line on standard error with the progress of a sweep."""

from __future__ import annotations

import sys
import time


class SweepProgress:
    """Shows points done, failed, a second, and the time left; `wanted` None means: on a terminal only."""

    def __init__(self, wanted: bool | None, count: int) -> None:
        self.wanted = sys.stderr.isatty() if wanted is None else wanted
        self._count = count
        self._next, self._width = 0.0, 0
        self.begin(0)

    def begin(self, done: int) -> None:
        """Report the number of points done before."""
        self._at_first, self._began = done, time.monotonic()

    def show(self, done: int, failed: int) -> None:
        """Report the number of points done."""
        now = time.monotonic()
        if not self.wanted or now < self._next:
            return
        self._next = now + 0.2
        speed = (done + failed - self._at_first) / max(now - self._began, 1e-9)
        left = f", {_time((self._count - done - failed) / speed)} left" if speed > 0 else ""
        self._write(f"  {done} of {self._count} points, {failed} failed, {speed:.3g} points/s{left}")

    def say(self, text: str) -> None:
        """Put a line above."""
        if self.wanted:
            self.clear()
            sys.stderr.write(f"note: {text}\n")
            sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._width:
            sys.stderr.write("\r" + self._width * " " + "\r")
            sys.stderr.flush()
            self._width = 0

    def _write(self, line: str) -> None:
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
