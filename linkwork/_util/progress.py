"""Progress of long work, for a time span, a count or a task without a known length."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType

from linkwork._util.checks import shortened
from linkwork.errors import MechanismError

INTERVAL = 0.2  # s between updates from a loop
DELAY = 1.0  # s before a time span is shown on a terminal: short runs show nothing
SPINNER = "|/-\\"


@dataclass(frozen=True, slots=True)
class ProgressUpdate:
    """The state of long work."""

    text: str  # one line, such as "t = 0.5 s of 2 s"
    fraction: float | None = None  # the finished part, 0 to 1; None if it is unknown

    def __str__(self) -> str:
        return self.text if self.fraction is None else f"{self.fraction:6.1%}  {self.text}"


ProgressOption = bool | None | Callable[[ProgressUpdate], None]
"""True: a line on standard error; None: only on a terminal; False: nothing; a function: called with each update."""


class Progress:
    """Reports progress as a line on standard error or to a function; the line is removed at the end.

    `start` and `end` are those of a time span, in seconds.

    >>> with Progress(print) as progress:
    ...     progress.count(1, 4, "linking")
     25.0%  1 of 4 done; linking
    """

    def __init__(self, option: ProgressOption, start: float = 0.0, end: float = 0.0) -> None:
        if not (option is None or isinstance(option, bool) or callable(option)):
            raise MechanismError(
                "progress must be True, False, None (only on a terminal) or a function, which gets each "
                f"ProgressUpdate, not {shortened(option)}"
            )
        self._report = option if callable(option) else None
        self.active = bool(sys.stderr.isatty() if option is None else option)
        self._start, self._end = start, end
        self._width = self._shown = 0
        self._next = time.monotonic() + (0.0 if self._report or start == end else DELAY)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()

    @property
    def due(self) -> bool:
        """Whether an update from a loop is to be shown now."""
        return self.active and time.monotonic() >= self._next

    def reach(self, t: float) -> None:
        """Show the time t of the span, if due."""
        if self.due:
            self.show(f"t = {t:.6g} s of {self._end:.6g} s", (t - self._start) / (self._end - self._start))

    def count(self, done: int, total: int, what: str) -> None:
        """Show the number of finished items and the present one."""
        self.show(f"{done} of {total} done; {what}", done / total if total else None)

    def show(self, text: str, fraction: float | None = None) -> None:
        """Show a text at once, with a spinner if the finished part is unknown."""
        if not self.active:
            return
        update = ProgressUpdate(text, fraction)
        if self._report is not None:
            self._report(update)
        else:
            spinner = SPINNER[self._shown % len(SPINNER)] + "  " if fraction is None else ""
            self._write(f"  {spinner}{update}")
        self._next = time.monotonic() + INTERVAL

    def note(self, text: str) -> None:
        """Print a line that stays, above the progress line."""
        self.clear()
        if self.active and self._report is None:
            sys.stderr.write(f"note: {text}\n")
            sys.stderr.flush()

    def clear(self) -> None:
        """Remove the line."""
        if self._width:
            sys.stderr.write("\r" + self._width * " " + "\r")
            sys.stderr.flush()
            self._width = 0

    def _write(self, line: str) -> None:
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = max(self._width, len(line))
        self._shown += 1
